//! Objects of a release that somebody has deleted, as against those that an operation has not written.

use assignment::Weight;
use assignment::contract::Role;
use canary_operations::{Cluster, Error};
use canary_release::spec::Release;
use canary_release::status::problems;
use canary_release::{plan, record};
use fake_api_server::FakeApi;
use fake_api_server::fixture::{apply, promote, release, roll_back, run, set_weight, shop};
use serde_json::{Value, json};

/// The problems of a release.
async fn found(cluster: &Cluster, release: &Release) -> Vec<String> {
    let stored = cluster.get_record(&release.name).await.unwrap();
    let observation = cluster.observe_status(&release.name, &stored).await.unwrap();
    problems(&observation, None, 0).iter().map(ToString::to_string).collect()
}

fn history(api: &FakeApi) -> Value {
    let state = api.state();
    state.store.find("ConfigMap", "shop-canary").unwrap()["data"].clone()
}

#[test]
fn a_deleted_rule_is_named_by_the_status_and_by_a_promotion_that_writes_nothing() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "10").await.unwrap();
        assert_eq!(found(&cluster, &release).await, [""; 0]);
        api.state().remove("DestinationRule", "shop-canary");
        let expected = "DestinationRule shop/shop-canary is missing: it was deleted";
        assert_eq!(found(&cluster, &release).await, [expected]);
        let before = history(&api);
        let refused = promote(&cluster, &release).await;
        let Err(Error::Plan(error @ plan::Error::MissingObject(_))) = refused else { panic!("{refused:?}") };
        assert_eq!(error.to_string(), expected);
        assert_eq!(history(&api), before);
        apply(&cluster, &release).await.unwrap();
        assert_eq!(found(&cluster, &release).await, [""; 0], "an apply writes it again");
    });
}

#[test]
fn a_raise_that_meets_deleted_routes_names_their_object() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "10").await.unwrap();
        let routes = api.state().store.names(&["VirtualService"]);
        api.state().store.remove("VirtualService", "shop-canary");
        let expected = "VirtualService shop/shop-canary is missing: it was deleted";
        assert_eq!(found(&cluster, &release).await, [expected], "of {routes:?}");
        let refused = set_weight(&cluster, &release, "20").await;
        let Err(Error::Preflight(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(refused.message, expected);
    });
}

#[test]
fn what_a_killed_apply_has_not_written_was_not_deleted() {
    run(async {
        let (api, release) = (shop(), release(&json!({"weight": 20})));
        // Of the release: Lease, keys, record, configuration, runtime, filter.
        let ended = api.killed_after(8, async |process| apply(process, &release).await).await;
        assert!(ended.is_none(), "{ended:?}");
        assert!(
            api.state().store.find("DestinationRule", "shop-canary").is_none(),
            "killed before its subsets"
        );
        let found = found(&api.cluster().await, &release).await;
        let expected =
            "DestinationRule shop/shop-canary is missing: an operation was interrupted before it was written";
        assert!(found.iter().any(|problem| problem == expected), "expected {expected}, found {found:?}");
        assert!(found.iter().all(|problem| !problem.contains("deleted")), "{found:?}");
    });
}

/// Every object of a release, and the Service, is deleted once: an emergency takes effect, twice, and leaves no user on the canary.
#[test]
fn an_emergency_takes_effect_whatever_object_was_deleted() {
    run(async {
        let objects = [
            ("EnvoyFilter", "canary-gateway-config"),
            ("EnvoyFilter", "canary-gateway-filter"),
            ("VirtualService", "shop-canary"),
            ("DestinationRule", "shop-canary"),
            ("Service", "shop"),
        ];
        let mut wrong = Vec::new();
        for (kind, name) in objects {
            for verb in ["weight 0", "rollback", "rollback of a promotion"] {
                let (api, release) = (shop(), release(&json!({"maxStep": 100})));
                let cluster = api.cluster().await;
                apply(&cluster, &release).await.unwrap();
                set_weight(&cluster, &release, "10").await.unwrap();
                if verb == "rollback of a promotion" {
                    promote(&cluster, &release).await.unwrap();
                }
                assert!(api.state().store.find(kind, name).is_some(), "{kind} {name}");
                api.state().store.remove(kind, name);
                for call in 1..=2 {
                    let done = match verb {
                        "weight 0" => set_weight(&cluster, &release, "0").await,
                        _ => roll_back(&cluster, &release).await.map(drop),
                    };
                    if let Err(error) = done {
                        wrong.push(format!("{kind} {name}, {verb}, call {call}: {error}"));
                    }
                }
                let state = cluster.get_record(&release.name).await.unwrap().record.state;
                if state.weight > Weight::ZERO || state.version_of(Role::Stable) != Some("v1") {
                    wrong.push(format!("{kind} {name}, {verb}: {state:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

#[test]
fn a_weight_of_zero_without_a_canary_is_done_already_or_names_the_way_back() {
    run(async {
        let (api, release) = (shop(), release(&json!({"maxStep": 100})));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "10").await.unwrap();
        promote(&cluster, &release).await.unwrap();
        let refused = set_weight(&cluster, &release, "0").await;
        let Err(Error::Plan(plan::Error::Record(record::Error::NoCanary { promoted, .. }))) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(promoted.as_deref(), Some("v2"));
        roll_back(&cluster, &release).await.unwrap();
        let refused = set_weight(&cluster, &release, "0").await.unwrap_err().to_string();
        assert!(refused.contains("sessions still end on `v2`"), "{refused}");

        let (api, release) = (shop(), fake_api_server::fixture::release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        roll_back(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "0").await.unwrap();
    });
}

fn break_configuration(value: &mut Value) {
    match value {
        Value::String(text) if text.contains("\"releases\"") => "{".clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(break_configuration),
        Value::Object(fields) => fields.values_mut().for_each(break_configuration),
        _ => {}
    }
}

/// A proxy keeps the last configuration that it could read, which may have the canary.
#[test]
fn an_emergency_says_so_where_a_configuration_cannot_be_read() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "10").await.unwrap();
        api.state().store.edit("EnvoyFilter", "canary-gateway-config", break_configuration);
        let done = [set_weight(&cluster, &release, "0").await, roll_back(&cluster, &release).await.map(drop)];
        assert!(done.iter().all(Result::is_err), "{done:?}");
    });
}
