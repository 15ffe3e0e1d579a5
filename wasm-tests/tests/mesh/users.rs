//! Every user is on the version of the algorithm, at every weight, behind a real gateway (promises 1, 2 and 3), and no
//! request or connection fails during a change (promises 7 and 8).

use std::sync::Arc;

use assignment::{Identity, Salt, Weight};
use browser::load::{Connections, LoadProfile, Report, run};
use browser::{Kind, User, Visit};
use mesh_lab::Lab;
use serde_json::json;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::Crowd;
use wasm_tests::stats::{UNLIKELY, share_p_value};

use crate::support::{UNDISTURBED, apply, counters, in_the_mesh};

/// Percent, and the share it is.
const WALK: [(&str, f64); 6] =
    [("0", 0.0), ("1", 0.01), ("33.33", 0.3333), ("100", 1.0), ("33.33", 0.3333), ("0", 0.0)];
const USERS: usize = 1_000;

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn users_are_where_the_algorithm_says_behind_the_oldest_envoy() {
    in_the_mesh(async |lab| walk(lab, "users-oldest", "1.36").await);
}

#[test]
fn users_are_where_the_algorithm_says_behind_the_newest_envoy() {
    in_the_mesh(async |lab| walk(lab, "users-newest", "1.40").await);
}

async fn walk(lab: &Lab, name: &str, envoy: &str) {
    let env = ShopEnv::set_up(lab, name, &ShopEnvOptions::gateway_with(envoy)).await.unwrap();
    let release = env.release().unwrap().with("/spec/stickiness", "user").with("/spec/session", ());
    let release = release.with("/spec/identifyBy", json!([{"header": "x-user"}])).with("/spec/weight", "0");
    let release = release.with("/spec/delivery/module", "embedded");
    apply(lab, &env, &release, 1).await;
    let before = counters(lab, &env, &UNDISTURBED).await;
    let mut users: Vec<User> = (0..USERS).map(|_| env.user()).collect();
    let salt = Salt::new(&format!("{name}/shop/v2"));
    for (generation, (percent, share)) in (2..).zip(WALK) {
        // Requests are in flight at the moment of every change.
        let crowd = Crowd::start((0..20).map(|_| env.user()).collect(), plan(5));
        apply(lab, &env, &release.clone().with("/spec/weight", percent), generation).await;
        let (_, during) = crowd.stop().await.expect("the crowd comes back");
        unharmed(&during);

        let (back, report) = run(users, &plan(1)).await;
        users = back;
        unharmed(&report);
        let weight: Weight = percent.parse().unwrap();
        for (user, version) in report.last_versions() {
            let canary = salt.bucket(Identity::of_key(name_of(user).as_bytes())).is_canary_at(weight);
            assert_eq!(
                version.as_deref(),
                Some(if canary { "v2" } else { "v1" }),
                "{} at {percent} %",
                name_of(user)
            );
        }
        let p_value = share_p_value(report.users_on("v2"), USERS as u64, share);
        println!(
            "envoy {envoy}: {} of {USERS} users at {percent} %, p = {p_value:.3}",
            report.users_on("v2")
        );
        assert!(p_value > UNLIKELY, "the share at {percent} %");
    }
    assert_eq!(counters(lab, &env, &UNDISTURBED).await, before);
}

fn unharmed(report: &Report) {
    assert!(report.failures().is_empty(), "{:?}", report.failures().first());
    assert_eq!(report.closed(), 0, "connections closed");
}

fn plan(rounds: usize) -> LoadProfile {
    LoadProfile {
        visit: Arc::new(|user, _| Visit::new(Kind::Api, "/api/ping").header("x-user", name_of(user))),
        connections: Connections::PerWorker,
        ..LoadProfile::navigate("/", rounds)
    }
}

fn name_of(user: usize) -> String {
    format!("user-{user}")
}
