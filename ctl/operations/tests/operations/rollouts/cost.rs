//! What an observation costs the API server: requests and bytes.

use super::{Canary, RolloutFixture, TIMEOUT, rollout};
use canary_operations::{Cluster, RolloutDriver, RolloutReport};
use canary_release::delivery::{deployed_config, with_deployed_config};
use canary_release::rollout::RolloutAction;
use canary_release::spec::ReleaseName;
use fake_api_server::fixture::{another, apply, embedding, run};
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
        assert!((201..=213).contains(&requests), "{requests} requests");
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

/// The name of the object with the configuration of all releases of the gateway.
const CONFIG: &str = "canary-gateway-config";
const RELEASES: usize = 1_000;
const ROLLOUTS: usize = 20;
const PROXIES: usize = 20;

/// Releases beside those that roll out, in the same object. Their own objects are read by no rollout.
fn add_releases(fixture: &RolloutFixture, until: usize) {
    let mut state = fixture.api.state();
    let object = state.store.find("EnvoyFilter", CONFIG).unwrap().clone();
    let mut config = deployed_config(&object).unwrap().unwrap();
    let first = config.releases.values().next().unwrap().clone();
    for number in config.releases.len()..until {
        let mut release = first.clone();
        release.hosts = vec![format!("more-{number}.example.com")];
        release.rollout_since_seconds = 0;
        config.releases.insert(format!("shop/more-{number}"), release);
    }
    let object = with_deployed_config(&object, &config).unwrap();
    // As `apply` of the others would.
    state.store.edit_as_owner("EnvoyFilter", CONFIG, |stored| stored["spec"] = object["spec"].clone());
}

/// Resident memory of this process in kilobytes, and the processor time that it has used in milliseconds.
fn usage() -> (i64, i64) {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let times: Vec<i64> =
        stat.rsplit(')').next().unwrap().split(' ').filter_map(|field| field.parse().ok()).collect();
    let pages: i64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    // Fields 14 and 15 of proc(5), in hundredths of a second; the names before them end with a parenthesis, and the state is no number.
    (pages * 4, (times[10] + times[11]) * 10)
}

/// An observation by each driver; requests, bytes and processor time of all of them together.
async fn observe_all(fixture: &mut RolloutFixture, drivers: &mut [RolloutDriver<'_>]) -> (usize, usize, i64) {
    fixture.pass().await;
    fixture.api.count_requests();
    fixture.api.count_bytes();
    let (_, before) = usage();
    for driver in drivers.iter_mut() {
        let report = driver.reconcile(fixture.now).await.unwrap();
        assert_eq!(report.proxies.observed, PROXIES, "{:?}", report.decision);
        assert_eq!(report.decision.action, RolloutAction::Wait, "{:?}", report.decision);
    }
    (fixture.api.count_requests(), fixture.api.count_bytes(), usage().1 - before)
}

/// Rollouts of so many releases, by their names; that of the fixture is the first.
async fn start_rollouts(fixture: &RolloutFixture, cluster: &Cluster) -> Vec<ReleaseName> {
    let mut names = vec![fixture.release.name.clone()];
    for number in 1..ROLLOUTS {
        let mut other = another(&fixture.api, &format!("other-{number}"));
        other.rollout = fixture.release.rollout.clone();
        apply(cluster, &other).await.unwrap();
        let stored = cluster.get_record(&other.name).await.unwrap();
        cluster.start_rollout(&other.name, stored, (&other.rollout, "default"), &[]).await.unwrap();
        names.push(other.name);
    }
    names
}

/// All are in one object of 20 gateways. Only while a neighbour's weight has just changed does an observation read that object.
#[test]
fn of_a_thousand_releases_twenty_roll_out_at_the_cost_of_twenty_alone() {
    run(async {
        let (_, requests_alone, bytes_alone) = {
            let mut alone = RolloutFixture::started(Canary::Good).await;
            alone.add_gateways(PROXIES);
            cost(&mut alone).await
        };
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        fixture.add_gateways(PROXIES);
        let cluster = fixture.api.cluster().await;
        let names = start_rollouts(&fixture, &cluster).await;
        let (memory, _) = usage();
        let mut drivers: Vec<RolloutDriver<'_>> =
            names.iter().map(|name| RolloutDriver::new(&cluster, name.clone(), TIMEOUT)).collect();
        for driver in &mut drivers {
            // The first step, and a baseline.
            driver.reconcile(fixture.now).await.unwrap();
            driver.reconcile(fixture.now).await.unwrap();
        }
        // The others come now, so that the first steps cost this test less.
        add_releases(&fixture, RELEASES);
        let size = fixture.api.state().store.find("EnvoyFilter", CONFIG).unwrap().to_string().len();
        observe_all(&mut fixture, &mut drivers).await;
        let (requests, bytes, time) = observe_all(&mut fixture, &mut drivers).await;
        let each = |all: usize| all / ROLLOUTS;
        let memory = (usage().0 - memory) / i64::try_from(ROLLOUTS).unwrap();
        println!(
            "an object of {size} bytes; an observation: {} requests, {} bytes ({requests_alone} and {bytes_alone} alone), {} ms of processor time with \
             the API server and the proxies, {memory} kB of memory a driver",
            each(requests),
            each(bytes),
            time / 20
        );
        assert_eq!(each(requests), requests_alone, "{requests} requests");
        assert!(each(bytes) <= bytes_alone / 10 * 11, "{bytes} bytes, {bytes_alone} alone");

        // A neighbour's weight has changed: the object is read once more by each.
        fixture.api.state().store.edit_as_owner("EnvoyFilter", CONFIG, |object| {
            object["metadata"]["annotations"]["neighbour"] = json!("a weight");
        });
        let (requests, bytes, time) = observe_all(&mut fixture, &mut drivers).await;
        println!(
            "after a neighbour's write: {} requests, {} bytes, {} ms",
            each(requests),
            each(bytes),
            time / 20
        );
        assert!(each(bytes) <= bytes_alone / 10 * 11 + size / 10 * 11, "{bytes} bytes, an object of {size}");
    });
}
