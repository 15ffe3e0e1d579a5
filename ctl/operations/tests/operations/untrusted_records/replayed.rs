//! Genuine records of another time, place or key, and records of namespaces that have not sealed them.

use super::{comparable, deployed, elsewhere, put_back, roll_back};
use canary_operations::{Error, WaitOptions, config_objects};
use canary_release::preflight::PreflightCheck;
use canary_release::record::{RecordFault, RecordTrust};
use fake_api_server::FakeApi;
use fake_api_server::fixture::{INGRESS, apply, forge_record, run, set_weight, weight};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// Prepared by an attacker: the ConfigMap after it has been changed, and what it is refused for.
type Replay = (&'static str, fn(&FakeApi, &Value), fn(&RecordFault) -> bool);

fn replays() -> [Replay; 5] {
    [
        ("of yesterday", put_back, |fault| matches!(fault, RecordFault::Outdated { .. })),
        (
            "of another release",
            |api, _| {
                let blog = api.state().store.find("ConfigMap", "blog-canary").unwrap().clone();
                put_back(api, &blog);
            },
            |fault| matches!(fault, RecordFault::Malformed(_) | RecordFault::ForeignSeal { .. }),
        ),
        (
            "in another object",
            |api, _| {
                let mut copy = api.state().store.find("ConfigMap", "shop-canary").unwrap().clone();
                api.state().store.remove("ConfigMap", "shop-canary");
                copy["metadata"] = json!({"name": "shop-canary", "namespace": "shop"});
                api.state().create(&copy);
            },
            |fault| matches!(fault, RecordFault::ForeignSeal { .. }),
        ),
        (
            "without seals",
            |api, _| {
                api.state().store.edit("ConfigMap", "shop-canary", |object| {
                    object["data"].as_object_mut().unwrap().remove("seals.json");
                });
            },
            |fault| matches!(fault, RecordFault::Unsealed { .. }),
        ),
        (
            "whose keys were deleted",
            |api, _| api.state().store.remove("Secret", "canary-ctl-record-keys"),
            |fault| matches!(fault, RecordFault::NoKeys { .. }),
        ),
    ]
}

#[test]
fn a_genuine_record_of_another_time_place_or_key_is_refused() {
    run(async {
        for (what, replay, is_fault) in replays() {
            let (api, cluster, release) = deployed().await;
            let yesterday = api.state().store.find("ConfigMap", "shop-canary").unwrap().clone();
            set_weight(&cluster, &release, "20").await.unwrap();
            replay(&api, &yesterday);
            let before = comparable(&elsewhere(&api));
            let refused = set_weight(&cluster, &release, "30").await.unwrap_err();
            assert_eq!(comparable(&elsewhere(&api)), before, "a record {what}");
            let Error::Untrusted { fault, .. } = refused else { panic!("a record {what}: {refused:?}") };
            assert!(is_fault(&fault), "a record {what}: {fault:?}");

            let stored = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap();
            assert_eq!(stored.trust(), &RecordTrust::Refused(fault), "a record {what}");
            assert_eq!(stored.record.state.weight, weight("20"), "read back from the objects");
            cluster.rebuild_record(&release.name, stored).await.unwrap();
            set_weight(&cluster, &release, "30").await.unwrap();
        }
    });
}

#[test]
fn another_namespace_that_claims_the_release_is_not_believed() {
    run(async {
        let (api, cluster, release) = deployed().await;
        let mut copy = api.state().store.find("EnvoyFilter", "canary-gateway-config").unwrap().clone();
        copy["metadata"] = json!({"name": "canary-gateway-config", "namespace": "evil"});
        let text = copy.to_string().replace("\\\"weight\\\":1000", "\\\"weight\\\":10000");
        assert_ne!(text, copy.to_string(), "the copy has another weight");
        api.state().create(&serde_json::from_str(&text).unwrap());
        api.state().store.remove("ConfigMap", "shop-canary");
        let refused = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap_err();
        assert!(matches!(refused, Error::Recover(_)), "{refused:?}");
        assert!(refused.to_string().contains("`evil`"), "{refused}");
        let of_file = config_objects(&release).unwrap();
        let stored = cluster.get_or_recover_record(&release.name, &of_file).await.unwrap();
        assert_eq!(stored.record.state.weight, weight("10"), "the file names the gateway's namespace alone");
        assert!(
            stored.record.objects.iter().all(|(_, object)| object.namespace != "evil"),
            "{:?}",
            stored.record.objects
        );
    });
}

#[test]
fn keys_of_records_rotate_and_what_a_retired_key_has_sealed_is_refused() {
    run(async {
        let (api, cluster, release) = deployed().await;
        let old = api.state().store.find("ConfigMap", "shop-canary").unwrap().clone();
        fake_api_server::fixture::rotate(&cluster, &release).await.unwrap();
        let blog = "shop/blog".parse().unwrap();
        cluster.get_record(&release.name).await.unwrap();
        cluster.get_record(&blog).await.unwrap();
        let seals = |name: &str| {
            api.state().store.find("ConfigMap", name).unwrap()["data"]["seals.json"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        for name in ["shop-canary", "blog-canary"] {
            assert!(seals(name).contains("\"r2\""), "{name}: {}", seals(name));
        }
        let waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} };
        let skipped = &[PreflightCheck::MovesUsers, PreflightCheck::NoReadyPods];
        let options = canary_operations::RotateOptions { waiting, skipped };
        Box::pin(cluster.retire_keys(&release, options)).await.unwrap();
        cluster.get_record(&blog).await.unwrap();
        put_back(&api, &old);
        let refused = cluster.get_record(&release.name).await.unwrap_err();
        assert!(
            matches!(refused, Error::Untrusted { fault: RecordFault::ForeignSeal { .. }, .. }),
            "{refused:?}"
        );
    });
}

/// The keys of the release's own namespace seal a record that names its own sidecars alone.
fn seal_in_shop(api: &FakeApi) {
    let mut keys = api.state().store.find("Secret", "canary-ctl-record-keys").unwrap().clone();
    keys["metadata"] = json!({"name": "canary-ctl-record-keys", "namespace": "shop"});
    api.state().create(&keys);
    forge_record(api, |record| {
        record["proxies"] = json!([{"namespace": "shop", "labels": {"app": "shop"}}]);
        record["objects"].as_array_mut().unwrap().retain(|object| object[1]["namespace"] == "shop");
        record["state"]["weight"] = json!(10_000);
    });
    fake_api_server::fixture::seal_record(api);
}

#[test]
fn a_record_that_the_gateways_namespace_has_not_sealed_decides_nothing_there() {
    run(async {
        let (api, cluster, release) = deployed().await;
        let before = comparable(&elsewhere(&api));
        seal_in_shop(&api);
        let refused = apply(&cluster, &release).await.unwrap_err();
        let is_unsealed = matches!(&refused, Error::Untrusted { fault: RecordFault::Unsealed { namespace }, .. } if namespace == INGRESS);
        assert!(is_unsealed, "{refused:?}");
        assert_eq!(comparable(&elsewhere(&api)), before);
        let stored =
            cluster.get_or_recover_record(&release.name, &config_objects(&release).unwrap()).await.unwrap();
        assert_eq!(stored.record.state.weight, weight("10"), "what the gateway's namespace says");
        let after = roll_back(&cluster, &release, stored).await.unwrap();
        assert_eq!(after.record.state.versions.len(), 1, "{:?}", after.record.state);
        assert_ne!(comparable(&elsewhere(&api)), before, "the gateway has the rollback");
    });
}
