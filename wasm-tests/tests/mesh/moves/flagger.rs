//! From Flagger and back.

use super::{Move, object, template};
use crate::support::in_the_mesh;
use serde_json::{Value, json};
use wasm_tests::mesh::{PeerController, ShopEnv};
use wasm_tests::scenario::HOST;

/// By these Flagger tells the pods of the primary from those of the canary, and both have the second.
const LABELS: [&str; 2] = ["app", "app.kubernetes.io/name"];

#[test]
#[ignore = "needs Flagger: ./x test long"]
fn an_application_of_flagger_moves_here_and_back_and_no_cart_is_lost() {
    in_the_mesh(async |lab| {
        // Without a Prometheus: the rollouts here are those of a person.
        let flagger = PeerController::flagger(lab, "http://127.0.0.1:9").await.unwrap();
        let mut shop = Move::new(lab, "from-flagger").await;
        lab.apply(&target(&shop.env, "v1")).await.unwrap();
        shop.rolled_out("shop").await;
        lab.apply(&canary(&shop.env)).await.unwrap();
        initialized(&shop, &flagger).await;
        assert_eq!(shop.come().await, 0);

        shop.move_here("--from-flagger").await;
        shop.rolled_out("shop").await;
        shop.promote("v1").await;

        // The next version where the primary was: Flagger's users have to be on the primary.
        shop.image("shop-primary", "v3").await;
        shop.rolled_out("shop-primary").await;
        let versions = json!({"label": "app", "stable": "shop", "canary": "shop-primary"});
        shop.edit(|release| release.with("/spec/versions", versions));
        shop.run("apply --wait").await;
        shop.promote("v2").await;

        lab.scale(&shop.env.namespace, "shop", 0).await.unwrap();
        shop.image("shop", "v3").await;
        shop.rolled_out("shop").await;
        shop.run("uninstall").await;
        let back = canary(&shop.env);
        shop.under_load("the Canary is applied", async |_: &_| lab.apply(&back).await.unwrap()).await;
        initialized(&shop, &flagger).await;
        shop.under_load("Flagger has taken over", async |_: &_| {}).await;
        shop.come().await;
        let selector = shop.field("service/shop", "/spec/selector").await;
        assert_eq!(selector, json!({"app": "shop-primary"}), "Flagger's own");
    });
}

/// Returns when Flagger has taken the application over and the gateway leads there.
async fn initialized(shop: &Move<'_>, flagger: &PeerController) {
    let phase = async || shop.field("canary/shop", "/status/phase").await == "Initialized";
    let what = format!("Flagger's initialization; its log: {}", flagger.log_tail());
    shop.until(&what, phase).await;
    let answers = async || {
        let page = shop.env.user().navigate("/").await;
        page.is_ok_and(|page| page.status == 200)
    };
    shop.until("a page of the shop", answers).await;
}

fn target(env: &ShopEnv, version: &str) -> String {
    let labels: Value = LABELS.map(|label| (label.to_owned(), Value::from("shop"))).into_iter().collect();
    let spec = json!({
        "replicas": 1,
        "selector": {"matchLabels": {"app": "shop"}},
        "template": template(version, &labels),
    });
    object(env, ["apps/v1", "Deployment", "shop"], &spec)
}

fn canary(env: &ShopEnv) -> String {
    let spec = json!({
        "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop"},
        "progressDeadlineSeconds": 60,
        "service": {
            "port": 80,
            "targetPort": 8080,
            "gateways": [format!("{}/shop", env.ingress)],
            "hosts": [HOST],
            "trafficPolicy": {"tls": {"mode": "DISABLE"}},
        },
        "analysis": {"interval": "5s", "threshold": 2, "stepWeights": [50]},
    });
    object(env, ["flagger.app/v1beta1", "Canary", "shop"], &spec)
}
