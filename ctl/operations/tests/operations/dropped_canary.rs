//! A rollback of versions that only drain: it ends their sessions where that is asked for, whatever has begun the drain.

use assignment::contract::Role;
use canary_operations::{Cluster, Error, RollbackOptions, WaitOptions};
use canary_release::record::{self, Record};
use canary_release::{plan, spec::Seconds};
use fake_api_server::FakeApi;
use fake_api_server::fixture::{SHOP, apply, pod, promote, release, run, set_weight, shop};
use serde_json::json;
use std::time::Duration;

/// The beginning of a drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begun {
    /// The file dropped its canary.
    Dropped,
    /// The same, while the version before a promotion drains.
    DroppedAfterPromotion,
    /// The canary was rolled back with a drain time.
    RolledBack,
}

async fn roll_back(cluster: &Cluster, now: bool, drain: Option<Seconds>) -> Result<Record, Error> {
    let name = release(&json!({})).name;
    let stored = cluster.get_record(&name).await?;
    let options = RollbackOptions { now, drain, skipped: &[] };
    let checked = cluster.check_rollback(&name, stored, options).await?;
    let mut waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} };
    Ok(Box::pin(cluster.roll_back(checked, &mut waiting)).await?.stored.record)
}

async fn draining(begun: Begun) -> FakeApi {
    let api = shop();
    let cluster = api.cluster().await;
    apply(&cluster, &release(&json!({}))).await.unwrap();
    set_weight(&cluster, &release(&json!({})), "20").await.unwrap();
    match begun {
        Begun::Dropped => {}
        Begun::RolledBack => drop(roll_back(&cluster, false, Some(Seconds::DAY)).await.unwrap()),
        Begun::DroppedAfterPromotion => {
            promote(&cluster, &release(&json!({}))).await.unwrap();
            api.state().create(&pod(SHOP, "shop-v3", &json!({"app": "shop", "version": "v3"})));
            let next = release(&json!({"versions": {"stable": "v2", "canary": "v3"}}));
            apply(&cluster, &next).await.unwrap();
        }
    }
    let stable = if begun == Begun::DroppedAfterPromotion { "v2" } else { "v1" };
    if begun != Begun::RolledBack {
        apply(&cluster, &release(&json!({"versions": {"stable": stable}}))).await.unwrap();
    }
    api
}

#[test]
fn a_rollback_ends_every_drain_where_it_is_asked_to_and_says_so_where_it_is_not() {
    run(async {
        for (begun, versions) in [
            (Begun::Dropped, vec!["v2"]),
            (Begun::DroppedAfterPromotion, vec!["v1", "v3"]),
            (Begun::RolledBack, vec!["v2"]),
        ] {
            let api = draining(begun).await;
            let cluster = api.cluster().await;
            match roll_back(&cluster, false, None).await {
                Ok(record) => assert_eq!(
                    (begun, record.draining_versions()),
                    (Begun::RolledBack, vec!["v2".to_owned()])
                ),
                Err(Error::Plan(plan::Error::Record(record::Error::NoCanary { draining, .. }))) => {
                    assert_eq!(draining, versions, "{begun:?}");
                }
                Err(error) => panic!("{begun:?}: {error}"),
            }
            if begun == Begun::RolledBack {
                let record = roll_back(&cluster, false, Some(Seconds::DAY)).await.unwrap();
                assert_eq!(record.draining_versions(), versions, "another drain time keeps the sessions");
            }
            for call in 1..=2 {
                let record = roll_back(&cluster, true, None).await.unwrap();
                let live: Vec<Role> = record.state.versions.iter().map(|version| version.role).collect();
                assert_eq!(live, [Role::Stable], "{begun:?}, call {call}");
                assert!(
                    versions.iter().all(|version| record.state.has_gone(version)),
                    "{begun:?}, call {call}"
                );
                assert_eq!(record.leaving, Vec::<String>::new(), "{begun:?}, call {call}");
            }
            let state = api.state();
            let rules = state.store.of_kind("DestinationRule");
            let subsets: Vec<_> = rules.map(|rule| rule["spec"]["subsets"].clone()).collect();
            assert_eq!(subsets[0].as_array().unwrap().len(), 1, "{begun:?}: {subsets:?}");
        }
    });
}
