//! Problems of a release that no rollout changes: each kind in each phase, from its first minute to its end.

use crate::object::{Fixture, NoClients};
use canary_controller::{Phase, Reconciler};
use canary_operations::{LeaseTiming, WriteOptions};
use fake_api_server::fixture::{INGRESS, options, pod, run};
use fake_api_server::{Access, State};
use jiff::SignedDuration;
use serde_json::json;
use std::time::Duration;

/// A kind of problem: the reason once it lasts, its cause, and the end of that.
struct Kind {
    reason: &'static str,
    begin: fn(&mut State, &str),
    end: fn(&mut State, &str),
}

fn set_ready(state: &mut State, version: &str, is_ready: &str) {
    state.store.edit("Pod", &format!("shop-{version}"), |pod| {
        pod["status"]["conditions"][0]["status"] = json!(is_ready);
    });
}

fn deny_metrics(state: &mut State) {
    for (verb, resource) in
        [("get", "pods/proxy"), ("get", "pods/portforward"), ("create", "pods/portforward")]
    {
        state.access.deny(verb, resource);
    }
}

const KINDS: [Kind; 4] = [
    Kind {
        reason: "NoReadyPod",
        begin: |state, stable| set_ready(state, stable, "False"),
        end: |state, stable| set_ready(state, stable, "True"),
    },
    Kind {
        reason: "ProxyBehind",
        begin: |state, _| state.proxies.silence(),
        end: |state, _| state.proxies.speak(),
    },
    Kind {
        reason: "NoProxies",
        begin: |state, _| state.store.remove("Pod", "gateway-1"),
        end: |state, _| state.create(&pod(INGRESS, "gateway-1", &json!({"istio": "gateway"}))),
    },
    Kind {
        reason: "NotObserved",
        begin: |state, _| deny_metrics(state),
        end: |state, _| state.access = Access::default(),
    },
];

/// A release that is ready in this phase, and its stable version.
async fn ready_in(phase: Phase) -> (Fixture, &'static str) {
    let (changes, condition, stable) = match phase {
        Phase::Stable => (json!({"versions": {"stable": "v1"}, "rollout": null}), "Ready", "v1"),
        Phase::Canary => (json!({"rollout": null}), "Ready", "v1"),
        _ => (json!({}), "Promoted", "v2"),
    };
    let mut fixture = Fixture::new(&changes);
    fixture.reconcile_until(condition, "True").await;
    fixture.reconcile_until("Ready", "True").await;
    (fixture, stable)
}

/// The states of `Ready`, `Reconciling` and `Stalled` after some minutes, and the reason of the last.
async fn after(
    minutes: i64,
    fixture: &mut Fixture,
    reconciler: &Reconciler<'_, NoClients>,
) -> ([String; 3], String) {
    fixture.now += SignedDuration::from_mins(minutes);
    fixture.reconcile(reconciler).await;
    let of = |kind: &str| fixture.condition(kind).unwrap();
    (["Ready", "Reconciling", "Stalled"].map(|kind| of(kind).0), of("Stalled").1)
}

fn states(ready: &str, reconciling: &str, stalled: &str) -> [String; 3] {
    [ready, reconciling, stalled].map(str::to_owned)
}

#[test]
fn a_problem_that_lasts_stalls_its_release_with_its_id_until_it_ends() {
    run(async {
        for phase in [Phase::Stable, Phase::Canary, Phase::Promoted] {
            for kind in &KINDS {
                let (mut fixture, stable) = ready_in(phase).await;
                let cluster = fixture.api.cluster_with(options()).await;
                let reconciler = fixture.reconciler(&cluster, "replica");
                fixture.reconcile(&reconciler).await;
                (kind.begin)(&mut fixture.api.state(), stable);
                for minutes in [0, 9] {
                    let (found, _) = after(minutes, &mut fixture, &reconciler).await;
                    assert_eq!(found, states("False", "True", "False"), "{phase:?}: {}", kind.reason);
                }
                let (found, reason) = after(1, &mut fixture, &reconciler).await;
                let status = fixture.status();
                assert_eq!(
                    found,
                    states("False", "False", "True"),
                    "{phase:?}: {}: {status:#?}",
                    kind.reason
                );
                assert_eq!(reason, kind.reason, "{phase:?}: {status:#?}");
                let another = fixture.reconciler(&cluster, "another");
                let (found, _) = after(0, &mut fixture, &another).await;
                assert_eq!(found, states("False", "False", "True"), "another replica: {}", kind.reason);
                (kind.end)(&mut fixture.api.state(), stable);
                for _ in 0..3 {
                    after(0, &mut fixture, &reconciler).await;
                }
                let (found, _) = after(0, &mut fixture, &reconciler).await;
                assert_eq!(
                    found,
                    states("True", "False", "False"),
                    "{phase:?}: {}: {:#?}",
                    kind.reason,
                    fixture.status()
                );
            }
        }
    });
}

#[test]
fn another_generation_has_its_own_time_and_is_not_ready_by_what_was_seen_before() {
    run(async {
        let (mut fixture, _) = ready_in(Phase::Canary).await;
        let cluster = fixture.api.cluster_with(options()).await;
        let reconciler = fixture.reconciler(&cluster, "replica");
        fixture.reconcile(&reconciler).await;
        fixture.api.state().proxies.stop_istiod();
        for overrides in ["token", "open"] {
            fixture.edit(|object| object["spec"]["override"] = json!(overrides));
            for (minutes, expected) in
                [(0, states("False", "True", "False")), (11, states("False", "False", "True"))]
            {
                let (found, _) = after(minutes, &mut fixture, &reconciler).await;
                assert_eq!(found, expected, "{overrides}, {minutes}: {:#?}", fixture.status());
            }
        }
    });
}

#[test]
fn a_lease_that_keeps_the_controller_waiting_stalls_the_release_once_it_lasts() {
    run(async {
        let mut fixture = Fixture::new(&json!({"rollout": null}));
        fixture.api.state().store.create_as(
            "canary-ctl",
            &json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"namespace": "shop", "name": "shop-canary"},
                "spec": {"holderIdentity": "ann: apply shop/shop #1", "leaseDurationSeconds": 15,
                    "acquireTime": "2026-11-26T16:17:20.000000Z", "renewTime": "2026-11-26T16:17:20.000000Z"}}),
        );
        let lease_timing = LeaseTiming { lease: Duration::from_secs(15), wait: Duration::from_millis(100) };
        let cluster = fixture.api.cluster_with(WriteOptions { lease_timing, ..options() }).await;
        let reconciler = fixture.reconciler(&cluster, "replica");
        for minutes in [0, 9] {
            let (found, _) = after(minutes, &mut fixture, &reconciler).await;
            assert_eq!(found, states("False", "True", "False"), "{:#?}", fixture.status());
        }
        let (found, reason) = after(1, &mut fixture, &reconciler).await;
        assert_eq!((found, reason.as_str()), (states("False", "False", "True"), "Held"));
        fixture.api.state().store.remove("Lease", "shop-canary");
        fixture.reconcile_until("Ready", "True").await;
    });
}
