//! What Istio is asked to check at the gateway: who calls, and what they may do.

use super::jwt;
use serde_json::{Value, json};
use wasm_tests::lab::Stage;

/// The name of the external authorizer in the mesh's configuration, a shop that allows what it has a page for.
const PROVIDER: &str = "authorizer";
/// Where that is.
pub(super) const AUTHORIZER: &str = "position";

/// Tokens are verified where there are any.
pub(super) fn authentication(stage: &Stage) -> String {
    let rule = |issuer: &str| json!({"issuer": issuer, "jwks": jwt::key_set(), "forwardOriginalToken": true});
    let rules = [rule(jwt::ISSUER), rule(jwt::PARTNER)];
    object(stage, "RequestAuthentication", "users", &json!({"selector": gateway(stage), "jwtRules": rules}))
}

/// Nobody may ask for this path.
pub(super) fn denial(stage: &Stage, path: &str) -> String {
    let rules = json!([{"to": [{"operation": {"paths": [path]}}]}]);
    object(
        stage,
        "AuthorizationPolicy",
        "denied",
        &json!({"selector": gateway(stage), "action": "DENY", "rules": rules}),
    )
}

/// The external authorizer says who may ask for these paths.
pub(super) fn custom(stage: &Stage, paths: &[&str]) -> String {
    let rules = json!([{"to": [{"operation": {"paths": paths}}]}]);
    let spec = json!({"selector": gateway(stage), "action": "CUSTOM", "provider": {"name": PROVIDER}, "rules": rules});
    object(stage, "AuthorizationPolicy", "custom", &spec)
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

fn object(stage: &Stage, kind: &str, name: &str, spec: &Value) -> String {
    let metadata = json!({"name": name, "namespace": stage.ingress});
    json!({"apiVersion": "security.istio.io/v1", "kind": kind, "metadata": metadata, "spec": spec})
        .to_string()
}

/// The pods that they are for.
fn gateway(stage: &Stage) -> Value {
    json!({"matchLabels": {"istio": stage.selector}})
}
