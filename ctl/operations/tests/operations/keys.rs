//! The keys that gateways sign with.

use crate::fixture::{INGRESS, apply, pod, release, rotate, run, shop};
use canary_operations::Error;
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

fn decoded(value: &Value) -> String {
    let bytes: k8s_openapi::ByteString = serde_json::from_value(value.clone()).unwrap();
    String::from_utf8(bytes.0).unwrap()
}

fn encoded(text: &str) -> String {
    let value = serde_json::to_value(k8s_openapi::ByteString(text.as_bytes().to_vec())).unwrap();
    value.as_str().unwrap().to_owned()
}
