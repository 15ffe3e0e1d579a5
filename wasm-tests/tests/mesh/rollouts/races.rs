//! Emergencies while a driver is at work: whatever it writes at the same moment, users leave the canary, and the operator reads so.

use super::{LoadedFixture, Shoppers, release_with};
use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use assignment::Weight;
use assignment::contract::Role;
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

const NAMESPACE: &str = "rollout-races";
const RACES: u32 = 20;
/// Between the moments of two races: they fall on reads, decisions and writes of a driver that observes each second.
const APART: Duration = Duration::from_millis(470);
/// Of the driver, which could raise the weight again.
const SEVERAL_INTERVALS: Duration = Duration::from_secs(4);

/// Nobody is assigned to the canary; after a rollback there is none.
async fn assert_stopped(loaded: &LoadedFixture<'_>, is_rollback: bool, context: &str) {
    let state = loaded.cluster.get_record(&loaded.release.name).await.unwrap().record.state;
    assert!(state.weight == Weight::ZERO, "{context}: {}", state.weight);
    assert_eq!(state.version_of(Role::Canary).is_none(), is_rollback, "{context}: {:?}", state.versions);
}

async fn race(loaded: &LoadedFixture<'_>, cli: &Cli, number: u32) {
    let is_rollback = number.is_multiple_of(2);
    let (line, said) = if is_rollback { ("rollback", "v1") } else { ("weight 0 --wait", "0%") };
    let context = format!("race {number}, {line}");
    cli.expect("rollout start", 0, &["v2 by plan `default`"]).await;
    let mut driver = cli.spawn("rollout run --interval 1s");
    sleep(APART * number).await;
    let raised = loaded.cluster.get_record(&loaded.release.name).await.unwrap().record.state.weight;
    cli.expect(line, 0, &[said]).await;
    println!("{context}: from {raised}");
    assert_stopped(loaded, is_rollback, &context).await;
    sleep(SEVERAL_INTERVALS).await;
    assert_stopped(loaded, is_rollback, &format!("{context}, later")).await;
    driver.kill().await.unwrap();
    if !is_rollback {
        cli.expect("rollout abort", 0, &[]).await;
        cli.expect("rollout run --interval 1s", 1, &["aborted by"]).await;
    }
    cli.expect("apply --allow-rolled-back --wait", 0, &[]).await;
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn an_emergency_takes_effect_and_says_so_whatever_a_driver_writes_at_the_same_moment() {
    in_the_mesh(async |lab| {
        let step = |weight: u32| json!({"weight": weight, "hold": "1s"});
        let plan = json!({"plans": {"default": [step(5), step(10), step(20), step(30), step(40)]}});
        let (loaded, cli) = release_with(lab, NAMESPACE, [0, 0], &plan).await;
        let shoppers = Shoppers::start(loaded.env.gateway);
        for number in 0..RACES {
            race(&loaded, &cli, number).await;
        }
        let tally = shoppers.stop().await.unwrap();
        println!("{} users, {} requests, {} moved", tally.users, tally.requests, tally.flips.len());
        assert_eq!(tally.failed_users, 0, "{tally:?}");
    });
}
