//! The proxy on the way to the API server: `proxy-url` of a kubeconfig, or the environment's by the rules of Go's `httpproxy`, which
//! `kubectl` follows.
//!
//! # Source
//! `golang.org/x/net/http/httpproxy`; `kube` compares `NO_PROXY` with the proxy in place of the API server, and has no SOCKS users.

use super::kubeconfig::has_host_and_port;
use crate::error::KubeconfigError;
use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use ipnet::IpNet;
use std::fmt;
use std::net::IpAddr;

/// The variables that name proxies.
#[derive(Clone, Debug, Default)]
pub(super) struct ProxyEnvironment {
    /// `HTTPS_PROXY`, else `https_proxy`.
    pub(super) https: Option<String>,
    /// `HTTP_PROXY`, else `http_proxy`.
    pub(super) http: Option<String>,
    /// `NO_PROXY`, else `no_proxy`.
    pub(super) no: Option<String>,
}

/// A proxy, with the setting that names it.
#[derive(Clone)]
pub(super) struct Proxy {
    pub(super) intercept: Intercept,
    setting: &'static str,
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let uri = self.intercept.uri();
        let authority = uri.authority().map_or("", http::uri::Authority::as_str);
        write!(f, "{}://{authority} ({})", uri.scheme_str().unwrap_or_default(), self.setting)
    }
}

impl Proxy {
    pub(super) fn scheme(&self) -> &str {
        self.intercept.uri().scheme_str().unwrap_or_default()
    }

    /// The address to connect to: the port of SOCKS is 1080.
    pub(super) fn address(&self) -> Uri {
        let uri = self.intercept.uri();
        let authority = uri.authority().map_or("", http::uri::Authority::as_str);
        let socks = format!("{}://{authority}:1080", self.scheme());
        let needs_port = self.scheme().starts_with("socks") && uri.port().is_none();
        needs_port.then(|| socks.parse().ok()).flatten().unwrap_or_else(|| uri.clone())
    }
}

impl ProxyEnvironment {
    /// The variables of this process.
    pub(super) fn of_process() -> Self {
        let first = |names: [&str; 2]| {
            names.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        };
        Self {
            https: first(["HTTPS_PROXY", "https_proxy"]),
            http: first(["HTTP_PROXY", "http_proxy"]),
            no: first(["NO_PROXY", "no_proxy"]),
        }
    }

    /// The proxy to an API server; a kubeconfig's own one is not subject to `NO_PROXY`.
    ///
    /// # Errors
    ///
    /// If the address of a proxy is none.
    pub(super) fn proxy_to(&self, server: &Uri, own: Option<&str>) -> Result<Option<Proxy>, KubeconfigError> {
        if let Some(own) = own.map(str::trim).filter(|own| !own.is_empty()) {
            if own.contains("://") {
                return proxy("proxy-url", own);
            }
            return Err(KubeconfigError::Proxy { setting: "proxy-url", found: without_user(own) });
        }
        let (setting, value) = if server.scheme_str() == Some("http") {
            ("HTTP_PROXY", &self.http)
        } else {
            ("HTTPS_PROXY", &self.https)
        };
        let is_exempt = is_exempt(server, self.no.as_deref().unwrap_or_default());
        value.as_deref().filter(|_| !is_exempt).map_or(Ok(None), |value| proxy(setting, value))
    }
}

fn proxy(setting: &'static str, value: &str) -> Result<Option<Proxy>, KubeconfigError> {
    // Its parser of addresses, whatever they are for: it separates the user, and completes the scheme.
    let intercept = Matcher::builder().all(value).build().intercept(&Uri::from_static("https://any"));
    let usable = intercept.filter(|found| {
        let is_known = matches!(found.uri().scheme_str(), Some("http" | "https" | "socks5" | "socks5h"));
        is_known && has_host_and_port(found.uri())
    });
    let refused = || KubeconfigError::Proxy { setting, found: without_user(value) };
    usable.map(|intercept| Some(Proxy { intercept, setting })).ok_or_else(refused)
}

fn without_user(value: &str) -> String {
    let (scheme, rest) = value.split_once("://").map_or((None, value), |(scheme, rest)| (Some(scheme), rest));
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    scheme.map_or_else(|| host.to_owned(), |scheme| format!("{scheme}://{host}"))
}

/// Whether requests to a server pass no proxy of the environment: loopback never does.
fn is_exempt(server: &Uri, no_proxy: &str) -> bool {
    let host = server.host().unwrap_or_default().to_ascii_lowercase();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let address = host.parse::<IpAddr>().ok();
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    let default = if server.scheme_str() == Some("http") { 80 } else { 443 };
    let port = server.port_u16().unwrap_or(default);
    let entries = no_proxy.split(',').map(|entry| entry.trim().to_ascii_lowercase());
    entries.filter(|entry| !entry.is_empty()).any(|entry| fits(&entry, host, address, port))
}

