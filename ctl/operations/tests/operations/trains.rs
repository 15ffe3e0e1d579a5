//! Trains: which release is inside one, by the configurations that its proxies have, and which belong to one, by their records.

use canary_operations::Cluster;
use canary_release::delivery::deployed_config;
use canary_release::record::Author;
use canary_release::spec::Release;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{SHOP, another, apply, blog, create_service, pod, release, run, shop};
use serde_json::{Value, json};

/// The API behind the shop, called by pods of the shop, with changes to its `spec`.
pub(crate) fn inner(api: &FakeApi, name: &str, changes: &Value) -> Release {
    create_service(api, name);
    let mut spec = json!({"gateways": [], "sidecars": [{"namespace": SHOP, "selector": {"app": "web"}}], "train": "autumn",
        "hosts": [format!("{name}.shop.svc.cluster.local")], "service": {"name": name, "port": 80}});
    for (field, value) in changes.as_object().unwrap() {
        spec[field] = value.clone();
    }
    let mut inner = release(&spec);
    inner.name = format!("shop/{name}").parse().unwrap();
    inner
}

async fn inner_train(changes: &Value) -> Option<String> {
    let (api, release) = (shop(), release(changes));
    api.state().create(&pod(SHOP, "web-1", &json!({"app": "web"})));
    let cluster = api.cluster().await;
    apply(&cluster, &release).await.unwrap();
    let stored = cluster.get_record(&release.name).await.unwrap();
    cluster.inner_train(&release.name, &stored).await.unwrap()
}

#[test]
fn a_release_of_a_train_that_sidecars_alone_serve_follows_the_gateways_and_no_other_does() {
    run(async {
        let sidecars = json!([{"namespace": SHOP, "selector": {"app": "web"}}]);
        let host = json!(["shop.shop.svc.cluster.local"]);
        let inner = json!({"gateways": [], "sidecars": sidecars, "hosts": host, "train": "autumn"});
        assert_eq!(inner_train(&inner).await.as_deref(), Some("autumn"));
        let outside = json!({"gateways": [], "sidecars": sidecars, "hosts": host, "stickiness": "user"});
        assert_eq!(inner_train(&outside).await, None, "outside a train");
        assert_eq!(inner_train(&json!({"train": "autumn"})).await, None, "behind a gateway");
        let both = json!({"sidecars": sidecars, "train": "autumn"});
        assert_eq!(inner_train(&both).await, None, "behind a gateway, and called inside");
    });
}

/// The releases of a train, each with whether it is inside.
async fn train_releases(cluster: &Cluster) -> Vec<(String, bool)> {
    let found = cluster.train_releases("autumn", &[]).await.unwrap();
    let member = |record: &canary_release::record::Record| record.train.clone().unwrap();
    found.into_iter().map(|(name, record)| (name.to_string(), member(&record.unwrap()).is_inner)).collect()
}

#[test]
fn the_releases_of_a_train_are_found_by_their_records_and_one_that_leaves_it_is_none() {
    run(async {
        let api = shop();
        api.state().create(&pod(SHOP, "web-1", &json!({"app": "web"})));
        let cluster = api.cluster().await;
        apply(&cluster, &release(&json!({"train": "autumn"}))).await.unwrap();
        apply(&cluster, &blog(&api)).await.unwrap();
        let mut spring = another(&api, "spring");
        spring.train = Some("spring".to_owned());
        apply(&cluster, &spring).await.unwrap();
        apply(&cluster, &inner(&api, "api", &json!({}))).await.unwrap();
        let both = [("shop/api".to_owned(), true), ("shop/shop".to_owned(), false)];
        assert_eq!(train_releases(&cluster).await, both);
        api.count_requests();
        train_releases(&cluster).await;
        assert_eq!(api.count_requests(), 1, "however many releases there are");
        apply(&cluster, &inner(&api, "api", &json!({"train": "winter"}))).await.unwrap();
        assert_eq!(train_releases(&cluster).await, both[1..]);
    });
}

/// Of the release `shop/api`, as the proxies are configured.
fn slower_than(api: &FakeApi) -> u64 {
    let state = api.state();
    let mut configs =
        state.store.of_kind("EnvoyFilter").filter_map(|object| deployed_config(object).unwrap());
    configs.find_map(|config| Some(config.releases.get("shop/api")?.slower_than_milliseconds)).unwrap()
}

#[test]
fn the_sidecars_of_a_release_inside_a_train_know_what_is_slow_while_it_has_no_rollout_of_its_own() {
    run(async {
        let api = shop();
        api.state().create(&pod(SHOP, "web-1", &json!({"app": "web"})));
        let cluster = api.cluster().await;
        let slow = |time: &str| inner(&api, "api", &json!({"rollout": {"slowerThan": time}}));
        apply(&cluster, &slow("500ms")).await.unwrap();
        assert_eq!(slower_than(&api), 500);
        let changed = slow("700ms");
        apply(&cluster, &changed).await.unwrap();
        assert_eq!(slower_than(&api), 700);
        // A rollout of its own has the time of its file, and gives it back at its end.
        let stored = cluster.get_record(&changed.name).await.unwrap();
        let stored =
            cluster.start_rollout(&changed.name, stored, (&changed.rollout, "default"), &[]).await.unwrap();
        let (mut ended, now) = (stored, jiff::Timestamp::now());
        ended.record.rollout.as_mut().unwrap().policy.observe = true;
        ended
            .record
            .change_rollout(canary_release::rollout::RolloutVerb::Abort, Author::new("ada", now))
            .unwrap();
        assert_eq!(ended.record.state.slower_than_milliseconds, 700);
        let outer = another(&api, "web");
        apply(&cluster, &outer).await.unwrap();
        assert_eq!(cluster.get_record(&outer.name).await.unwrap().record.state.slower_than_milliseconds, 0);
    });
}
