//! The format of a line of an access log: what it calls the client, and whether it has cookies. A line of another format has no key.
//!
//! # Source
//! Apache `mod_log_config` and nginx `ngx_http_log_module` (common, combined); Envoy "Access logging" (default format string); Istio
//! `meshConfig.accessLogFormat` (its default); HAProxy configuration manual §8.2.3 (HTTP log format); AWS "Access logs for your Application
//! Load Balancer". JSON has no standard: the names are those that Envoy, Istio and nginx are configured with, and those of Traefik, Caddy
//! (`caddyhttp.LoggableHTTPRequest`) and Google Cloud's load balancers (`LogEntry.httpRequest`).

use serde_json::Value;
use std::borrow::Cow;

/// The format of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// `host ident user [time] "request" …`: Apache, nginx, Traefik.
    Common,
    /// Envoy's default.
    Envoy,
    /// Istio's default.
    Istio,
    /// An object a line.
    Json,
    /// HAProxy's HTTP log.
    HaProxy,
    /// AWS Application Load Balancer.
    Alb,
}

/// Members of JSON logs with the client's address, the first that is there. Those within another one have its name before a slash.
const JSON_CLIENTS: [&str; 12] = [
    "x_forwarded_for",
    "client_ip",
    "clientip",
    "client",
    "ClientHost",
    "remote_ip",
    "remote_addr",
    "downstream_remote_address",
    "downstream_direct_remote_address",
    "request/client_ip",
    "request/remote_ip",
    "httpRequest/remoteIp",
];
/// Those with the authenticated user.
const JSON_USERS: [&str; 4] = ["user", "remote_user", "user_id", "ClientUsername"];
/// That with the cookies of Caddy, a list: `REDACTED` unless it is configured to log them.
const JSON_COOKIES: &str = "/request/headers/Cookie";

impl LogFormat {
    /// The format of a line; `None` for one that is of none.
    pub fn of(line: &[u8]) -> Option<Self> {
        let line = line.trim_ascii();
        if line.first() == Some(&b'{') {
            return line.ends_with(b"}").then_some(Self::Json);
        }
        let words: Vec<&[u8]> = words(line).take(5).collect();
        if is_envoy(line) {
            return Some(if is_number(after_request(line).nth(2)?) { Self::Envoy } else { Self::Istio });
        }
        if is_alb(&words) {
            return Some(Self::Alb);
        }
        if haproxy(line).is_some() {
            return Some(Self::HaProxy);
        }
        let has_time = words.get(3).is_some_and(|time| is_clf_time(time));
        (has_time && line.contains(&b'"')).then_some(Self::Common)
    }

    /// Its name for a person.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Common => "common or combined format",
            Self::Envoy => "Envoy's default format",
            Self::Istio => "Istio's default format",
            Self::Json => "JSON",
            Self::HaProxy => "HAProxy's HTTP format",
            Self::Alb => "the format of AWS Application Load Balancers",
        }
    }
}

/// The client's address. Where a proxy names several, the first.
pub(super) fn client(line: &[u8]) -> Option<Cow<'_, [u8]>> {
    let line = line.trim_ascii();
    match LogFormat::of(line)? {
        LogFormat::Common => words(line).next().map(Cow::Borrowed),
        LogFormat::Envoy => quoted(line).nth(1).map(first_of_list),
        LogFormat::Istio => quoted(line).nth(2).map(first_of_list),
        LogFormat::Json => member(&object(line)?, &JSON_CLIENTS),
        LogFormat::HaProxy => haproxy(line).map(without_port),
        LogFormat::Alb => words(line).nth(3).map(without_port),
    }
}

/// The authenticated user.
pub(super) fn user(line: &[u8]) -> Option<Cow<'_, [u8]>> {
    match LogFormat::of(line)? {
        LogFormat::Common => words(line.trim_ascii()).nth(2).map(Cow::Borrowed),
        LogFormat::Json => member(&object(line)?, &JSON_USERS),
        _ => None,
    }
}

