//! What each verb writes: everything once, then nothing; a weight two objects; an uninstall leaves the keys.

use crate::beside_an_api_server;
use std::collections::BTreeSet;
use wasm_tests::api::release_fixture::{ReleaseFixture, apply, name, set_weight, uninstall};

const KEYS: [&str; 2] = ["Secret canary-ctl-keys", "Secret canary-ctl-record-keys"];

const ALL: [&str; 9] = [
    "ConfigMap shop-canary",
    "DestinationRule shop-canary",
    "EnvoyFilter canary-gateway-config",
    "EnvoyFilter canary-gateway-filter",
    "EnvoyFilter canary-gateway-runtime",
    KEYS[0],
    KEYS[1],
    "VirtualService shop-canary",
    "VirtualService shop-canary-mesh",
];

#[test]
fn the_first_apply_makes_exactly_the_objects_and_the_second_writes_nothing() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "first-apply").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        let applied = apply(&cluster, &release).await.unwrap();
        assert_eq!(applied.plan.changes.len(), 6);
        let first = fixture.versions().await;
        assert_eq!(first.keys().map(String::as_str).collect::<Vec<_>>(), ALL);
        for object in fixture.objects().await {
            let entries = object["metadata"]["managedFields"].as_array().unwrap();
            let managers: BTreeSet<_> =
                entries.iter().map(|entry| entry["manager"].as_str().unwrap()).collect();
            assert_eq!(managers, BTreeSet::from(["canary-ctl"]), "{object}");
        }

        assert_eq!(cluster.plan(&release).await.unwrap().changes, []);
        assert_eq!(apply(&cluster, &release).await.unwrap().plan.changes, []);
        assert_eq!(fixture.versions().await, first);
    });
}

#[test]
fn a_weight_writes_the_configuration_and_the_record_and_nothing_else() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "a-weight").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let before = fixture.versions().await;
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        let weighed = set_weight(&cluster, &name(&release), stored, "20").await.unwrap();
        assert_eq!(weighed.stored.record.state.generation, 2);
        let after = fixture.versions().await;
        let written: Vec<_> = after.keys().filter(|object| after[*object] != before[*object]).collect();
        assert_eq!(written, [ALL[0], ALL[2]]);

        let again = apply(&cluster, &release).await.unwrap();
        assert!(again.plan.is_empty(), "the file's weight is for the beginning: {:?}", again.plan);
        assert_eq!(again.record.state.weight, "20".parse().unwrap());
    });
}

#[test]
fn two_releases_of_one_gateway_are_installed_and_uninstalled_independently() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "two-releases").await;
        let (cluster, shop, blog) =
            (fixture.cluster().await, fixture.release("shop"), fixture.release("blog"));
        apply(&cluster, &shop).await.unwrap();
        apply(&cluster, &blog).await.unwrap();
        assert_eq!(cluster.plan(&shop).await.unwrap().changes, []);
        assert_eq!(cluster.plan(&blog).await.unwrap().changes, []);
        uninstall(&cluster, &shop).await.unwrap();
        assert_eq!(cluster.plan(&blog).await.unwrap().changes, []);
        uninstall(&cluster, &blog).await.unwrap();
        assert_eq!(fixture.versions().await.into_keys().collect::<Vec<_>>(), KEYS);
    });
}

#[test]
fn the_keys_that_gateways_sign_with_outlive_their_secret() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "lost-keys").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        apply(&cluster, &release).await.unwrap();
        api.kubectl(&["delete", "secret", "canary-ctl-keys", "-n", "lost-keys-ingress"]).await.unwrap();
        let before = fixture.versions().await;
        apply(&cluster, &release).await.unwrap();
        let after = fixture.versions().await;
        assert!(after.contains_key(KEYS[0]), "{after:?}");
        assert_eq!(after[ALL[2]], before[ALL[2]], "new keys would make every pin a forgery");
    });
}
