//! Installing the filter, changing a weight and removing the filter fail no request: three kinds of objects, four places of
//! the module.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::filter_source::{Module, Parts, Web, everywhere, route};
use crate::support::in_the_mesh;
use crate::support::{UNDISTURBED, counters};
use browser::load::{Connections, LoadProfile, Report, ServedBy};
use browser::{Heartbeat, Kind, Visit, WebSocket};
use mesh_lab::Lab;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::{Crowd, Document, HOST};

/// Shorter than Istio's 45 s, so that the end of a drain is part of the test.
const DRAIN: u16 = 3;

/// The debug header, which only a running filter sets.
const DEBUG: &str = "x-canary-debug";

#[test]
fn an_envoyfilter_is_created_changed_and_deleted_without_a_failed_request() {
    in_the_mesh(async |lab| comes_changes_and_goes(lab, "envoyfilter").await);
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_wasmplugin_is_created_changed_and_deleted_without_a_failed_request() {
    in_the_mesh(async |lab| comes_changes_and_goes(lab, "wasmplugin").await);
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_trafficextension_is_created_changed_and_deleted_without_a_failed_request() {
    in_the_mesh(async |lab| comes_changes_and_goes(lab, "trafficextension").await);
}

async fn comes_changes_and_goes(lab: &Lab, mode: &str) {
    let options = ShopEnvOptions { drain: DRAIN, ..ShopEnvOptions::gateway() };
    let env = ShopEnv::set_up(lab, mode, &options).await.unwrap();
    let web = Web::start().await;
    let modules = everywhere(lab, &env.namespace, mode, &web).await;
    let release = env.release().unwrap().with("/spec/weight", "100");
    route(lab, &env, &release).await;

    let crowds = [Connections::PerUser, Connections::PerWorker].map(|connections| crowd(&env, connections));
    for module in &modules {
        one_life(lab, &env, &module.of(&release, mode), module).await;
    }
    for crowd in crowds {
        let (_, report) = crowd.stop().await.unwrap();
        assert_none_failed(mode, &report);
    }
    assert_eq!(web.missed(), 0, "the agent asks only for what it was told");
}

/// Users all the time, on connections that stay (`PerUser`) or that are new for each request.
fn crowd(env: &ShopEnv, connections: Connections) -> Crowd {
    let visit = move |_, _| {
        let visit = Visit::new(Kind::Navigate, "/slow?ms=40");
        if connections == Connections::PerUser { visit } else { visit.header("connection", "close") }
    };
    let users = (0..4).map(|_| env.user()).collect();
    let plan = LoadProfile {
        rounds: 1,
        concurrency: 4,
        connections,
        visit: Arc::new(visit),
        read: ServedBy::by_shop,
    };
    Crowd::start(users, plan)
}

/// Installs the filter with its module from there, lowers the weight, and takes the filter away.
#[expect(clippy::print_stderr, reason = "what was measured, for whoever reads the test's output")]
async fn one_life(lab: &Lab, env: &ShopEnv, release: &Document, module: &Module) {
    let older = heartbeat(env).await;
    let parts = Parts::of(&env.generate(&[release], 1).unwrap());
    let start = Instant::now();
    lab.apply(&parts.delivery()).await.unwrap();
    until_new_users_are_on(lab, env, Some("v2")).await;
    let installed = start.elapsed();
    tokio::time::sleep(Duration::from_secs(u64::from(DRAIN) + 1)).await;
    let cut = u8::from(older.stop().await.is_err());
    // Two objects may be two listener updates: what is opened between them is cut as well.
    let newer = heartbeat(env).await;

    let before = counters(lab, env, &UNDISTURBED).await;
    let lower = Parts::of(&env.generate(&[&release.clone().with("/spec/weight", "0")], 2).unwrap());
    lab.apply(&lower.delivery()).await.unwrap();
    until_new_users_are_on(lab, env, Some("v1")).await;
    assert_eq!(
        counters(lab, env, &UNDISTURBED).await,
        before,
        "{}: a weight is no listener update",
        module.url
    );
    assert!(newer.stop().await.unwrap() > 0, "a weight closes no WebSocket");

    lab.delete(&lower.delivery()).await.unwrap();
    until_new_users_are_on(lab, env, None).await;
    eprintln!(
        "{}: active {installed:?} after `kubectl apply` began; {cut} of 1 older WebSocket was cut by the drain",
        module.url
    );
}

async fn heartbeat(env: &ShopEnv) -> Heartbeat {
    let socket = WebSocket::open(env.gateway, HOST, "/ws", &[]).await.unwrap();
    Heartbeat::start(socket, Duration::from_millis(100))
}

/// Waits until a new user is answered by this version and the filter, or by stable without the filter.
async fn until_new_users_are_on(lab: &Lab, env: &ShopEnv, version: Option<&str>) {
    lab.until(&format!("{version:?} by the filter"), async || {
        let response = env.user().navigate("/").await.ok()?;
        let found = response.header("x-shop-version");
        let filtered = response.header(DEBUG).is_some();
        (found == version.or(Some("v1")) && filtered == version.is_some()).then_some(())
    })
    .await
    .unwrap();
}

#[expect(clippy::print_stderr, reason = "what was measured, for whoever reads the test's output")]
fn assert_none_failed(mode: &str, report: &Report) {
    let (requests, failures) = (report.records.len(), report.failures());
    eprintln!(
        "{mode}: {requests} requests, {} failed, {} closed their connection",
        failures.len(),
        report.closed()
    );
    assert!(failures.is_empty(), "{} of {requests} requests failed: {:?}", failures.len(), failures.first());
    assert!(requests > 100, "there was hardly any load: {requests} requests");
}