/// The texts in which cookies may be: quoted fields after the request, members of JSON whose name ends in `cookie`, what HAProxy has captured.
pub(super) fn cookie_texts(line: &[u8]) -> Vec<Cow<'_, [u8]>> {
    match LogFormat::of(line) {
        Some(LogFormat::Json) => {
            let object = object(line).unwrap_or_default();
            let is_cookies = |name: &str| {
                let name = name.to_ascii_lowercase();
                (name.ends_with("cookie") || name.ends_with("cookies")) && !name.contains("set")
            };
            let members = object.as_object().into_iter().flatten().filter(|(name, _)| is_cookies(name));
            let listed = object.pointer(JSON_COOKIES).and_then(Value::as_array).into_iter().flatten();
            let texts = members.map(|(_, value)| value).chain(listed).filter_map(Value::as_str);
            texts.map(|text| Cow::Owned(text.as_bytes().to_vec())).collect()
        }
        Some(LogFormat::HaProxy) => {
            let end = memchr::memchr(b'"', line).unwrap_or(line.len());
            words(line.get(..end).unwrap_or_default()).map(Cow::Borrowed).collect()
        }
        Some(LogFormat::Alb) => Vec::new(),
        // The request line is passed over: its path may hold `;JSESSIONID=…`, which is no cookie.
        _ => quoted(line).skip(1).map(Cow::Borrowed).collect(),
    }
}

fn object(line: &[u8]) -> Option<Value> {
    serde_json::from_slice(line.trim_ascii()).ok()
}

fn member<'l>(object: &Value, names: &[&str]) -> Option<Cow<'l, [u8]>> {
    let text = |name: &&str| {
        let found = object.pointer(&format!("/{name}"))?.as_str();
        found.filter(|text| !text.is_empty() && *text != "-")
    };
    let found = names.iter().find_map(text)?;
    let first = first_of_list(found.as_bytes()).into_owned();
    Some(Cow::Owned(without_port(&first).into_owned()))
}

fn first_of_list(list: &[u8]) -> Cow<'_, [u8]> {
    Cow::Borrowed(list.split(|byte| *byte == b',').next().unwrap_or_default().trim_ascii())
}

/// `203.0.113.9:51234` and `[2001:db8::1]:51234` without the port; an IPv6 address without brackets has none.
fn without_port(address: &[u8]) -> Cow<'_, [u8]> {
    let bare = std::str::from_utf8(address).ok().and_then(|text| match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map(|(host, _)| host),
        None => text.split_once(':').filter(|(_, port)| !port.contains(':')).map(|(host, _)| host),
    });
    Cow::Borrowed(bare.map_or(address, str::as_bytes))
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The words between the first and the second quoted field.
fn after_request(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut parts = line.splitn(4, |byte| *byte == b'"');
    words(parts.nth(2).unwrap_or_default())
}

fn is_number(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(u8::is_ascii_digit)
}

/// `[2026-11-26T10:00:00.000Z] "`.
fn is_envoy(line: &[u8]) -> bool {
    let Some((time, rest)) = line.strip_prefix(b"[").and_then(|rest| split_once(rest, b']')) else {
        return false;
    };
    is_iso_time(time) && rest.starts_with(b" \"")
}

/// `https 2026-11-26T10:00:00.186641Z app/name/id client:port …`.
fn is_alb(words: &[&[u8]]) -> bool {
    let [kind, time, balancer, ..] = words else { return false };
    let is_kind = [&b"http"[..], b"https", b"h2", b"grpcs", b"ws", b"wss"].contains(kind);
    is_kind && is_iso_time(time) && balancer.starts_with(b"app/")
}

/// The client of a line of HAProxy: `client:port [26/Nov/2026:10:00:00.123] frontend backend/server`, perhaps behind what syslog puts before.
fn haproxy(line: &[u8]) -> Option<&[u8]> {
    let open = memchr::memmem::find(line, b" [")?;
    let client = words(line.get(..open)?).last()?;
    let rest = words(line.get(open + 1..)?).collect::<Vec<_>>();
    let [time, _, server, ..] = rest.as_slice() else { return None };
    let has_port = client
        .iter()
        .rposition(|byte| *byte == b':')
        .is_some_and(|colon| client.get(colon + 1..).is_some_and(is_number));
    let is_time = is_clf_time(time) && time.ends_with(b"]") && time.contains(&b'.');
    (has_port && is_time && server.contains(&b'/')).then_some(client)
}

