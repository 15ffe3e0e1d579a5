//! A version is waited for until its pods are ready, or cannot get ready.

use canary_operations::{Error, ReadinessError, ReadinessOptions, VersionReady};
use fake_api_server::FakeApi;
use fake_api_server::fixture::{SHOP, pod, run};
use serde_json::{Value, json};
use std::time::Duration;

/// A version whose one pod has crashed for the third time, with its output and a warning.
pub(crate) fn crashed() -> FakeApi {
    let api = starting();
    api.state().store.edit("Pod", "shop-v2-a", |pod| pod["status"] = waits_for("CrashLoopBackOff", 3));
    api.state().logs.insert("shop-v2-a".to_owned(), "starting\nno database\n".to_owned());
    api.state().create(
        &json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "one", "namespace": SHOP},
        "involvedObject": {"kind": "Pod", "name": "shop-v2-a"}, "type": "Warning",
        "reason": "BackOff", "message": "Back-off restarting failed container"}),
    );
    api
}

/// A version whose one pod is not ready.
fn starting() -> FakeApi {
    let api = FakeApi::default();
    let mut state = api.state();
    // What they would make of the Deployment is written here.
    state.controllers.stop();
    let labels = json!({"app": "shop", "version": "v2"});
    state.create(&json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "shop-v2", "namespace": SHOP, "generation": 1},
        "spec": {"replicas": 1, "template": {"metadata": {"labels": labels}}},
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1}}));
    state.create(&pod(SHOP, "shop-v2-a", &labels));
    state.store.edit("Pod", "shop-v2-a", |pod| pod["status"] = waits_for("ContainerCreating", 0));
    drop(state);
    api
}

/// A version whose first pod of three, made by a workload of this kind, is not ready.
pub(crate) fn made_by(kind: &str) -> FakeApi {
    let api = starting();
    let mut state = api.state();
    state.store.remove("Deployment", "shop-v2");
    state.create(&json!({"apiVersion": "apps/v1", "kind": kind,
        "metadata": {"name": "shop-v2", "namespace": SHOP, "generation": 1},
        "spec": {"replicas": 3, "template": {"metadata": {"labels": {"app": "shop", "version": "v2"}}}},
        "status": {"observedGeneration": 1, "replicas": 1, "desiredNumberScheduled": 3}}));
    drop(state);
    api
}

fn waits_for(reason: &str, restarts: u32) -> Value {
    json!({"conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [{"name": "shop", "image": "", "imageID": "",
        "ready": false, "restartCount": restarts, "state": {"waiting": {"reason": reason}}}]})
}

/// Waits; also what was reported meanwhile.
pub(crate) async fn wait(api: &FakeApi, timeout: Duration) -> (Result<VersionReady, Error>, usize) {
    let mut reports = 0;
    let cluster = api.cluster().await;
    let mut progress = |_: &_| reports += 1;
    let options = ReadinessOptions { timeout, service: None, progress: &mut progress };
    let found = cluster.wait_for_version(SHOP, &"version=v2".parse().unwrap(), options).await;
    (found, reports)
}

#[test]
fn a_version_that_gets_ready_is_waited_for_and_each_state_is_reported_once() {
    run(async {
        let api = starting();
        let ready = async {
            tokio::time::sleep(Duration::from_millis(2500)).await;
            let status = json!({"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1});
            api.state().store.edit("Deployment", "shop-v2", |deployment| deployment["status"] = status);
        };
        let ((found, reports), ()) = tokio::join!(wait(&api, Duration::from_mins(1)), ready);
        let found = found.unwrap();
        assert_eq!((found.pods, reports), (1, 1));
        assert!(found.waited > Duration::from_secs(2), "{found:?}");
    });
}

#[test]
fn a_crash_ends_it_at_once_with_the_last_output_and_the_warnings() {
    run(async {
        let api = crashed();
        let (found, _) = wait(&api, Duration::from_mins(1)).await;
        assert_eq!(
            found.unwrap_err().to_string(),
            "the pods with version=v2 do not get ready: Pod shop-v2-a, container shop: CrashLoopBackOff\n\
             last output:\n  starting\n  no database\nwarnings:\n  BackOff: Back-off restarting failed container"
        );
        for resource in ["pods/log", "events"] {
            api.state().access.deny(if resource == "events" { "list" } else { "get" }, resource);
        }
        let (found, _) = wait(&api, Duration::from_mins(1)).await;
        let text = found.unwrap_err().to_string();
        assert!(
            text.ends_with("container shop: CrashLoopBackOff"),
            "without the rights the reason is told: {text}"
        );
    });
}

#[test]
fn the_time_is_bounded_and_the_error_says_what_is_missing() {
    run(async {
        let api = starting();
        let (found, _) = wait(&api, Duration::from_millis(1200)).await;
        let Err(Error::Readiness(late)) = found else { panic!("{found:?}") };
        let ReadinessError::Late { ready: 0, wanted: 1, reasons, .. } = *late else { panic!("{late:?}") };
        assert_eq!(reasons, ["Pod shop-v2-a: container shop: ContainerCreating"]);
        api.state().access.deny("list", "deployments");
        let (found, _) = wait(&api, Duration::from_mins(1)).await;
        assert!(matches!(found, Err(Error::Forbidden { .. })), "{found:?}");
    });
}
