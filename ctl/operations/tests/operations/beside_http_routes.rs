//! Routes of our own beside `HTTPRoute`s of others: `routes: gateway-api`. Those beside `GRPCRoute`s are in `beside_grpc_routes`.

use crate::make_before_break::watched;
use assignment::contract::{FilterConfig, Role};
use canary_operations::{Error, Protected};
use canary_release::delivery::deployed_config;
use canary_release::object::Stage;
use canary_release::plan::Change;
use canary_release::preflight::PreflightCheck;
use canary_release::status::problems;
use fake_api_server::fixture::{
    SHOP, apply, apply_rolled_back, finish, promote, release, release_beside_http_routes, roll_back, run,
    set_weight, shop_with_http_route, uninstall,
};
use fake_api_server::{FakeApi, State};
use serde_json::{Value, json};

const OURS: [&str; 2] = ["Service", "HTTPRoute"];

/// The routes of both kinds.
fn routes(state: &State) -> impl Iterator<Item = &Value> {
    ["HTTPRoute", "GRPCRoute"].into_iter().flat_map(|kind| state.store.of_kind(kind))
}

fn config(state: &State) -> Option<FilterConfig> {
    state.store.of_kind("EnvoyFilter").find_map(|object| deployed_config(object).unwrap())
}

/// The value that the filter gives the routing header for a version.
pub(crate) fn value(state: &State, version: &str) -> String {
    let config = config(state).unwrap();
    let versions = &config.releases["shop/shop"].versions;
    versions.iter().find(|one| one.name == version).and_then(|one| one.routing.clone()).unwrap()
}

/// The Services to which requests with this header value are sent, one for each rule of the owner.
pub(crate) fn targets(state: &State, value: &str) -> Vec<String> {
    let rules = routes(state).flat_map(|route| route["spec"]["rules"].as_array().unwrap());
    let matches = |rule: &&Value| {
        let header = rule["matches"][0]["headers"].as_array().and_then(|headers| headers.last());
        header.is_some_and(|header| header["name"] == "x-canary-version" && header["value"] == *value)
    };
    rules.filter(matches).map(|rule| rule["backendRefs"][0]["name"].as_str().unwrap().to_owned()).collect()
}

fn owners(api: &FakeApi) -> Vec<Value> {
    let state = api.state();
    [("HTTPRoute", "site"), ("Service", "shop")]
        .map(|(kind, name)| state.store.find(kind, name).unwrap().clone())
        .into()
}

#[test]
fn each_version_has_a_service_and_routes_by_a_value_that_clients_cannot_guess() {
    run(async {
        let (api, release) = (shop_with_http_route(), release_beside_http_routes(&json!({"weight": 10})));
        let before = owners(&api);
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        assert_eq!(owners(&api), before, "objects of others are not written");
        let names = api.state().store.names(&["Service", "HTTPRoute", "DestinationRule", "VirtualService"]);
        let expected = [
            "Service shop",
            "Service shop-v1",
            "Service shop-v2",
            "HTTPRoute shop-canary.v1-00",
            "HTTPRoute shop-canary.v2-00",
            "HTTPRoute site",
        ];
        assert_eq!(names, expected);
        let state = api.state();
        for version in ["v1", "v2"] {
            let value = value(&state, version);
            let random = value.strip_prefix(&format!("shop/shop/{version}/")).unwrap();
            assert_eq!(random.len(), 24, "{value}");
            assert_eq!(targets(&state, &value), [format!("shop-{version}"), format!("shop-{version}")]);
            let service = state.store.find("Service", &format!("shop-{version}")).unwrap();
            assert_eq!(service["spec"]["selector"], json!({"app": "shop", "version": version}));
            assert_eq!(service["metadata"]["managedFields"][0]["manager"], "canary-ctl");
        }
        let route = state.store.find("HTTPRoute", "shop-canary.v2-00").unwrap();
        assert_eq!(route["spec"]["rules"][0]["timeouts"], json!({"request": "3s"}), "as the owner's");
        assert_eq!(targets(&state, "shop/shop/v2"), [""; 0], "the default of other releases leads nowhere");
    });
}

