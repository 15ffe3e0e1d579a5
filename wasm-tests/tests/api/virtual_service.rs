//! A `VirtualService` that was written by hand, and whether its author owns it.

use serde_json::{Value, json};
use wasm_tests::api::release_fixture::ReleaseFixture;

/// Two routes to the shop, one of them with more to it.
pub(crate) fn by_hand(fixture: &ReleaseFixture<'_>, timeout: &str) -> Value {
    let namespace = fixture.namespace.as_str();
    let shop = json!([{"destination": {"host": "shop"}}]);
    json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": "by-hand", "namespace": namespace},
        "spec": {
            "hosts": ["shop.example.com"],
            "gateways": [format!("{namespace}-ingress/gateway")],
            "http": [
                {
                    "match": [{"uri": {"prefix": "/cart"}}, {"uri": {"prefix": "/basket"}}],
                    "rewrite": {"uri": "/cart"},
                    "timeout": timeout,
                    "route": shop,
                },
                {"route": shop},
            ],
        },
    })
}

/// Writes it by `kubectl`, with these arguments.
pub(crate) async fn written(fixture: &ReleaseFixture<'_>, way: &[&str], timeout: &str) {
    fixture.api.kubectl_as("admin", way, &by_hand(fixture, timeout).to_string()).await.unwrap();
}

/// As it is now.
pub(crate) async fn read(fixture: &ReleaseFixture<'_>) -> Value {
    let get =
        ["get", "virtualservice", "by-hand", "-n", &fixture.namespace, "-o", "json", "--show-managed-fields"];
    serde_json::from_str(&fixture.api.kubectl(&get).await.unwrap()).unwrap()
}

/// Whether specification, labels, annotations and managed fields are as before.
#[track_caller]
pub(crate) fn is_theirs_again(before: &Value, after: &Value) {
    assert_eq!(after["spec"], before["spec"]);
    for place in ["annotations", "labels"] {
        assert_eq!(after["metadata"][place], before["metadata"][place]);
    }
    assert_eq!(after["metadata"]["managedFields"], before["metadata"]["managedFields"]);
}
