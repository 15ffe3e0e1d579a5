//! What is asked of all releases of a train before the first write, and again of each before its own.

use crate::train_roles::{TRAIN, called, finish_train, kept, promote_train, roll_train_back, steps, train};
use assignment::contract::Role;
use canary_operations::{Cluster, Error, PromoteOptions, RollbackOptions, TrainChanged, WaitOptions};
use canary_release::train::TrainError;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{apply, promote, release, run, set_weight, shop};
use serde_json::json;
use std::time::Duration;

/// Longer than istiod needs where it is there.
const MOMENTS: Duration = Duration::from_millis(300);
const POLICY: &str = "the platform says no";
/// The configuration of the front end, in the namespace of its gateway.
const FRONT_END: &str = "/namespaces/ingress/envoyfilters";
/// That of the API, in the namespace of the sidecars that call it.
const CALLED: &str = "/namespaces/shop/envoyfilters";

#[test]
fn a_train_of_which_the_api_server_refuses_the_last_write_is_left_as_it_is() {
    run(async {
        let (api, cluster, _) = train().await;
        let before = kept(&api);
        api.deny(FRONT_END, POLICY);
        let refused = promote_train(&cluster).await.unwrap_err().to_string();
        assert!(refused.starts_with("shop/shop: ") && refused.contains(POLICY), "{refused}");
        assert_eq!(kept(&api), before, "promoted");
        api.allow();
        api.deny(CALLED, POLICY);
        let refused = roll_train_back(&cluster).await.unwrap_err().to_string();
        assert!(refused.starts_with("shop/api: ") && refused.contains(POLICY), "{refused}");
        assert_eq!(kept(&api), before, "rolled back");
    });
}

#[test]
fn a_train_of_which_the_last_release_has_silent_proxies_is_left_as_it_is() {
    run(async {
        let (api, cluster, _) = train().await;
        let before = kept(&api);
        api.state().proxies.silence_pods(["gateway-1".to_owned()]);
        let refused = promote_train(&cluster).await.unwrap_err().to_string();
        assert!(refused.starts_with("shop/shop: "), "{refused}");
        assert_eq!(kept(&api), before, "promoted");
        api.state().proxies.silence_pods([]);
        promote_train(&cluster).await.unwrap();
        let before = kept(&api);
        api.state().proxies.silence_pods(["v1", "v2"].map(|version| format!("shop-{version}")));
        let refused = finish_train(&cluster).await.unwrap_err().to_string();
        assert!(refused.starts_with("shop/api: "), "{refused}");
        assert_eq!(kept(&api), before, "finished");
    });
}

#[test]
fn a_train_waits_for_the_weight_of_its_last_release_before_the_first_is_promoted() {
    run(async {
        let (api, cluster, [_, web]) = train().await;
        api.state().proxies.stop_istiod();
        set_weight(&cluster, &web, "20").await.unwrap();
        let before = kept(&api);
        let late = promote_within_moments(&cluster).await.unwrap_err();
        assert!(late.to_string().starts_with("shop/shop: "), "{late}");
        assert_eq!(kept(&api), before);
    });
}

#[test]
fn a_promotion_that_proxies_have_not_yet_holds_that_of_the_caller_at_the_next_call_too() {
    run(async {
        let (api, cluster, _) = train().await;
        api.before_write(|state, line| {
            if line.contains("configmaps/api-canary") {
                state.proxies.stop_istiod();
            }
        });
        for call in ["first", "second"] {
            let late = promote_within_moments(&cluster).await.unwrap_err();
            assert!(late.to_string().starts_with("shop/api: "), "{call}: {late}");
        }
        let found = cluster.train(TRAIN, &[]).await.unwrap();
        let stable = found.releases.iter().map(|found| found.stored.record.state.version_of(Role::Stable));
        assert_eq!(stable.collect::<Vec<_>>(), [Some("v2"), Some("v1")]);
    });
}

#[test]
fn a_rollback_stops_where_proxies_have_not_the_step_before_and_says_what_has_not_begun() {
    run(async {
        let (api, cluster, _) = train().await;
        promote_train(&cluster).await.unwrap();
        api.state().proxies.stop_istiod();
        let train = cluster.train(TRAIN, &[]).await.unwrap();
        let checked = cluster.check_train_rollback(&train, RollbackOptions::default()).await.unwrap();
        let mut waiting = WaitOptions { timeout: MOMENTS, progress: &mut |_, _| {} };
        let changed = Box::pin(cluster.roll_train_back(checked, &mut waiting, &mut |_| {})).await.unwrap();
        assert_eq!(steps(&changed), ["shop/shop: v1"]);
        assert_eq!(changed.not_begun, ["shop/api".parse().unwrap()]);
    });
}

