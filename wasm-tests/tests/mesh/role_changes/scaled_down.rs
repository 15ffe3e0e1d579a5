//! Stable that was scaled down while the canary has users: `rollback` and `weight` are done, and say how many pods are missing.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use mesh_lab::Lab;
use serde_json::{Value, json};
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

const PODS: usize = 4;
const MISSING: &str = "expected at least 2 ready pods of version `v1`, to which 50% of the users would come back, found 1 ready pod: all users are \
                       served by 3";
const HINT: &str = "scale the Deployment of `v1` up to 2 replicas or more";

async fn scale(lab: &Lab, namespace: &str, version: &str, pods: usize) {
    let deployment = format!("shop-{version}");
    lab.scale(namespace, &deployment, pods).await.unwrap();
    lab.rolled_out(namespace, &deployment).await.unwrap();
    let selector = format!("app=shop,version={version}");
    lab.until(&format!("{pods} pods of {version}"), async || {
        (lab.pods(namespace, &selector).await.ok()?.len() == pods).then_some(())
    })
    .await
    .unwrap();
}

fn scaled_down(stdout: &str) -> Value {
    let report: Value = serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"));
    report["scaledDown"].clone()
}

#[test]
fn users_come_back_to_a_stable_with_few_pods_and_the_missing_ones_are_said() {
    in_the_mesh(async |lab| {
        let namespace = "few-pods";
        let env = ShopEnv::set_up(lab, namespace, &ShopEnvOptions::gateway()).await.unwrap();
        let cli =
            Cli::new(lab, &env.release().unwrap().with("/spec/weight", "0").with("/spec/maxStep", "100"));
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        let expected = json!({"version": "v1", "ready": 1, "expected": 2, "serving": 3, "returning": 5000});
        for version in ["v1", "v2"] {
            scale(lab, namespace, version, PODS).await;
        }
        for verb in ["weight 0", "rollback"] {
            scale(lab, namespace, "v1", PODS).await;
            cli.expect("weight 50 --wait", 0, &["v2 0% -> 50%"]).await;
            scale(lab, namespace, "v1", 1).await;
            let said = cli.expect(&format!("{verb} --dry-run"), 0, &[MISSING, HINT]).await;
            assert!(said.stderr.contains(MISSING), "{verb}: a message, and no data: {said:?}");
            let done = cli.expect(&format!("{verb} -o json"), 0, &[MISSING, HINT]).await;
            assert_eq!(scaled_down(&done.stdout), expected, "{verb}: {done:?}");
        }
        cli.expect("status", 0, &["v1"]).await;
        for _ in 0..20 {
            let response = env.user().navigate("/").await.unwrap();
            assert_eq!((response.status, response.header("x-shop-version")), (200, Some("v1")));
        }
        cli.expect("rollback", 0, &["rolled back already"]).await;
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn where_stable_has_half_of_the_pods_nothing_is_said() {
    in_the_mesh(async |lab| {
        let namespace = "enough-pods";
        let env = ShopEnv::set_up(lab, namespace, &ShopEnvOptions::gateway()).await.unwrap();
        let cli =
            Cli::new(lab, &env.release().unwrap().with("/spec/weight", "0").with("/spec/maxStep", "100"));
        scale(lab, namespace, "v1", 2).await;
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        cli.expect("weight 50 --wait", 0, &["v2 0% -> 50%"]).await;
        scale(lab, namespace, "v1", 1).await;
        let done = cli.expect("rollback -o json", 0, &[]).await;
        assert!(!done.stderr.contains("ready pods"), "{done:?}");
        assert_eq!(scaled_down(&done.stdout), Value::Null, "{done:?}");
    });
}
