//! A definition, and a status, of another version than the controller.

use crate::object::Fixture;
use canary_controller::Phase;
use canary_release::resource::crd;
use fake_api_server::fixture::{options, run};
use serde_json::{Value, json};

const SCHEMA: &str = "/spec/versions/0/schema/openAPIV3Schema/properties";

/// The definition in the cluster, with a change to the fields of its schema.
fn define(fixture: &Fixture, change: impl FnOnce(&mut Value)) {
    let mut definition = crd();
    change(definition.pointer_mut(SCHEMA).unwrap());
    let mut state = fixture.api.state();
    state.store.remove("CustomResourceDefinition", "releases.canary-ctl.io");
    state.create(&definition);
}

/// One reconciliation by a replica that has compared the definition.
async fn reconcile(fixture: &Fixture) {
    let cluster = fixture.api.cluster_with(options()).await;
    let reconciler = fixture.reconciler(&cluster, "replica");
    reconciler.compare_definition().await.unwrap();
    fixture.reconcile(&reconciler).await;
}

fn condition(fixture: &Fixture, kind: &str) -> Option<(String, String, String)> {
    let found = fixture.status().conditions.into_iter().find(|condition| condition.kind == kind)?;
    Some((found.status, found.reason, found.message))
}

/// Fails if the object does not say that the definition is another one.
fn assert_says(fixture: &Fixture, reason: &str, part: &str) {
    let found = condition(fixture, "DefinitionCurrent").unwrap_or_default();
    assert_eq!((found.0.as_str(), found.1.as_str()), ("False", reason), "{:#?}", fixture.status());
    assert!(found.2.contains(part), "{}", found.2);
}

#[test]
fn an_older_definition_drops_a_field_and_each_object_says_which() {
    run(async {
        let fixture = Fixture::new(&json!({}));
        define(&fixture, |schema| {
            schema["spec"]["properties"].as_object_mut().unwrap().remove("rollout");
        });
        fixture.edit(|_| {});
        assert_eq!(fixture.object()["spec"].get("rollout"), None, "the API server has dropped it");
        reconcile(&fixture).await;
        assert_says(&fixture, "Older", "found one without spec.rollout: the API server drops these fields");
        let record = fixture.record().await;
        assert!(record.rollout.is_none(), "what is left is carried out");
        let stalled = condition(&fixture, "Stalled").unwrap();
        assert_eq!(stalled.0, "False", "{stalled:?}");

        let before = fixture.object();
        reconcile(&fixture).await;
        assert_eq!(fixture.object(), before, "told once");
        define(&fixture, |_| {});
        reconcile(&fixture).await;
        assert_eq!(condition(&fixture, "DefinitionCurrent"), None, "after the upgrade");
    });
}

#[test]
fn a_field_of_a_newer_definition_is_refused_by_its_name_and_what_runs_goes_on() {
    run(async {
        let fixture = Fixture::new(&json!({"rollout": null}));
        define(&fixture, |schema| schema["spec"]["properties"]["colour"] = json!({"type": "string"}));
        reconcile(&fixture).await;
        let before = fixture.record().await;
        assert_says(&fixture, "Newer", "found one with spec.colour");
        assert_eq!(condition(&fixture, "Stalled").unwrap().0, "False", "no object has the field");

        fixture.edit(|object| object["spec"]["colour"] = json!("blue"));
        reconcile(&fixture).await;
        let stalled = condition(&fixture, "Stalled").unwrap();
        assert_eq!((stalled.0.as_str(), stalled.1.as_str()), ("True", "Invalid"));
        assert!(stalled.2.contains("colour"), "{}", stalled.2);
        assert_says(&fixture, "Newer", "spec.colour");
        assert_eq!(fixture.object()["spec"]["colour"], "blue", "nothing is taken from the object");
        assert_eq!(fixture.record().await, before);
    });
}

#[test]
fn a_status_with_a_word_that_the_older_definition_does_not_know_is_refused_and_the_conditions_say_so() {
    run(async {
        let fixture = Fixture::new(&json!({"rollout": null}));
        define(&fixture, |schema| {
            schema["status"]["properties"]["phase"]["enum"] = json!(["Installing", "Stable"]);
        });
        reconcile(&fixture).await;
        assert_says(&fixture, "Older", "refuses the status of this controller: .status.phase");
        reconcile(&fixture).await;
        assert_eq!(condition(&fixture, "Ready").unwrap().0, "True", "{:#?}", fixture.status());
        assert_eq!(fixture.status().observed_generation, 1);
    });
}

/// A replica of the next version has written words that this one does not know.
#[test]
fn what_a_newer_controller_has_written_is_kept_and_the_rest_is_read() {
    run(async {
        let fixture = Fixture::new(&json!({"rollout": null}));
        fixture.reconcile_once().await;
        fixture.reconcile_once().await;
        let before = fixture.status();
        assert_eq!(before.phase, Phase::Canary);
        let answer = json!({"action": "freeze", "at": "2026-11-24T10:00:00Z", "result": "Accepted"});
        fixture.api.state().edit_as("next", "Release", "shop", |object| {
            object["status"]["phase"] = json!("Frozen");
            object["status"]["lastRequest"] = answer.clone();
            object["status"]["colour"] = json!("blue");
        });
        fixture.reconcile_once().await;
        let status = fixture.object()["status"].clone();
        assert_eq!(status["phase"], "Canary", "{status:#}");
        assert_eq!((&status["lastRequest"], &status["colour"]), (&answer, &json!("blue")), "{status:#}");
        assert_eq!(fixture.status().conditions, before.conditions, "no time has changed");
    });
}