/// `[21/Nov/2026:10:00:00`.
fn is_clf_time(word: &[u8]) -> bool {
    let Some(time) = word.strip_prefix(b"[") else { return false };
    matches!(time, [d0, d1, b'/', m0, _, _, b'/', rest @ ..] if d0.is_ascii_digit() && d1.is_ascii_digit()
        && m0.is_ascii_alphabetic() && rest.contains(&b':'))
}

fn is_iso_time(word: &[u8]) -> bool {
    matches!(word, [y, _, _, _, b'-', _, _, b'-', _, _, b'T', ..] if y.is_ascii_digit())
}

fn split_once(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let position = memchr::memchr(at, text)?;
    Some((text.get(..position)?, text.get(position + 1..)?))
}

/// The contents of the quoted fields. A backslash keeps the next byte from ending one, as Apache writes it.
pub(super) fn quoted(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let open = memchr::memchr(b'"', rest)?;
        let inside = rest.get(open + 1..)?;
        let close = closing_quote(inside)?;
        rest = inside.get(close + 1..)?;
        inside.get(..close)
    })
}

fn closing_quote(inside: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let mark = from + memchr::memchr2(b'"', b'\\', inside.get(from..)?)?;
        match inside.get(mark)? {
            b'"' => return Some(mark),
            _ => from = mark + 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Field;
    use super::*;

    /// One line of each format, with what `client`, `user` and `cookie:JSESSIONID` are in it.
    const LINES: [(&str, Option<LogFormat>, [&str; 3]); 36] = [
        (
            r#"203.0.113.9 - alice [21/Nov/2026:10:00:00 +0000] "GET /cart;JSESSIONID=no HTTP/1.1" 200 512 "-" "Mozilla/5.0" "a=b; JSESSIONID=s1""#,
            Some(LogFormat::Common),
            ["203.0.113.9", "alice", "s1"],
        ),
        (
            r#"203.0.113.9 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 512"#,
            Some(LogFormat::Common),
            ["203.0.113.9", "", ""],
        ),
        (
            r#"[2026-11-26T10:00:00.000Z] "GET /cart HTTP/2" 200 - 0 512 12 11 "203.0.113.9" "Mozilla/5.0" "id-0" "shop.example.com" "10.1.1.7:8080""#,
            Some(LogFormat::Envoy),
            ["203.0.113.9", "", ""],
        ),
        (
            r#"[2026-11-26T10:00:00.000Z] "GET /cart HTTP/2" 200 - 0 512 12 11 "203.0.113.9, 10.0.0.1" "Mozilla/5.0" "id-0" "shop.example.com" "10.1.1.7:8080" "JSESSIONID=s1""#,
            Some(LogFormat::Envoy),
            ["203.0.113.9", "", "s1"],
        ),
        (
            r#"[2026-11-26T10:00:00.000Z] "- - -" 0 NR filter_chain_not_found - "-" 0 0 0 - "-" "-" "-" "-" "-" - - 10.1.1.2:8443 203.0.113.9:51234 shop.example.com -"#,
            Some(LogFormat::Istio),
            ["", "", ""],
        ),
        (
            r#"[2026-11-26T10:00:00.000Z] "GET /cart HTTP/2" 200 - via_upstream - "-" 0 512 12 11 "203.0.113.9" "Mozilla/5.0" "id-0" "shop.example.com" "10.1.1.7:8080" outbound|80|v1|shop.shop.svc.cluster.local 10.1.1.2:41000 10.1.1.2:8443 203.0.113.9:51234 shop.example.com -"#,
            Some(LogFormat::Istio),
            ["203.0.113.9", "", ""],
        ),
        (
            r#"{"start_time":"2026-11-26T10:00:00.001Z","path":"/cart;JSESSIONID=zzz","x_forwarded_for":"203.0.113.9","cookie":"JSESSIONID=s1; lang=de"}"#,
            Some(LogFormat::Json),
            ["203.0.113.9", "", "s1"],
        ),
        (
            r#"{"path":"/cart;JSESSIONID=zzz","downstream_remote_address":"203.0.113.9:51234","cookie":null,"set_cookie":"JSESSIONID=s2"}"#,
            Some(LogFormat::Json),
            ["203.0.113.9", "", ""],
        ),
        (
            r#"{"remote_addr":"2001:db8::1","remote_user":"alice","http_cookie":"JSESSIONID=s1"}"#,
            Some(LogFormat::Json),
            ["2001:db8::1", "alice", "s1"],
        ),
        (r#"{"msg":"started"}"#, Some(LogFormat::Json), ["", "", ""]),
        // Traefik, in JSON and in its common format.
        (
            r#"{"ClientAddr":"203.0.113.9:41000","ClientHost":"203.0.113.9","ClientPort":"41000","ClientUsername":"-","DownstreamStatus":200,"RequestMethod":"GET","RequestPath":"/cart;JSESSIONID=no","request_Cookie":"JSESSIONID=s1","downstream_Set-Cookie":"JSESSIONID=s2"}"#,
            Some(LogFormat::Json),
            ["203.0.113.9", "", "s1"],
        ),
        (
            r#"203.0.113.9 - - [21/Nov/2026:10:00:00 +0000] "GET /cart HTTP/1.1" 200 5 "-" "-" 17 "shop@docker" "http://10.1.1.7:8080" 12ms"#,
            Some(LogFormat::Common),
            ["203.0.113.9", "", ""],
        ),
        // Caddy, with cookies and as it is configured by default; what is no request.
        (
            r#"{"level":"info","ts":1764151200.5,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"10.0.0.1","remote_port":"41342","client_ip":"203.0.113.9","proto":"HTTP/2.0","method":"GET","host":"shop.example.com","uri":"/cart;JSESSIONID=no","headers":{"User-Agent":["curl/8"],"Cookie":["lang=de; JSESSIONID=s1"]}},"bytes_read":0,"user_id":"alice","duration":0.01,"size":10900,"status":200,"resp_headers":{"Set-Cookie":["JSESSIONID=s2"]}}"#,
            Some(LogFormat::Json),
            ["203.0.113.9", "alice", "s1"],
        ),
        (
            r#"{"logger":"http.log.access","request":{"remote_ip":"203.0.113.9","headers":{"Cookie":["REDACTED"]}},"user_id":""}"#,
            Some(LogFormat::Json),
            ["203.0.113.9", "", ""],
        ),
        (
            r#"{"level":"info","logger":"tls.obtain","msg":"certificate obtained","identifier":"shop.example.com"}"#,
            Some(LogFormat::Json),
            ["", "", ""],
        ),
        // HAProxy's `option httplog` without syslog, with a request that it has refused.
        (
            r#"203.0.113.9:51234 [26/Nov/2026:10:00:00.123] fe fe/<NOSRV> -1/-1/-1/-1/0 400 0 - - PR-- 1/1/0/0/0 0/0 "<BADREQ>""#,
            Some(LogFormat::HaProxy),
            ["203.0.113.9", "", ""],
        ),
        // nginx with names of its owner's: what is known counts, and an address that is not there is no client.
        (
            r#"{"time":"26/Nov/2026:10:00:00 +0000","ip":"203.0.113.9","uid":"alice","req":"GET /cart;JSESSIONID=no HTTP/1.1","cookies":"JSESSIONID=s1"}"#,
            Some(LogFormat::Json),
            ["", "", "s1"],
        ),
        (
            r#"{"x_forwarded_for":"-","remote_addr":"203.0.113.9","remote_user":"-","http_cookie":"-"}"#,
            Some(LogFormat::Json),
            ["203.0.113.9", "", ""],
        ),
        // A load balancer of Google Cloud.
        (
            r#"{"httpRequest":{"requestMethod":"GET","requestUrl":"https://shop.example.com/cart;JSESSIONID=no","status":200,"remoteIp":"203.0.113.9","userAgent":"curl; JSESSIONID=no"},"resource":{"type":"http_load_balancer"},"jsonPayload":{"statusDetails":"response_sent_by_backend"}}"#,
            Some(LogFormat::Json),
            ["203.0.113.9", "", ""],
        ),
        // A line that Docker has wrapped, and one that containerd has.
        (
            r#"{"log":"203.0.113.9 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5 "JSESSIONID=s1"","stream":"stdout"}"#,
            Some(LogFormat::Json),
            ["", "", ""],
        ),
        (
            r#"2026-11-26T10:00:00.1Z stdout F 203.0.113.9 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5"#,
            None,
            ["", "", ""],
        ),
        // CloudFront, and W3C of IIS.
        (
            "2026-11-26\t10:00:00\tFRA2\t2390\t203.0.113.9\tGET\td1.cloudfront.net\t/cart\t200",
            None,
            ["", "", ""],
        ),
        (
            r#"Nov 26 10:00:00 lb haproxy[123]: 203.0.113.9:51234 [26/Nov/2026:10:00:00.123] fe~ be/s1 0/0/1/12/13 200 512 JSESSIONID=s1 - ---- 1/1/0/0/0 0/0 {shop.example.com} "GET /cart;JSESSIONID=no HTTP/1.1""#,
            Some(LogFormat::HaProxy),
            ["203.0.113.9", "", "s1"],
        ),
        (
            r#"[2001:db8::1]:51234 [26/Nov/2026:10:00:00.123] fe be/s1 0/0/1/12/13 200 512 - - ---- 1/1/0/0/0 0/0 "GET / HTTP/1.1""#,
            Some(LogFormat::HaProxy),
            ["2001:db8::1", "", ""],
        ),
        (
            r#"https 2026-11-26T10:00:00.186641Z app/my-lb/50dc6c495c0c9188 203.0.113.9:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://shop.example.com:443/;JSESSIONID=no HTTP/2.0" "curl; JSESSIONID=no" TLS_AES TLSv1.3 arn:aws "Root=1-58" "shop.example.com""#,
            Some(LogFormat::Alb),
            ["203.0.113.9", "", ""],
        ),
        (
            "h2 2026-11-26T10:00:00.1Z app/lb/5 [2001:db8::1]:2817 - -1 -1 -1",
            Some(LogFormat::Alb),
            ["2001:db8::1", "", ""],
        ),
        // None of them: classic balancers, network balancers, syslog, Kubernetes' and Apache's prefixes, W3C, errors, ids.
        (
            "2026-11-26T10:00:00.9Z my-lb 203.0.113.9:2817 10.0.0.1:80 0.0 0.0 0.0 200 200 0 29 \"GET http://h:80/ HTTP/1.1\"",
            None,
            ["", "", ""],
        ),
        (
            "tls 2.0 2026-11-26T10:00:00 net/my-lb/c6e7 g3d4 203.0.113.9:51341 10.0.0.1:443 5 2 98 246",
            None,
            ["", "", ""],
        ),
        (
            r#"Nov 26 10:00:00 host nginx: 203.0.113.9 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5"#,
            None,
            ["", "", ""],
        ),
        (
            r#"2026-11-26T10:00:00.1Z 203.0.113.9 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5"#,
            None,
            ["", "", ""],
        ),
        (
            r#"shop.example.com:443 203.0.113.9 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5"#,
            None,
            ["", "", ""],
        ),
        ("#Fields: date time c-ip cs-method", None, ["", "", ""]),
        ("2026-11-26 10:00:00 203.0.113.9 GET /", None, ["", "", ""]),
        ("2026/11/26 10:00:00 [error] 7#7: *1 open() failed, client: 203.0.113.9", None, ["", "", ""]),
        ("[2026-11-26 10:00:00.000][1][info][main] starting", None, ["", "", ""]),
        ("4b1d7c0e5f", None, ["", "", ""]),
    ];

    #[test]
    fn a_line_is_read_by_its_own_format_and_taken_for_no_other() {
        for (line, format, expected) in LINES {
            assert_eq!(LogFormat::of(line.as_bytes()), format, "{line}");
            for (field, expected) in ["client", "user", "cookie:JSESSIONID"].into_iter().zip(expected) {
                let field: Field = field.parse().unwrap();
                let found = field.of(line.as_bytes()).map(|key| String::from_utf8_lossy(&key).into_owned());
                assert_eq!(found.unwrap_or_default(), expected, "{field:?} of {line}");
            }
        }
    }
}