/// Whether an entry of `NO_PROXY` means a host.
fn fits(entry: &str, host: &str, address: Option<IpAddr>, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let Ok(network) = entry.parse::<IpNet>() {
        return address.is_some_and(|address| network.contains(&address));
    }
    let (name, own_port) = with_port(entry);
    if own_port.is_some_and(|own_port| own_port != port.to_string()) || name.is_empty() {
        return false;
    }
    if let Ok(own_address) = name.parse::<IpAddr>() {
        return address == Some(own_address);
    }
    let name = name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(name);
    let domain = if name.starts_with('.') { name.to_owned() } else { format!(".{name}") };
    host.ends_with(&domain) || host == name
}

/// A host without the brackets of IPv6, and its port.
fn with_port(entry: &str) -> (&str, Option<&str>) {
    if let Some((address, rest)) = entry.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (address, rest.strip_prefix(':'));
    }
    match entry.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        _ => (entry, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(server: &str, own: Option<&str>, https: &str, no: &str) -> String {
        let environment = ProxyEnvironment {
            https: Some(https.to_owned()).filter(|value| !value.is_empty()),
            http: Some("plain:1".to_owned()),
            no: Some(no.to_owned()),
        };
        match environment.proxy_to(&server.parse().unwrap(), own) {
            Ok(proxy) => proxy.map_or_else(|| "direct".to_owned(), |proxy| proxy.to_string()),
            Err(error) => error.to_string(),
        }
    }

    /// The expected values are those of Go's `httpproxy.Config.ProxyFunc`.
    #[test]
    fn no_proxy_means_what_it_means_to_kubectl() {
        let by_proxy = "http://proxy:3128 (HTTPS_PROXY)";
        for (server, no, expected) in [
            ("https://api.example.com:6443", "", by_proxy),
            ("https://api.example.com:6443", "*", "direct"),
            ("https://api.example.com:6443", "other,*", "direct"),
            ("https://api.example.com:6443", "api.example.com", "direct"),
            ("https://API.example.com:6443", "Api.Example.com", "direct"),
            ("https://api.example.com:6443", "example.com", "direct"),
            ("https://api.example.com:6443", ".example.com", "direct"),
            ("https://api.example.com:6443", "*.example.com", "direct"),
            ("https://example.com:6443", ".example.com", by_proxy),
            ("https://example.com:6443", "*.example.com", by_proxy),
            ("https://notexample.com:6443", "example.com", by_proxy),
            ("https://api.example.com:6443", "api.example.com:6443", "direct"),
            ("https://api.example.com:6443", "api.example.com:443", by_proxy),
            ("https://api.example.com", "api.example.com:443", "direct"),
            ("https://api.example.com:6443", "proxy", by_proxy),
            ("https://api.example.com:6443", "localhost, ,api.example.com,", "direct"),
            ("https://10.1.2.3:6443", "10.0.0.0/8", "direct"),
            ("https://10.1.2.3:6443", "10.1.2.3", "direct"),
            ("https://10.1.2.3:6443", "10.1.2.3:6443", "direct"),
            ("https://10.1.2.3:6443", "10.1.2.3:443", by_proxy),
            ("https://10.1.2.3:6443", "10.1.2.4,192.168.0.0/16", by_proxy),
            ("https://[fd00::1]:6443", "fd00::/8", "direct"),
            ("https://[fd00::1]:6443", "fd00::1", "direct"),
            ("https://[fd00::1]:6443", "[fd00::1]:6443", "direct"),
            ("https://[fd00::1]:6443", "[fd00::1]:443", by_proxy),
            ("https://localhost:6443", "", "direct"),
            ("https://127.0.0.1:6443", "", "direct"),
            ("https://[::1]:6443", "", "direct"),
            ("http://api.example.com", "", "http://plain:1 (HTTP_PROXY)"),
        ] {
            assert_eq!(chosen(server, None, "http://proxy:3128", no), expected, "{server}, NO_PROXY={no}");
        }
    }

    #[test]
    fn an_address_of_a_proxy_is_taken_or_refused_by_its_setting() {
        let server = "https://127.0.0.1:6443";
        for (own, expected) in [
            ("http://proxy:3128", "http://proxy:3128 (proxy-url)"),
            ("https://proxy", "https://proxy (proxy-url)"),
            ("socks5://proxy:1080", "socks5://proxy:1080 (proxy-url)"),
            ("socks5h://user:secret@proxy:1080/", "socks5h://proxy:1080 (proxy-url)"),
        ] {
            assert_eq!(chosen(server, Some(own), "other:1", "*"), expected, "not subject to NO_PROXY");
        }
        for own in ["proxy:3128", "ftp://proxy", "socks4://proxy", "http://", "http://a b"] {
            let error = chosen(server, Some(own), "", "");
            assert!(
                error.starts_with("proxy-url: expected a proxy")
                    && error.ends_with(&format!("found `{own}`")),
                "{error}"
            );
        }
        let error = chosen(server, Some("ftp://user:secret@proxy"), "", "");
        assert!(error.ends_with("found `ftp://proxy`"), "{error}");
        let by_name = "https://api.example.com";
        assert_eq!(chosen(by_name, None, "proxy:3128", ""), "http://proxy:3128 (HTTPS_PROXY)");
        assert!(chosen(by_name, None, "ftp://proxy", "").starts_with("HTTPS_PROXY: expected a proxy"));
    }
}
