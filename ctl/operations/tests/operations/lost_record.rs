//! A record that was deleted is read back from the objects.

use assignment::contract::Role;
use canary_operations::{
    Cluster, Error, LastAlerts, RollbackOptions, StoredRecord, UninstallOptions, WaitOptions, WeightRequest,
};
use canary_release::delivery::module_backup;
use canary_release::object::Stage;
use canary_release::preflight::PreflightCheck;
use canary_release::record::{Operation, Record};
use canary_release::spec::Release;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{
    apply, promote, release, release_beside_http_routes, run, set_weight, shop, shop_with_grpc_route,
    shop_with_virtual_service, weight, with_bytes,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

fn delete_record(api: &FakeApi) {
    api.state().store.remove("ConfigMap", "shop-canary");
}

async fn recovered(cluster: &Cluster, release: &Release) -> StoredRecord {
    let stored = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap();
    assert!(!stored.is_there(), "expected a record that is read back");
    stored
}

/// What an operation depends on. How many pods of stable served all users no object says.
fn essence(record: &Record) -> Record {
    let mut record = record.clone();
    record.history = serde_json::from_value(json!([])).unwrap();
    record.role_change = None;
    record.stable_pods = None;
    record
}

#[test]
fn what_is_read_back_is_what_the_record_said() {
    run(async {
        for routes in ["managed", "inject", "gateway-api"] {
            let (api, release) = match routes {
                "inject" => (shop_with_virtual_service(), release(&json!({"routes": routes, "maxStep": 50}))),
                "gateway-api" => {
                    (shop_with_grpc_route(), release_beside_http_routes(&json!({"maxStep": 50})))
                }
                _ => (shop(), release(&json!({"routes": routes, "maxStep": 50}))),
            };
            let cluster = api.cluster().await;
            let applied =
                fake_api_server::fixture::apply_skipping(&cluster, &release, &[PreflightCheck::MovesUsers])
                    .await;
            applied.unwrap();
            set_weight(&cluster, &release, "20").await.unwrap();
            let before = cluster.get_record(&release.name).await.unwrap().record;
            delete_record(&api);
            let after = recovered(&cluster, &release).await.record;
            let mut expected = essence(&before);
            let mut found = essence(&after);
            for record in [&mut expected, &mut found] {
                record.objects.sort();
            }
            assert_eq!(found, expected, "routes: {routes}");
            assert_eq!(after.history.last().map(|entry| entry.operation.clone()), Some(Operation::Recover));
        }
    });
}

#[test]
fn the_backup_of_an_embedded_module_belongs_to_the_record_that_is_read_back() {
    run(async {
        let (old, new) = (with_bytes(b"\0asm old"), with_bytes(b"\0asm new"));
        let api = shop();
        apply(&api.cluster().await, &old).await.unwrap();
        let backup = module_backup(&old.name);
        let exists = |api: &FakeApi| api.state().store.find("ConfigMap", &backup.name).is_some();
        for writes in 1..20 {
            let ended = api.killed_after(writes, async |process| apply(process, &new).await).await;
            assert!(ended.is_none(), "the rollout ended before its backup was seen");
            if exists(&api) {
                break;
            }
        }
        delete_record(&api);
        let record = recovered(&api.cluster().await, &old).await.record;
        let owned: Vec<_> =
            record.objects.iter().filter(|(stage, _)| *stage == Stage::ModuleBackup).collect();
        assert_eq!(owned, [&(Stage::ModuleBackup, backup.clone())]);
        apply(&api.cluster().await, &new).await.unwrap();
        assert!(!exists(&api), "the next apply prunes it");
    });
}

#[test]
fn a_release_without_record_is_stopped_rolled_back_and_uninstalled() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "10").await.unwrap();

        delete_record(&api);
        let request =
            WeightRequest { weight: weight("0"), expires_in: None, expected_generation: None, skipped: &[] };
        let stored = recovered(&cluster, &release).await;
        let checked = cluster.check_weight(&release.name, stored, request).await.unwrap();
        cluster.set_weight(checked).await.unwrap();
        let record = cluster.get_record(&release.name).await.unwrap().record;
        assert_eq!((record.state.weight.to_string(), record.state.generation), ("0%".to_owned(), 3));

        delete_record(&api);
        let stored = recovered(&cluster, &release).await;
        let checked =
            cluster.check_rollback(&release.name, stored, RollbackOptions::default()).await.unwrap();
        let mut waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} };
        Box::pin(cluster.roll_back(checked, &mut waiting)).await.unwrap();

        delete_record(&api);
        let stored = recovered(&cluster, &release).await;
        let skipped = [PreflightCheck::MovesUsers];
        let options = UninstallOptions { skipped: &skipped, waiting, alerts: LastAlerts::default() };
        Box::pin(cluster.uninstall(&release.name, stored, options)).await.unwrap();
        let kinds = ["EnvoyFilter", "VirtualService", "DestinationRule", "ConfigMap"];
        assert_eq!(api.state().store.names(&kinds), [""; 0]);
    });
}

#[test]
fn an_apply_without_record_keeps_weight_generation_and_epochs() {
    run(async {
        let (api, first) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &first).await.unwrap();
        fake_api_server::fixture::roll_back(&cluster, &first).await.unwrap();
        let again = fake_api_server::fixture::apply_rolled_back(&cluster, &first).await.unwrap();
        let epoch = |record: &Record| {
            let canary = record.state.versions.iter().find(|version| version.role == Role::Canary);
            canary.map(|version| version.epoch)
        };
        assert_eq!(epoch(&again.record), Some(2));
        set_weight(&cluster, &first, "10").await.unwrap();
        let before = cluster.get_record(&first.name).await.unwrap().record;
        delete_record(&api);
        let applied = apply(&cluster, &first).await.unwrap();
        assert_eq!(
            applied.record.state, before.state,
            "the pins of the build that was rolled back stay invalid"
        );
        let stored = cluster.get_record(&first.name).await.unwrap();
        assert_eq!(stored.record, applied.record, "the record is written again");
    });
}

#[test]
fn a_draining_version_drains_again_from_now() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        promote(&cluster, &release).await.unwrap();
        delete_record(&api);
        let record = recovered(&cluster, &release).await.record;
        assert!(record.draining.contains_key("v1"), "{:?}", record.draining);
    });
}

#[test]
fn a_release_that_was_never_there_is_unknown() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let found = api.cluster().await.get_or_recover_record(&release.name, &BTreeSet::new()).await;
        assert!(matches!(found, Err(Error::Unknown { .. })), "{found:?}");
    });
}