#[test]
fn a_version_that_comes_again_gets_another_value() {
    run(async {
        let (api, release) = (shop_with_http_route(), release_beside_http_routes(&json!({"weight": 10})));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let first = value(&api.state(), "v2");
        let stable = value(&api.state(), "v1");
        set_weight(&cluster, &release, "20").await.unwrap();
        apply(&cluster, &release).await.unwrap();
        assert_eq!(value(&api.state(), "v2"), first, "it stays with the epoch");
        roll_back(&cluster, &release).await.unwrap();
        apply_rolled_back(&cluster, &release).await.unwrap();
        let again = value(&api.state(), "v2");
        assert_ne!(again, first);
        assert_eq!(value(&api.state(), "v1"), stable);
        assert_eq!(targets(&api.state(), &first), [""; 0], "of the epoch before");
        assert_eq!(targets(&api.state(), &again), ["shop-v2"; 2]);
    });
}

/// What would fail a request, or send it to another version, in this state.
pub(crate) fn faults(state: &State) -> Vec<String> {
    let mut faults = Vec::new();
    for route in routes(state) {
        for rule in route["spec"]["rules"].as_array().into_iter().flatten() {
            let service = rule["backendRefs"][0]["name"].as_str().unwrap();
            if state.store.find("Service", service).is_none() {
                faults.push(format!(
                    "{} leads to Service {service}, which does not exist",
                    route["metadata"]["name"]
                ));
            }
        }
    }
    let leads = |rule: &&Value| rule["backendRefs"][0]["name"] == "shop";
    let rules = routes(state).flat_map(|route| route["spec"]["rules"].as_array().unwrap());
    let owners = rules.filter(leads).count();
    let has_both_kinds = state.store.of_kind("GRPCRoute").next().is_some();
    let Some(config) = config(state) else { return faults };
    let Some(entry) = config.releases.get("shop/shop") else { return faults };
    let is_installed = state.store.find("HTTPRoute", "shop-canary.v1-00").is_some();
    for version in &entry.versions {
        let found = targets(state, version.routing.as_deref().unwrap());
        // A canary without users, beside routes of two kinds: its objects are written one after the other.
        let is_idle =
            has_both_kinds && version.role == Role::Canary && entry.weight == assignment::Weight::ZERO;
        let is_used = (is_installed || entry.weight > assignment::Weight::ZERO) && !is_idle;
        // Without any route of a version its users get the default: stable.
        if is_used && !found.is_empty() && found.len() < owners {
            faults.push(format!("a part of the routes of {} leads to {found:?}", version.name));
        }
        if entry.weight > assignment::Weight::ZERO && found.is_empty() {
            faults.push(format!("weight {} and no route of {}", entry.weight, version.name));
        }
    }
    let has_filter = state.store.find("EnvoyFilter", "canary-gateway-filter").is_some();
    if is_installed && !has_filter {
        faults.push("routes by header are there, and no filter".to_owned());
    }
    faults
}

pub(crate) fn select(api: &FakeApi, version: &str) {
    api.state()
        .store
        .edit("Service", "shop", |service| service["spec"]["selector"]["version"] = json!(version));
}

#[test]
fn no_state_between_two_writes_of_a_whole_release_fails_a_request() {
    run(async {
        let (api, release) = (shop_with_http_route(), release_beside_http_routes(&json!({"weight": 10})));
        let cluster = api.cluster().await;
        let found = watched(&api, faults);
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "50").await.unwrap();
        promote(&cluster, &release).await.unwrap();
        match finish(&cluster, &release).await {
            Err(Error::Protected(Protected::DefaultRoute(default))) => {
                assert_eq!(default.selected.as_deref(), Some("v1"));
            }
            other => panic!("expected a refusal while the Service selects v1, found {other:?}"),
        }
        roll_back(&cluster, &release).await.unwrap();
        finish(&cluster, &release).await.unwrap();
        let names = api.state().store.names(&OURS);
        assert_eq!(
            names,
            ["Service shop", "Service shop-v1", "HTTPRoute shop-canary.v1-00", "HTTPRoute site"]
        );
        let left =
            cluster.plan(&release_beside_http_routes(&json!({"versions": {"stable": "v1"}}))).await.unwrap();
        let is_config = |change: &Change| change.stage == Stage::Configuration;
        assert!(left.changes.iter().all(is_config), "users without a canary: {left:?}");
        uninstall(&cluster, &release).await.unwrap();
        assert_eq!(*found.lock().unwrap(), Vec::<String>::new());
        let kinds = ["EnvoyFilter", "ConfigMap", "HTTPRoute", "Service"];
        assert_eq!(api.state().store.names(&kinds), ["Service shop", "HTTPRoute site"]);
    });
}

