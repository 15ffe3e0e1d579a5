//! `apply` and `uninstall` are refused while they would move the users of ready pods, and an edit of the file where it would.

use canary_operations::{Cluster, Error, LastAlerts, UninstallOptions, WaitOptions};
use canary_release::preflight::{Alternative, CheckFailed, PreflightCheck};
use canary_release::spec::Release;
use fake_api_server::fixture::{
    SHOP, apply, apply_skipping, create_service, pod, release, run, set_weight, shop,
    shop_with_virtual_service,
};
use serde_json::{Value, json};
use std::time::Duration;

/// The version whose pods have to be stopped, and the message.
#[track_caller]
fn refused<T: std::fmt::Debug>(done: Result<T, Error>) -> (String, String) {
    match done {
        Err(Error::Preflight(CheckFailed {
            check: PreflightCheck::MovesUsers,
            message,
            alternative: Alternative::StopPods { version },
        })) => (version, message),
        other => panic!("expected a refusal by `moves-users`, found {other:?}"),
    }
}

async fn uninstall_checked(cluster: &Cluster, release: &Release) -> Result<(), Error> {
    let stored = cluster.get_record(&release.name).await?;
    let waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} };
    let options = UninstallOptions { skipped: &[], waiting, alerts: LastAlerts::default() };
    Box::pin(cluster.uninstall(&release.name, stored, options)).await.map(drop)
}

#[test]
fn an_uninstall_is_refused_while_a_version_beside_stable_has_ready_pods() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let objects = api.state().store.names(&["DestinationRule", "VirtualService", "EnvoyFilter"]);
        let (version, message) = refused(uninstall_checked(&cluster, &release).await);
        let expected =
            "version `v2` has 1 ready pod: without routes Service `shop` sends users of each version to both";
        assert_eq!((version.as_str(), message.as_str()), ("v2", expected));
        assert_eq!(api.state().store.names(&["DestinationRule", "VirtualService", "EnvoyFilter"]), objects);
        api.state().store.edit("Pod", "shop-v2", |pod| pod["status"]["conditions"] = json!([]));
        uninstall_checked(&cluster, &release).await.unwrap();
    });
}

#[test]
fn an_uninstall_is_refused_by_pods_of_a_version_that_the_release_has_never_named() {
    run(async {
        let (api, release) = (shop(), release(&json!({"versions": {"stable": "v1"}})));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        api.state().store.remove("Pod", "shop-v2");
        api.state().create(&pod(SHOP, "shop-v3", &json!({"app": "shop", "version": "v3"})));
        assert_eq!(refused(uninstall_checked(&cluster, &release).await).0, "v3");
    });
}

/// Users who live on pods of the canary, because the Service leads to all, would find themselves on stable.
#[test]
fn a_first_apply_that_closes_a_route_to_all_pods_is_refused_while_the_canary_has_ready_pods() {
    run(async {
        let (api, release) = (shop_with_virtual_service(), release(&json!({"routes": "inject"})));
        let cluster = api.cluster().await;
        let (version, message) = refused(apply(&cluster, &release).await);
        let expected = "version `v2` has 1 ready pod, and VirtualService shop/by-hand leads to the Service without a subset: \
                        its users would be moved to the stable version";
        assert_eq!((version.as_str(), message.as_str()), ("v2", expected));
        let written = api.state().store.names(&["ConfigMap", "Secret", "DestinationRule", "EnvoyFilter"]);
        assert_eq!(written, Vec::<String>::new());
        api.state().store.remove("Pod", "shop-v2");
        apply(&cluster, &release).await.unwrap();
        api.state().create(&pod(SHOP, "shop-v2", &json!({"app": "shop", "version": "v2"})));
        apply(&cluster, &release).await.unwrap();
    });
}

/// The message of an edit that is refused.
#[track_caller]
fn refused_edit<T: std::fmt::Debug>(done: Result<T, Error>) -> String {
    match done {
        Err(Error::Preflight(CheckFailed { check: PreflightCheck::MovesUsers, message, .. })) => message,
        other => panic!("expected a refusal by `moves-users`, found {other:?}"),
    }
}

#[test]
fn an_edit_that_moves_users_is_refused_and_named_by_diff_and_by_no_weight_that_was_never_set() {
    run(async {
        let (api, first) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &first).await.unwrap();
        let edited = release(&json!({"cookies": {"tls": false}, "fuse": true}));
        apply(&cluster, &edited).await.unwrap();
        apply(&cluster, &first).await.unwrap();
        set_weight(&cluster, &first, "50").await.unwrap();
        let written = || {
            ["ConfigMap", "EnvoyFilter", "VirtualService", "DestinationRule"]
                .map(|kind| api.state().store.of_kind(kind).cloned().collect::<Vec<Value>>())
        };
        let before = written();

        let expected = "`cookies` moves 48% of the users of version `v2` to another version";
        let message = refused_edit(apply(&cluster, &edited).await);
        assert!(message.contains(expected), "{message}");
        let notes: Vec<String> =
            cluster.plan(&edited).await.unwrap().notes.iter().map(ToString::to_string).collect();
        assert!(
            notes.iter().any(|note| note.contains("check `moves-users` fails") && note.contains(expected)),
            "{notes:?}"
        );
        assert_eq!(written(), before, "nothing is written");

        set_weight(&cluster, &first, "0").await.unwrap();
        refused_edit(apply(&cluster, &edited).await);
        apply(&cluster, &release(&json!({"fuse": true, "mint": "always"}))).await.unwrap();
        apply_skipping(&cluster, &edited, &[PreflightCheck::MovesUsers]).await.unwrap();
    });
}

#[test]
fn an_edit_of_what_no_configuration_has_is_refused_too() {
    run(async {
        let (api, first) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        create_service(&api, "other");
        apply(&cluster, &first).await.unwrap();
        let other = release(&json!({"service": {"name": "other", "port": 80}}));
        let message = refused_edit(apply(&cluster, &other).await);
        assert!(
            message.contains("`service.name` moves 100% of the users of version `v1` to another pod"),
            "{message}"
        );
        set_weight(&cluster, &first, "50").await.unwrap();
        let gateways = json!([{"name": "other/gateway", "selector": {"istio": "other"}}]);
        let message = refused_edit(apply(&cluster, &release(&json!({"gateways": gateways}))).await);
        assert!(message.contains("`gateways` moves 100% of the users of version `v2`"), "{message}");
    });
}

/// Without our rule each request of a session gets any of the pods.
#[test]
fn an_uninstall_that_takes_sessions_off_their_pods_is_refused() {
    run(async {
        let (api, release) = (shop(), release(&json!({"sessionAffinity": "identity"})));
        let cluster = api.cluster().await;
        api.state().create(&pod(SHOP, "shop-v1-2", &json!({"app": "shop", "version": "v1"})));
        apply(&cluster, &release).await.unwrap();
        api.state().store.remove("Pod", "shop-v2");
        let message = refused_edit(uninstall_checked(&cluster, &release).await);
        assert!(message.contains("keeps each user on one of the 2 ready pods of version `v1`"), "{message}");
        api.state().store.remove("Pod", "shop-v1-2");
        uninstall_checked(&cluster, &release).await.unwrap();
    });
}
