//! A new module is written alone, and any write before all proxies run it restores the old one.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod cluster_objects;

use canary_release::EmbeddedModule;
use canary_release::delivery::{ModuleContents, ModuleRollout, ModuleSource, deployed_config};
use canary_release::manifest::ReleaseInstance;
use canary_release::object::{Object, Reference, Stage};
use canary_release::plan::{Action, ModuleChoice, back_up_modules, plan_config_update, plan_module_rollout};
use canary_release::record::Record;
use canary_release::spec::Module;
use canary_release::state::ReleaseState;
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

/// What is written for the release with these bytes as its module.
fn with_bytes(bytes: &[u8]) -> Vec<Object> {
    let mut release = release();
    release.delivery.module = Module::Embedded(EmbeddedModule::new(bytes));
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

fn tried(
    which: ModuleChoice<'_>,
    rollout: &ModuleRollout,
    observed: &BTreeMap<Reference, Value>,
) -> Vec<Value> {
    let plan = plan_module_rollout(rollout, RELEASE, &record(), which, observed).unwrap();
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
    let written = tried(ModuleChoice::New(&ModuleContents::default()), &rollout, &held);
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
    assert_eq!(
        modules(tried(ModuleChoice::Old(&ModuleContents::default()), &rollout, &applied(&new)).iter()),
        ["oci://r/f:1"]
    );
    let others = applied(&with_module("oci://r/f:3"));
    assert_eq!(
        modules(tried(ModuleChoice::Old(&ModuleContents::default()), &rollout, &others).iter()),
        ["oci://r/f:3"]
    );
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
    assert_eq!(
        modules(tried(ModuleChoice::Old(&ModuleContents::default()), &third, &there).iter()),
        ["oci://r/f:1"]
    );
    assert_eq!(ModuleRollout::of(&old, &applied(&new), Some(&interrupted)), None, "back by the file");
}

#[test]
fn the_bytes_of_an_old_embedded_module_are_in_a_config_map_and_not_in_the_record() {
    let (old, new) = (with_bytes(b"\0asm old"), with_bytes(b"\0asm new"));
    let release = release().name;
    let contents = ModuleContents::of(old.iter().chain(&new).map(|object| &object.body));
    let mut record = record();
    record.module_rollout = ModuleRollout::of(&new, &applied(&old), None);
    let backup = back_up_modules(&mut record, &release, &contents).unwrap();
    let json = record.to_json().unwrap();
    let record = Record::parse(&"shop/shop".parse().unwrap(), &json).unwrap();
    let base64 = |bytes| EmbeddedModule::new(bytes).unwrap().base64().to_owned();
    let (old_bytes, new_bytes) = (base64(b"\0asm old"), base64(b"\0asm new"));
    assert!(!json.contains(&old_bytes) && !json.contains(&new_bytes), "{json}");
    assert_eq!(backup.body["binaryData"].as_object().unwrap().values().collect::<Vec<_>>(), [&old_bytes]);

    // What another process reads when it sets a weight.
    let mut observed = applied(&new);
    let lost = plan_config_update(RELEASE, &record, &observed).unwrap_err().to_string();
    assert!(lost.starts_with("expected the bytes of module sha256:"), "{lost}");
    observed.insert(backup.object.clone(), backup.body);
    let plan = plan_config_update(RELEASE, &record, &observed).unwrap();
    let config = plan.changes[0].body.to_string();
    assert!(config.contains(&old_bytes) && !config.contains(&new_bytes), "{config}");
    let shown = serde_json::to_string(&plan).unwrap();
    assert!(!shown.contains(&old_bytes) && !shown.contains(&new_bytes), "{shown}");
}

#[test]
fn a_module_from_a_url_needs_no_config_map() {
    let (old, new) = (with_module("oci://r/f:1"), with_bytes(b"\0asm new"));
    let mut record = record();
    record.module_rollout = ModuleRollout::of(&new, &applied(&old), None);
    let contents = ModuleContents::of(new.iter().map(|object| &object.body));
    assert_eq!(back_up_modules(&mut record, &release().name, &contents), None);
    let tried = record.module_rollout.as_ref().unwrap();
    let plan =
        plan_module_rollout(tried, RELEASE, &record, ModuleChoice::New(&contents), &applied(&old)).unwrap();
    assert_eq!(
        ModuleSource::of(&plan.changes[0].body),
        new.iter().find_map(|object| ModuleSource::of(&object.body))
    );
    let back = plan_module_rollout(
        tried,
        RELEASE,
        &record,
        ModuleChoice::Old(&ModuleContents::default()),
        &applied(&new),
    )
    .unwrap();
    assert_eq!(modules(back.changes.iter().map(|change| &change.body)), ["oci://r/f:1"]);
}
