//! Labels and annotations of a release on the objects that are created for it.

use canary_release::spec::Release;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{apply, blog, release, run, set_weight, shop, uninstall};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The objects that a release of this test has for itself, and those that it shares with others of its gateway.
const OWN: [(&str, &str); 4] = [
    ("ConfigMap", "shop-canary"),
    ("DestinationRule", "shop-canary"),
    ("VirtualService", "shop-canary"),
    ("VirtualService", "shop-canary-mesh"),
];
const SHARED: [(&str, &str); 3] = [
    ("EnvoyFilter", "canary-gateway-config"),
    ("EnvoyFilter", "canary-gateway-runtime"),
    ("EnvoyFilter", "canary-gateway-filter"),
];
const KEYS: (&str, &str) = ("Secret", "canary-ctl-keys");

fn labelled(mut release: Release, labels: &Value, annotations: &Value) -> Release {
    release.metadata.labels = serde_json::from_value(labels.clone()).unwrap();
    release.metadata.annotations = serde_json::from_value(annotations.clone()).unwrap();
    release
}

/// A label or an annotation of each of these objects.
fn values(api: &FakeApi, objects: &[(&str, &str)], field: &str, name: &str) -> BTreeSet<Option<String>> {
    let state = api.state();
    let value = |(kind, object): &(&str, &str)| {
        let body = state.store.find(kind, object).unwrap_or_else(|| panic!("{kind} {object}"));
        assert_eq!(body["metadata"]["labels"]["app.kubernetes.io/managed-by"], "canary-ctl", "{body}");
        body["metadata"][field].get(name).map(|value| value.as_str().unwrap().to_owned())
    };
    objects.iter().map(value).collect()
}

fn labels(api: &FakeApi, objects: &[(&str, &str)], name: &str) -> Vec<Option<String>> {
    values(api, objects, "labels", name).into_iter().collect()
}

fn some(value: &str) -> Vec<Option<String>> {
    vec![Some(value.to_owned())]
}

#[test]
fn every_object_has_them_and_a_weight_keeps_them() {
    run(async {
        let api = shop();
        let given = json!({"team": "checkout", "istio.io/rev": "1-30"});
        let release = labelled(release(&Value::Null), &given, &json!({"example.com/note": "a b"}));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let all: Vec<_> = OWN.into_iter().chain(SHARED).chain([KEYS]).collect();
        let check = |when: &str| {
            assert_eq!(labels(&api, &all, "team"), some("checkout"), "{when}");
            assert_eq!(labels(&api, &all, "istio.io/rev"), some("1-30"), "{when}");
            let notes = values(&api, &all, "annotations", "example.com/note");
            assert_eq!(notes.into_iter().collect::<Vec<_>>(), some("a b"), "{when}");
        };
        check("after apply");
        let again = apply(&cluster, &release).await.unwrap();
        assert!(again.plan.is_empty(), "a second apply writes {:?}", again.plan);
        set_weight(&cluster, &release, "20").await.unwrap();
        check("after a weight");
    });
}

#[test]
fn one_that_the_file_names_no_longer_goes_and_those_of_others_stay() {
    run(async {
        let api = shop();
        let before = labelled(release(&Value::Null), &json!({"team": "checkout", "tier": "1"}), &json!({}));
        let cluster = api.cluster().await;
        apply(&cluster, &before).await.unwrap();
        for (kind, name) in OWN.into_iter().chain(SHARED) {
            api.state().store.edit(kind, name, |object| object["metadata"]["labels"]["policy"] = json!("x"));
        }
        let after = labelled(release(&Value::Null), &json!({"tier": "2"}), &json!({}));
        apply(&cluster, &after).await.unwrap();
        let all: Vec<_> = OWN.into_iter().chain(SHARED).collect();
        assert_eq!(labels(&api, &all, "team"), [None]);
        assert_eq!(labels(&api, &all, "tier"), some("2"));
        assert_eq!(labels(&api, &all, "policy"), some("x"));
        assert_eq!(labels(&api, &[KEYS], "team"), some("checkout"), "all releases share the keys");
        let again = apply(&cluster, &after).await.unwrap();
        assert!(again.plan.is_empty(), "a second apply writes {:?}", again.plan);
    });
}

#[test]
fn releases_behind_one_gateway_do_not_fight_over_what_they_share() {
    run(async {
        let api = shop();
        let shop = labelled(release(&Value::Null), &json!({"team": "shop", "app": "shop"}), &json!({}));
        let blog = labelled(blog(&api), &json!({"team": "blog", "floor": "2"}), &json!({}));
        let cluster = api.cluster().await;
        apply(&cluster, &shop).await.unwrap();
        assert_eq!(labels(&api, &SHARED, "team"), some("shop"));
        apply(&cluster, &blog).await.unwrap();
        for release in [&shop, &blog] {
            let again = apply(&cluster, release).await.unwrap();
            assert!(again.plan.is_empty(), "{} writes {:?}", release.name, again.plan);
        }
        // Of several values the first release's in alphabetical order.
        assert_eq!(labels(&api, &SHARED, "team"), some("blog"));
        assert_eq!([labels(&api, &SHARED, "app"), labels(&api, &SHARED, "floor")], [some("shop"), some("2")]);
        assert_eq!(labels(&api, &OWN, "team"), some("shop"), "what is not shared has its own");
        uninstall(&cluster, &blog).await.unwrap();
        assert_eq!(labels(&api, &SHARED, "team"), some("shop"));
        assert_eq!(labels(&api, &SHARED, "floor"), [None]);
        uninstall(&cluster, &shop).await.unwrap();
        assert_eq!(api.state().store.names(&["EnvoyFilter"]), Vec::<String>::new());
    });
}

#[test]
fn releases_of_one_gateway_that_name_two_revisions_are_refused_before_the_first_write() {
    run(async {
        let api = shop();
        let shop = labelled(release(&Value::Null), &json!({"istio.io/rev": "1-30"}), &json!({}));
        let blog = labelled(blog(&api), &json!({"istio.io/rev": "1-29"}), &json!({}));
        let cluster = api.cluster().await;
        apply(&cluster, &shop).await.unwrap();
        let error = apply(&cluster, &blog).await.unwrap_err().to_string();
        assert!(error.contains("is `1-29` in `shop/blog` and `1-30` in `shop/shop`"), "{error}");
        assert!(api.state().store.find("ConfigMap", "blog-canary").is_none(), "nothing was written");
    });
}

#[test]
fn a_record_that_is_read_back_has_them() {
    run(async {
        let api = shop();
        let release = labelled(release(&Value::Null), &json!({"team": "checkout"}), &json!({"note": "x"}));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        api.state().store.remove("ConfigMap", "shop-canary");
        let stored = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap();
        assert_eq!(*stored.record.metadata, release.metadata);
        apply(&cluster, &release).await.unwrap();
        assert_eq!(labels(&api, &OWN, "team"), some("checkout"));
    });
}
