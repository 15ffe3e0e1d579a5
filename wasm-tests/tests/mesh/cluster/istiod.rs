//! What operators are told while istiod is away, and that nothing is lost by it.

use super::operator::Operator;
use crate::support::in_a_mesh_of_its_own;
use wasm_tests::client::User;
use wasm_tests::lab::{Stage, StageOptions};

/// In a lab of its own: others need istiod.
#[test]
fn a_weight_that_cannot_arrive_is_told_with_the_proxy_that_lags_and_arrives_when_istiod_is_back() {
    in_a_mesh_of_its_own(async |lab| {
        let stage = Stage::set_up(lab, "no-istiod", &StageOptions::gateway()).await.unwrap();
        let release = stage.release().unwrap().with("/spec/weight", "0").with("/spec/maxStep", "100");
        let operator = Operator::new(lab, &release);
        operator.is_told("apply --wait", 0, &["active in 1 proxies"]).await;
        let pod = stage.gateway_pod(lab).await.unwrap();

        lab.stop_istiod().await.unwrap();
        let lags = format!("no-istiod-ingress/{pod} runs generation 1");
        let cause = "istiod may be away";
        operator.is_told("weight 100 --wait --timeout 3s", 2, &[&lags, cause]).await;
        operator
            .is_told("status", 0, &["weight 100%, generation 2", "0 of 1 proxies run it", &lags, cause])
            .await;
        assert_eq!(version(stage.user()).await, "v1", "what it runs it goes on running");
        // Neither is half done: the record comes first, and the next call continues.
        operator.is_told("promote --timeout 3s", 2, &[&lags]).await;
        operator.is_told("status", 0, &["weight 100%, generation 2"]).await;
        operator.is_told("rollback --timeout 3s", 2, &[cause]).await;
        operator.is_told("status", 0, &["weight 0%, generation 3", "version `v2` is gone"]).await;

        lab.start_istiod().await.unwrap();
        operator.is_told("rollback", 0, &["rolled back already", "active in 1 proxies"]).await;
        assert_eq!(version(stage.user()).await, "v1");
        let said = operator.is_told("status", 0, &["1 of 1 proxies run it"]).await;
        assert!(!said.data.contains("problem:"), "{said:?}");
    });
}

/// A route to a cluster that the gateway does not have would be a 503 to everybody whom it is for.
#[test]
fn no_route_names_a_new_version_before_the_gateway_was_given_its_cluster() {
    in_a_mesh_of_its_own(async |lab| {
        let stage = Stage::set_up(lab, "no-cluster", &StageOptions::gateway()).await.unwrap();
        let release = stage.release().unwrap().with("/spec/weight", "0");
        Operator::new(lab, &release).is_told("apply --wait", 0, &["active in 1 proxies"]).await;
        let pod = stage.gateway_pod(lab).await.unwrap();
        let operator = Operator::new(lab, &release.with("/spec/versions/canary", "v3"));
        let named = async |kind: &str| {
            let line = ["get", kind, "shop-canary", "-n", "no-cluster", "-o", "jsonpath={.spec}"];
            lab.kubectl(&line).await.unwrap().contains("v3")
        };

        lab.stop_istiod().await.unwrap();
        let lacks = format!("no-cluster-ingress/{pod} lacks them");
        operator.is_told("apply --timeout 3s", 2, &[&lacks, "istiod may be away"]).await;
        assert!(named("destinationrule").await && !named("virtualservice").await);
        operator.is_told("status", 0, &["`canary-ctl apply` continues"]).await;

        lab.start_istiod().await.unwrap();
        operator.is_told("apply --wait", 0, &["active in 1 proxies"]).await;
        assert!(named("virtualservice").await);
        assert_eq!(version(stage.user()).await, "v1");
    });
}

async fn version(mut user: User) -> String {
    let answer = user.navigate("/").await.unwrap();
    assert_eq!(answer.status, 200);
    answer.header("x-shop-version").unwrap_or_default().to_owned()
}
