//! Which releases there are.

use canary_operations::{Error, LastAlerts, UninstallOptions, WaitOptions};
use canary_release::doctor::findings;
use canary_release::record::RecordTrust;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{
    another, apply, create_service, create_service_in, forge_record, release, run, set_weight, shop,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn the_releases_of_a_cluster_are_listed_and_named_where_another_is_asked_for() {
    run(async {
        let (api, first) = (shop(), release(&Value::Null));
        create_service(&api, "blog");
        let mut second =
            release(&json!({"hosts": ["blog.example.com"], "service": {"name": "blog", "port": 80}}));
        second.name = "shop/blog".parse().unwrap();
        let cluster = api.cluster().await;
        assert!(cluster.releases(&[]).await.unwrap().is_empty());
        apply(&cluster, &first).await.unwrap();
        apply(&cluster, &second).await.unwrap();
        set_weight(&cluster, &first, "20").await.unwrap();
        let found = cluster.releases(&[]).await.unwrap();
        let weights: Vec<String> = found
            .into_iter()
            .map(|(name, record)| format!("{name} {}", record.unwrap().state.weight))
            .collect();
        assert_eq!(weights, ["shop/blog 0%", "shop/shop 20%"]);
        assert!(cluster.releases(&["ingress".to_owned()]).await.unwrap().is_empty());
        let missing = cluster.get_record(&"shopp/shop".parse().unwrap()).await;
        let Err(Error::Unknown { known, .. }) = missing else { panic!("expected none, found {missing:?}") };
        assert_eq!(known, ["shop/blog", "shop/shop"]);
    });
}

/// A name, a change of the record, and a part of the reason in the list.
type Case = (&'static str, fn(&FakeApi), &'static str);

fn write_record(api: &FakeApi, text: &'static str) {
    let write = |object: &mut Value| object["data"]["release.json"] = json!(text);
    api.state().store.edit("ConfigMap", "shop-canary", write);
}

#[test]
fn a_record_that_is_not_obeyed_is_listed_with_the_reason_and_without_a_word_of_rust() {
    let cases: [Case; 6] = [
        ("genuine", |_| {}, ""),
        (
            "edited",
            |api| forge_record(api, |record| record["state"]["weight"] = json!(9_000)),
            "does not verify",
        ),
        ("no JSON", |api| write_record(api, "shop"), "found another text at line 1 column"),
        ("a list", |api| write_record(api, "[1]"), "found another text at line 1 column"),
        ("a later format", |api| forge_record(api, |record| record["format"] = json!(99)), "found format 99"),
        ("no right", |api| api.state().access.deny("get", "secrets"), "expected keys"),
    ];
    for (case, spoil, expected) in cases {
        run(async {
            let (api, release) = (shop(), release(&Value::Null));
            let cluster = api.cluster().await;
            apply(&cluster, &release).await.unwrap();
            spoil(&api);
            let [found] = &cluster.verified_releases(&[]).await.unwrap()[..] else { panic!("{case}") };
            let fault = match &found.trust {
                RecordTrust::Genuine => String::new(),
                RecordTrust::Refused(fault) => fault.to_string(),
                other => format!("{other:?}"),
            };
            assert!(fault.contains(expected) && fault.is_empty() == expected.is_empty(), "{case}: {fault}");
            let refused = found.record.as_ref().err().map(ToString::to_string).unwrap_or_default();
            for word in ["struct", "invalid type", "enum", "tuple", "newtype"] {
                assert!(!fault.contains(word) && !refused.contains(word), "{case}: {fault} {refused}");
            }
        });
    }
}

/// Without its namespace a release has no record, and the proxies have it still.
#[test]
fn a_release_whose_namespace_was_deleted_is_listed_found_by_the_doctor_of_others_and_uninstalled() {
    run(async {
        let (api, first) = (shop(), release(&json!({"weight": 20})));
        let mut other = another(&api, "blog");
        other.name = "blog/blog".parse().unwrap();
        create_service_in(&api, "blog", "blog");
        let cluster = api.cluster().await;
        apply(&cluster, &first).await.unwrap();
        apply(&cluster, &other).await.unwrap();
        assert!(cluster.releases_without_record(&[]).await.unwrap().is_empty());
        api.state().store.delete_namespace("shop");

        let listed = async |namespaces: &[String]| {
            let found = cluster.releases_without_record(namespaces).await.unwrap().into_iter();
            found.map(|(name, record)| format!("{name} {}", record.unwrap().state.weight)).collect::<Vec<_>>()
        };
        assert_eq!(listed(&[]).await, ["shop/shop 20%"]);
        assert_eq!(listed(&["shop".to_owned()]).await, ["shop/shop 20%"]);
        assert_eq!(listed(&["blog".to_owned()]).await, [""; 0]);
        let expected = "expected a record of each release that the proxies have, found none of `shop/shop`: its ConfigMap was deleted, or \
                        its namespace was";
        let examined = cluster.diagnose(&other).await.examination;
        let found: Vec<String> = findings(&other, &examined).iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|text| text == expected), "expected `{expected}`, found {found:#?}");

        let stored = cluster.get_or_recover_record(&first.name, &BTreeSet::new()).await.unwrap();
        let waiting = WaitOptions { timeout: Duration::from_secs(3), progress: &mut |_, _| {} };
        let options = UninstallOptions { skipped: &[], waiting, alerts: LastAlerts::default() };
        Box::pin(cluster.uninstall(&first.name, stored, options)).await.unwrap();
        assert_eq!(listed(&[]).await, [""; 0]);
        let remaining = api.state().store.names(&["EnvoyFilter"]);
        assert!(!remaining.is_empty(), "those of the other release stay");
        let examined = cluster.diagnose(&other).await.examination;
        assert_eq!(examined.without_record, []);
    });
}

/// Who may not list configurations sees what the records say.
#[test]
fn without_the_right_to_list_configurations_records_alone_are_listed() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        api.state().store.delete_namespace("shop");
        api.state().access.deny("list", "envoyfilters");
        assert!(cluster.releases_without_record(&[]).await.unwrap().is_empty());
    });
}

/// Which others there are is only good to know.
#[test]
fn a_denied_list_is_told_and_no_reason_for_another_error() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        api.state().access.deny("list", "configmaps");
        let denied = cluster.releases(&[]).await;
        assert!(matches!(denied, Err(Error::Forbidden { verb: "list", .. })), "{denied:?}");
        let missing = cluster.get_record(&"shopp/shop".parse().unwrap()).await;
        assert!(matches!(missing, Err(Error::Unknown { known, .. }) if known.is_empty()));
    });
}
