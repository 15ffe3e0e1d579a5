//! What the API server refuses is not half done: the record stays as it was, or the error says what it says now.

use canary_operations::Error;
use fake_api_server::fixture::{apply, promote, release, roll_back, run, set_weight, shop, uninstall};
use serde_json::Value;

const DENIED: &str = "EnvoyFilter is not allowed here: ask the platform team";

#[test]
fn a_refused_write_leaves_the_record_as_it_was_and_no_later_call_carries_it_out() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "10").await.unwrap();
        let record = async || cluster.get_record(&release.name).await.unwrap().record;
        let before = record().await;
        api.deny("/envoyfilters/", DENIED);
        for (operation, refused) in [
            ("weight", set_weight(&cluster, &release, "20").await),
            ("promote", promote(&cluster, &release).await.map(drop)),
            ("rollback", roll_back(&cluster, &release).await.map(drop)),
            ("uninstall", uninstall(&cluster, &release).await),
        ] {
            let message = refused.unwrap_err().to_string();
            assert!(message.contains(DENIED), "{operation}: {message}");
            assert_eq!(record().await, before, "the record after a refused {operation}");
        }
        api.allow();
        let applied = apply(&cluster, &release).await.unwrap();
        assert_eq!(applied.record.state.weight.to_string(), "10%", "nothing refused is carried out later");
    });
}

#[test]
fn a_refusal_after_the_dry_run_says_what_the_record_says_now() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        api.deny_after_dry_run("/envoyfilters/", DENIED);
        let refused = set_weight(&cluster, &release, "20").await;
        assert!(matches!(refused, Err(Error::RecordAhead { .. })), "{refused:?}");
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("admin: weight 0% -> 20% (generation 2)"), "{message}");
    });
}

#[test]
fn a_dry_run_of_the_server_validates_objects_and_record_and_writes_neither() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let stored = cluster.get_record(&release.name).await.unwrap();
        let generation = stored.record.state.generation;
        let mut wanted = stored.clone();
        wanted.record.state.weight = "20".parse().unwrap();
        wanted.record.state.generation += 1;
        cluster.dry_run_update(&release.name, &wanted).await.unwrap();
        for path in ["/envoyfilters/", "/configmaps/shop-canary"] {
            api.deny(path, DENIED);
            let refused = cluster.dry_run_update(&release.name, &wanted).await;
            assert!(
                matches!(refused, Err(Error::Refused { .. } | Error::Forbidden { .. })),
                "{path}: {refused:?}"
            );
            api.allow();
        }
        let paused = cluster.preview_pause(&release.name, stored, None, &[]).unwrap();
        cluster.dry_run_record(&release.name, &paused).await.unwrap();
        let now = cluster.get_record(&release.name).await.unwrap().record;
        assert_eq!((now.state.generation, now.paused.is_none()), (generation, true));
    });
}

#[test]
fn a_webhook_that_supports_no_dry_runs_keeps_nothing_from_being_written() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        api.deny_dry_runs("admission webhook \"audit.example.com\" does not support dry run");
        set_weight(&cluster, &release, "20").await.unwrap();
        let record = cluster.get_record(&release.name).await.unwrap().record;
        assert_eq!(record.state.weight.to_string(), "20%");
    });
}
