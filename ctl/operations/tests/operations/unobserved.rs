//! Proxies that cannot be asked keep no release from being stopped or removed.

use canary_operations::{Error, WaitOptions, WriteOptions};
use canary_release::preflight::PreflightCheck;
use canary_release::status::problems;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{
    INGRESS, apply, apply_skipping, options, pod, promote, release, roll_back, rotate, run, set_weight, shop,
    shop_with_virtual_service, uninstall_report,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The objects that a release consists of.
const KINDS: [&str; 6] = ["EnvoyFilter", "VirtualService", "DestinationRule", "ConfigMap", "Secret", "Lease"];

/// The operator may read the metrics of no proxy.
fn deny_metrics(api: &FakeApi) {
    api.state().access.deny("get", "pods/proxy");
    api.state().access.deny("get", "pods/portforward");
}

#[test]
fn a_rollback_is_written_and_says_that_it_was_not_observed() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "10").await.unwrap();
        api.state().proxies.silence();
        let changed = roll_back(&cluster, &release).await.unwrap();
        let not_observed = changed.not_observed.as_deref();
        assert!(matches!(not_observed, Some(Error::Late { .. })), "{not_observed:?}");
        let record = cluster.get_record(&release.name).await.unwrap().record;
        assert_eq!(record.state.versions.len(), 1, "the canary is gone: {:?}", record.state.versions);
        assert_eq!(record.leaving, ["v2"], "its routes and its subset go when that is observed");
    });
}

#[test]
fn an_uninstall_is_carried_out_and_names_the_proxies_that_were_not_observed() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        api.state().proxies.silence();
        let uninstalled = uninstall_report(&cluster, &release).await.unwrap();
        let not_observed = uninstalled.not_observed.map(|error| error.to_string()).unwrap_or_default();
        assert!(
            not_observed.contains("ingress/gateway-1"),
            "expected the silent proxy, found: {not_observed}"
        );
        assert_eq!(api.state().store.names(&["EnvoyFilter", "VirtualService", "ConfigMap"]), [""; 0]);
    });
}

/// Short, so that a test waits for it.
const UNSEEN_WAIT: Duration = Duration::from_millis(300);

fn skipping() -> WriteOptions {
    WriteOptions { unseen_proxies_wait: Some(UNSEEN_WAIT), ..options() }
}

/// Whether this is the check, which names the proxy.
fn is_refused<T: std::fmt::Debug>(result: &Result<T, Error>) -> bool {
    let Err(Error::Preflight(failed)) = result else { return false };
    failed.check == PreflightCheck::UnseenProxies && failed.message.contains("ingress/gateway-1")
}

#[test]
fn what_waits_for_a_silent_proxy_is_refused_before_its_first_write() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        api.state().proxies.silence();
        let before = api.state().store.names(&KINDS);
        let applied = apply(&cluster, &release).await;
        assert!(is_refused(&applied), "{applied:?}");
        assert_eq!(api.state().store.names(&KINDS), before, "objects after a refused apply");

        api.state().proxies.speak();
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "10").await.unwrap();
        let record = async || cluster.get_record(&release.name).await.unwrap().record;
        let before = record().await;
        api.state().proxies.silence();
        let promoted = promote(&cluster, &release).await;
        assert!(is_refused(&promoted), "{promoted:?}");
        let rotated = rotate(&cluster, &release).await;
        assert!(is_refused(&rotated), "{rotated:?}");
        assert_eq!(record().await, before, "the record after a refused promotion");
    });
}

#[test]
fn with_the_check_skipped_a_silent_proxy_gets_time_and_is_named() {
    run(async {
        let release = release(&Value::Null);
        let owned = apply(&shop().cluster().await, &release).await.unwrap().record.objects;
        let api = shop();
        let cluster = api.cluster_with(skipping()).await;
        api.state().proxies.silence();
        let begun = Instant::now();
        let applied = apply(&cluster, &release).await.unwrap();
        // Once after the filter, once for the clusters of the subsets, once at the end.
        assert!(begun.elapsed() >= UNSEEN_WAIT * 3, "each step waits: {:?}", begun.elapsed());
        let not_observed = applied.arrival.unwrap().not_observed;
        assert!(
            matches!(not_observed.as_slice(), [one] if one.contains("ingress/gateway-1")),
            "{not_observed:?}"
        );
        assert_eq!(cluster.get_record(&release.name).await.unwrap().record.objects, owned);
        let promoted = promote(&cluster, &release).await.unwrap();
        assert_eq!(promoted.arrival.unwrap().not_observed, not_observed);
    });
}