#[test]
fn the_next_version_comes_after_a_promotion_whose_drain_has_ended() {
    run(async {
        let (api, first) = (shop_with_http_route(), release_beside_http_routes(&json!({"weight": 10})));
        let cluster = api.cluster().await;
        apply(&cluster, &first).await.unwrap();
        promote(&cluster, &first).await.unwrap();
        select(&api, "v2");
        finish(&cluster, &first).await.unwrap();
        let labels = json!({"app": "shop", "version": "v3"});
        api.state().create(&fake_api_server::fixture::pod(SHOP, "shop-v3", &labels));
        api.state().store.remove("Pod", "shop-v1");
        let next =
            release_beside_http_routes(&json!({"weight": 10, "versions": {"stable": "v2", "canary": "v3"}}));
        let found = watched(&api, faults);
        apply(&cluster, &next).await.unwrap();
        assert_eq!(*found.lock().unwrap(), Vec::<String>::new());
        let state = api.state();
        let names = state.store.names(&OURS);
        let expected = [
            "Service shop",
            "Service shop-v2",
            "Service shop-v3",
            "HTTPRoute shop-canary.v2-00",
            "HTTPRoute shop-canary.v3-00",
            "HTTPRoute site",
        ];
        assert_eq!(names, expected);
        assert_eq!(targets(&state, &value(&state, "v3")), ["shop-v3"; 2]);
    });
}

#[test]
fn a_service_that_selects_more_than_stable_is_refused_with_what_its_owner_has_to_change() {
    run(async {
        let release = release_beside_http_routes(&json!({}));
        let every = "expected Service `shop` to select `version: v1`, found pods of every version: requests without a decision may \
                     get the canary";
        let canary = "expected Service `shop` to select `version: v1`, found `version: v2`: requests without a decision get that version";
        for (selected, expected) in [(json!(null), every), (json!("v2"), canary)] {
            let api = shop_with_http_route();
            let change = |service: &mut Value| {
                service["spec"]["selector"] = json!({"app": "shop"});
                if selected.is_string() {
                    service["spec"]["selector"]["version"] = selected.clone();
                }
            };
            api.state().store.edit("Service", "shop", change);
            let cluster = api.cluster().await;
            match apply(&cluster, &release).await {
                Err(Error::Preflight(failed)) => {
                    assert_eq!(
                        (failed.check, failed.to_string().as_str()),
                        (PreflightCheck::RoutesBypassed, expected)
                    );
                }
                other => panic!("expected a refusal, found {other:?}"),
            }
            assert_eq!(
                api.state().store.names(&["ConfigMap", "EnvoyFilter"]),
                [""; 0],
                "before the first write"
            );
        }
        // After `apply`, too: no user is sent to the canary.
        let api = shop_with_http_route();
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        api.state()
            .store
            .edit("Service", "shop", |service| service["spec"]["selector"] = json!({"app": "shop"}));
        let refused = set_weight(&cluster, &release, "10").await.unwrap_err().to_string();
        assert_eq!(refused, every);
        assert!(said(&cluster, &release).await.contains(&every.to_owned()));
    });
}

/// What `status` says is wrong.
pub(crate) async fn said(
    cluster: &canary_operations::Cluster,
    release: &canary_release::spec::Release,
) -> Vec<String> {
    let stored = cluster.get_record(&release.name).await.unwrap();
    let observation = cluster.observe_status(&release.name, &stored).await.unwrap();
    problems(&observation, None, 0).iter().map(ToString::to_string).collect()
}

