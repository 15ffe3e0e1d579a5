//! The status of each phase as the libraries of GitOps tools read it, and Argo CD's actions, carried out.
//!
//! The libraries are Go: `wasm-tests/lab/go/gitops` reads the objects that the controller has written here.

use crate::object::{Fixture, MANY};
use canary_controller::Phase;
use canary_release::resource::crd;
use fake_api_server::fixture::{options, run};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// An object as each tool reads it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reading {
    kpt: String,
    flux: String,
    argo_cd: Health,
    /// The merge patch of each action that is enabled.
    actions: BTreeMap<String, Option<Value>>,
}

#[derive(Debug, Deserialize)]
struct Health {
    status: String,
    #[serde(default)]
    message: String,
}

fn read(objects: &[Value]) -> Vec<Reading> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = root.join(".tools/lab/bin/gitops");
    assert!(program.exists(), "{} is missing, hint: run: tools/peers.sh gitops", program.display());
    let mut child = Command::new(program)
        .arg(root.join("examples/argo-cd/argocd-cm.yaml"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = json!({"parameters": {"weight": "12.5"}, "objects": objects}).to_string();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the libraries refuse an object or a script");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A state of an object, its reading by kstatus and by Argo CD, and the enabled actions.
type State = (&'static str, &'static str, &'static str, &'static [&'static str]);

const ROLLS: &[&str] = &["abort", "pause", "promote", "retry", "rollback", "weight"];

const STATES: [State; 15] = [
    ("no controller", "InProgress", "Progressing", &[]),
    ("first write", "InProgress", "Progressing", &[]),
    ("Stable", "Current", "Healthy", &["pause"]),
    ("Canary", "Current", "Healthy", &["pause", "promote", "rollback", "weight"]),
    ("Progressing", "InProgress", "Progressing", ROLLS),
    (
        "Gated",
        "InProgress",
        "Suspended",
        &["abort", "approve", "pause", "promote", "retry", "rollback", "weight"],
    ),
    ("Held", "InProgress", "Suspended", ROLLS),
    ("Paused", "InProgress", "Suspended", &["promote", "resume", "rollback", "weight"]),
    ("Promoted", "Current", "Healthy", &["pause", "rollback"]),
    ("RolledBack", "Failed", "Degraded", &["pause", "retry"]),
    ("Stopped", "Failed", "Degraded", &["pause", "promote", "rollback", "weight"]),
    ("invalid", "Failed", "Degraded", &["pause", "rollback", "weight"]),
    ("not granted", "Failed", "Degraded", &[]),
    ("edited after the promotion", "InProgress", "Progressing", &["pause", "rollback"]),
    ("deleted in the foreground", "Terminating", "Progressing", &["pause", "rollback"]),
];

/// The rollout of the object with this step after the first, and this action after a failure.
fn rollout(step: &Value, on_failure: &str) -> Value {
    let plan = [json!({"weight": 1, "hold": "2m"}), step.clone()];
    json!({"rollout": {"plans": {"default": plan}, "lostSessions": false, "onFailure": on_failure}})
}

/// Reconciles until the object has this phase.
async fn reach(fixture: &mut Fixture, phase: Phase) {
    let cluster = fixture.api.cluster_with(options()).await;
    let reconciler = fixture.reconciler(&cluster, "replica");
    for _ in 0..MANY {
        let again = fixture.reconcile(&reconciler).await.again;
        let status = fixture.status();
        if status.phase == phase && (phase != Phase::Progressing || status.weight.is_some_and(|is| is > 0.0))
        {
            return;
        }
        fixture.pass(again).await;
    }
    panic!("expected {phase:?}, found {:#?}", fixture.status());
}

/// An object in this state, where the controller has written its status.
async fn in_state(state: &str) -> Fixture {
    let step = json!({"weight": 10, "hold": "2m"});
    let gated = json!({"weight": 10, "hold": "2m", "gate": "manual"});
    let (changes, phase, failed) = match state {
        "Stable" => (json!({"versions": {"stable": "v1"}, "rollout": null}), Phase::Stable, 0),
        "Canary" => (json!({"rollout": null}), Phase::Canary, 0),
        "Gated" => (rollout(&gated, "rollback"), Phase::Gated, 0),
        "Held" => (rollout(&step, "hold"), Phase::Held, 2),
        "RolledBack" => (rollout(&step, "rollback"), Phase::RolledBack, 2),
        "Stopped" => (rollout(&step, "stop"), Phase::Stopped, 2),
        "not granted" => (json!({}), Phase::Failed, 0),
        "Promoted" | "edited after the promotion" | "deleted in the foreground" => {
            (rollout(&step, "rollback"), Phase::Promoted, 0)
        }
        _ => (rollout(&step, "rollback"), Phase::Progressing, 0),
    };
    let mut fixture = Fixture::new(&changes);
    fixture.failed = failed;
    if state == "not granted" {
        fixture.grants.clear();
    }
    reach(&mut fixture, phase).await;
    match state {
        "Paused" => {
            fixture.ask(&json!({"action": "pause"}));
            reach(&mut fixture, Phase::Paused).await;
        }
        "invalid" => {
            fixture.edit(|object| object["spec"]["hosts"] = json!([]));
            reach(&mut fixture, Phase::Failed).await;
        }
        "edited after the promotion" => {
            fixture.edit(|object| object["spec"]["versions"] = json!({"stable": "v2", "canary": "v3"}));
        }
        _ => {}
    }
    fixture
}

/// The object in this state.
async fn object_in(state: &str) -> Value {
    let schema = "/spec/versions/0/schema/openAPIV3Schema/properties/status/default";
    match state {
        "no controller" => {
            let mut object = Fixture::new(&json!({})).object();
            object["status"] = crd().pointer(schema).unwrap().clone();
            object
        }
        "first write" => {
            let mut fixture = Fixture::new(&json!({}));
            let written = record(&fixture);
            reach(&mut fixture, Phase::Progressing).await;
            let written = written.lock().unwrap();
            written.iter().find(|object| object.get("status").is_some()).unwrap().clone()
        }
        "deleted in the foreground" => {
            let mut object = in_state(state).await.object();
            object["metadata"]["deletionTimestamp"] = json!("2026-11-01T00:00:00Z");
            object["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
            object
        }
        _ => in_state(state).await.object(),
    }
}

/// Collects the object before each write to the cluster.
fn record(fixture: &Fixture) -> Arc<Mutex<Vec<Value>>> {
    let all = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&all);
    fixture.api.before_write(move |state, _| {
        let object = state.store.find("Release", "shop").unwrap().clone();
        let mut seen = seen.lock().unwrap();
        if seen.last() != Some(&object) {
            seen.push(object);
        }
    });
    all
}

#[test]
#[ignore = "reads by programs in Go: ./x test long"]
fn no_phase_hangs_and_none_is_true_too_early() {
    run(async {
        let mut objects = Vec::new();
        for (state, ..) in STATES {
            objects.push(object_in(state).await);
        }
        for (reading, (state, kstatus, health, enabled)) in read(&objects).iter().zip(STATES) {
            assert_eq!((reading.kpt.as_str(), reading.flux.as_str()), (kstatus, kstatus), "{state}");
            assert_eq!(reading.argo_cd.status, health, "{state}: {}", reading.argo_cd.message);
            assert!(!reading.argo_cd.message.is_empty(), "{state}");
            let found = reading.actions.iter().filter(|(_, patch)| patch.is_some());
            assert_eq!(found.map(|(name, _)| name.as_str()).collect::<Vec<_>>(), enabled, "{state}");
            assert_eq!(reading.actions.len(), 8, "{state}");
        }
    });
}

#[test]
#[ignore = "reads by programs in Go: ./x test long"]
fn each_action_of_argo_cd_is_a_request_that_is_carried_out() {
    run(async {
        for (state, .., enabled) in STATES.into_iter().filter(|(state, ..)| !state.contains(' ')) {
            let reading = read(&[object_in(state).await]).remove(0);
            for action in enabled {
                let patch = reading.actions[*action].clone().unwrap();
                let mut request = json!({"action": action, "by": "Argo CD"});
                if *action == "weight" {
                    request["weight"] = json!(12.5);
                }
                assert_eq!(patch, json!({"status": {"request": request}}), "{state}: {action}");
                let fixture = in_state(state).await;
                fixture.ask(&patch["status"]["request"]);
                fixture.reconcile_once().await;
                let answer = fixture.object()["status"]["lastRequest"].clone();
                assert_eq!(answer["result"], "Done", "{state}: {action}: {answer}");
                assert_eq!((&answer["action"], &answer["by"]), (&json!(action), &json!("Argo CD")));
            }
        }
    });
}

#[test]
#[ignore = "reads by programs in Go: ./x test long"]
fn no_write_of_a_rollout_reads_as_its_end() {
    run(async {
        for (failed, phase, end, health) in
            [(0, Phase::Promoted, "Current", "Healthy"), (2, Phase::RolledBack, "Failed", "Degraded")]
        {
            let mut fixture = Fixture::new(&json!({}));
            fixture.failed = failed;
            let written = record(&fixture);
            reach(&mut fixture, phase).await;
            fixture.reconcile_once().await;
            let mut objects = written.lock().unwrap().clone();
            // The API server gives the first object its default.
            objects.retain(|object| object.get("status").is_some());
            objects.push(fixture.object());
            let readings = read(&objects);
            let mut early = 0;
            for (reading, object) in readings.iter().zip(&objects) {
                let found = (reading.kpt.as_str(), reading.flux.as_str(), reading.argo_cd.status.as_str());
                if object["status"]["phase"] != json!(phase) || found.0 == "InProgress" {
                    assert_eq!((found.0, found.1), ("InProgress", "InProgress"), "{object:#}");
                    assert!(["Progressing", "Suspended"].contains(&found.2), "{found:?}: {object:#}");
                    early += 1;
                }
            }
            let last = readings.last().unwrap();
            assert_eq!((last.kpt.as_str(), last.argo_cd.status.as_str()), (end, health), "{last:?}");
            assert!(early > 5, "{early} writes of {}", objects.len());
        }
    });
}
