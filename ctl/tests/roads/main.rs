//! Five people with one page each and nothing else: they type the commands of the page without changes, beside an API server in memory whose
//! proxies run what istiod would send them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

mod developer;
mod first_release;
mod incident;
mod terminal;
mod tester;
mod train;

use fake_api_server::FakeApi;
use fake_api_server::fixture::{pod, run};
use serde_json::json;
use terminal::{Page, Terminal};

/// The cluster of a page: one Service with pods of these versions, behind the Gateway `istio-ingress/NAME` with TLS.
fn cluster(name: &str, versions: &[&str]) -> FakeApi {
    let api = FakeApi::default();
    let labels = json!({"istio": "ingressgateway"});
    let server =
        json!({"port": {"number": 443, "name": "web", "protocol": "HTTPS"}, "hosts": ["*.example.com"]});
    for object in [
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"selector": {"app": name}, "ports": [{"name": "http", "port": 80}]}}),
        json!({"apiVersion": "networking.istio.io/v1", "kind": "Gateway",
            "metadata": {"name": name, "namespace": "istio-ingress"},
            "spec": {"selector": &labels, "servers": [server]}}),
        pod("istio-ingress", "gateway-1", &labels),
    ] {
        api.state().create(&object);
    }
    for version in versions {
        start(&api, name, version);
    }
    api
}

/// A ready pod of a version: the effect of `kubectl apply` and of the `kubectl rollout status` after it.
fn start(api: &FakeApi, name: &str, version: &str) {
    let labels = json!({"app": name, "version": version});
    api.state().create(&pod("shop", &format!("{name}-{version}"), &labels));
}
