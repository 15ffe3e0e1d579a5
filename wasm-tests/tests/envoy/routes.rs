//! The filter finds a release by host and path, Envoy finds a route: both must have the same view, or a user of one
//! release is sent through the routes of another.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use browser::send_raw;
use envoy_kit::Options;
use serde_json::{Value, json};
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup};

use crate::support::{connection_manager, on_every_envoy};

/// `Host`, path, and the release that both must find; none is 404.
const CASES: [(&str, &str, Option<&str>); 36] = [
    ("shop.example.com", "/", Some("shop/web")),
    ("shop.example.com", "/?x=/api", Some("shop/web")),
    ("shop.example.com", "/ap", Some("shop/web")),
    ("shop.example.com", "/api", Some("shop/api")),
    ("shop.example.com", "/api/", Some("shop/api")),
    ("shop.example.com", "/api?x=1", Some("shop/api")),
    ("shop.example.com", "/apix", Some("shop/api")),
    ("shop.example.com", "/api/deep", Some("shop/deep")),
    ("shop.example.com", "/api/deeper/still", Some("shop/deep")),
    ("shop.example.com", "/API", Some("shop/web")),
    ("shop.example.com", "//api", Some("shop/web")),
    ("shop.example.com", "/%61pi", Some("shop/web")),
    ("shop.example.com", "/api%2Fdeep", Some("shop/api")),
    ("shop.example.com", "/x/../api", Some("shop/web")),
    ("shop.example.com", "/./api", Some("shop/web")),
    ("shop.example.com", "/api;v=1", Some("shop/api")),
    ("shop.example.com", "/api/../cart", Some("shop/api")),
    ("SHOP.Example.COM", "/api", Some("shop/api")),
    ("shop.example.com:8080", "/api", Some("shop/api")),
    ("Shop.example.com:443", "/", Some("shop/web")),
    ("www.example.com", "/", Some("shop/wild")),
    ("www.example.com:80", "/api", Some("shop/wild")),
    ("a.b.example.com", "/", Some("shop/wild")),
    ("www.eu.example.com", "/", Some("shop/europe")),
    ("a.b.eu.example.com", "/", Some("shop/europe")),
    ("eu.example.com", "/", Some("shop/wild")),
    ("WWW.EU.EXAMPLE.COM", "/", Some("shop/europe")),
    ("example.com", "/", None),
    ("example.com", "/other/x", Some("shop/other")),
    ("other.example.org", "/other", Some("shop/other")),
    ("other.example.org", "/", None),
    ("shop.example.com.", "/other", Some("shop/other")),
    ("xshop.example.com", "/other", Some("shop/wild")),
    ("127.0.0.1:9000", "/other", Some("shop/other")),
    ("[::1]", "/other", Some("shop/other")),
    ("[::1]:80", "/other", Some("shop/other")),
];

/// In no order that would help either side.
fn documents() -> Vec<Document> {
    let release = |name: &str, host: &str, path: &str| {
        Document::user(name)
            .with("/spec/hosts", json!([host]))
            .with("/spec/paths", json!([path]))
            .with("/spec/weight", "100")
            .with("/spec/mint", "always")
            .with("/spec/delivery/debugHeader", "x-canary-debug")
    };
    vec![
        release("wild", "*.example.com", "/"),
        release("web", "shop.example.com", "/"),
        release("other", "*", "/other"),
        release("api", "shop.example.com", "/api"),
        release("europe", "*.eu.example.com", "/"),
        release("deep", "shop.example.com", "/api/deep"),
    ]
}

/// Writes the name of the route of each request, by the number of the case.
fn log_routes(bootstrap: &mut Value, folder: &Path) {
    connection_manager(bootstrap)["access_log"] = json!([{
        "name": "envoy.access_loggers.file",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog",
            "path": folder.join("routes.log"),
            "log_format": {"text_format_source": {"inline_string": "%REQ(x-case)% %ROUTE_NAME%\n"}},
        },
    }]);
}

#[tokio::test]
async fn the_filter_and_the_route_table_have_the_same_view_of_every_host_and_path() {
    on_every_envoy(|binary, pods| async move {
        let arguments = ["--file-flush-interval-msec", "50"].map(str::to_owned).to_vec();
        let options = Options { arguments, ..Options::default() };
        let setup = EnvoySetup { bootstrap: log_routes, options, ..EnvoySetup::of(documents()) };
        let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        for (case, (host, path, expected)) in CASES.iter().enumerate() {
            let request =
                format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nx-case: {case}\r\nConnection: close\r\n\r\n");
            let response = send_raw(fixture.listener(), request.as_bytes(), Duration::from_secs(10)).await;
            let response = response.expect("a response");
            let debug =
                response.header("x-canary-debug").map(|said| String::from_utf8_lossy(said).into_owned());
            let found =
                debug.and_then(|said| said.strip_prefix("release=")?.split(';').next().map(str::to_owned));
            assert_eq!(found.as_deref(), *expected, "the filter at {host}{path}: {response:?}");
        }
        let routes = routes(&fixture, CASES.len()).await;
        for (case, (host, path, expected)) in CASES.iter().enumerate() {
            // A route of the canary's: the filter's header and Envoy's host and path led to the same release.
            let route = expected.map_or("-".to_owned(), |release| format!("{release}/v2"));
            assert_eq!(routes.get(&case.to_string()), Some(&route), "Envoy at {host}{path}");
        }
    })
    .await;
}

/// The access log by case, once it has so many lines.
async fn routes(fixture: &EnvoyFixture, lines: usize) -> BTreeMap<String, String> {
    let begun = Instant::now();
    loop {
        let log = std::fs::read_to_string(fixture.directory().join("routes.log")).unwrap_or_default();
        if log.lines().count() >= lines || begun.elapsed() > Duration::from_secs(10) {
            let pair = |line: &str| line.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()));
            return log.lines().filter_map(pair).collect();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn the_cookie_of_the_pod_has_the_attributes_of_the_cookies_of_the_release() {
    on_every_envoy(|binary, pods| async move {
        let document = Document::session("shop")
            .with("/spec/sessionAffinity", "none")
            .with("/spec/cookies", json!({"domain": "example.com"}));
        let fixture =
            EnvoyFixture::start(&binary, EnvoySetup::of([document]), &pods).await.expect("a fixture");
        let first = fixture.user().fetch("/").await.expect("a response");
        let lines = first.set_cookies();
        let pod = lines.iter().find(|line| line.starts_with("canary-pod=")).expect("a cookie of the pod");
        for attribute in ["Domain=example.com", "SameSite=Lax", "Path=/", "HttpOnly"] {
            assert!(pod.split("; ").any(|found| found == attribute), "{attribute} in {pod}");
        }
    })
    .await;
}
