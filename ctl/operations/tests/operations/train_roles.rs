//! The roles of a whole train: the API before the front end that calls it, back in reverse, and nothing written where one of them refuses.

use crate::trains::inner;
use canary_operations::{
    Cluster, Error, LeftReason, PromoteOptions, RollbackOptions, TrainChange, TrainChanged, WaitOptions,
};
use canary_release::preflight::{CheckFailed, PreflightCheck};
use canary_release::spec::Release;
use canary_release::train::TrainError;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{SHOP, apply, pod, promote, release, roll_back, run, shop};
use serde_json::{Value, json};
use std::time::Duration;

pub(crate) const TRAIN: &str = "autumn";
const TIMEOUT: Duration = Duration::from_secs(5);

/// The API that the pods of the shop call.
pub(crate) fn called(api: &FakeApi, changes: &Value) -> Release {
    let mut spec = json!({"sidecars": [{"namespace": SHOP, "selector": {"app": "shop"}}]});
    for (field, value) in changes.as_object().unwrap() {
        spec[field] = value.clone();
    }
    inner(api, "api", &spec)
}

/// A cluster with the shop and its API, applied, both with a canary.
pub(crate) async fn train() -> (FakeApi, Cluster, [Release; 2]) {
    let api = shop();
    let cluster = api.cluster().await;
    let releases = [called(&api, &json!({})), release(&json!({"train": TRAIN}))];
    for release in &releases {
        apply(&cluster, release).await.unwrap();
    }
    (api, cluster, releases)
}

/// The API of another team, in a namespace of its own, whose train has the same name.
pub(crate) fn of_another_team(api: &FakeApi) -> Release {
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "api", "namespace": "other"},
        "spec": {"selector": {"app": "api"}, "ports": [{"name": "http", "port": 80}]}});
    api.state().create(&service);
    for version in ["v1", "v2"] {
        api.state().create(&pod(
            "other",
            &format!("api-{version}"),
            &json!({"app": "api", "version": version}),
        ));
    }
    let mut release = release(
        &json!({"gateways": [], "sidecars": [{"namespace": "other", "selector": {"app": "api"}}], "train": TRAIN,
        "hosts": ["api.other.svc.cluster.local"], "service": {"name": "api", "port": 80}}),
    );
    release.name = "other/api".parse().unwrap();
    release
}

pub(crate) async fn promote_train(cluster: &Cluster) -> Result<TrainChanged, Error> {
    let train = cluster.train(TRAIN, &[]).await?;
    let checked = cluster.check_train_promotion(&train, PromoteOptions::default()).await?;
    let mut waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
    Box::pin(cluster.promote_train(checked, &mut waiting, &mut |_| {})).await
}

pub(crate) async fn roll_train_back(cluster: &Cluster) -> Result<TrainChanged, Error> {
    let train = cluster.train(TRAIN, &[]).await?;
    let checked = cluster.check_train_rollback(&train, RollbackOptions::default()).await?;
    let mut waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
    Box::pin(cluster.roll_train_back(checked, &mut waiting, &mut |_| {})).await
}

pub(crate) async fn finish_train(cluster: &Cluster) -> Result<TrainChanged, Error> {
    let train = cluster.train(TRAIN, &[]).await?;
    let checked = cluster.check_train_finish(&train, &[PreflightCheck::MovesUsers]).await?;
    let mut waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
    Box::pin(cluster.finish_train(checked, &mut waiting, &mut |_| {})).await
}

/// The steps as text: `shop/api: v2`, or why it was left.
pub(crate) fn steps(changed: &TrainChanged) -> Vec<String> {
    let said = |change: &TrainChange| match change {
        TrainChange::Changed(changed) => stable(&changed.stored.record),
        TrainChange::Left(reason) => reason.to_string(),
    };
    changed.steps.iter().map(|step| format!("{}: {}", step.release, said(&step.change))).collect()
}

fn stable(record: &canary_release::record::Record) -> String {
    record.state.version_of(assignment::contract::Role::Stable).unwrap().to_owned()
}

/// Name, `resourceVersion` and kind of everything that is kept.
pub(crate) fn kept(api: &FakeApi) -> Vec<String> {
    let state = api.state();
    let kinds = ["ConfigMap", "EnvoyFilter", "VirtualService", "DestinationRule"];
    let objects = kinds.iter().flat_map(|kind| state.store.of_kind(kind));
    objects
        .map(|object| format!("{} {}", object["metadata"]["name"], object["metadata"]["resourceVersion"]))
        .collect()
}

#[test]
fn a_train_is_promoted_the_called_release_first_and_finished_and_rolled_back_in_reverse() {
    run(async {
        let (_, cluster, _) = train().await;
        let changed = promote_train(&cluster).await.unwrap();
        assert_eq!(steps(&changed), ["shop/api: v2", "shop/shop: v2"]);
        let again = promote_train(&cluster).await.unwrap();
        assert_eq!(
            steps(&again),
            ["shop/api: `v2` is promoted already", "shop/shop: `v2` is promoted already"]
        );
        let back = roll_train_back(&cluster).await.unwrap();
        assert_eq!(steps(&back), ["shop/shop: v1", "shop/api: v1"]);
        let again = roll_train_back(&cluster).await.unwrap();
        assert_eq!(
            steps(&again),
            ["shop/shop: it is rolled back already", "shop/api: it is rolled back already"]
        );

        let (_, cluster, _) = train().await;
        promote_train(&cluster).await.unwrap();
        let finished = finish_train(&cluster).await.unwrap();
        assert_eq!(steps(&finished), ["shop/shop: v2", "shop/api: v2"]);
        let again = finish_train(&cluster).await.unwrap();
        assert_eq!(
            steps(&again),
            ["shop/shop: no version of it drains", "shop/api: no version of it drains"]
        );
    });
}

