//! The messages to operators while istiod is down, and that no request fails then.

use crate::support::cli::Cli;
use crate::support::in_a_mesh_of_its_own;
use browser::User;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

/// In a lab of its own: others need istiod.
#[test]
fn a_weight_without_istiod_fails_with_the_outdated_proxy_and_arrives_when_istiod_is_back() {
    in_a_mesh_of_its_own(async |lab| {
        let env = ShopEnv::set_up(lab, "no-istiod", &ShopEnvOptions::gateway()).await.unwrap();
        let release = env.release().unwrap().with("/spec/weight", "0").with("/spec/maxStep", "100");
        let cli = Cli::new(lab, &release);
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        let pod = env.gateway_pod(lab).await.unwrap();

        lab.stop_istiod().await.unwrap();
        let lags = format!("no-istiod-ingress/{pod} runs generation 1");
        let cause = "istiod may be away";
        cli.expect("weight 100 --wait --timeout 3s", 2, &[&lags, cause]).await;
        cli.expect("status", 0, &["weight 100%, generation 2", "0 of 1 proxies run it", &lags, cause]).await;
        assert_eq!(version(env.user()).await, "v1", "what it runs it goes on running");
        // Neither is left incomplete: the record is written first, and the next call continues.
        cli.expect("promote --timeout 3s", 2, &[&lags]).await;
        cli.expect("status", 0, &["weight 100%, generation 2"]).await;
        cli.expect("rollback --timeout 3s", 1, &["written, and not observed in every proxy", cause]).await;
        cli.expect("status", 0, &["weight 0%, generation 3", "the removed version `v2` remain"]).await;

        lab.start_istiod().await.unwrap();
        cli.expect("rollback", 0, &["rolled back already", "active in 1 proxy"]).await;
        assert_eq!(version(env.user()).await, "v1");
        let said = cli.expect("status", 0, &["1 of 1 proxies run it"]).await;
        assert!(!said.stdout.contains("problem:"), "{said:?}");
    });
}

/// A route to a cluster that the gateway does not have would answer all its requests with 503.
#[test]
fn no_route_names_a_new_version_before_the_gateway_was_given_its_cluster() {
    in_a_mesh_of_its_own(async |lab| {
        let env = ShopEnv::set_up(lab, "no-cluster", &ShopEnvOptions::gateway()).await.unwrap();
        let release = env.release().unwrap().with("/spec/weight", "0");
        Cli::new(lab, &release).expect("apply --wait", 0, &["active in 1 proxy"]).await;
        let pod = env.gateway_pod(lab).await.unwrap();
        let cli = Cli::new(lab, &release.with("/spec/versions/canary", "v3"));
        let named = async |kind: &str| {
            let line = ["get", kind, "shop-canary", "-n", "no-cluster", "-o", "jsonpath={.spec}"];
            lab.kubectl(&line).await.unwrap().contains("v3")
        };

        lab.stop_istiod().await.unwrap();
        let pod = format!("no-cluster-ingress/{pod}");
        let lacks = "proxies lack the clusters of new subsets";
        cli.expect("apply --timeout 3s", 2, &[lacks, &pod, "istiod may be away"]).await;
        assert!(named("destinationrule").await);
        assert!(!named("virtualservice").await);
        cli.expect("status", 0, &["`canary-ctl apply` continues"]).await;

        lab.start_istiod().await.unwrap();
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        assert!(named("virtualservice").await);
        assert_eq!(version(env.user()).await, "v1");
    });
}

async fn version(mut user: User) -> String {
    let response = user.navigate("/").await.unwrap();
    assert_eq!(response.status, 200);
    response.header("x-shop-version").unwrap_or_default().to_owned()
}
