//! The dashboard's server as an attacker meets it: other sites, other hosts, other paths, other methods, no token. What a browser makes
//! of the page, `wasm-tests/tests/dashboard` tests.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on says so by panicking")]

use canary_dashboard::{
    AccessToken, ApiError, ChangeKind, ChangeReport, ChangeRequest, ReleaseRow, ReleaseSource, ReleaseView,
    RequestCheck, serve,
};
use canary_release::file::load;
use canary_release::spec::ReleaseName;
use canary_release::state::ReleaseState;
use hyper::StatusCode;
use jiff::Timestamp;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;

/// One release, `shop/shop`, and the changes that were made of it.
struct OneRelease(ReleaseState, Changes);

/// What was changed, the time that a change takes included.
type Changes = Arc<Mutex<Vec<ChangeRequest>>>;
const CHANGE_TAKES: Duration = Duration::from_millis(300);

impl ReleaseSource for OneRelease {
    async fn releases(&self) -> Result<Vec<ReleaseRow>, ApiError> {
        Ok(vec![ReleaseRow { release: "shop/shop".to_owned(), summary: None, notes: Vec::new() }])
    }

    async fn release(&self, name: &ReleaseName) -> Result<ReleaseView, ApiError> {
        if name.to_string() == "shop/shop" {
            let view = ReleaseView::of_state("shop/shop", &self.0, None, true, Timestamp::now());
            return Ok(ReleaseView { changes: vec![ChangeKind::Rollback], ..view });
        }
        let error = format!("expected a release, found none named `{name}`");
        Err(ApiError { status: StatusCode::NOT_FOUND, error, hint: None })
    }

    async fn change(&self, _name: &ReleaseName, request: &ChangeRequest) -> Result<ChangeReport, ApiError> {
        tokio::time::sleep(CHANGE_TAKES).await;
        self.1.lock().unwrap().push(request.clone());
        Ok(ChangeReport { lines: vec!["changed".to_owned()], written: !request.dry_run })
    }
}

/// A server that ends with the process.
struct Server {
    port: u16,
    token: String,
    changes: Changes,
}

impl Server {
    fn start() -> Self {
        Self::start_with(|check| check)
    }

    fn start_with(settings: impl FnOnce(RequestCheck) -> RequestCheck + Send + 'static) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml");
        let release = load(&path).unwrap().release;
        let changes = Changes::default();
        let source = OneRelease(ReleaseState::first(&release, "uid".to_owned()), Arc::clone(&changes));
        let token = AccessToken::random().unwrap();
        let text = token.as_str().to_owned();
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let port = listener.local_addr().unwrap().port();
                send.send(port).unwrap();
                serve(listener, settings(RequestCheck::new(token, port)), source).await;
            });
        });
        Self { port: receive.recv().unwrap(), token: text, changes }
    }

    /// Sends a head as it is, and reads the whole response.
    fn send(&self, head: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response that ends");
        response
    }

    /// A request with these headers beside `Host` and `Connection`.
    fn request(&self, line: &str, headers: &[&str]) -> String {
        let port = self.port;
        let further = headers.join("\r\n") + if headers.is_empty() { "" } else { "\r\n" };
        self.send(&format!("{line} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{further}\r\n"))
    }

    /// Asks for a change with these headers beside those of every request.
    fn change(&self, headers: &[&str], body: &str) -> String {
        let length = format!("Content-Length: {}", body.len());
        let port = self.port;
        let further = [headers, &[length.as_str()]].concat().join("\r\n");
        let head = format!(
            "POST {CHANGE} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{further}\r\n\r\n"
        );
        self.send(&(head + body))
    }

    fn origin(&self) -> String {
        format!("Origin: http://127.0.0.1:{}", self.port)
    }

    fn count(&self) -> usize {
        self.changes.lock().unwrap().len()
    }

    fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }
}

