//! A new module comes alone, and whatever is written before it was seen puts the old one back.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod cluster_objects;

use canary_ctl::config::Standing;
use canary_ctl::manifest::{Code, Member, Stage, held_configuration};
use canary_ctl::plan::{Action, Object, Record, Reference, Trial, Trying, plan_config_update};
use canary_ctl::spec::Module;
use cluster_objects::{applied, kept, objects, release, stages};
use serde_json::Value;
use std::collections::BTreeMap;

const RELEASE: &str = "shop/shop";

/// What is written for the release with its module from here.
fn with_module(url: &str) -> Vec<Object> {
    let mut release = release();
    release.delivery.module = Module::Url(url.to_owned());
    objects(Member::first(&release, 1))
}

/// What is kept of it, at another generation than the objects.
fn record() -> Record {
    let mut record = Record::first(&release(), Standing::first(&release(), "uid".to_owned()));
    record.standing.generation = 5;
    record.objects = kept(&with_module("oci://r/f:1"));
    record
}

fn modules<'o>(bodies: impl Iterator<Item = &'o Value>) -> Vec<String> {
    bodies.filter_map(Code::of).map(|code| code.to_string()).collect()
}

fn tried(which: Trying, trial: &Trial, observed: &BTreeMap<Reference, Value>) -> Vec<Value> {
    let plan = trial.plan(RELEASE, &record(), which, observed).unwrap();
    assert_eq!(stages(&plan), [(Stage::Configuration, Action::Update)]);
    plan.changes.into_iter().map(|change| change.body).collect()
}

#[test]
fn a_new_module_brings_nothing_but_the_generation_by_which_it_is_seen() {
    let (old, mut new) = (with_module("oci://r/f:1"), with_module("oci://r/f:2"));
    let held = applied(&old);
    // The file asks for something else too.
    let config = new.iter_mut().find(|object| object.stage == Stage::Configuration).unwrap();
    let mut asked = held_configuration(&config.body).unwrap().unwrap();
    asked.debug_header = Some("x-debug".to_owned());
    config.body = canary_ctl::manifest::with_configuration(&config.body, &asked).unwrap();
    let config = config.reference.clone();

    let trial = Trial::of(&new, &held, None).unwrap();
    let written = tried(Trying::New, &trial, &held);
    assert_eq!(modules(written.iter()), ["oci://r/f:2"]);
    let mut before = held_configuration(&held[&config]).unwrap().unwrap();
    before.releases.get_mut(RELEASE).unwrap().generation = 5;
    assert_eq!(held_configuration(&written[0]).unwrap().unwrap(), before);
}

#[test]
fn the_same_module_is_not_tried() {
    let old = with_module("oci://r/f:1");
    assert_eq!(Trial::of(&old, &applied(&old), None), None);
    assert_eq!(Trial::of(&old, &BTreeMap::new(), None), None, "the first one comes with the filter");
}

#[test]
fn the_old_module_comes_back_and_one_that_others_brought_stays() {
    let (old, new) = (with_module("oci://r/f:1"), with_module("oci://r/f:2"));
    let trial = Trial::of(&new, &applied(&old), None).unwrap();
    assert_eq!(modules(tried(Trying::Old, &trial, &applied(&new)).iter()), ["oci://r/f:1"]);
    let others = applied(&with_module("oci://r/f:3"));
    assert_eq!(modules(tried(Trying::Old, &trial, &others).iter()), ["oci://r/f:3"]);
}

#[test]
fn a_weight_puts_the_old_module_back() {
    let (old, new) = (with_module("oci://r/f:1"), with_module("oci://r/f:2"));
    let mut record = record();
    record.trial = Trial::of(&new, &applied(&old), None);
    let plan = plan_config_update(RELEASE, &record, &applied(&new)).unwrap();
    assert_eq!(modules(plan.changes.iter().map(|change| &change.body)), ["oci://r/f:1"]);
}

#[test]
fn a_trial_that_was_interrupted_is_tried_again_and_its_module_is_not_taken_for_a_good_one() {
    let (old, new) = (with_module("oci://r/f:1"), with_module("oci://r/f:2"));
    let interrupted = Trial::of(&new, &applied(&old), None).unwrap();
    let again = Trial::of(&new, &applied(&new), Some(&interrupted));
    assert_eq!(again.as_ref(), Some(&interrupted));
    let third = Trial::of(&with_module("oci://r/f:3"), &applied(&new), Some(&interrupted)).unwrap();
    let there = applied(&with_module("oci://r/f:3"));
    assert_eq!(modules(tried(Trying::Old, &third, &there).iter()), ["oci://r/f:1"]);
    assert_eq!(Trial::of(&old, &applied(&new), Some(&interrupted)), None, "back by the file");
}