#[test]
fn what_the_owner_changes_is_named_and_derived_again() {
    run(async {
        let (api, release) = (shop_with_http_route(), release_beside_http_routes(&json!({"weight": 10})));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        assert_eq!(said(&cluster, &release).await, [""; 0]);
        let another = json!({"matches": [{"path": {"type": "Exact", "value": "/pay"}}],
            "backendRefs": [{"name": "shop", "port": 80}]});
        api.state().store.edit("HTTPRoute", "site", |route| {
            route["spec"]["rules"].as_array_mut().unwrap().push(another);
        });
        let expected: Vec<String> = ["v1", "v2"]
            .map(|version| {
                format!(
                    "HTTPRoute shop/shop-canary.{version}-00 has routes of ours with former settings: kubectl-create, kubectl-edit has \
                     changed the routes that they copy"
                )
            })
            .into();
        assert_eq!(said(&cluster, &release).await, expected);
        assert_eq!(cluster.plan(&release).await.unwrap().changes.len(), 2, "`diff` shows both");
        apply(&cluster, &release).await.unwrap();
        assert_eq!(said(&cluster, &release).await, [""; 0]);
        let value = value(&api.state(), "v2");
        assert_eq!(targets(&api.state(), &value), ["shop-v2"; 3]);
        // One that cannot be repeated is named as well, and nothing is written.
        api.state().store.edit("HTTPRoute", "site", |route| {
            route["spec"]["rules"][0]["matches"][0]["path"]["type"] = json!("RegularExpression");
        });
        let found = said(&cluster, &release).await;
        assert!(found.iter().any(|problem| problem.contains("by a regular expression")), "{found:?}");
        let refused = apply(&cluster, &release).await.unwrap_err().to_string();
        assert!(
            refused.contains("`spec.rules[0]` of HTTPRoute shop/site matches paths by a regular expression"),
            "{refused}"
        );
        set_weight(&cluster, &release, "0").await.unwrap();
    });
}

#[test]
fn the_settings_of_the_plain_service_are_those_of_each_version() {
    run(async {
        let (api, release) = (shop_with_http_route(), release_beside_http_routes(&json!({})));
        let policy = json!({"loadBalancer": {"consistentHash": {"httpHeaderName": "x-user"}}});
        api.state().create(&json!({"apiVersion": "networking.istio.io/v1", "kind": "DestinationRule",
            "metadata": {"name": "shop", "namespace": SHOP},
            "spec": {"host": "shop.shop.svc.cluster.local", "trafficPolicy": policy}}));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let state = api.state();
        for version in ["v1", "v2"] {
            let rule = state.store.find("DestinationRule", &format!("shop-canary.{version}")).unwrap();
            let expected =
                json!({"host": format!("shop-{version}.shop.svc.cluster.local"), "trafficPolicy": policy});
            assert_eq!(rule["spec"], expected);
        }
    });
}

/// An object of others that the mode does not work with, and how it is refused.
type Refused<'r> = (&'r dyn Fn(&FakeApi), &'r str);

fn take_selector_out(api: &FakeApi) {
    api.state().store.edit("Service", "shop", |service| service["spec"]["selector"] = json!({}));
}

fn add_service_of_our_name(api: &FakeApi) {
    api.state().create(&json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "shop-v2", "namespace": SHOP}, "spec": {"selector": {"app": "other"}}}));
}

#[test]
fn what_the_mode_does_not_do_is_refused_by_name_before_the_first_write() {
    run(async {
        let cases: [Refused<'_>; 3] = [
            (
                &|api| api.state().store.remove("HTTPRoute", "site"),
                "expected an HTTPRoute or a GRPCRoute at a Gateway of the release that leads to Service `shop`, found none",
            ),
            (&take_selector_out, "expected Service `shop` with a selector, found none"),
            (&add_service_of_our_name, "cannot write Service shop/shop-v2: it belongs to kubectl-create"),
        ];
        let beside = release_beside_http_routes(&json!({}));
        for (change, expected) in cases {
            let api = shop_with_http_route();
            change(&api);
            let refused = apply(&api.cluster().await, &beside).await.unwrap_err();
            assert_eq!(refused.to_string(), expected);
            assert_eq!(api.state().store.names(&["ConfigMap", "EnvoyFilter"]), [""; 0], "{expected}");
        }
        let api = shop_with_http_route();
        let cluster = api.cluster().await;
        apply(&cluster, &beside).await.unwrap();
        let refused = apply(&cluster, &release(&json!({"routes": "managed"}))).await.unwrap_err().to_string();
        assert_eq!(
            refused,
            "expected `routes: gateway-api`, with which the release was installed, found `managed`"
        );
    });
}
