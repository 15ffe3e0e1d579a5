//! Emergencies beside records that are forged, written by others, or cannot be written.

use super::forged::Verb;
use super::{deployed, reference, roll_back, set};
use canary_operations::Error;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{edit_record, forge_record, promote, run, set_weight, weight};
use serde_json::json;
use std::collections::BTreeSet;

#[test]
fn a_promotion_is_rolled_back_although_the_record_was_forged() {
    run(async {
        let (api, cluster, release) = deployed().await;
        promote(&cluster, &release).await.unwrap();
        forge_record(&api, |record| record["paused"] = json!({"by": "evil", "at": "2026-01-01T00:00:00Z"}));
        let stored = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap();
        let after = roll_back(&cluster, &release, stored).await.unwrap().record;
        let stable = after.state.version_of(assignment::contract::Role::Stable);
        assert_eq!(stable, Some("v1"), "{:?}", after.state.versions);
    });
}

#[test]
fn an_emergency_takes_effect_while_another_client_writes_the_record_all_the_time() {
    run(async {
        for verb in [Verb::Zero, Verb::Rollback, Verb::Uninstall] {
            let (api, cluster, release) = deployed().await;
            api.before_write(|state, line| {
                if line.contains("configmaps/shop-canary") {
                    state.store.edit_as("attacker", "ConfigMap", "shop-canary", |object| {
                        let count = object["metadata"]["annotations"]["count"].as_str().unwrap_or("").len();
                        object["metadata"]["annotations"]["count"] = json!("x".repeat(count + 1));
                    });
                }
            });
            Box::pin(verb.call(&cluster, &release)).await.unwrap();
            let state = api.state();
            let configs = state.store.of_kind("EnvoyFilter");
            let configs =
                configs.filter_map(|object| canary_release::delivery::deployed_config(object).unwrap());
            for config in configs {
                let entry = config.releases.get("shop/shop");
                let is_stopped = match verb {
                    Verb::Zero => entry.is_some_and(|entry| entry.weight == weight("0")),
                    Verb::Rollback => entry.is_some_and(|entry| entry.versions.len() == 1),
                    _ => entry.is_none(),
                };
                assert!(is_stopped, "{verb:?}: {entry:?}");
            }
        }
    });
}

/// The configuration of sidecars that have left the file, before it was pruned.
fn leave_a_configuration_in_shop(api: &FakeApi) {
    let mut left = api.state().store.find("EnvoyFilter", "canary-gateway-config").unwrap().clone();
    left["metadata"]["namespace"] = json!("shop");
    left["metadata"].as_object_mut().unwrap().remove("uid");
    left["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    api.state().store.create_as("canary-ctl", &left);
    edit_record(api, |record| {
        let mut object = reference("EnvoyFilter", "shop", "canary-gateway-config");
        object["apiVersion"] = json!("networking.istio.io/v1alpha3");
        record["objects"].as_array_mut().unwrap().push(json!(["configuration", object]));
    });
}

#[test]
fn an_emergency_keeps_the_history_where_an_apply_was_killed_before_it_had_pruned() {
    run(async {
        let (api, cluster, release) = deployed().await;
        leave_a_configuration_in_shop(&api);
        let stored = cluster.get_record(&release.name).await.unwrap();
        let before = stored.record.history.entries().len();
        let mut writes = 0;
        api.before_write(move |state, line| {
            if line.contains("configmaps/shop-canary") && writes == 0 {
                writes += 1;
                state.store.edit_as("neighbour", "ConfigMap", "shop-canary", |object| {
                    object["metadata"]["annotations"]["note"] = json!("x");
                });
            }
        });
        let after = roll_back(&cluster, &release, stored).await.unwrap().record;
        assert!(after.history.entries().len() > before, "{:?}", after.history);
    });
}

#[test]
fn an_emergency_takes_effect_where_the_record_cannot_be_written() {
    run(async {
        let (api, cluster, release) = deployed().await;
        api.state().store.edit("ConfigMap", "shop-canary", |object| {
            object["data"]["release.json"] = json!("no record");
        });
        api.deny("configmaps/shop-canary", "a policy of an attacker");
        let stored = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap();
        let after = set(&cluster, &release, stored, "0").await.unwrap();
        let reason = after.unsaved().unwrap_or_default();
        assert!(reason.contains("a policy of an attacker"), "{reason}");
        assert_eq!(
            cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap().record.state.weight,
            weight("0")
        );
    });
}

#[test]
fn an_emergency_takes_effect_where_the_keys_of_records_are_no_keys() {
    run(async {
        let (api, cluster, release) = deployed().await;
        api.state().store.edit("Secret", "canary-ctl-record-keys", |secret| {
            secret["data"]["record-keys.json"] = json!("bm8ga2V5cw==");
        });
        let refused = set_weight(&cluster, &release, "20").await.unwrap_err();
        assert!(matches!(refused, Error::NoKeys { .. }), "{refused:?}");
        let stored = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap();
        let after = set(&cluster, &release, stored, "0").await.unwrap();
        assert!(after.unsaved().is_some(), "there are no keys to seal it with");
        let again = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap();
        assert_eq!(again.record.state.weight, weight("0"));
    });
}