#[test]
fn with_the_check_skipped_a_proxy_that_reports_another_generation_is_still_waited_for() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster_with(skipping()).await;
        api.state().create(&pod(INGRESS, "gateway-2", &json!({"istio": "gateway"})));
        apply(&cluster, &release).await.unwrap();
        api.state().proxies.silence_pods(["gateway-1".to_owned()]);
        api.state().proxies.stop_istiod();
        set_weight(&cluster, &release, "10").await.unwrap();
        let record = cluster.get_record(&release.name).await.unwrap().record;
        let mut waiting = WaitOptions { timeout: UNSEEN_WAIT * 4, progress: &mut |_, _| {} };
        match cluster.wait(&release.name, &record, &mut waiting).await {
            Err(Error::Late { behind, .. }) => assert_eq!(behind.len(), 2, "{behind:?}"),
            other => panic!("expected gateway-2 to be late, found {other:?}"),
        }
    });
}

#[test]
fn without_the_right_to_ask_a_skipped_check_waits_and_says_why_nothing_was_observed() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster_with(skipping()).await;
        deny_metrics(&api);
        let applied = apply(&cluster, &release).await.unwrap();
        let not_observed = applied.arrival.unwrap().not_observed;
        assert_eq!(
            not_observed,
            ["ingress/gateway-1 cannot be asked: not allowed to get pods/proxy in namespace `ingress`"]
        );
        let refused = apply(&api.cluster().await, &release).await;
        assert!(matches!(refused, Err(Error::Forbidden { .. })), "{refused:?}");
    });
}

#[test]
fn a_status_without_the_right_to_ask_proxies_says_so_beside_everything_else() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        deny_metrics(&api);
        let stored = cluster.get_record(&release.name).await.unwrap();
        let observation = cluster.observe_status(&release.name, &stored).await.unwrap();
        assert_eq!(observation.ready.len(), 2, "the pods of both versions");
        let found: Vec<String> = problems(&observation, None, 0).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            ["expected to see what the proxies run, found no right to get pods/proxy in namespace `ingress`"]
        );
    });
}

#[test]
fn routes_that_copy_a_changed_route_are_outdated_and_not_lost() {
    run(async {
        let (api, release) = (shop_with_virtual_service(), release(&json!({"routes": "inject"})));
        let cluster = api.cluster().await;
        apply_skipping(&cluster, &release, &[PreflightCheck::MovesUsers]).await.unwrap();
        let found = async || {
            let stored = cluster.get_record(&release.name).await.unwrap();
            let observation = cluster.observe_status(&release.name, &stored).await.unwrap();
            problems(&observation, None, 0).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let is_of_owner = |route: &&mut Value| route["timeout"] == "3s" && route["name"].is_null();
        api.state().store.edit("VirtualService", "by-hand", |object| {
            let routes = object["spec"]["http"].as_array_mut().unwrap();
            let theirs = routes.iter_mut().find(is_of_owner).expect("the owner's route");
            theirs["timeout"] = json!("5s");
        });
        assert_eq!(
            found().await,
            [
                "VirtualService shop/by-hand has routes of ours with former settings: kubectl-edit has changed the routes that they copy"
            ]
        );
        api.state().store.edit("VirtualService", "by-hand", |object| {
            object["spec"]["http"] = json!([{"route": [{"destination": {"host": "shop"}}]}]);
        });
        let lost = found().await;
        assert!(lost.iter().any(|one| one.contains("has lost routes of ours")), "{lost:?}");
    });
}
