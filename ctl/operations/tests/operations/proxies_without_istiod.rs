//! While istiod is away nothing reaches the proxies: what depends on them waits, and is not written.

use canary_operations::Error;
use canary_release::metrics::ReleaseGeneration;
use fake_api_server::fixture::{
    apply, apply_without_istiod, release, run, shop, uninstall, uninstall_without_istiod,
};
use serde_json::{Value, json};

#[test]
fn subsets_and_routes_wait_for_the_filter_in_every_proxy() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        api.state().proxies.stop_istiod();
        let failed = apply_without_istiod(&api.cluster().await, &release).await;
        assert!(
            matches!(failed, Err(Error::Late { desired: ReleaseGeneration { generation: 1, .. }, .. })),
            "{failed:?}"
        );
        assert_eq!(api.state().store.names(&["DestinationRule", "VirtualService"]), [""; 0]);
    });
}

#[test]
fn routes_wait_for_the_clusters_of_their_subsets_in_every_proxy() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        api.before_write(|state, request| {
            if request.contains("/destinationrules/") {
                state.proxies.stop_istiod();
            }
        });
        let failed = apply_without_istiod(&api.cluster().await, &release).await;
        assert!(matches!(failed, Err(Error::NoClusters { .. })), "{failed:?}");
        assert_eq!(api.state().store.names(&["VirtualService"]), [""; 0]);
    });
}

#[test]
fn the_weight_of_the_file_waits_for_the_canary_in_every_proxy() {
    run(async {
        let api = shop();
        let cluster = api.cluster().await;
        apply(&cluster, &release(&json!({"versions": {"stable": "v1"}}))).await.unwrap();
        api.before_write(|state, request| {
            if request.contains("/envoyfilters/") {
                state.proxies.stop_istiod();
            }
        });
        let failed = apply_without_istiod(&cluster, &release(&json!({"weight": 20}))).await;
        assert!(
            matches!(failed, Err(Error::Late { desired: ReleaseGeneration { generation: 2, .. }, .. })),
            "{failed:?}"
        );
        let record = cluster.get_record(&"shop/shop".parse().unwrap()).await.unwrap().record;
        assert_eq!(record.state.weight.to_string(), "0%");
    });
}

#[test]
fn an_uninstall_waits_until_no_proxy_knows_the_canary_and_goes_on_later() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let before = api.state().store.names(&["DestinationRule", "EnvoyFilter", "VirtualService"]);
        api.state().proxies.stop_istiod();
        let failed = uninstall_without_istiod(&cluster, &release).await;
        assert!(matches!(failed, Err(Error::Late { .. })), "{failed:?}");
        assert_eq!(api.state().store.names(&["DestinationRule", "EnvoyFilter", "VirtualService"]), before);
        {
            let mut state = api.state();
            let fake_api_server::State { store, proxies, .. } = &mut *state;
            proxies.start_istiod(store);
        }
        uninstall(&cluster, &release).await.unwrap();
        assert_eq!(api.state().store.names(&["DestinationRule", "EnvoyFilter", "VirtualService"]), [""; 0]);
    });
}
