//! Proxies that cannot be asked keep no release from being stopped or removed.

use crate::fixture::{apply, release, roll_back, run, set_weight, shop, uninstall_report};
use canary_operations::Error;
use serde_json::Value;

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
