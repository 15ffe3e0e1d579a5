//! What `apply` reads and writes.

use canary_operations::WriteOptions;
use fake_api_server::fixture::{
    INGRESS, apply, create_service, options, pod, release, run, set_weight, shop, uninstall,
};
use serde_json::{Value, json};

/// Kinds that `apply` writes.
const OURS: [&str; 5] = ["ConfigMap", "DestinationRule", "EnvoyFilter", "Secret", "VirtualService"];

#[test]
fn a_first_apply_makes_each_object_once_and_a_second_one_nothing() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        api.count_requests();
        apply(&cluster, &release).await.unwrap();
        let first = api.count_requests();
        let mut names = api.state().store.names(&OURS);
        names.sort();
        let expected = [
            "ConfigMap shop-canary",
            "DestinationRule shop-canary",
            "EnvoyFilter canary-gateway-config",
            "EnvoyFilter canary-gateway-filter",
            "EnvoyFilter canary-gateway-runtime",
            "Secret canary-ctl-keys",
            "Secret canary-ctl-record-keys",
            "VirtualService shop-canary",
            "VirtualService shop-canary-mesh",
        ];
        assert_eq!(names, expected);
        let again = apply(&cluster, &release).await.unwrap();
        assert!(again.plan.is_empty(), "a second apply writes {:?}", again.plan);
        let second = api.count_requests();
        assert!(first <= 65, "a first apply makes {first} requests");
        assert!(second <= 15, "an apply with nothing to do makes {second} requests");
    });
}

#[test]
fn a_gateway_that_is_not_ready_is_not_waited_for() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let mut starting = pod(INGRESS, "gateway-2", &json!({"istio": "gateway"}));
        starting["status"]["conditions"] = json!([{"type": "Ready", "status": "False"}]);
        api.state().create(&starting);
        let applied = apply(&api.cluster().await, &release).await.unwrap();
        let proxies = applied.arrival.unwrap().proxies;
        assert_eq!(proxies.iter().map(|proxy| proxy.pod.as_str()).collect::<Vec<_>>(), ["gateway-1"]);
    });
}

#[test]
fn the_weight_of_the_file_is_set_once_at_the_first_apply() {
    run(async {
        let (api, release) = (shop(), release(&json!({"weight": 20})));
        let cluster = api.cluster().await;
        assert_eq!(apply(&cluster, &release).await.unwrap().record.state.weight.to_string(), "20%");
        set_weight(&cluster, &release, "30").await.unwrap();
        let weight = apply(&cluster, &release).await.unwrap().record.state.weight;
        assert_eq!(weight.to_string(), "30%", "the file does not take back what `weight` has set");
    });
}

#[test]
fn a_weight_that_the_release_has_makes_no_generation_and_continues_what_was_killed() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let ended = api.killed_after(1, async |process| set_weight(process, &release, "20").await).await;
        assert!(ended.is_none(), "killed after the record was written");
        let stored = cluster.get_record(&release.name).await.unwrap();
        let unwritten = async || cluster.plan_weight(&release.name, &stored).await.unwrap().changes.len();
        assert_eq!(unwritten().await, 1);
        set_weight(&cluster, &release, "20").await.unwrap();
        assert_eq!(unwritten().await, 0);
        assert_eq!(cluster.get_record(&release.name).await.unwrap().record, stored.record);

        set_weight(&cluster, &release, "30").await.unwrap();
        let generation = cluster.get_record(&release.name).await.unwrap().record.state.generation;
        assert_eq!(generation, stored.record.state.generation + 1);
    });
}

#[test]
fn an_object_that_another_client_changes_meanwhile_is_read_again_and_keeps_that_change() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        // The rule lacks a subset; while it is restored, its owner adds a label.
        api.state().store.edit("DestinationRule", "shop-canary", |rule| rule["spec"]["subsets"] = json!([]));
        let mut is_done = false;
        api.before_write(move |state, request| {
            if request.contains("/destinationrules/") && !std::mem::replace(&mut is_done, true) {
                state.store.edit("DestinationRule", "shop-canary", |rule| {
                    rule["metadata"]["labels"]["team"] = json!("checkout");
                });
            }
        });
        let forcing = WriteOptions { force_conflicts: true, ..options() };
        apply(&api.cluster_with(forcing).await, &release).await.unwrap();
        let state = api.state();
        let rule = state.store.find("DestinationRule", "shop-canary").unwrap();
        assert_eq!(rule["metadata"]["labels"]["team"], "checkout", "{rule}");
        assert_eq!(rule["spec"]["subsets"].as_array().unwrap().len(), 2, "{rule}");
    });
}

#[test]
fn two_releases_behind_one_gateway_share_its_configuration() {
    run(async {
        let (api, first) = (shop(), release(&Value::Null));
        create_service(&api, "blog");
        let mut second =
            release(&json!({"hosts": ["blog.example.com"], "service": {"name": "blog", "port": 80}}));
        second.name = "shop/blog".parse().unwrap();
        let cluster = api.cluster().await;
        let (one, other) = tokio::join!(apply(&cluster, &first), apply(&cluster, &second));
        one.unwrap();
        other.unwrap();
        let releases = |api: &fake_api_server::FakeApi| -> Vec<String> {
            let state = api.state();
            let object = state.store.find("EnvoyFilter", "canary-gateway-config").unwrap();
            let config = canary_release::delivery::deployed_config(object).unwrap().unwrap();
            config.releases.into_keys().collect()
        };
        assert_eq!(releases(&api), ["shop/blog", "shop/shop"]);
        uninstall(&cluster, &first).await.unwrap();
        assert_eq!(releases(&api), ["shop/blog"]);
    });
}
