//! A `VirtualService` that somebody has written by hand, and whether it is theirs.

use super::desk::Desk;
use serde_json::{Value, json};

/// Two routes to the shop, one of them with more to it.
pub(super) fn by_hand(desk: &Desk<'_>, timeout: &str) -> Value {
    let namespace = desk.namespace.as_str();
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

/// Writes it by `kubectl`, in one of its ways.
pub(super) async fn written(desk: &Desk<'_>, way: &[&str], timeout: &str) {
    desk.lab.kubectl_as("admin", way, &by_hand(desk, timeout).to_string()).await.unwrap();
}

/// As it is now.
pub(super) async fn read(desk: &Desk<'_>) -> Value {
    let get =
        ["get", "virtualservice", "by-hand", "-n", &desk.namespace, "-o", "json", "--show-managed-fields"];
    serde_json::from_str(&desk.lab.kubectl(&get).await.unwrap()).unwrap()
}

/// Whether it is what it was, to everybody who owns something of it.
#[track_caller]
pub(super) fn is_theirs_again(before: &Value, after: &Value) {
    assert_eq!(after["spec"], before["spec"]);
    for place in ["annotations", "labels"] {
        assert_eq!(after["metadata"][place], before["metadata"][place]);
    }
    assert_eq!(after["metadata"]["managedFields"], before["metadata"]["managedFields"]);
}
