//! Objects that the record names and that do not exist: deleted by somebody, or not written yet.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod cluster_objects;

use canary_release::manifest::ReleaseInstance;
use canary_release::object::{Reference, Stage};
use canary_release::plan::{Action, Error, MissingCause, MissingObject, missing_objects, reroute};
use canary_release::record::{Author, Operation, Record, ends_after};
use canary_release::state::ReleaseState;
use cluster_objects::{applied, kept, objects, release, stages};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

const NAME: &str = "shop/shop";

/// A record after a first `apply` at weight 0, and its objects.
fn installed() -> (Record, BTreeMap<Reference, Value>) {
    let release = release();
    let mut record = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
    record.initial_weight = None;
    let member = ReleaseInstance { state: record.state.clone(), ..ReleaseInstance::first(&release, 1) };
    let objects = objects(member);
    record.objects = kept(&objects);
    (record, applied(&objects))
}

/// The objects of a release without those of these stages.
fn without(
    stages: &[Stage],
    record: &Record,
    observed: &BTreeMap<Reference, Value>,
) -> BTreeMap<Reference, Value> {
    let gone = record.objects.iter().filter(|(stage, _)| stages.contains(stage));
    let mut left = observed.clone();
    for (_, reference) in gone {
        left.remove(reference).unwrap();
    }
    left
}

/// Why the objects of this stage are missing.
fn cause(stage: Stage, record: &Record, observed: &BTreeMap<Reference, Value>) -> MissingCause {
    let missing = missing_objects(NAME, record, observed);
    missing.into_iter().find(|missing| missing.stage == stage).unwrap().cause
}

#[test]
fn a_release_with_all_its_objects_misses_none() {
    let (record, observed) = installed();
    assert_eq!(missing_objects(NAME, &record, &observed), []);
}

#[test]
fn an_object_was_deleted_where_one_exists_that_is_written_after_it() {
    let (record, observed) = installed();
    let left = without(&[Stage::Subsets], &record, &observed);
    let missing = missing_objects(NAME, &record, &left);
    let texts: Vec<String> = missing.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["DestinationRule shop/shop-canary is missing: it was deleted"]);
    let left = without(&[Stage::Runtime], &record, &observed);
    assert_eq!(cause(Stage::Runtime, &record, &left), MissingCause::Deleted);
}

#[test]
fn routes_were_deleted_where_users_have_been_on_the_canary_and_else_nobody_knows() {
    let (mut record, observed) = installed();
    let left = without(&[Stage::Routes], &record, &observed);
    assert_eq!(
        cause(Stage::Routes, &record, &left),
        MissingCause::Unknown,
        "the first apply was killed, or not"
    );
    record.set_weight("20".parse().unwrap(), None, Author::new("ada", Timestamp::now()), Operation::Weight);
    record.state.generation = 1;
    assert_eq!(cause(Stage::Routes, &record, &left), MissingCause::Deleted);
}

#[test]
fn an_object_is_not_written_while_the_record_or_a_configuration_says_that_an_operation_is_under_way() {
    let (mut record, observed) = installed();
    let left = without(&[Stage::Subsets, Stage::Routes], &record, &observed);
    assert_eq!(cause(Stage::Subsets, &record, &left), MissingCause::Unknown, "a first weight of 0");
    let mut begun = record.clone();
    begun.initial_weight = Some("20".parse().unwrap());
    assert_eq!(cause(Stage::Subsets, &begun, &left), MissingCause::NotWritten);
    record.state.generation += 1;
    assert_eq!(cause(Stage::Routes, &record, &left), MissingCause::NotWritten);
}

#[test]
fn a_promotion_that_meets_a_missing_object_names_it() {
    let (mut record, observed) = installed();
    record.promote(ends_after(Timestamp::now(), None), Author::new("ada", Timestamp::now()));
    let plan = reroute(NAME, &record, &observed).unwrap();
    assert_eq!(stages(&plan), [(Stage::Routes, Action::Update); 2], "with all of them");
    let refused = reroute(NAME, &record, &without(&[Stage::Subsets], &record, &observed));
    let Err(Error::MissingObject(missing)) = refused else { panic!("{refused:?}") };
    let MissingObject { object, cause, .. } = *missing;
    assert_eq!((object.kind.as_str(), cause), ("DestinationRule", MissingCause::Deleted));
}
