//! What proxies report of a filter that is gone: a gauge stays until the listener of the filter is drained.

use canary_operations::{Error, WaitOptions};
use canary_release::metrics::ReleaseGeneration;
use canary_release::preflight::{CheckFailed, PreflightCheck};
use fake_api_server::FakeApi;
use fake_api_server::fixture::{apply, apply_without_istiod, release, run, set_weight, shop, uninstall};
use serde_json::Value;
use std::time::Duration;

/// The filter and its object go as by `kubectl delete`.
fn delete_filter(api: &FakeApi) {
    api.state().store.remove("EnvoyFilter", "canary-gateway-filter");
}

#[test]
fn a_reinstalled_release_does_not_count_the_generations_of_the_installation_before() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        for percent in ["1", "2", "3"] {
            set_weight(&cluster, &release, percent).await.unwrap();
        }
        uninstall(&cluster, &release).await.unwrap();
        // Installations are told apart by the second.
        tokio::time::sleep(Duration::from_secs(1)).await;
        api.state().proxies.stop_istiod();
        let failed = apply_without_istiod(&cluster, &release).await;
        let Err(Error::Late { desired, behind, .. }) = failed else { panic!("{failed:?}") };
        assert_eq!(desired.generation, 1);
        assert_eq!(behind[0].active.map(|active| active.generation), Some(5), "what the proxy reports");
        assert_eq!(api.state().store.names(&["DestinationRule", "VirtualService"]), [""; 0]);
    });
}

#[test]
fn a_filter_that_is_inserted_again_is_not_the_one_that_drains() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        delete_filter(&api);
        // The listener that drains gets each new configuration for the name under which its filter asks.
        api.state().proxies.hold_listeners();
        let failed = apply_without_istiod(&cluster, &release).await;
        let Err(Error::Late { desired, .. }) = failed else { panic!("{failed:?}") };
        assert!(matches!(desired, ReleaseGeneration { generation: 2, .. }), "{desired:?}");
    });
}

#[test]
fn a_filter_that_was_inserted_again_keeps_its_name() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        delete_filter(&api);
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "10").await.unwrap();
        let plan = cluster.plan(&release).await.unwrap();
        assert!(plan.is_empty(), "{plan:?}");
    });
}

#[test]
fn a_raise_is_refused_while_the_filter_is_missing_and_a_wait_does_not_believe_the_proxies() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "10").await.unwrap();
        delete_filter(&api);
        let refused = set_weight(&cluster, &release, "20").await;
        let Err(Error::Preflight(CheckFailed { check: PreflightCheck::NoFilter, message, .. })) = refused
        else {
            panic!("{refused:?}")
        };
        assert_eq!(
            message,
            "expected EnvoyFilter ingress/canary-gateway-filter, found no such object: no proxy decides"
        );
        set_weight(&cluster, &release, "0").await.expect("a lower weight is not refused");
        let stored = cluster.get_record(&release.name).await.unwrap();
        let mut waiting = WaitOptions { timeout: Duration::from_secs(1), progress: &mut |_, _| {} };
        let waited = cluster.wait(&release.name, &stored.record, &mut waiting).await;
        assert!(matches!(waited, Err(Error::Deleted { .. })), "{waited:?}");
        let observation = cluster.observe_status(&release.name, &stored).await.unwrap();
        let missing: Vec<String> = observation.objects.missing.iter().map(ToString::to_string).collect();
        assert_eq!(missing, ["EnvoyFilter ingress/canary-gateway-filter"]);
    });
}

#[test]
fn an_uninstall_waits_for_no_proxy_that_has_nothing_of_the_release() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        // A module that no proxy can fetch: the release is never active.
        api.state().proxies.set_unreachable_module("oci://registry.test/filter:1");
        let failed = apply_without_istiod(&cluster, &release).await;
        assert!(matches!(failed, Err(Error::Late { .. })), "{failed:?}");
        uninstall(&cluster, &release).await.unwrap();
        assert_eq!(api.state().store.names(&["EnvoyFilter", "ConfigMap"]), [""; 0]);
    });
}
