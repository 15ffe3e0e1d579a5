//! Stable is scaled to one of four pods in a rollout: it is held, and goes on when the pods are back.

use super::{DEADLINE, LoadedFixture, Shoppers, ended, release};
use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use mesh_lab::Lab;
use serde_json::Value;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use wasm_tests::scenario::HOST;

const NAMESPACE: &str = "rollout-few-pods";
/// Of the driver, which observes each two seconds.
const SEVERAL_INTERVALS: Duration = Duration::from_secs(10);
const HELD: &str = "expected at least 2 ready pods of version `v1`, to which 50% of the users would come back, found 1 ready pod";

async fn scale(lab: &Lab, version: &str, pods: usize) {
    let deployment = format!("shop-{version}");
    lab.scale(NAMESPACE, &deployment, pods).await.unwrap();
    lab.rolled_out(NAMESPACE, &deployment).await.unwrap();
}

/// Scales stable down when the canary has a quarter of the users, and up again when the rollout is held for it; what was said then.
async fn disturb(lab: &Lab, loaded: &LoadedFixture<'_>, cli: &Cli) -> String {
    lab.until("the canary's second step", async || {
        let stored = loaded.cluster.get_record(&loaded.release.name).await.ok()?;
        (stored.record.state.weight.basis_points() >= 2500).then_some(())
    })
    .await
    .unwrap();
    scale(lab, "v1", 1).await;
    let held = async || {
        let output = cli.run("rollout status -o json").await;
        let view: Value = serde_json::from_str(&output.stdout).ok()?;
        let reason = view["reason"].as_str()?;
        (view["phase"] == "held").then(|| reason.to_owned())
    };
    let reason = lab.until("a rollout that is held", held).await.unwrap();
    // `status` observes by itself: the driver sees it with its next interval, and is held for as long as the pods are missing.
    sleep(SEVERAL_INTERVALS).await;
    let stored = loaded.cluster.get_record(&loaded.release.name).await.unwrap();
    assert!(stored.record.rollout.is_some_and(|rollout| rollout.is_active()), "it goes on without the pods");
    scale(lab, "v1", 4).await;
    reason
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_rollout_is_held_while_stable_has_too_few_pods_and_goes_on_when_they_are_back() {
    in_the_mesh(async |lab| {
        let (loaded, cli) = release(lab, NAMESPACE, [0, 0]).await;
        for version in ["v1", "v2"] {
            scale(lab, version, 4).await;
        }
        let shoppers = Shoppers::start(loaded.env.gateway);
        cli.expect("rollout start", 0, &["v2 by plan `default`"]).await;
        let run = timeout(DEADLINE, cli.run("rollout run --interval 2s -o json"));
        let (output, reason) = tokio::join!(run, disturb(lab, &loaded, &cli));
        let output = output.expect("a rollout that ends");
        let tally = shoppers.stop().await.unwrap();
        println!("held: {reason}\n{} users, {} requests\n{}", tally.users, tally.requests, output.stderr);
        assert!(reason.starts_with(HELD), "{reason}");
        assert!(output.stderr.contains(HELD), "the driver says it, too: {}", output.stderr);
        assert_eq!((output.code, ended(&output).0.as_str()), (Some(0), "promoted"), "{output:?}");
        let user = loaded.user_at(HOST).navigate("/").await.unwrap();
        assert_eq!(user.header("x-shop-version"), Some("v2"));
    });
}
