//! Proves that the host answers like Envoy: one guest asks both, every supported Envoy, and must hear the same.

use browser::{Kind, User, Visit};
use envoy_kit::each_tested;
use wasm_host::{Module, RequestHead, ResponseHead, Vm};

use crate::bootstrap::Bootstrap;

const GUEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/guests/semantics.wat");

/// What the guest hears from this kit's host.
fn host_responses() -> Vec<String> {
    let vm = Vm::start(&Module::load(GUEST).expect("the guest compiles")).expect("it starts");
    assert!(vm.configure("").expect("no trap"), "{:?}", vm.logs());
    let head = RequestHead::get("/a/b?c=d")
        .header("accept", "text/html")
        .header("x-multi", "first")
        .header("x-multi", "second")
        .header("x-empty", "")
        .header("cookie", "a=1")
        .header("cookie", "b=2");
    let mut exchange = vm.request(head).expect("no trap");
    // The headers of Envoy's direct response when it reaches the filter.
    let response =
        ResponseHead::status(200).header("content-length", "5").header("content-type", "text/plain");
    exchange.respond(response).expect("no trap");
    exchange.end().expect("no trap");
    vm.logs().into_iter().map(|line| line.message).collect()
}

/// The same lines from an Envoy's log, each behind `wasm log <plugin>…: `.
fn logged(log: &str) -> Vec<String> {
    let lines = log.lines().filter_map(|line| line.split_once("wasm log ")?.1.split_once(": #"));
    lines.map(|(_, response)| format!("#{response}")).collect()
}

#[tokio::test]
async fn the_host_answers_like_every_supported_envoy() {
    let expected = host_responses();
    let wasm = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(wasm.path(), wat::parse_file(GUEST).expect("the guest compiles")).expect("written");
    let filter = format!(
        r#"          - name: wasm
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm
              config:
                name: semantics
                vm_config: {{ runtime: envoy.wasm.runtime.v8, code: {{ local: {{ filename: {} }} }} }}
"#,
        wasm.path().display()
    );
    for binary in each_tested().expect("all are installed") {
        let bootstrap = Bootstrap::write(&filter);
        let envoy = bootstrap.start(&binary).await;
        let visit = Visit::new(Kind::Api, "/a/b?c=d")
            .header("accept", "text/html")
            .header("x-multi", "first")
            .header("x-multi", "second")
            .header("x-empty", "")
            .header("cookie", "a=1")
            .header("cookie", "b=2");
        let response =
            User::http1(bootstrap.listener, "shop.example").send(&visit).await.expect("a response");
        assert_eq!(response.status, 200);
        let found = logged(&envoy.log());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "left: envoy {}, right: the host", binary.minor);
        }
        assert_eq!(found.len(), expected.len(), "envoy {}", binary.minor);
    }
}
