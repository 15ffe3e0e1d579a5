//! What would be done, of objects in every state. A preview writes nothing.

use crate::object::Fixture;
use canary_controller::PreviewAction::{Apply, Drive, Finish, Nothing, Refuse, StartRollout, Wait};
use canary_controller::{Action, Preview, PreviewAction};
use fake_api_server::fixture::run;
use jiff::SignedDuration;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// The preview of the object as it is. Fails if it writes.
async fn previewed(fixture: &Fixture) -> Preview {
    let cluster = fixture.api.cluster().await;
    let reconciler = fixture.reconciler(&cluster, "replica");
    let writes = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&writes);
    fixture.api.before_write(move |_, line| seen.lock().unwrap().push(line.to_owned()));
    let preview = reconciler.preview(&fixture.object(), &fixture.grants, fixture.now).await;
    fixture.api.before_write(|_, _| {});
    assert_eq!(*writes.lock().unwrap(), Vec::<String>::new(), "{preview:?}");
    preview
}

/// A state, changes of the object before and after it, the action that follows, and a part of its reason.
type Case = (&'static str, Value, fn(&mut Fixture), PreviewAction, &'static str);

fn cases() -> Vec<Case> {
    let rollout = json!({});
    let no_rollout = json!({"rollout": null});
    vec![
        ("new", rollout.clone(), |_| {}, Apply, ""),
        ("no grant", rollout.clone(), |fixture| fixture.grants.clear(), Refuse, "expected a ReleaseGrant"),
        (
            "invalid",
            rollout.clone(),
            |fixture| fixture.edit(|object| object["spec"]["hosts"] = json!([])),
            Refuse,
            "at least one host",
        ),
        (
            "no pods of stable",
            rollout.clone(),
            |fixture| fixture.api.state().store.remove("Pod", "shop-v1"),
            Refuse,
            "v1",
        ),
        ("reconciled", rollout, |_| {}, Drive, "1%"),
        ("reconciled", no_rollout.clone(), |_| {}, Nothing, ""),
        (
            "reconciled",
            no_rollout.clone(),
            |fixture| {
                fixture.edit(|object| {
                    object["spec"]["rollout"] = json!({"plans": {"default": [{"weight": 1}]}});
                });
            },
            StartRollout,
            "a rollout of `v2`",
        ),
        (
            "reconciled",
            no_rollout.clone(),
            |fixture| fixture.edit(|object| object["spec"]["hosts"] = json!(["www.example.com"])),
            Refuse,
            "www.example.com",
        ),
        ("paused", no_rollout.clone(), |_| {}, Wait, "paused by"),
        ("promoted", no_rollout, |fixture| fixture.now += SignedDuration::from_hours(48), Finish, ""),
    ]
}

#[test]
fn a_preview_names_what_would_be_done_in_each_state_and_writes_nothing() {
    run(async {
        for (state, changes, change, action, reason) in cases() {
            let mut fixture = Fixture::new(&changes);
            let request = match state {
                "paused" => Some("pause"),
                "promoted" => Some("promote"),
                _ => None,
            };
            if ["reconciled", "paused", "promoted"].contains(&state) {
                fixture.reconcile_once().await;
            }
            if let Some(action) = request {
                fixture.ask(&json!({"action": action}));
                assert_eq!(previewed(&fixture).await.request.map(Action::as_str), Some(action));
                fixture.reconcile_once().await;
            }
            change(&mut fixture);
            let preview = previewed(&fixture).await;
            assert_eq!(preview.action, action, "{state}, {changes}: {preview:#?}");
            assert!(preview.reason.contains(reason), "{state}, {changes}: {preview:#?}");
            assert_eq!(preview.plan.is_some(), action == Apply, "{state}: {preview:#?}");
        }
    });
}
