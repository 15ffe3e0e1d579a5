//! The keys that gateways sign with.

use assignment::FilterConfig;
use assignment::contract::{Position, Secret};
use canary_operations::Error;
use canary_release::delivery::deployed_config;
use canary_release::spec::Release;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{INGRESS, SHOP, apply, create_service, pod, release, rotate, run, shop};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

#[test]
fn gateways_with_different_keys_are_refused() {
    run(async {
        let api = shop();
        api.state().create(&pod("edge", "gateway-2", &json!({"istio": "gateway"})));
        let gateway = |namespace: &str| json!({"name": format!("{namespace}/gateway"), "selector": {"istio": "gateway"}});
        let one = release(&json!({"gateways": [gateway(INGRESS)]}));
        let cluster = api.cluster().await;
        apply(&cluster, &one).await.unwrap();
        let mut other = api.state().store.find("Secret", "canary-ctl-keys").unwrap().clone();
        other["metadata"] = json!({"name": "canary-ctl-keys", "namespace": "edge"});
        // Another ring of the same shape.
        let ring: Value = serde_json::from_str(&decoded(&other["data"]["signing-keys.json"])).unwrap();
        let mut ring = ring.to_string();
        ring = ring.replace("\"id\":\"k1\"", "\"id\":\"k9\"");
        other["data"]["signing-keys.json"] = json!(encoded(&ring));
        api.state().create(&other);
        let both = release(&json!({"gateways": [gateway(INGRESS), gateway("edge")]}));
        let refused = apply(&cluster, &both).await;
        assert!(matches!(refused, Err(Error::KeysDiffer { .. })), "{refused:?}");
        let refused = rotate(&cluster, &both).await;
        assert!(matches!(refused, Err(Error::KeysDiffer { .. })), "{refused:?}");
    });
}

#[test]
fn an_old_key_is_kept_an_hour_longer_than_anything_that_it_has_signed_lives() {
    run(async {
        let (api, release) = (
            shop(),
            release(&json!({"session": {"cookie": "JSESSIONID", "maxAge": "24h"}, "override": "off"})),
        );
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let rotated = rotate(&cluster, &release).await.unwrap();
        let left = rotated.retire_from.unwrap().duration_since(Timestamp::now());
        let expected = SignedDuration::from_hours(25);
        let difference = (left - expected).abs();
        assert!(
            difference < SignedDuration::from_mins(1),
            "expected {expected} until the key may go, found {left}"
        );
    });
}

/// A release whose identities are keyed, with sidecars that take them from its gateway.
fn keyed_with_sidecars() -> Release {
    release(&json!({
        "identity": "keyed",
        "train": "checkout",
        "sidecars": [{"namespace": SHOP, "selector": {"app": "shop"}}],
    }))
}

#[test]
fn sidecars_that_are_given_identities_have_no_identity_key_and_the_gateway_has() {
    run(async {
        let (api, release) = (shop(), keyed_with_sidecars());
        apply(&api.cluster().await, &release).await.unwrap();
        let drawn = identity_key(&api);
        let found: Vec<_> =
            configs(&api).into_iter().map(|config| (config.position, config.identity_key)).collect();
        let expected = [(Position::Edge, drawn), (Position::Mesh, None)];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(expected.iter().all(|one| found.contains(one)), "expected {expected:?}, found {found:?}");
    });
}

#[test]
fn a_keyed_release_without_gateways_hashes_in_its_sidecars_with_the_identity_key() {
    let sidecars = json!([{"namespace": SHOP, "selector": {"app": "shop"}}]);
    let alone = release(&json!({"identity": "keyed", "train": "t", "sidecars": sidecars, "gateways": []}));
    let state = canary_release::state::ReleaseState::first(&alone, "shopshopshop".to_owned());
    let config = canary_release::config::release_config(&alone, &state, Position::Mesh);
    assert_eq!(config.identity, assignment::contract::IdentityMode::Keyed);
    assert_eq!(config.identify_by.len(), 2, "{:?}", config.identify_by);
}

#[test]
fn keys_are_drawn_once_also_where_the_secret_is_lost() {
    run(async {
        let (api, release) = (shop(), keyed_with_sidecars());
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let drawn = ring(&api);
        apply(&cluster, &release).await.unwrap();
        assert_eq!(ring(&api), drawn, "a second `apply`");
        api.state().store.remove("Secret", "canary-ctl-keys");
        apply(&cluster, &release).await.unwrap();
        assert_eq!(ring(&api), drawn, "the Secret was lost, and the gateway's configuration has the keys");
    });
}

#[test]
fn a_lost_identity_key_is_that_of_any_gateway_whose_configuration_has_it() {
    run(async {
        let api = shop();
        create_service(&api, "blog");
        api.state().create(&pod("edge", "gateway-2", &json!({"istio": "gateway"})));
        api.state().create(&fake_api_server::fixture::gateway("edge", "HTTPS", "*"));
        let gateway = |namespace: &str| json!({"name": format!("{namespace}/gateway"), "selector": {"istio": "gateway"}});
        // The gateway in `edge` has this release alone, and so no identity key; it is read first.
        let plain = release(&json!({"gateways": [gateway("edge"), gateway(INGRESS)]}));
        let mut keyed = release(&json!({
            "identity": "keyed", "hosts": ["blog.example.com"], "service": {"name": "blog", "port": 80},
        }));
        keyed.name = "shop/blog".parse().unwrap();
        let cluster = api.cluster().await;
        apply(&cluster, &plain).await.unwrap();
        apply(&cluster, &keyed).await.unwrap();
        let drawn = ring(&api);
        api.state().store.remove("Secret", "canary-ctl-keys");
        apply(&cluster, &plain).await.unwrap();
        assert_eq!(ring(&api), drawn, "identities of the keyed release are what they were");
    });
}

/// The configurations in the proxies.
fn configs(api: &FakeApi) -> Vec<FilterConfig> {
    let state = api.state();
    state.store.of_kind("EnvoyFilter").filter_map(|object| deployed_config(object).unwrap()).collect()
}

fn ring(api: &FakeApi) -> Value {
    let state = api.state();
    let secret = state.store.find("Secret", "canary-ctl-keys").expect("a Secret with keys");
    serde_json::from_str(&decoded(&secret["data"]["signing-keys.json"])).unwrap()
}

fn identity_key(api: &FakeApi) -> Option<Secret> {
    serde_json::from_value(ring(api)["identityKey"].clone()).unwrap()
}

fn decoded(value: &Value) -> String {
    let bytes: k8s_openapi::ByteString = serde_json::from_value(value.clone()).unwrap();
    String::from_utf8(bytes.0).unwrap()
}

fn encoded(text: &str) -> String {
    let value = serde_json::to_value(k8s_openapi::ByteString(text.as_bytes().to_vec())).unwrap();
    value.as_str().unwrap().to_owned()
}
