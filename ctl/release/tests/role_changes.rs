//! Promotions and rollbacks: the record afterwards, which files it accepts, and which objects change.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod cluster_objects;

use assignment::Weight;
use assignment::contract::{Role, VersionConfig};
use canary_release::manifest::ReleaseInstance;
use canary_release::object::{Reference, Stage};
use canary_release::plan::{self, Action, reroute};
use canary_release::record::{Author, Error, Operation, Record, RoleChangeKind, RollbackTarget, ends_after};
use canary_release::spec::{Release, Seconds};
use canary_release::state::ReleaseState;
use cluster_objects::{applied, kept, objects, release, stages};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// The example with these versions.
fn file(stable: &str, canary: Option<&str>) -> Release {
    let mut release = release();
    stable.clone_into(&mut release.versions.stable);
    release.versions.canary = canary.map(str::to_owned);
    release
}

fn at_a_fifth() -> Record {
    let release = file("v1", Some("v2"));
    let mut record = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
    record.set_weight("20".parse().unwrap(), None, Author::new("ada", Timestamp::now()), Operation::Weight);
    record
}

fn promoted() -> Record {
    let mut record = at_a_fifth();
    record.promote(ends_after(Timestamp::now(), Some(Seconds::DAY)), Author::new("ada", Timestamp::now()));
    record
}

fn rolled_back(mut record: Record, deadline: Option<Timestamp>) -> Record {
    let back = record.to_roll_back().unwrap();
    record.roll_back(&back, deadline, Author::new("ada", Timestamp::now()));
    record
}

fn role(record: &Record, version: &str) -> Option<Role> {
    record.state.versions.iter().find(|live| live.name == version).map(|live| live.role)
}

fn epoch(record: &Record, version: &str) -> u32 {
    record.state.versions.iter().find(|live| live.name == version).unwrap().epoch
}

#[test]
fn a_promotion_lets_the_old_version_drain_until_its_deadline() {
    let record = promoted();
    assert_eq!((role(&record, "v2"), role(&record, "v1")), (Some(Role::Stable), Some(Role::Draining)));
    assert!(!record.is_overdue("v1", Timestamp::now()), "{:?}", record.draining);
    assert!(
        record.is_overdue("v1", ends_after(Timestamp::now(), Some(Seconds::DAY))),
        "{:?}",
        record.draining
    );
    assert_eq!(record.to_promote().unwrap(), None, "done, and nothing to do twice");
}

/// A record of `v1` alone that follows a file with canary `v2` at 20 %.
fn with_a_new_canary() -> Record {
    let stable = file("v1", None);
    let mut record = Record::first(&stable, ReleaseState::first(&stable, "uid".to_owned()));
    let next = Release { weight: "20".parse().unwrap(), ..file("v1", Some("v2")) };
    record.follow(&next, Author::new("ada", Timestamp::now()), |_| true);
    record
}

#[test]
fn a_new_canary_is_at_weight_0_and_gets_the_files_weight_later() {
    let record = with_a_new_canary();
    assert_eq!(record.state.weight, Weight::ZERO);
    assert_eq!(record.initial_weight, Some("20".parse().unwrap()));
}

#[test]
fn an_initial_weight_ends_with_the_next_weight_promotion_or_rollback() {
    let mut record = with_a_new_canary();
    record.set_weight(Weight::ZERO, None, Author::new("ada", Timestamp::now()), Operation::Weight);
    assert_eq!(record.initial_weight, None, "an operator has set another weight");
    let mut record = with_a_new_canary();
    record.promote(ends_after(Timestamp::now(), None), Author::new("ada", Timestamp::now()));
    assert_eq!(record.initial_weight, None, "promoted");
    assert_eq!(rolled_back(with_a_new_canary(), None).initial_weight, None, "rolled back");
}

