//! Emergencies while a driver is at work: at any of its requests.

use super::{Canary, INTERVAL, RolloutFixture};
use canary_operations::Error;
use canary_release::delivery::deployed_config;
use fake_api_server::fixture::{roll_back, run, set_weight};
use std::cell::Cell;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Emergency {
    Rollback,
    Zero,
}

impl Emergency {
    async fn call(self, fixture: &RolloutFixture) -> Result<(), Error> {
        match self {
            Self::Rollback => roll_back(&fixture.cluster, &fixture.release).await.map(drop),
            Self::Zero => set_weight(&fixture.cluster, &fixture.release, "0").await,
        }
    }
}

/// Observes ten times, over two steps of the plan. Where a person has written at the same moment, it tries again.
async fn drive(fixture: &RolloutFixture) {
    let cluster = fixture.api.cluster().await;
    let mut driver = fixture.driver(&cluster);
    let mut now = fixture.now;
    for _ in 0..10 {
        match driver.reconcile(now).await {
            Ok(_) => {}
            Err(error) if error.is_transient() => {}
            Err(error) => panic!("{error}"),
        }
        fixture.api.state().proxies.respond("v2", 40, 0);
        fixture.api.state().proxies.respond("v1", 200, 0);
        now += INTERVAL;
    }
}

/// No proxy sends a new session to the canary, and after a rollback none of the old ones.
fn assert_stopped(fixture: &RolloutFixture, emergency: Emergency, context: &str) {
    let state = fixture.api.state();
    let name = fixture.release.name.to_string();
    let configs = state.store.of_kind("EnvoyFilter").filter_map(|object| deployed_config(object).unwrap());
    let entries: Vec<_> = configs.filter_map(|config| config.releases.get(&name).cloned()).collect();
    assert!(!entries.is_empty(), "{context}: the proxies have the release");
    for entry in entries {
        assert_eq!(entry.weight.to_string(), "0%", "{context}");
        if emergency == Emergency::Rollback {
            assert_eq!(entry.versions.len(), 1, "{context}: {:?}", entry.versions);
        }
    }
}

#[test]
fn an_emergency_takes_effect_whatever_a_driver_writes_at_the_same_moment() {
    for emergency in [Emergency::Rollback, Emergency::Zero] {
        run(async {
            let mut raised = 0;
            for race in 0..50 {
                let context = format!("{emergency:?}, race {race}");
                let fixture = RolloutFixture::started(Canary::Good).await;
                let sent = || fixture.api.state().requests.len();
                let (begin, is_over) = (sent() + race * 3, Cell::new(false));
                let later = async {
                    while sent() < begin && !is_over.get() {
                        tokio::task::yield_now().await;
                    }
                    emergency.call(&fixture).await
                };
                let driven = async {
                    drive(&fixture).await;
                    is_over.set(true);
                };
                let ((), called) = tokio::join!(driven, later);
                called.unwrap_or_else(|error| panic!("{context}: {error}"));
                assert_stopped(&fixture, emergency, &context);
                drive(&fixture).await;
                assert_stopped(&fixture, emergency, &format!("{context}, later"));
                let history = fixture.record().await.history;
                raised += usize::from(history.entries().len() > 3);
            }
            assert!(raised > 10, "{emergency:?}: the driver had written before it in {raised} of 50 races");
        });
    }
}
