//! A process that is killed after any of its writes: the next call continues.
//!
//! ```text
//! apply          a first apply with a weight
//! adoption       an apply over objects of another owner
//! new_module     the rollout of a new module, and its revert
//! role_changes   promotion, rollback, end of a drain, uninstall
//! injection      routes in the VirtualService of another owner
//! beside         routes beside an HTTPRoute and a GRPCRoute of another owner
//! version_label  the version label of a running Deployment
//! rotation       signing keys of two gateways
//! trains         the roles of a whole train
//! ```

mod adoption;
mod apply;
mod beside;
mod injection;
mod new_module;
mod role_changes;
mod rotation;
mod trains;
mod version_label;

use assignment::Weight;
use canary_operations::{Cluster, Error};
use canary_release::delivery::deployed_config;
use canary_release::spec::Release;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{apply, finish, promote, roll_back, uninstall};
use futures_util::future::join_all;
use serde_json::Value;
use std::collections::BTreeSet;

/// More writes than any operation makes.
const MANY: u32 = 40;
/// Cases at the same time: they wait for deadlines.
const TOGETHER: u32 = 8;

/// An operation on a release.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Apply,
    Promote,
    RollBack,
    Finish,
    Uninstall,
}

async fn carry_out(operation: Operation, cluster: &Cluster, release: &Release) -> Result<(), Error> {
    match operation {
        Operation::Apply => apply(cluster, release).await.map(drop),
        Operation::Promote => promote(cluster, release).await.map(drop),
        Operation::RollBack => roll_back(cluster, release).await.map(drop),
        Operation::Finish => finish(cluster, release).await.map(drop),
        Operation::Uninstall => uninstall(cluster, release).await,
    }
}

/// Runs a case for each number of writes after which a process is killed, up to the first process that ends its operation
/// before. A case returns whether the process was killed. Returns how many were: the number of writes of the operation.
async fn count_writes(case: impl AsyncFn(u32) -> bool) -> usize {
    let mut killed = Vec::new();
    for first in (0..MANY).step_by(TOGETHER as usize) {
        killed.extend(join_all((first..first + TOGETHER).map(async |writes| case(writes).await)).await);
        if killed.contains(&false) {
            break;
        }
    }
    killed.into_iter().filter(|killed| *killed).count()
}

fn generation(api: &FakeApi) -> Option<u64> {
    record(api.state().store.find("ConfigMap", "shop-canary")?)["state"]["generation"].as_u64()
}

/// Null before the record is in its object.
fn record(config_map: &Value) -> Value {
    config_map["data"]["release.json"]
        .as_str()
        .map_or(Value::Null, |text| serde_json::from_str(text).unwrap())
}

/// Fails if a route leads to a subset that does not exist.
fn assert_routes_lead_to_subsets(api: &FakeApi, context: &str) {
    let state = api.state();
    let rules = state.store.of_kind("DestinationRule");
    let subsets: BTreeSet<&str> = rules.flat_map(|rule| names(&rule["spec"]["subsets"])).collect();
    for service in state.store.of_kind("VirtualService") {
        for route in service["spec"]["http"].as_array().unwrap() {
            let Some(subset) = route["route"][0]["destination"]["subset"].as_str() else { continue };
            assert!(subsets.contains(subset), "{context}: {route} leads to none of {subsets:?}");
        }
    }
}

/// Fails if a configuration has a version without a route, or a generation that the record does not have yet. Where there is
/// no route at all, the release is installed or uninstalled: its weight is 0.
fn assert_versions_have_routes(api: &FakeApi, context: &str) {
    let state = api.state();
    let services = state.store.of_kind("VirtualService");
    let routes: BTreeSet<&str> = services.flat_map(|service| names(&service["spec"]["http"])).collect();
    let recorded = state.store.find("ConfigMap", "shop-canary").map(record);
    for object in state.store.of_kind("EnvoyFilter") {
        let Some(config) = deployed_config(object).unwrap() else { continue };
        for (name, release) in &config.releases {
            let generation = recorded.as_ref().map(|record| &record["state"]["generation"]);
            let is_recorded = generation.and_then(Value::as_u64).is_some_and(|at| release.generation <= at);
            assert!(
                is_recorded,
                "{context}: generation {} with the record at {generation:?}",
                release.generation
            );
            for version in &release.versions {
                let route = format!("{name}/{}", version.name);
                let is_routed = routes.contains(route.as_str());
                let is_installing = routes.is_empty() && release.weight == Weight::ZERO;
                assert!(is_routed || is_installing, "{context}: no route {route} in {routes:?}");
            }
        }
    }
}

fn names(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(|item| item["name"].as_str())
}
