//! With and without authentication and authorization the filter is installed once, and at its position.

use super::chain::{AUTHENTICATION, AUTHORIZATION, CUSTOM, OURS, ROUTER, becomes, chain};
use super::jwt;
use super::policies::{AUTHORIZER, authentication, custom, denial};
use crate::support::{apply, in_the_mesh};
use browser::{Kind, Response, Visit};
use mesh_lab::Lab;
use serde_json::{Value, json};
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::Document;

/// A page of the shop that policies are about, and one that only the authorizer is asked about.
const DENIED: &str = "/stats";
const REFUSED: &str = "/status/403";

#[test]
fn with_a_key_from_a_jwt_the_filter_stands_behind_authentication_and_before_authorization() {
    in_the_mesh(async |lab| {
        let env = env(lab, AUTHORIZER).await;
        let release = released_by_jwt(&env);
        apply(lab, &env, &release, 1).await;
        let tester = env.token(&release, "v2").unwrap();

        assert_eq!(chain(lab, &env).await, [OURS, ROUTER]);
        for token in [jwt::genuine("alice"), jwt::unsigned("alice")] {
            assert_eq!(version(&ask(&env, "/", &[bearer(&token)]).await), "v1", "nobody has verified it");
        }

        lab.apply(&denial(&env, DENIED)).await.unwrap();
        becomes(lab, &env, &[AUTHORIZATION, OURS, ROUTER]).await;
        denied_with_and_without_a_token(&env, DENIED, &tester).await;

        lab.apply(&authentication(&env)).await.unwrap();
        becomes(lab, &env, &[AUTHENTICATION, OURS, AUTHORIZATION, ROUTER]).await;
        only_verified_tokens_give_a_key(&env).await;
        denied_with_and_without_a_token(&env, DENIED, &tester).await;

        lab.delete(&denial(&env, DENIED)).await.unwrap();
        becomes(lab, &env, &[AUTHENTICATION, OURS, ROUTER]).await;
        only_verified_tokens_give_a_key(&env).await;

        lab.apply(&authorizer()).await.unwrap();
        lab.rolled_out(AUTHORIZER, "authorizer").await.unwrap();
        lab.apply(&custom(&env, &[REFUSED, "/cart"])).await.unwrap();
        becomes(lab, &env, &[AUTHORIZATION, CUSTOM, AUTHENTICATION, OURS, ROUTER]).await;
        only_verified_tokens_give_a_key(&env).await;
        denied_with_and_without_a_token(&env, REFUSED, &tester).await;
        // Envoy refuses while it knows no endpoint of the authorizer.
        let allowed = lab
            .until("the authorizer", async || {
                let allowed = ask(&env, "/cart", &[bearer(&jwt::genuine("alice"))]).await;
                (allowed.status == 200).then_some(allowed)
            })
            .await
            .unwrap();
        assert_eq!(version(&allowed), "v2", "the authorizer was asked and had nothing against it");
    });
}

#[test]
fn without_a_key_from_a_jwt_the_filter_stands_first() {
    in_the_mesh(async |lab| {
        let env = env(lab, "first").await;
        let release = env.release().unwrap().with("/spec/weight", "100");
        apply(lab, &env, &release, 1).await;
        let tester = env.token(&release, "v2").unwrap();
        assert_eq!(chain(lab, &env).await, [OURS, ROUTER]);

        lab.apply(&denial(&env, DENIED)).await.unwrap();
        becomes(lab, &env, &[OURS, AUTHORIZATION, ROUTER]).await;
        denied_with_and_without_a_token(&env, DENIED, &tester).await;

        lab.apply(&authentication(&env)).await.unwrap();
        becomes(lab, &env, &[OURS, AUTHENTICATION, AUTHORIZATION, ROUTER]).await;
        denied_with_and_without_a_token(&env, DENIED, &tester).await;
    });
}

async fn env(lab: &Lab, name: &str) -> ShopEnv {
    let options = ShopEnvOptions::gateway();
    ShopEnv::set_up(lab, name, &options).await.unwrap()
}

/// Users with a verified token are on the canary, all others on stable.
fn released_by_jwt(env: &ShopEnv) -> Document {
    let release = env.release().unwrap().with("/spec/stickiness", "user").with("/spec/session", Value::Null);
    let release =
        release.with("/spec/identifyBy", json!([{"jwt": {"claim": "sub"}}])).with("/spec/mint", "never");
    release.with("/spec/weight", "100")
}

async fn only_verified_tokens_give_a_key(env: &ShopEnv) {
    let known = ask(env, "/", &[bearer(&jwt::genuine("alice"))]).await;
    assert_eq!(version(&known), "v2");
    let partner = ask(env, "/", &[bearer(&jwt::of_a_partner("alice"))]).await;
    assert_eq!(version(&partner), "v2", "claims of all accepted issuers are in one place");
    assert_eq!(version(&ask(env, "/", &[]).await), "v1", "nobody is known");
    for token in [jwt::unsigned("alice"), jwt::of_a_foreign_issuer("alice"), jwt::forged("alice")] {
        let response = ask(env, "/", &[bearer(&token)]).await;
        assert_eq!((response.status, response.header("x-shop-version")), (401, None), "{token}");
    }
}

/// No token of our filter bypasses a policy, and the policy applies to every request.
async fn denied_with_and_without_a_token(env: &ShopEnv, path: &str, tester: &str) {
    for headers in [vec![], vec![("x-canary-token", tester.to_owned())]] {
        let open = ask(env, "/", &headers).await;
        assert_eq!(open.status, 200, "{open:?}");
        let response = ask(env, path, &headers).await;
        let who = response.header("x-shop-version").unwrap_or("authorizer");
        assert_eq!((response.status, who), (403, "authorizer"), "{path} with {headers:?}");
    }
}

async fn ask(env: &ShopEnv, path: &str, headers: &[(&str, String)]) -> Response {
    let visit =
        headers.iter().fold(Visit::new(Kind::Api, path), |visit, (name, value)| visit.header(name, value));
    env.user().send(&visit).await.unwrap()
}

fn bearer(token: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {token}"))
}

fn version(response: &Response) -> &str {
    response.header("x-shop-version").unwrap_or_else(|| panic!("no shop answered: {response:?}"))
}

/// A shop as the external authorizer: its pages are allowed, and `/status/403` is not.
fn authorizer() -> String {
    let labels = json!({"app": "authorizer"});
    let service = json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "authorizer", "namespace": AUTHORIZER},
        "spec": {"selector": labels, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]}});
    let shop = json!({"name": "shop", "image": "demo-shop",
        "args": ["--listen=0.0.0.0:8080", "--version=authorizer", "--pod=authorizer"],
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1}});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "authorizer", "namespace": AUTHORIZER},
        "spec": {"selector": {"matchLabels": labels}, "template":
            {"metadata": {"labels": labels}, "spec": {"containers": [shop]}}}});
    format!("---\n{service}\n---\n{deployment}\n")
}
