//! No route names a subset that is not there, and no configuration a version without a route: after every single write.

use canary_release::delivery::deployed_config;
use fake_api_server::fixture::{
    apply, finish, promote, release, roll_back, run, set_weight, shop, uninstall,
};
use fake_api_server::{FakeApi, State};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

fn names(list: &Value) -> impl Iterator<Item = String> + '_ {
    list.as_array().into_iter().flatten().filter_map(|item| Some(item["name"].as_str()?.to_owned()))
}

/// What would fail a request, or move a session, in this state.
fn faults(state: &State) -> Vec<String> {
    let mut faults = Vec::new();
    let subsets: BTreeSet<String> = state
        .store
        .of_kind("DestinationRule")
        .flat_map(|rule| names(&rule["spec"]["subsets"]).collect::<Vec<_>>())
        .collect();
    let mut routes = BTreeSet::new();
    for service in state.store.of_kind("VirtualService") {
        for route in service["spec"]["http"].as_array().into_iter().flatten() {
            routes.extend(route["name"].as_str().map(str::to_owned));
            let subset = route["route"][0]["destination"]["subset"].as_str().unwrap_or_default();
            if !subset.is_empty() && !subsets.contains(subset) {
                faults.push(format!("a route leads to subset {subset}, which is not there"));
            }
        }
    }
    for object in state.store.of_kind("EnvoyFilter") {
        let Some(config) = deployed_config(object).unwrap() else { continue };
        for (name, release) in &config.releases {
            let is_zero = release.weight == assignment::Weight::ZERO;
            for version in release.versions.iter().filter(|_| !is_zero) {
                let route = format!("{name}/{}", version.name);
                if !routes.contains(&route) {
                    faults.push(format!("a weight is in force and route {route} is not there"));
                }
            }
        }
    }
    let has_filter = state.store.find("EnvoyFilter", "canary-gateway-filter").is_some();
    if !routes.is_empty() && !has_filter {
        faults.push("routes by header are there, and no filter removes the header of clients".to_owned());
    }
    faults
}

/// Watches a cluster: the faults before each write, and so after the one before it.
pub(super) fn watched(api: &FakeApi, faults: fn(&State) -> Vec<String>) -> Arc<Mutex<Vec<String>>> {
    let found = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&found);
    api.before_write(move |state, request| {
        let faults = faults(state).into_iter().map(|fault| format!("before {request}: {fault}"));
        sink.lock().unwrap().extend(faults);
    });
    found
}

#[test]
fn no_state_between_two_writes_of_a_whole_release_fails_a_request() {
    run(async {
        let (api, release) = (shop(), release(&json!({"weight": 10})));
        let (cluster, found) = (api.cluster().await, watched(&api, faults));
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "50").await.unwrap();
        promote(&cluster, &release).await.unwrap();
        roll_back(&cluster, &release).await.unwrap();
        finish(&cluster, &release).await.unwrap();
        uninstall(&cluster, &release).await.unwrap();
        assert_eq!(*found.lock().unwrap(), Vec::<String>::new());
        assert_eq!(
            api.state().store.names(&["VirtualService", "DestinationRule", "EnvoyFilter", "ConfigMap"]),
            [""; 0]
        );
    });
}

#[test]
fn another_canary_comes_without_a_state_that_fails_a_request() {
    run(async {
        let (api, first) = (shop(), release(&json!({"versions": {"stable": "v1"}})));
        let (cluster, found) = (api.cluster().await, watched(&api, faults));
        apply(&cluster, &first).await.unwrap();
        let with_canary = release(&json!({"weight": 10}));
        apply(&cluster, &with_canary).await.unwrap();
        set_weight(&cluster, &with_canary, "0").await.unwrap();
        apply(&cluster, &first).await.unwrap();
        assert_eq!(*found.lock().unwrap(), Vec::<String>::new());
    });
}