#[test]
fn canaries_of_a_train_are_rolled_back_the_caller_first() {
    run(async {
        let (_, cluster, _) = train().await;
        assert_eq!(steps(&roll_train_back(&cluster).await.unwrap()), ["shop/shop: v1", "shop/api: v1"]);
        assert!(
            matches!(promote_train(&cluster).await, Err(Error::Train(TrainError::RolledBack { .. }))),
            "a new caller would call the old version"
        );
    });
}

#[test]
fn what_one_release_refuses_names_it_and_nothing_is_written_for_any() {
    run(async {
        let (api, cluster, releases) = train().await;
        for (name, app) in [("shop/shop", "shop"), ("shop/api", "api")] {
            let removed = format!("{app}-v2");
            api.state().store.remove("Pod", &removed);
            let before = kept(&api);
            let error = promote_train(&cluster).await.unwrap_err();
            assert!(error.to_string().starts_with(&format!("{name}: version `v2` has no pod")), "{error}");
            assert_eq!(kept(&api), before, "{name}");
            api.state().create(&pod(SHOP, &removed, &json!({"app": app, "version": "v2"})));
        }
        // The last release of the order alone: its step is larger than it may be.
        let mut limited = release(&json!({"train": TRAIN, "maxStep": 20}));
        limited.name = releases[1].name.clone();
        apply(&cluster, &limited).await.unwrap();
        let before = kept(&api);
        match promote_train(&cluster).await.unwrap_err() {
            Error::InTrain { release, source } => {
                assert_eq!(release, "shop/shop");
                let is_step =
                    matches!(&*source, Error::Preflight(CheckFailed { check: PreflightCheck::MaxStep, .. }));
                assert!(is_step, "{source}");
            }
            other => panic!("{other}"),
        }
        assert_eq!(kept(&api), before);
        promote(&cluster, &releases[0]).await.unwrap();
        let early = cluster.train(TRAIN, &[]).await.unwrap();
        let refused = cluster.check_train_finish(&early, &[]).await.unwrap_err();
        assert!(refused.to_string().starts_with("shop/api: `v1` drains until"), "{refused}");
    });
}

#[test]
fn a_front_end_is_not_promoted_by_itself_while_what_it_calls_has_a_canary() {
    run(async {
        let (api, cluster, releases) = train().await;
        let [called, web] = &releases;
        let before = kept(&api);
        let refused = promote(&cluster, web).await.unwrap_err();
        let expected = "expected no canary inside train `autumn`, found those of shop/api: the users of the new version of shop/shop would get the \
                        old versions there";
        assert_eq!(refused.to_string(), expected);
        let mut file = release(&json!({"train": TRAIN, "versions": {"stable": "v2"}, "maxStep": 100}));
        file.name = web.name.clone();
        assert_eq!(apply(&cluster, &file).await.unwrap_err().to_string(), expected, "by file");
        assert_eq!(kept(&api), before);
        promote(&cluster, called).await.unwrap();
        promote(&cluster, web).await.unwrap();
    });
}

#[test]
fn two_trains_of_one_name_are_refused_unless_a_namespace_takes_one_of_them() {
    run(async {
        let (api, cluster, _) = train().await;
        apply(&cluster, &of_another_team(&api)).await.unwrap();
        let refused = promote_train(&cluster).await.unwrap_err().to_string();
        assert_eq!(refused, "expected one train `autumn`, found shop/api, shop/shop; other/api");
        let found = cluster.train(TRAIN, &["shop".to_owned()]).await.unwrap();
        let names: Vec<String> = found.releases.iter().map(|release| release.name.to_string()).collect();
        assert_eq!(names, ["shop/api", "shop/shop"]);
    });
}

#[test]
fn releases_that_call_each_other_are_refused_and_named() {
    run(async {
        let (api, cluster, _) = train().await;
        let sidecars = json!([{"namespace": SHOP, "selector": {"app": "api"}}]);
        apply(&cluster, &release(&json!({"train": TRAIN, "sidecars": sidecars}))).await.unwrap();
        let before = kept(&api);
        let error = promote_train(&cluster).await.unwrap_err();
        assert!(error.to_string().ends_with("releases that call each other: shop/api, shop/shop"), "{error}");
        assert_eq!(kept(&api), before);
        let unknown = cluster.train("winter", &[]).await.unwrap_err();
        assert_eq!(unknown.to_string(), "expected releases of train `winter`, found none");
    });
}

#[test]
fn a_promotion_by_itself_is_left_by_the_rollback_of_the_train() {
    run(async {
        let (_, cluster, releases) = train().await;
        promote(&cluster, &releases[0]).await.unwrap();
        let back = roll_train_back(&cluster).await.unwrap();
        let [web, api] = &back.steps[..] else { panic!("{back:?}") };
        assert!(matches!(web.change, TrainChange::Changed(_)), "{web:?}");
        assert!(matches!(&api.change, TrainChange::Left(LeftReason::PromotedApart(_))), "{api:?}");
        roll_back(&cluster, &releases[0]).await.unwrap();
    });
}

#[test]
fn a_release_without_a_canary_is_left_as_it_is() {
    run(async {
        let api = shop();
        let cluster = api.cluster().await;
        let alone = json!({"versions": {"stable": "v1"}});
        apply(&cluster, &called(&api, &alone)).await.unwrap();
        apply(&cluster, &release(&json!({"train": TRAIN}))).await.unwrap();
        let changed = promote_train(&cluster).await.unwrap();
        assert_eq!(steps(&changed), ["shop/api: it has no canary", "shop/shop: v2"]);
    });
}
