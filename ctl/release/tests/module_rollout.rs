//! A new module is written alone, and any write before all proxies run it restores the old one.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod cluster_objects;

use canary_release::delivery::{ModuleSource, deployed_config};
use canary_release::manifest::{ReleaseInstance, Stage};
use canary_release::plan::{Action, ModuleChoice, ModuleRollout, Object, Reference, plan_config_update};
use canary_release::record::{Record, ReleaseState};
use canary_release::spec::Module;
use cluster_objects::{applied, kept, objects, release, stages};
use serde_json::Value;
use std::collections::BTreeMap;

const RELEASE: &str = "shop/shop";

/// What is written for the release with its module from here.
fn with_module(url: &str) -> Vec<Object> {
    let mut release = release();
    release.delivery.module = Module::Url(url.to_owned());
    objects(ReleaseInstance::first(&release, 1))
}

/// What is kept of it, at another generation than the objects.
fn record() -> Record {
    let mut record = Record::first(&release(), ReleaseState::first(&release(), "uid".to_owned()));
    record.state.generation = 5;
    record.objects = kept(&with_module("oci://r/f:1"));
    record
}

fn modules<'o>(bodies: impl Iterator<Item = &'o Value>) -> Vec<String> {
    bodies.filter_map(ModuleSource::of).map(|code| code.to_string()).collect()
}

fn tried(which: ModuleChoice, rollout: &ModuleRollout, observed: &BTreeMap<Reference, Value>) -> Vec<Value> {
    let plan = rollout.plan(RELEASE, &record(), which, observed).unwrap();
    assert_eq!(stages(&plan), [(Stage::Configuration, Action::Update)]);
    plan.changes.into_iter().map(|change| change.body).collect()
}

#[test]
fn a_module_rollout_changes_the_module_and_the_generation_only() {
    let (old, mut new) = (with_module("oci://r/f:1"), with_module("oci://r/f:2"));
    let held = applied(&old);
    // The file desires another change too.
    let config = new.iter_mut().find(|object| object.stage == Stage::Configuration).unwrap();
    let mut asked = deployed_config(&config.body).unwrap().unwrap();
    asked.debug_header = Some("x-debug".to_owned());
    config.body = canary_release::delivery::with_deployed_config(&config.body, &asked).unwrap();
    let config = config.reference.clone();

    let rollout = ModuleRollout::of(&new, &held, None).unwrap();
    let written = tried(ModuleChoice::New, &rollout, &held);
    assert_eq!(modules(written.iter()), ["oci://r/f:2"]);
    let mut before = deployed_config(&held[&config]).unwrap().unwrap();
    before.releases.get_mut(RELEASE).unwrap().generation = 5;
    assert_eq!(deployed_config(&written[0]).unwrap().unwrap(), before);
}

#[test]
fn the_same_module_is_not_tried() {
    let old = with_module("oci://r/f:1");
    assert_eq!(ModuleRollout::of(&old, &applied(&old), None), None);
    assert_eq!(ModuleRollout::of(&old, &BTreeMap::new(), None), None, "the first one comes with the filter");
}

#[test]
fn the_old_module_comes_back_and_one_that_others_brought_stays() {
    let (old, new) = (with_module("oci://r/f:1"), with_module("oci://r/f:2"));
    let rollout = ModuleRollout::of(&new, &applied(&old), None).unwrap();
    assert_eq!(modules(tried(ModuleChoice::Old, &rollout, &applied(&new)).iter()), ["oci://r/f:1"]);
    let others = applied(&with_module("oci://r/f:3"));
    assert_eq!(modules(tried(ModuleChoice::Old, &rollout, &others).iter()), ["oci://r/f:3"]);
}

#[test]
fn a_weight_puts_the_old_module_back() {
    let (old, new) = (with_module("oci://r/f:1"), with_module("oci://r/f:2"));
    let mut record = record();
    record.module_rollout = ModuleRollout::of(&new, &applied(&old), None);
    let plan = plan_config_update(RELEASE, &record, &applied(&new)).unwrap();
    assert_eq!(modules(plan.changes.iter().map(|change| &change.body)), ["oci://r/f:1"]);
}

#[test]
fn a_trial_that_was_interrupted_is_rolled_out_again_and_its_module_is_not_taken_for_a_good_one() {
    let (old, new) = (with_module("oci://r/f:1"), with_module("oci://r/f:2"));
    let interrupted = ModuleRollout::of(&new, &applied(&old), None).unwrap();
    let again = ModuleRollout::of(&new, &applied(&new), Some(&interrupted));
    assert_eq!(again.as_ref(), Some(&interrupted));
    let third = ModuleRollout::of(&with_module("oci://r/f:3"), &applied(&new), Some(&interrupted)).unwrap();
    let there = applied(&with_module("oci://r/f:3"));
    assert_eq!(modules(tried(ModuleChoice::Old, &third, &there).iter()), ["oci://r/f:1"]);
    assert_eq!(ModuleRollout::of(&old, &applied(&new), Some(&interrupted)), None, "back by the file");
}
