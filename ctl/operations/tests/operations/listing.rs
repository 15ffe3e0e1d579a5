//! Which releases there are.

use crate::fixture::{apply, create_service, release, run, set_weight, shop};
use canary_operations::Error;
use serde_json::{Value, json};

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
