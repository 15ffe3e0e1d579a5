//! What an observation costs the API server: requests and bytes.

use super::{Canary, RolloutFixture, rollout};
use crate::fixture::{another, apply, embedding, run};
use canary_operations::RolloutReport;
use canary_release::rollout::RolloutAction;
use serde_json::json;

/// About the size of the filter's module.
const MODULE_BYTES: usize = 150_000;

/// Requests and bytes of one observation, after the first ones of a driver.
async fn cost(fixture: &mut RolloutFixture) -> (RolloutReport, usize, usize) {
    let cluster = fixture.api.cluster().await;
    let mut driver = fixture.driver(&cluster);
    for _ in 0..3 {
        driver.reconcile(fixture.now).await.unwrap();
        fixture.pass().await;
    }
    fixture.api.count_requests();
    fixture.api.count_bytes();
    let report = driver.reconcile(fixture.now).await.unwrap();
    assert_eq!(report.decision.action, RolloutAction::Wait, "{:?}", report.decision);
    (report, fixture.api.count_requests(), fixture.api.count_bytes())
}

/// Each proxy is one request through the API server; the rest does not grow with them.
#[test]
fn an_observation_of_200_proxies_costs_a_request_each_and_a_dozen_more() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        fixture.add_gateways(200);
        let (report, requests, _) = cost(&mut fixture).await;
        assert_eq!((report.proxies.observed, report.proxies.of), (200, 200));
        assert!((201..=212).contains(&requests), "{requests} requests");
    });
}

#[test]
fn the_embedded_module_is_read_once_and_not_at_each_observation() {
    run(async {
        let module = b"\0asm\x01\0\0\0"
            .iter()
            .copied()
            .chain((0..MODULE_BYTES).map(|at| u8::try_from(at % 251).unwrap()));
        let release = embedding(&module.collect::<Vec<u8>>(), &json!({"rollout": rollout(&json!({}))}));
        let mut fixture = RolloutFixture::started_as(Canary::Good, &release).await;
        let (_, requests, bytes) = cost(&mut fixture).await;
        let (_, _, other_bytes) = cost(&mut RolloutFixture::started(Canary::Good).await).await;
        println!("{requests} requests, {bytes} bytes; {other_bytes} with a module that is fetched");
        assert!(bytes < other_bytes + MODULE_BYTES / 100, "{bytes} bytes, {other_bytes} without the module");
    });
}

/// A driver that remembers what was deployed sees that somebody else has changed it since.
#[test]
fn an_object_that_somebody_reverts_meanwhile_is_seen_at_the_next_observation() {
    const CONFIG: &str = "canary-gateway-config";
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        let at_weight_0 = fixture.api.state().store.find("EnvoyFilter", CONFIG).unwrap()["spec"].clone();
        let cluster = fixture.api.cluster().await;
        let mut driver = fixture.driver(&cluster);
        for _ in 0..3 {
            driver.reconcile(fixture.now).await.unwrap();
            fixture.pass().await;
        }
        fixture.api.state().store.edit("EnvoyFilter", CONFIG, |object| object["spec"] = at_weight_0);
        let report = driver.observe(fixture.now).await.unwrap();
        assert_eq!(report.decision.action, RolloutAction::Deploy, "{:?}", report.decision);
    });
}

/// All releases of a gateway are in one configuration object, and each has a record. That object is read when it has changed.
#[test]
fn an_observation_costs_as_much_among_twenty_releases_of_which_five_roll_out() {
    run(async {
        let (_, alone, bytes_alone) = cost(&mut RolloutFixture::started(Canary::Good).await).await;
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        let cluster = fixture.api.cluster().await;
        for number in 0..20 {
            let mut other = another(&fixture.api, &format!("other-{number}"));
            other.rollout = fixture.release.rollout.clone();
            apply(&cluster, &other).await.unwrap();
            if number < 5 {
                let stored = cluster.get_record(&other.name).await.unwrap();
                let plan = (&other.rollout, "default");
                cluster.start_rollout(&other.name, stored, plan, &[]).await.unwrap();
            }
        }
        let (_, among, bytes_among) = cost(&mut fixture).await;
        println!("{alone} requests, {bytes_alone} bytes alone; {among} and {bytes_among} among twenty");
        assert_eq!(among, alone);
        assert!(bytes_among <= bytes_alone / 10 * 11, "{bytes_among} bytes, {bytes_alone} alone");
    });
}
