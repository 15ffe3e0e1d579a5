//! The HTTP filters of a gateway in their order, from its Envoy's own administration port.

use browser::User;
use mesh_lab::Lab;
use serde_json::Value;
use wasm_tests::mesh::ShopEnv;

/// What Istio calls the filters that matter here.
pub(super) const AUTHENTICATION: &str = "envoy.filters.http.jwt_authn";
pub(super) const AUTHORIZATION: &str = "envoy.filters.http.rbac";
pub(super) const CUSTOM: &str = "envoy.filters.http.ext_authz";
pub(super) const ROUTER: &str = "envoy.filters.http.router";
/// What ours is called here, since names of resources differ from gateway to gateway.
pub(super) const OURS: &str = "canary";

/// The names of the filters behind the gateway's port 80, as they are in force; without those that check nothing.
pub(super) async fn chain(lab: &Lab, env: &ShopEnv) -> Vec<&'static str> {
    let filters = filters(lab, env).await;
    let known = [AUTHENTICATION, AUTHORIZATION, CUSTOM, ROUTER];
    let name = |filter: &String| match filter.strip_prefix("canary-ctl/") {
        Some(_) => Some(OURS),
        None => known.into_iter().find(|name| name == filter),
    };
    filters.iter().filter_map(name).collect()
}

/// Waits until that is what the gateway has.
pub(super) async fn becomes(lab: &Lab, env: &ShopEnv, expected: &[&str]) {
    let arrived = async || (chain(lab, env).await == expected).then_some(());
    let waited = lab.until("the filters of the gateway", arrived).await;
    let found = filters(lab, env).await;
    assert!(waited.is_ok(), "expected {expected:?}, found {found:?}");
}

async fn filters(lab: &Lab, env: &ShopEnv) -> Vec<String> {
    let pod = env.gateway_pod(lab).await.unwrap();
    let dump = async || {
        let mut administrator = User::http1(([127, 0, 0, 1], 15000).into(), "localhost");
        administrator.api("/config_dump?resource=dynamic_listeners").await
    };
    let dump = lab.in_pod(&env.ingress, &pod, dump).unwrap().unwrap().json();
    let listener = entries(&dump, "/configs")
        .find(|listener| listener.get("name").is_some_and(|name| name == "0.0.0.0_80"));
    let listener = listener.unwrap_or_default();
    let chains = entries(&listener, "/active_state/listener/filter_chains");
    let managers = chains.flat_map(|chain| entries(&chain, "/filters").collect::<Vec<_>>());
    let filters =
        managers.flat_map(|manager| entries(&manager, "/typed_config/http_filters").collect::<Vec<_>>());
    filters.filter_map(|filter| Some(filter.get("name")?.as_str()?.to_owned())).collect()
}

fn entries(value: &Value, pointer: &str) -> impl Iterator<Item = Value> + use<> {
    value.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default().into_iter()
}