#[test]
fn a_version_that_the_file_replaces_is_leaving_until_its_routes_are_deleted() {
    let mut record = at_a_fifth();
    record.follow(&file("v1", Some("v3")), Author::new("ada", Timestamp::now()), |_| false);
    assert_eq!(record.leaving, ["v2"]);
    record.follow(&file("v1", Some("v2")), Author::new("ada", Timestamp::now()), |_| false);
    assert_eq!(record.leaving, ["v3"], "a version that comes back is not leaving");
}

#[test]
fn nothing_is_promoted_without_a_canary() {
    let release = file("v1", None);
    let record = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
    let target = record.to_promote();
    assert!(matches!(target, Err(Error::NoCanary { .. })), "{target:?}");
    let target = record.to_roll_back();
    assert!(matches!(target, Err(Error::NoCanary { .. })), "{target:?}");
}

#[test]
fn a_canary_that_was_rolled_back_is_gone_and_its_routes_wait_for_the_proxies() {
    let record = rolled_back(at_a_fifth(), None);
    assert_eq!((role(&record, "v1"), role(&record, "v2")), (Some(Role::Stable), None));
    assert_eq!(
        (record.state.gone[0].name.as_str(), record.leaving.as_slice()),
        ("v2", ["v2".to_owned()].as_slice())
    );
    assert_eq!(record.to_roll_back().unwrap(), RollbackTarget::Done);
}

#[test]
fn a_rollback_with_a_deadline_lets_sessions_finish_and_a_second_one_can_end_them() {
    let mut record = rolled_back(at_a_fifth(), Some(ends_after(Timestamp::now(), Some(Seconds::DAY))));
    assert_eq!(role(&record, "v2"), Some(Role::Draining));
    assert_eq!(record.to_roll_back().unwrap(), RollbackTarget::Draining("v2".to_owned()));
    record = rolled_back(record, None);
    assert_eq!((role(&record, "v2"), record.draining.len()), (None, 0));
}

#[test]
fn a_promotion_is_taken_back_by_swapping_roles_with_the_epochs_they_had() {
    let record = rolled_back(promoted(), Some(ends_after(Timestamp::now(), Some(Seconds::DAY))));
    assert_eq!((role(&record, "v1"), role(&record, "v2")), (Some(Role::Stable), Some(Role::Draining)));
    assert_eq!((epoch(&record, "v1"), epoch(&record, "v2")), (1, 1));
    assert_eq!(record.draining.keys().collect::<Vec<_>>(), ["v2"]);
    assert_eq!(record.state.generation, promoted().state.generation + 1);
}

#[test]
fn a_second_rollback_does_not_take_back_an_earlier_promotion() {
    let mut record = promoted();
    record.follow(&file("v2", Some("v3")), Author::new("ada", Timestamp::now()), |_| true);
    assert_eq!(record.to_roll_back().unwrap(), RollbackTarget::Canary("v3".to_owned()));
    let record = rolled_back(record, None);
    assert_eq!(record.to_roll_back().unwrap(), RollbackTarget::Done);
    assert_eq!((role(&record, "v2"), role(&record, "v1")), (Some(Role::Stable), Some(Role::Draining)));
}

#[test]
fn a_promotion_whose_old_version_has_left_cannot_be_taken_back() {
    let mut record = promoted();
    record.finish(&["v1".to_owned()], Author::new("ada", Timestamp::now()));
    let target = record.to_roll_back();
    assert!(matches!(&target, Err(Error::NoWayBack { version }) if version == "v1"), "{target:?}");
    assert_eq!((record.leaving, record.draining.len()), (vec!["v1".to_owned()], 0));
}

#[test]
fn the_file_of_before_a_promotion_is_refused_and_the_changed_one_changes_nothing() {
    let mut record = promoted();
    for canary in [Some("v2"), None] {
        let refused = record.accept(&file("v1", canary), true);
        assert!(matches!(refused, Err(Error::OldStable { .. })), "{refused:?}");
    }
    let changed = file("v2", None);
    record.accept(&changed, false).unwrap();
    let before = record.clone();
    record.follow(&changed, Author::new("bob", Timestamp::now()), |_| true);
    assert_eq!(record, before);
    record.accept(&file("v2", Some("v3")), false).unwrap();
}

