//! Outages of a gateway, of istiod, of a pod. No user changes version, and only the expected requests fail.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use browser::User;
use browser::load::{Flip, LoadProfile, Record, run};
use mesh_lab::Lab;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::{Crowd, Document, Faults, Sessions};

use crate::support::{UNDISTURBED, apply, counters, in_a_mesh_of_its_own, in_the_mesh};

const SESSIONS: usize = 60;

/// Of every user, while istiod is down: a load without pauses would take CPU from the tests that run at the same time.
const BETWEEN_VISITS: Duration = Duration::from_secs(1);

#[test]
fn no_session_moves_and_no_request_fails_while_the_gateway_is_replaced() {
    in_the_mesh(async |lab| {
        let (env, _, mut sessions) = half_on_the_canary(lab, "replaced").await;
        let old = env.gateway_pod(lab).await.unwrap();
        let moving = sessions.start_load(SESSIONS / 2);
        lab.kubectl(&["rollout", "restart", "-n", &env.ingress, "deployment/gateway"]).await.unwrap();
        lab.rolled_out(&env.ingress, "gateway").await.unwrap();
        lab.until("the end of the old gateway", async || {
            let old = format!("pod/{old}");
            lab.kubectl(&["get", "-n", &env.ingress, &old]).await.is_err().then_some(())
        })
        .await
        .unwrap();
        // Its connections end with it, and are opened again.
        let faults = sessions.stop_load(moving).await.expect("they come back");
        println!("connections closed while the gateway was replaced: {}", faults.closed);
        assert_eq!(faults.but_closed(), Faults::default());
        assert_eq!(sessions.verify_all(true).await, Faults::default());
    });
}

/// In a lab of its own: others need istiod.
#[test]
#[ignore = "a variant of another test: ./x test long"]
fn nothing_changes_while_istiod_is_away_and_a_weight_arrives_when_it_is_back() {
    in_a_mesh_of_its_own(async |lab| {
        let (env, release, mut sessions) = half_on_the_canary(lab, "away").await;
        let before = counters(lab, &env, &UNDISTURBED).await;
        let moving = sessions.start_load(SESSIONS / 2);
        lab.stop_istiod().await.unwrap();
        let away = Instant::now();
        assert_eq!(
            sessions.stop_load(moving).await.expect("they come back"),
            Faults::default(),
            "as it went"
        );
        while away.elapsed() < Duration::from_mins(1) {
            assert_eq!(sessions.verify_all(false).await, Faults::default(), "while istiod is away");
            tokio::time::sleep(BETWEEN_VISITS).await;
        }
        let (_, faults) = sessions.open(users(&env)).await;
        assert_eq!(faults, Faults::default(), "sessions that begin while istiod is away");
        let moving = sessions.start_load(SESSIONS / 2);
        lab.start_istiod().await.unwrap();
        println!("istiod was away for {:?}", away.elapsed());
        apply(lab, &env, &release.with("/spec/weight", "0"), 2).await;
        assert_eq!(sessions.open(users(&env)).await, (0, Faults::default()), "new sessions at weight 0");
        assert_eq!(sessions.stop_load(moving).await.expect("they come back"), Faults::default());
        assert_eq!(sessions.verify_all(true).await, Faults::default());
        assert_eq!(counters(lab, &env, &UNDISTURBED).await, before);
    });
}

#[test]
fn a_pod_that_dies_costs_its_users_one_request_at_most_and_moves_no_session() {
    in_the_mesh(async |lab| {
        let (env, _, _) = half_on_the_canary(lab, "dies").await;
        let begin = LoadProfile::navigate("/cart/add?item=tea", 1);
        let (users, mut report) = run(users(&env), &begin).await;
        let victim = lab.pods(&env.namespace, "app=shop,version=v2").await.unwrap().remove(0);
        let its_own = |record: &&Record| record.seen.pod.as_deref() == Some(&victim);
        let owed: BTreeSet<usize> = report.records.iter().filter(its_own).map(|record| record.user).collect();
        assert!(!owed.is_empty(), "nobody on {victim}");

        let crowd = Crowd::start(users, LoadProfile { concurrency: 4, ..LoadProfile::navigate("/cart", 5) });
        let delete = ["delete", "pod", "-n", &env.namespace, &victim, "--grace-period=0", "--force"];
        lab.kubectl(&delete).await.unwrap();
        lab.rolled_out(&env.namespace, "shop-v2").await.unwrap();
        let (_, during) = crowd.stop().await.expect("they come back");
        report.append(during);

        assert_eq!(report.version_flips(), []);
        let failed: Vec<&Record> = report.failures();
        println!(
            "{} of {} requests failed, {} users on the dead pod",
            failed.len(),
            report.records.len(),
            owed.len()
        );
        let others: Vec<_> = failed.iter().filter(|record| !owed.contains(&record.user)).collect();
        assert!(others.is_empty(), "of users of other pods: {others:?}");
        let mut per_user: Vec<usize> = failed.iter().map(|record| record.user).collect();
        let failures = per_user.len();
        per_user.dedup();
        assert_eq!(failures, per_user.len(), "somebody failed twice: {failed:?}");
        let of_stable = |flip: &Flip| flip.from.version.as_deref() == Some("v1");
        assert!(!report.pod_flips().iter().any(of_stable), "pods of the other version are not concerned");
    });
}

/// An environment at 50 %, with sessions in it. The module is in the configuration: nothing but istiod serves it to new proxies.
async fn half_on_the_canary(lab: &Lab, name: &str) -> (ShopEnv, Document, Sessions) {
    let env = ShopEnv::set_up(lab, name, &ShopEnvOptions::gateway()).await.unwrap();
    let release = env.release().unwrap().with("/spec/sessionAffinity", "identity").with("/spec/weight", "50");
    let release = release.with("/spec/delivery/module", "embedded");
    apply(lab, &env, &release, 1).await;
    let mut sessions = Sessions::default();
    let (on_canary, faults) = sessions.open(users(&env)).await;
    assert_eq!(faults, Faults::default());
    assert!((1..SESSIONS as u64).contains(&on_canary), "{on_canary} of {SESSIONS} on the canary");
    (env, release, sessions)
}

fn users(env: &ShopEnv) -> Vec<User> {
    (0..SESSIONS).map(|_| env.user()).collect()
}
