//! A record that an operator accepts: of an earlier version, or of another cluster.

use super::{FORGERIES, deployed, elsewhere};
use canary_operations::Error;
use fake_api_server::fixture::{apply, edit_record, forge_record, record_in, run, set_weight};
use serde_json::json;

#[test]
fn a_record_of_an_earlier_version_is_accepted_with_its_history_and_its_pause() {
    run(async {
        let (api, cluster, release) = deployed().await;
        edit_record(&api, |record| {
            record["paused"] = json!({"by": "admin", "at": "2026-01-01T00:00:00Z", "reason": "the p99"});
        });
        api.state().store.edit("ConfigMap", "shop-canary", |object| {
            object["data"].as_object_mut().unwrap().remove("seals.json");
        });
        api.state().store.remove("Secret", "canary-ctl-record-keys");
        let refused = apply(&cluster, &release).await.unwrap_err();
        assert!(matches!(refused, Error::Untrusted { .. }), "{refused:?}");
        let before = elsewhere(&api);
        let accepted = cluster.accept_record(&release).await.unwrap();
        let accepted = cluster.rebuild_record(&release.name, accepted).await.unwrap();
        assert_eq!(
            accepted.record.paused.as_ref().and_then(|pause| pause.reason.clone()),
            Some("the p99".to_owned())
        );
        assert!(accepted.record.history.entries().len() > 2, "{:?}", accepted.record.history);
        let mut after = elsewhere(&api);
        after.retain(|name, _| !name.contains("record-keys"));
        assert_eq!(after, before, "no proxy sees it");
        set_weight(&cluster, &release, "20").await.unwrap();
    });
}

#[test]
fn an_accepted_record_brings_neither_modules_nor_objects_nor_a_rollout() {
    run(async {
        for (field, forge) in FORGERIES {
            let (api, cluster, release) = deployed().await;
            let honest = record_in(api.state().store.find("ConfigMap", "shop-canary").unwrap());
            forge_record(&api, forge);
            let Ok(accepted) = cluster.accept_record(&release).await else { continue };
            let accepted = serde_json::to_value(&accepted.record).unwrap();
            for kept in ["objects", "moduleRollout", "rollout", "proxies", "service", "train"] {
                assert_eq!(accepted[kept], honest[kept], "{kept} with a forged {field}");
            }
            for kept in ["uid", "weight", "versions", "generation"] {
                assert_eq!(accepted["state"][kept], honest["state"][kept], "{kept} with a forged {field}");
            }
        }
    });
}