async fn promote_within_moments(cluster: &Cluster) -> Result<TrainChanged, Error> {
    let train = cluster.train(TRAIN, &[]).await?;
    let checked = cluster.check_train_promotion(&train, PromoteOptions::default()).await?;
    let mut waiting = WaitOptions { timeout: MOMENTS, progress: &mut |_, _| {} };
    Box::pin(cluster.promote_train(checked, &mut waiting, &mut |_| {})).await
}

/// Somebody changes a record before another one is written.
fn edit_before(api: &FakeApi, written: &'static str, record: &'static str) {
    let mut is_done = false;
    api.before_write(move |state, line| {
        if line.contains(written) && !std::mem::replace(&mut is_done, true) {
            state.edit_as("somebody", "ConfigMap", record, |map| {
                map["metadata"]["labels"]["seen"] = json!("yes");
            });
        }
    });
}

#[test]
fn a_later_release_of_a_train_is_read_again_when_its_turn_comes() {
    run(async {
        let (api, cluster, _) = train().await;
        edit_before(&api, "configmaps/api-canary", "shop-canary");
        assert_eq!(steps(&promote_train(&cluster).await.unwrap()), ["shop/api: v2", "shop/shop: v2"]);
        edit_before(&api, "configmaps/shop-canary", "api-canary");
        assert_eq!(steps(&roll_train_back(&cluster).await.unwrap()), ["shop/shop: v1", "shop/api: v1"]);

        let (api, cluster, _) = train().await;
        promote_train(&cluster).await.unwrap();
        edit_before(&api, "configmaps/shop-canary", "api-canary");
        assert_eq!(steps(&finish_train(&cluster).await.unwrap()), ["shop/shop: v2", "shop/api: v2"]);
    });
}

#[test]
fn a_train_without_a_canary_has_nothing_to_promote_and_nothing_to_roll_back() {
    run(async {
        let api = shop();
        let cluster = api.cluster().await;
        let alone = json!({"versions": {"stable": "v1"}});
        apply(&cluster, &called(&api, &alone)).await.unwrap();
        apply(&cluster, &release(&json!({"train": TRAIN, "versions": {"stable": "v1"}}))).await.unwrap();
        for refused in [promote_train(&cluster).await, roll_train_back(&cluster).await] {
            assert!(matches!(refused, Err(Error::Train(TrainError::NothingToDo { .. }))), "{refused:?}");
        }
    });
}

/// Who may list no records of other namespaces promotes a front end all the same, and is told what is inside its own.
#[test]
fn with_the_rights_of_its_namespace_alone_a_promotion_by_itself_looks_inside_the_train_too() {
    run(async {
        let (api, cluster, [called, web]) = train().await;
        {
            let mut state = api.state();
            state.access.deny_lists_of_all("configmaps");
            state.access.deny("list", "namespaces");
        }
        let refused = promote(&cluster, &web).await.unwrap_err().to_string();
        assert!(
            refused.starts_with("expected no canary inside train `autumn`, found those of shop/api"),
            "{refused}"
        );
        promote(&cluster, &called).await.unwrap();
        promote(&cluster, &web).await.unwrap();
    });
}

/// Of the train only the releases of one namespace are promoted.
#[test]
fn a_namespace_that_does_not_hold_the_whole_train_is_not_promoted_without_the_rest() {
    run(async {
        let (api, cluster, [called, mut web]) = train().await;
        let mut elsewhere = crate::train_roles::of_another_team(&api);
        elsewhere.sidecars = called.sidecars;
        apply(&cluster, &elsewhere).await.unwrap();
        web.train_namespaces = ["other".parse().unwrap()].into();
        apply(&cluster, &web).await.unwrap();
        let before = kept(&api);
        let part = cluster.train(TRAIN, &["shop".to_owned()]).await.unwrap();
        let refused = cluster.check_train_promotion(&part, PromoteOptions::default()).await.unwrap_err();
        let expected = "shop/shop: expected no canary inside train `autumn`, found those of other/api: the users of the new version of shop/shop \
                        would get the old versions there";
        assert_eq!(refused.to_string(), expected);
        assert_eq!(kept(&api), before);
        assert_eq!(
            steps(&promote_train(&cluster).await.unwrap()),
            ["other/api: v2", "shop/api: v2", "shop/shop: v2"]
        );
    });
}

#[test]
fn a_canary_of_another_teams_train_of_that_name_refuses_no_promotion() {
    run(async {
        let (api, cluster, [called, web]) = train().await;
        apply(&cluster, &crate::train_roles::of_another_team(&api)).await.unwrap();
        promote(&cluster, &called).await.unwrap();
        promote(&cluster, &web).await.unwrap();
    });
}
