//! The order of writes: an object exists before it is named, and is deleted after nothing names it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod cluster_objects;

use canary_release::delivery::deployed_config;
use canary_release::manifest::ReleaseInstance;
use canary_release::object::Stage;
use canary_release::plan::{Action, ChangeReason, install, plan_config_update, prune, removal};
use canary_release::record::Record;
use canary_release::routing::RouteTargets;
use canary_release::state::ReleaseState;
use cluster_objects::{applied, kept, objects, release, stages};
use serde_json::json;
use std::collections::BTreeMap;

fn targets() -> RouteTargets {
    let release = release();
    Record::first(&release, ReleaseState::first(&release, "uid".to_owned())).route_targets("shop/shop")
}

#[test]
fn what_comes_is_there_before_it_is_named() {
    let release = release();
    let mut desired = objects(ReleaseInstance::first(&release, 1));
    desired.reverse();
    let plan = install(&targets(), &desired, &BTreeMap::new(), &[]).unwrap();
    let expected =
        [Stage::Configuration, Stage::Runtime, Stage::Filter, Stage::Subsets, Stage::Routes, Stage::Routes];
    assert_eq!(
        stages(&plan),
        expected.map(|stage| (stage, Action::Create)),
        "nothing leads where nothing guards"
    );

    let mut guarded = applied(&desired);
    let is_static = |stage: Stage| matches!(stage, Stage::Runtime | Stage::Filter);
    guarded.retain(|reference, _| desired.iter().any(|o| o.reference == *reference && is_static(o.stage)));
    let plan = install(&targets(), &desired, &guarded, &[]).unwrap();
    let expected = [Stage::Subsets, Stage::Routes, Stage::Routes, Stage::Configuration];
    assert_eq!(stages(&plan), expected.map(|stage| (stage, Action::Create)));
}

#[test]
fn what_brings_wasm_to_running_proxies_is_known_and_a_weight_is_not_among_it() {
    let release = release();
    let desired = objects(ReleaseInstance::first(&release, 1));
    let first = install(&targets(), &desired, &BTreeMap::new(), &[]).unwrap();
    assert!(first.brings_wasm(), "the first installation");
    for stage in [Stage::Configuration, Stage::Runtime, Stage::Filter] {
        let mut observed = applied(&desired);
        observed.retain(|reference, _| {
            desired.iter().any(|object| object.reference == *reference && object.stage != stage)
        });
        let repair = install(&targets(), &desired, &observed, &kept(&desired)).unwrap();
        assert!(repair.brings_wasm(), "{stage:?} was deleted");
    }
    let later = objects(ReleaseInstance::first(&release, 2));
    let weight = install(&targets(), &later, &applied(&desired), &kept(&desired)).unwrap();
    assert!(!weight.is_empty() && !weight.brings_wasm(), "another generation: {weight:?}");
    let removed = removal(&targets(), &applied(&desired), &kept(&desired)).unwrap();
    assert!(!removed.brings_wasm(), "uninstall");
}

#[test]
fn objects_that_are_no_longer_desired_are_deleted_after_everything_else() {
    let release = release();
    let before = objects(ReleaseInstance::first(&release, 1));
    // As if a gateway had been taken out of the file.
    let is_proxys = |stage: Stage| matches!(stage, Stage::Configuration | Stage::Runtime | Stage::Filter);
    let mut desired = objects(ReleaseInstance::first(&release, 2));
    desired.retain(|object| !is_proxys(object.stage));
    let rule = desired.iter_mut().find(|object| object.stage == Stage::Subsets).unwrap();
    rule.body["spec"]["subsets"][0]["labels"]["version"] = json!("v9");
    let plan = install(&targets(), &desired, &applied(&before), &kept(&before)).unwrap();
    let expected = [
        (Stage::Subsets, Action::Update),
        (Stage::Filter, Action::Delete),
        (Stage::Runtime, Action::Delete),
        (Stage::Configuration, Action::Delete),
    ];
    assert_eq!(stages(&plan), expected);
    let unowned = install(&targets(), &desired, &applied(&before), &[]).unwrap();
    assert_eq!(stages(&unowned), [(Stage::Subsets, Action::Update)], "objects that we have not written stay");
}

#[test]
fn where_nothing_differs_there_is_no_plan() {
    let release = release();
    let desired = objects(ReleaseInstance::first(&release, 1));
    let plan = install(&targets(), &desired, &applied(&desired), &kept(&desired)).unwrap();
    assert_eq!(plan.changes, []);
}

