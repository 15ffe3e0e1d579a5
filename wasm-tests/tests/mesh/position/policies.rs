//! Istio's policies at the gateway: authentication and authorization.

use super::jwt;
use serde_json::{Value, json};
use wasm_tests::mesh::ShopEnv;

/// The name of the external authorizer in the mesh's configuration, a shop that allows what it has a page for.
const PROVIDER: &str = "authorizer";
/// Where that is.
pub(super) const AUTHORIZER: &str = "position";

/// Tokens are verified where there are any.
pub(super) fn authentication(env: &ShopEnv) -> String {
    let rule = |issuer: &str| json!({"issuer": issuer, "jwks": jwt::key_set(), "forwardOriginalToken": true});
    let rules = [rule(jwt::ISSUER), rule(jwt::PARTNER)];
    object(env, "RequestAuthentication", "users", &json!({"selector": gateway(env), "jwtRules": rules}))
}

/// Denies this path to every request.
pub(super) fn denial(env: &ShopEnv, path: &str) -> String {
    let rules = json!([{"to": [{"operation": {"paths": [path]}}]}]);
    object(
        env,
        "AuthorizationPolicy",
        "denied",
        &json!({"selector": gateway(env), "action": "DENY", "rules": rules}),
    )
}

/// Delegates the decision about these paths to the external authorizer.
pub(super) fn custom(env: &ShopEnv, paths: &[&str]) -> String {
    let rules = json!([{"to": [{"operation": {"paths": paths}}]}]);
    let spec =
        json!({"selector": gateway(env), "action": "CUSTOM", "provider": {"name": PROVIDER}, "rules": rules});
    object(env, "AuthorizationPolicy", "custom", &spec)
}

/// The mesh's settings for that authorizer, which is in the namespace of one test.
pub(crate) fn settings() -> Vec<String> {
    let provider = "meshConfig.extensionProviders[0]";
    vec![
        format!("{provider}.name={PROVIDER}"),
        format!("{provider}.envoyExtAuthzHttp.service=authorizer.{AUTHORIZER}.svc.cluster.local"),
        format!("{provider}.envoyExtAuthzHttp.port=80"),
    ]
}

fn object(env: &ShopEnv, kind: &str, name: &str, spec: &Value) -> String {
    let metadata = json!({"name": name, "namespace": env.ingress});
    json!({"apiVersion": "security.istio.io/v1", "kind": kind, "metadata": metadata, "spec": spec})
        .to_string()
}

/// The pods that they are for.
fn gateway(env: &ShopEnv) -> Value {
    json!({"matchLabels": {"istio": env.selector}})
}
