//! A release inside a train: which one it is, by the configurations that its proxies have.

use crate::fixture::{SHOP, apply, pod, release, run, shop};
use serde_json::{Value, json};

async fn inner_train(changes: &Value) -> Option<String> {
    let (api, release) = (shop(), release(changes));
    api.state().create(&pod(SHOP, "web-1", &json!({"app": "web"})));
    let cluster = api.cluster().await;
    apply(&cluster, &release).await.unwrap();
    let stored = cluster.get_record(&release.name).await.unwrap();
    cluster.inner_train(&release.name, &stored).await.unwrap()
}

#[test]
fn a_release_of_a_train_that_sidecars_alone_serve_follows_the_gateways_and_no_other_does() {
    run(async {
        let sidecars = json!([{"namespace": SHOP, "selector": {"app": "web"}}]);
        let host = json!(["shop.shop.svc.cluster.local"]);
        let inner = json!({"gateways": [], "sidecars": sidecars, "hosts": host, "train": "autumn"});
        assert_eq!(inner_train(&inner).await.as_deref(), Some("autumn"));
        let outside = json!({"gateways": [], "sidecars": sidecars, "hosts": host, "stickiness": "user"});
        assert_eq!(inner_train(&outside).await, None, "outside a train");
        assert_eq!(inner_train(&json!({"train": "autumn"})).await, None, "behind a gateway");
        let both = json!({"sidecars": sidecars, "train": "autumn"});
        assert_eq!(inner_train(&both).await, None, "behind a gateway, and called inside");
    });
}
