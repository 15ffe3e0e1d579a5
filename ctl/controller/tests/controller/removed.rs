//! Objects that were deleted.

use crate::object::Fixture;
use assignment::contract::Role;
use canary_controller::{Removal, carried_out, remove};
use fake_api_server::fixture::{SHOP, run};
use serde_json::json;

#[test]
fn stable_has_all_users_at_once_and_the_rest_goes_when_the_canarys_pods_have_gone() {
    run(async {
        let mut fixture = Fixture::new(&json!({}));
        fixture.reconcile_until("Reconciling", "True").await;
        let cluster = fixture.api.cluster().await;
        fixture.api.state().store.remove("Release", "shop");
        let left = carried_out(&cluster, &[]).await.unwrap();
        assert_eq!(left, ["shop/shop".parse().unwrap()]);
        let removal = remove(&cluster, &left[0]).await.unwrap();
        assert!(matches!(removal, Removal::Waits(_)), "{removal:?}");
        let record = fixture.record().await;
        assert_eq!(
            (record.state.version_of(Role::Stable), record.state.version_of(Role::Canary)),
            (Some("v1"), None)
        );
        assert!(
            fixture.api.state().store.of_kind("VirtualService").next().is_some(),
            "routes keep users on stable"
        );
        fixture.api.state().store.remove("Pod", "shop-v2");
        let removal = remove(&cluster, &left[0]).await.unwrap();
        assert!(matches!(removal, Removal::Uninstalled), "{removal:?}");
        let left = fixture.api.state().store.names(&["EnvoyFilter", "VirtualService", "DestinationRule"]);
        assert_eq!(left, Vec::<String>::new());
    });
}

#[test]
fn a_release_that_no_controller_has_applied_is_not_removed() {
    run(async {
        let fixture = Fixture::new(&json!({}));
        let cluster = fixture.api.cluster().await;
        let release = fake_api_server::fixture::release(&json!({}));
        fake_api_server::fixture::apply(&cluster, &release).await.unwrap();
        assert_eq!(carried_out(&cluster, &[]).await.unwrap(), []);
        let removal = remove(&cluster, &release.name).await.unwrap();
        assert!(matches!(removal, Removal::Nothing), "{removal:?}");
        assert_eq!(fixture.record().await.state.version_of(Role::Canary), Some("v2"));
    });
}

#[test]
fn what_a_deleted_namespace_leaves_in_the_gateway_goes() {
    run(async {
        let fixture = Fixture::new(&json!({}));
        fixture.reconcile_once().await;
        fixture.api.state().store.delete_namespace(SHOP);
        let cluster = fixture.api.cluster().await;
        let left = carried_out(&cluster, &[]).await.unwrap();
        assert_eq!(left, ["shop/shop".parse().unwrap()]);
        let removal = remove(&cluster, &left[0]).await.unwrap();
        assert!(matches!(removal, Removal::Uninstalled), "{removal:?}");
        assert_eq!(fixture.api.state().store.names(&["EnvoyFilter"]), Vec::<String>::new());
    });
}
