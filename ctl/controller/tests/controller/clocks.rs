//! Replicas whose clocks are ten minutes apart, in both directions.

use crate::object::{Fixture, INTERVAL, MANY};
use assignment::contract::Role;
use fake_api_server::fixture::{options, run};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Between two changes of the replica that works, in reconciliations.
const TERM: usize = 3;

/// A rollout that two replicas drive by turns. How often each weight was observed, and the stable version at the end.
async fn by_turns(apart: SignedDuration, failed: u64) -> (Vec<String>, BTreeMap<String, usize>, String) {
    let mut fixture = Fixture::new(&json!({}));
    fixture.failed = failed;
    let clusters = [fixture.api.cluster_with(options()).await, fixture.api.cluster_with(options()).await];
    let replicas = ["first", "second"];
    let replicas = [0, 1].map(|at| fixture.reconciler(&clusters[at], replicas[at]));
    let mut observed = BTreeMap::new();
    for number in 0..MANY {
        let is_second = number / TERM % 2 == 1;
        let honest = fixture.now;
        if is_second {
            fixture.now += apart;
        }
        let again = fixture.reconcile(&replicas[usize::from(is_second)]).await.again;
        fixture.now = honest;
        let is_over = ["Promoted", "Stalled"]
            .iter()
            .any(|kind| fixture.condition(kind).is_some_and(|(status, _)| status == "True"));
        if is_over {
            break;
        }
        let weight = fixture.record().await.state.weight.to_string();
        *observed.entry(weight).or_insert(0) += usize::from(again >= INTERVAL);
        fixture.pass(again).await;
    }
    let stable = fixture.record().await.state.version_of(Role::Stable).unwrap().to_owned();
    (fixture.weights, observed, stable)
}

#[test]
fn a_rollout_takes_each_step_once_and_ends_as_with_one_clock() {
    for minutes in [0, 10, -10] {
        run(async {
            let apart = SignedDuration::from_mins(minutes);
            let (weights, observed, stable) = by_turns(apart, 0).await;
            println!("{minutes} minutes apart: observations by weight {observed:?}");
            assert_eq!(weights, ["1%", "10%", "50%", "0%"], "{minutes}: {observed:?}");
            assert_eq!(stable, "v2", "{minutes}");
            let (weights, _, stable) = by_turns(apart, 2).await;
            assert_eq!(
                (weights.last().map(String::as_str), stable.as_str()),
                (Some("0%"), "v1"),
                "{minutes}"
            );
        });
    }
}

/// Its holder renews it for two seconds by a clock of its own, and then ends.
#[test]
fn a_lease_is_taken_a_term_after_its_last_renewal_whatever_time_that_names() {
    for minutes in [0, 10, -10] {
        run(async {
            let fixture = Fixture::new(&json!({}));
            let clock = || (Timestamp::now() + SignedDuration::from_mins(minutes)).to_string();
            let spec = json!({"holderIdentity": "other", "leaseDurationSeconds": 1, "renewTime": clock()});
            let namespace =
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "canary-system"}});
            fixture.api.state().create(&namespace);
            fixture.api.state().create(&json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"name": "canary-controller", "namespace": "canary-system"}, "spec": spec}));
            let cluster = fixture.api.cluster_with(options()).await;
            let lease = ("canary-system".to_owned(), "canary-controller".to_owned());
            let renew = async {
                for _ in 0..6 {
                    tokio::time::sleep(Duration::from_millis(350)).await;
                    fixture.api.state().edit_as("other", "Lease", "canary-controller", |lease| {
                        lease["spec"]["renewTime"] = json!(clock());
                    });
                }
                Instant::now()
            };
            let lead = cluster.lead(lease, async || Ok(Instant::now()));
            let (renewed, taken) = tokio::join!(renew, lead);
            let after = taken.unwrap().checked_duration_since(renewed).unwrap_or_default();
            assert!(after >= Duration::from_secs(1), "{minutes}: taken {after:?} after the last renewal");
            assert!(after < Duration::from_secs(10), "{minutes}: taken {after:?} after the last renewal");
        });
    }
}