const CHANGE: &str = "/api/releases/shop/shop/change";
const JSON: &str = "Content-Type: application/json";
const ROLLBACK: &str = r#"{"change": "rollback", "expectedGeneration": 1, "dryRun": false}"#;

fn status(response: &str) -> u16 {
    response.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
}

#[test]
fn with_the_token_the_page_gets_its_data() {
    let server = Server::start();
    let list = server.request("GET /api/releases", &[&server.bearer()]);
    assert!(
        list.starts_with("HTTP/1.1 200") && list.contains(r#"[{"release":"shop/shop","notes":[]}]"#),
        "{list}"
    );
    let one = server.request("GET /api/releases/shop/shop", &[&server.bearer()]);
    assert!(one.starts_with("HTTP/1.1 200") && one.contains(r#""role":"canary""#), "{one}");
    let none = server.request("GET /api/releases/shop/blog", &[&server.bearer()]);
    assert!(none.starts_with("HTTP/1.1 404") && none.contains("none named `shop/blog`"), "{none}");
}

#[test]
fn without_the_token_there_are_no_data_in_any_carrier_but_the_header() {
    let server = Server::start();
    let token = &server.token;
    for (line, header) in [
        ("GET /api/releases".to_owned(), "Accept: */*".to_owned()),
        (format!("GET /api/releases?token={token}"), "Accept: */*".to_owned()),
        ("GET /api/releases".to_owned(), format!("Cookie: token={token}")),
        ("GET /api/releases/shop/shop".to_owned(), "Authorization: Bearer 0".to_owned()),
    ] {
        let response = server.request(&line, &[&header]);
        assert_eq!(status(&response), 401, "{line}, {header}: {response}");
        assert!(!response.contains("shop/shop"), "{response}");
    }
}

#[test]
fn a_name_of_another_site_that_resolves_to_this_machine_gets_nothing() {
    let server = Server::start();
    let (port, bearer) = (server.port, server.bearer());
    for host in [
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("0.0.0.0:{port}"),
        "127.0.0.1".to_owned(),
        format!("localhost:{port}\r\nHost: 127.0.0.1:{port}"),
    ] {
        for path in ["/", "/assets/dashboard.js", "/api/releases"] {
            let head =
                format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{bearer}\r\n\r\n");
            let response = server.send(&head);
            assert_eq!(status(&response), 421, "{host} {path}: {response}");
        }
    }
    let absolute = format!(
        "GET http://evil.example/api/releases HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{bearer}\r\n\r\n"
    );
    assert_eq!(status(&server.send(&absolute)), 421);
}

#[test]
fn another_origin_gets_no_data_even_with_the_token_and_no_permission_by_cors() {
    let server = Server::start();
    let bearer = server.bearer();
    for foreign in [
        "Origin: http://evil.example",
        "Origin: null",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ] {
        let response = server.request("GET /api/releases", &[&bearer, foreign]);
        assert_eq!(status(&response), 403, "{foreign}: {response}");
        assert!(!response.to_lowercase().contains("access-control-"), "{response}");
    }
    let preflight = [
        "Origin: http://evil.example",
        "Access-Control-Request-Method: GET",
        "Access-Control-Request-Headers: authorization",
    ];
    let response = server.request("OPTIONS /api/releases", &preflight);
    assert_eq!(status(&response), 405, "{response}");
    assert!(!response.to_lowercase().contains("access-control-"), "{response}");
}

#[test]
fn a_change_needs_token_origin_and_json_and_nothing_else_reaches_the_release() {
    let server = Server::start();
    let (bearer, origin) = (server.bearer(), server.origin());
    for (headers, expected) in [
        (vec![bearer.as_str(), JSON], 403),
        (vec![origin.as_str(), JSON], 401),
        (vec![bearer.as_str(), origin.as_str()], 415),
        (vec![bearer.as_str(), origin.as_str(), "Content-Type: text/plain"], 415),
        (vec![bearer.as_str(), "Origin: http://evil.example", JSON], 403),
        (vec![bearer.as_str(), "Origin: null", JSON], 403),
        (vec![bearer.as_str(), origin.as_str(), "Sec-Fetch-Site: cross-site", JSON], 403),
        (vec![bearer.as_str(), origin.as_str(), "Origin: http://evil.example", JSON], 403),
    ] {
        let response = server.change(&headers, ROLLBACK);
        assert_eq!(status(&response), expected, "{headers:?}: {response}");
    }
    for line in [format!("GET {CHANGE}"), format!("PUT {CHANGE}"), format!("OPTIONS {CHANGE}")] {
        assert_eq!(status(&server.request(&line, &[&bearer, &origin, JSON])), 405, "{line}");
    }
    let good = [bearer.as_str(), origin.as_str(), JSON];
    assert_eq!(
        status(&server.change(&good, r#"{"change": "uninstall", "expectedGeneration": 1, "dryRun": false}"#)),
        400
    );
    assert_eq!(status(&server.change(&good, &format!("{ROLLBACK}{}", " ".repeat(4096)))), 413);
    assert_eq!(server.count(), 0, "what is refused changes nothing");
    let response = server.change(&good, ROLLBACK);
    assert!(
        response.starts_with("HTTP/1.1 200") && response.contains(r#"{"lines":["changed"],"written":true}"#),
        "{response}"
    );
    assert_eq!(server.count(), 1);
}

#[test]
fn a_change_goes_on_when_the_browser_goes_away() {
    let server = Server::start();
    let (bearer, origin, port) = (server.bearer(), server.origin(), server.port);
    let head = format!(
        "POST {CHANGE} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{bearer}\r\n{origin}\r\n{JSON}\r\nContent-Length: {}\r\n\r\n{ROLLBACK}",
        ROLLBACK.len()
    );
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(CHANGE_TAKES / 3);
    drop(stream);
    std::thread::sleep(CHANGE_TAKES * 3);
    assert_eq!(server.count(), 1);
}

#[test]
fn a_read_only_dashboard_offers_and_makes_no_change() {
    let server = Server::start_with(RequestCheck::read_only);
    let (bearer, origin) = (server.bearer(), server.origin());
    assert_eq!(status(&server.change(&[&bearer, &origin, JSON], ROLLBACK)), 403);
    assert_eq!(server.count(), 0);
    let view = server.request("GET /api/releases/shop/shop", &[&bearer]);
    assert!(view.contains(r#""changes":[]"#), "{view}");
}

#[test]
fn no_path_leads_to_a_file_or_to_another_api() {
    let server = Server::start();
    let bearer = server.bearer();
    for path in [
        "/../../../../etc/passwd",
        "/assets/../../../../etc/passwd",
        "/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..%5c..%5cetc%5cpasswd",
        "//etc/passwd",
        "/api/releases/../../api/v1/secrets",
        "/api/releases/shop/%2e%2e",
        "/api/releases/shop/shop%00",
        "/api/v1/namespaces",
        "/assets/Cargo.toml",
    ] {
        let response = server.request(&format!("GET {path}"), &[&bearer]);
        assert_eq!(status(&response), 404, "{path}: {response}");
        assert!(!response.contains("root:"), "{path}: {response}");
    }
}

#[test]
fn every_response_has_the_headers_that_keep_other_sites_away() {
    let server = Server::start();
    let bearer = server.bearer();
    for (line, headers) in [
        ("GET /", vec![]),
        ("GET /assets/dashboard.css", vec![]),
        ("GET /api/releases", vec![bearer.as_str()]),
        ("GET /api/releases", vec![]),
        ("GET /nothing", vec![]),
        ("POST /", vec![]),
    ] {
        let response = server.request(line, &headers).to_lowercase();
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self';",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
            "cross-origin-opener-policy: same-origin",
        ] {
            assert!(response.contains(header), "{line} lacks `{header}`: {response}");
        }
        assert!(!response.contains("unsafe-") && !response.contains("set-cookie"), "{line}: {response}");
    }
}
