//! An operator who promotes a train: `docs/guides/trains.md`.

use super::{Terminal, cluster, run};
use fake_api_server::fixture::{apply, pod, release, set_weight};
use serde_json::json;

#[test]
fn a_promotion_of_a_train_says_of_each_release_whether_its_canary_has_too_few_pods() {
    run(async {
        let api = cluster("shop", &["v1", "v2"]);
        for number in 1..3 {
            let labels = json!({"app": "shop", "version": "v1"});
            api.state().create(&pod("shop", &format!("shop-v1-{number}"), &labels));
        }
        let gateway = json!({"name": "istio-ingress/shop", "namespace": "istio-ingress", "selector": {"istio": "ingressgateway"}});
        let release = release(&json!({"gateways": [gateway], "train": "autumn"}));
        let operator = api.cluster().await;
        apply(&operator, &release).await.unwrap();
        set_weight(&operator, &release, "30").await.unwrap();

        let printed = Terminal::new(&api).await.types("canary-ctl promote --train autumn");
        let said = "shop/shop: expected at least 2 ready pods of version `v2`, which gets all users, found 1 ready pod";
        assert!(printed.contains(said), "{printed}");
    });
}