#[test]
fn what_goes_is_not_named_any_more() {
    let release = release();
    let objects = objects(ReleaseInstance::first(&release, 1));
    let plan = removal(&targets(), &applied(&objects), &kept(&objects)).unwrap();
    let expected =
        [Stage::Routes, Stage::Routes, Stage::Filter, Stage::Runtime, Stage::Configuration, Stage::Subsets];
    assert_eq!(stages(&plan), expected.map(|stage| (stage, Action::Delete)));
}

#[test]
fn an_object_with_another_owner_is_not_deleted() {
    let release = release();
    let objects = objects(ReleaseInstance::first(&release, 1));
    let mut observed = applied(&objects);
    let rule = &objects.iter().find(|object| object.stage == Stage::Subsets).unwrap().reference;
    observed.get_mut(rule).unwrap()["metadata"]["managedFields"][0]["manager"] = json!("helm");
    let plan = removal(&targets(), &observed, &kept(&objects)).unwrap();
    assert_eq!(plan.changes.iter().find(|change| change.object == *rule), None);
    assert_eq!(plan.changes.len(), 5);
}

#[test]
fn a_weight_changes_the_configuration_alone_and_one_object() {
    let release = release();
    let objects = objects(ReleaseInstance::first(&release, 1));
    let first = ReleaseState::first(&release, "uid".to_owned());
    let state = ReleaseState { generation: 2, weight: "20".parse().unwrap(), ..first };
    let mut record = Record::first(&release, state.clone());
    (record.state, record.objects) = (state.clone(), kept(&objects));
    let plan = plan_config_update("shop/shop", &record, &applied(&objects)).unwrap();
    assert_eq!(stages(&plan), [(Stage::Configuration, Action::Update)]);
    let paths: Vec<_> =
        plan.changes[0].fields.iter().map(|field| field.path.rsplit('.').next().unwrap()).collect();
    assert_eq!(paths, ["generation", "uid", "weight"]);
    assert_eq!(plan.changes[0].seen.as_deref(), Some("7"));
    let config = deployed_config(&plan.changes[0].body).unwrap().unwrap();
    assert_eq!(config.releases["shop/shop"].weight, state.weight);
}

#[test]
fn a_release_leaves_the_configuration_of_another_alone() {
    let release = release();
    let objects = objects(ReleaseInstance::first(&release, 1));
    let mut observed = applied(&objects);
    let config = objects.iter().find(|object| object.stage == Stage::Configuration).unwrap();
    let mut held = deployed_config(&config.body).unwrap().unwrap();
    held.releases.insert("other/blog".to_owned(), held.releases["shop/shop"].clone());
    let body = canary_release::delivery::with_deployed_config(&observed[&config.reference], &held).unwrap();
    observed.insert(config.reference.clone(), body);
    let plan = removal(&targets(), &observed, &kept(&objects)).unwrap();
    let expected = [
        (Stage::Configuration, Action::Update),
        (Stage::Routes, Action::Delete),
        (Stage::Routes, Action::Delete),
        (Stage::Subsets, Action::Delete),
    ];
    assert_eq!(stages(&plan), expected);
    let left = deployed_config(&plan.changes[0].body).unwrap().unwrap();
    assert_eq!(left.releases.keys().collect::<Vec<_>>(), ["other/blog"]);
}

#[test]
fn a_hand_in_our_fields_is_a_repair_that_names_whose_hand() {
    let release = release();
    let desired = objects(ReleaseInstance::first(&release, 1));
    let mut observed = applied(&desired);
    let rule = &desired.iter().find(|object| object.stage == Stage::Subsets).unwrap().reference;
    let body = observed.get_mut(rule).unwrap();
    body["spec"]["host"] = json!("elsewhere");
    body["metadata"]["managedFields"] = json!([
        {"manager": "canary-ctl", "fieldsV1": {"f:metadata": {"f:labels": {}}, "f:spec": {"f:subsets": {}}}},
        {"manager": "kubectl-edit", "fieldsV1": {"f:spec": {"f:host": {}}}},
    ]);
    let plan = install(&targets(), &desired, &observed, &kept(&desired)).unwrap();
    let [change] = plan.changes.as_slice() else { panic!("{plan:?}") };
    assert_eq!(change.why, ChangeReason::Repair { by: vec!["kubectl-edit".to_owned()] });
    assert_eq!(change.fields[0].path, "spec.host");
}

#[test]
fn a_version_that_left_loses_its_route_before_its_subset() {
    let release = release();
    let mut wide = ReleaseInstance::first(&release, 2);
    wide.leaving = vec!["v0".to_owned()];
    let observed = applied(&objects(wide));
    let plan = prune(&objects(ReleaseInstance::first(&release, 2)), &observed);
    let expected = [Stage::Routes, Stage::Routes, Stage::Subsets];
    assert_eq!(stages(&plan), expected.map(|stage| (stage, Action::Update)));
}
