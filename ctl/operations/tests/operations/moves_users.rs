//! `apply` and `uninstall` are refused while they would move the users of ready pods.

use crate::fixture::{SHOP, apply, pod, release, run, shop, shop_with_virtual_service};
use canary_operations::{Cluster, Error, LastAlerts, UninstallOptions, WaitOptions};
use canary_release::preflight::{Alternative, CheckFailed, PreflightCheck};
use canary_release::spec::Release;
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
        let expected = "version `v2` has 1 ready pods: without routes Service `shop` sends users of each version to both";
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
        let expected = "version `v2` has 1 ready pods, and VirtualService shop/by-hand leads to the Service without a subset: \
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