#[test]
fn the_file_of_before_a_promotion_is_refused_after_the_old_version_has_left_too() {
    let mut record = promoted();
    record.finish(&["v1".to_owned()], Author::new("ada", Timestamp::now()));
    let accepted = record.accept(&file("v1", Some("v2")), false);
    assert!(matches!(accepted, Err(Error::OldStable { .. })), "{accepted:?}");
    record.accept(&file("v2", Some("v1")), false).unwrap();
}

#[test]
fn a_version_that_was_rolled_back_comes_again_only_when_asked_to_and_with_another_epoch() {
    let mut record = rolled_back(at_a_fifth(), None);
    let unchanged = file("v1", Some("v2"));
    let accepted = record.accept(&unchanged, false);
    assert!(matches!(accepted, Err(Error::OldCanary { .. })), "{accepted:?}");
    record.accept(&unchanged, true).unwrap();
    record.follow(&unchanged, Author::new("ada", Timestamp::now()), |_| true);
    assert_eq!((role(&record, "v2"), epoch(&record, "v2")), (Some(Role::Canary), 2));
    record.accept(&unchanged, false).unwrap();
}

#[test]
fn a_file_that_has_taken_note_of_a_rollback_may_name_the_version_again() {
    let mut record = rolled_back(at_a_fifth(), None);
    record.accept(&file("v1", None), false).unwrap();
    record.follow(&file("v1", None), Author::new("ada", Timestamp::now()), |_| true);
    record.accept(&file("v1", Some("v2")), false).unwrap();
}

#[test]
fn the_file_of_a_promotion_that_was_taken_back_is_refused() {
    let record = rolled_back(promoted(), Some(ends_after(Timestamp::now(), Some(Seconds::DAY))));
    let accepted = record.accept(&file("v2", None), false);
    assert!(matches!(accepted, Err(Error::OldStable { .. })), "{accepted:?}");
    let accepted = record.accept(&file("v1", Some("v2")), false);
    assert!(matches!(accepted, Err(Error::OldCanary { .. })), "{accepted:?}");
    record.accept(&file("v1", None), false).unwrap();
}

#[test]
fn roles_that_are_swapped_in_the_file_are_a_promotion_that_can_be_taken_back() {
    let mut record = at_a_fifth();
    record.follow(&file("v2", None), Author::new("ada", Timestamp::now()), |_| true);
    let turn = record.role_change.clone().unwrap();
    assert_eq!((turn.kind, turn.from.as_str(), turn.to.as_str()), (RoleChangeKind::Promoted, "v1", "v2"));
    assert!(record.draining.contains_key("v1"), "{:?}", record.draining);
    assert_eq!(record.to_roll_back().unwrap(), RollbackTarget::Promotion("v2".to_owned()));
}

#[test]
fn a_record_goes_there_and_back() {
    for record in [at_a_fifth(), promoted(), rolled_back(promoted(), None)] {
        assert_eq!(Record::parse(&"shop/shop".parse().unwrap(), &record.to_json().unwrap()).unwrap(), record);
    }
}

/// The objects of a release at 20 %, and its record with their references.
fn on_the_cluster() -> (Record, BTreeMap<Reference, Value>) {
    with_objects(&file("v1", Some("v2")), at_a_fifth())
}

fn with_objects(release: &Release, mut record: Record) -> (Record, BTreeMap<Reference, Value>) {
    let member = ReleaseInstance { state: record.state.clone(), ..ReleaseInstance::first(release, 1) };
    let objects = objects(member);
    record.objects = kept(&objects);
    (record, applied(&objects))
}

/// The subsets of a `VirtualService`'s routes, by the routes' names.
fn subsets(body: &Value) -> Vec<(&str, &str)> {
    let routes = body["spec"]["http"].as_array().unwrap().iter();
    routes
        .map(|route| {
            let name = route["name"].as_str().unwrap();
            (name, route["route"][0]["destination"]["subset"].as_str().unwrap())
        })
        .collect()
}

