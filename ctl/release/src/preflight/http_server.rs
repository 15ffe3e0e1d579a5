//! Servers of a Gateway that pass connections on: no filter sees their requests, so the release decides none of them.
//!
//! # Source
//! Istio, [Gateway](https://istio.io/latest/docs/reference/config/networking/gateway/#ServerTLSSettings-TLSmode): `PASSTHROUGH` leaves TLS to
//! the Service, and `TCP` and `TLS` have no routes of HTTP. Gateway API, `Listener.tls.mode: Passthrough`.

use serde_json::Value;
use std::collections::BTreeMap;

/// The port of users.
const HTTPS_PORT: u64 = 443;

/// The handling of connections for a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handling {
    /// It reads requests.
    Http,
    /// It sends clients to another server.
    Redirect,
    /// It passes TLS on.
    Passthrough,
    /// It knows connections alone.
    Connections,
}

/// The server that takes users past the filter, as text; `None` where requests are read. `serving` are those that serve the host, each
/// with how exactly it names it, and whether it names the host itself.
pub(super) fn passes_on<'o>(serving: impl Iterator<Item = (&'o Value, usize, bool)>) -> Option<String> {
    // On one port the server with the most exact name takes the connection.
    let mut by_port: BTreeMap<u64, (usize, bool, &Value)> = BTreeMap::new();
    for (server, exactness, is_exact) in serving {
        let entry = by_port.entry(port(server)).or_insert((exactness, is_exact, server));
        if exactness > entry.0 {
            *entry = (exactness, is_exact, server);
        }
    }
    let is_read = by_port.values().any(|(_, _, server)| handling(server) == Handling::Http);
    let (number, (_, _, server)) =
        by_port.into_iter().find(|(number, (_, is_exact, server))| match handling(server) {
            Handling::Passthrough => !is_read || *is_exact || *number == HTTPS_PORT,
            Handling::Connections => !is_read,
            Handling::Http | Handling::Redirect => false,
        })?;
    let mode = mode(server).map(|mode| format!(" and `tls.mode: {mode}`")).unwrap_or_default();
    Some(format!("port {number} with protocol `{}`{mode}", protocol(server)))
}

fn handling(server: &Value) -> Handling {
    let mode = mode(server).unwrap_or_default().to_ascii_uppercase();
    if mode == "PASSTHROUGH" {
        return Handling::Passthrough;
    }
    if server.pointer("/tls/httpsRedirect").and_then(Value::as_bool) == Some(true) {
        return Handling::Redirect;
    }
    match protocol(server).to_ascii_uppercase().as_str() {
        "TCP" | "TLS" | "UDP" | "MONGO" | "MYSQL" | "REDIS" => Handling::Connections,
        _ => Handling::Http,
    }
}

fn mode(server: &Value) -> Option<&str> {
    server.pointer("/tls/mode")?.as_str()
}

fn protocol(server: &Value) -> &str {
    // That of a listener of the Gateway API is a field of its own.
    let found = server.pointer("/port/protocol").or_else(|| server.get("protocol"));
    found.and_then(Value::as_str).unwrap_or_default()
}

fn port(server: &Value) -> u64 {
    let number = server.pointer("/port/number").or_else(|| server.get("port"));
    number.and_then(Value::as_u64).unwrap_or_default()
}