#[test]
fn a_promotion_changes_where_default_routes_lead_and_nothing_else() {
    let (mut record, observed) = on_the_cluster();
    assert_eq!(reroute("shop/shop", &record, &observed).unwrap().changes, []);
    record.promote(ends_after(Timestamp::now(), None), Author::new("ada", Timestamp::now()));
    let plan = reroute("shop/shop", &record, &observed).unwrap();
    assert_eq!(stages(&plan), [(Stage::Routes, Action::Update); 2], "gateways, and mesh");
    for change in &plan.changes {
        let expected = [("shop/shop/v1", "v1"), ("shop/shop/v2", "v2"), ("shop/shop", "v2")];
        assert_eq!(subsets(&change.body), expected);
        let paths: Vec<_> = change.fields.iter().map(|field| field.path.as_str()).collect();
        assert_eq!(paths, ["spec.http[\"shop/shop\"].route[0].destination.subset"]);
    }
}

#[test]
fn what_is_gone_loses_its_routes_and_then_its_subset_when_it_leaves_no_longer() {
    let (record, observed) = on_the_cluster();
    let mut record = rolled_back(record, None);
    assert!(
        reroute("shop/shop", &record, &observed).unwrap().is_empty(),
        "a proxy may still send requests there"
    );
    record.leaving.clear();
    let plan = reroute("shop/shop", &record, &observed).unwrap();
    let expected = [Stage::Routes, Stage::Routes, Stage::Subsets];
    assert_eq!(stages(&plan), expected.map(|stage| (stage, Action::Update)));
    assert_eq!(subsets(&plan.changes[0].body), [("shop/shop/v1", "v1"), ("shop/shop", "v1")]);
    assert_eq!(plan.changes[2].body["spec"]["subsets"].as_array().unwrap().len(), 1);
}

#[test]
fn a_subset_that_a_live_version_shares_with_a_removed_one_stays() {
    let release = file("v1", Some("1-2"));
    let first = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
    let (record, observed) = with_objects(&release, first);
    let mut record = rolled_back(record, None);
    record.leaving.clear();
    let subsets = |record: &Record| {
        let plan = reroute("shop/shop", record, &observed).unwrap();
        stages(&plan).into_iter().filter(|(stage, _)| *stage == Stage::Subsets).count()
    };
    assert_eq!(subsets(&record), 1, "the subset `1-2` of version `1-2` is deleted");
    let canary = VersionConfig { name: "1.2".to_owned(), role: Role::Canary, epoch: 9, routing: None };
    record.state.versions.push(canary);
    assert_eq!(subsets(&record), 0, "the subset `1-2` is that of version `1.2`");
}

#[test]
fn a_default_route_that_is_not_there_is_no_promotion() {
    let (mut record, mut observed) = on_the_cluster();
    record.promote(ends_after(Timestamp::now(), None), Author::new("ada", Timestamp::now()));
    for body in observed.values_mut().filter(|body| body["kind"] == "VirtualService") {
        body["spec"]["http"].as_array_mut().unwrap().pop();
    }
    let refused = reroute("shop/shop", &record, &observed);
    let Err(plan::Error::NotCarried { found, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(found, "no default route of ours");
}

#[test]
fn routes_that_another_owner_has_taken_are_asked_for_and_not_forgotten() {
    let (mut record, mut observed) = on_the_cluster();
    for body in observed.values_mut().filter(|body| body["kind"] == "VirtualService") {
        body["metadata"]["managedFields"][0]["manager"] = "helm".into();
    }
    record.promote(ends_after(Timestamp::now(), None), Author::new("ada", Timestamp::now()));
    let plan = reroute("shop/shop", &record, &observed).unwrap();
    assert_eq!(plan.changes.len(), 2);
    assert_eq!(plan.changes[0].fields[0].owners, ["helm"]);
}
