//! Rollouts by `canary-ctl` behind a real gateway, while users come and shop: plans whose minutes are seconds.

mod controller;
mod disturbed;
mod fuses;
mod load_tester;
mod prometheus;
mod races;
mod scaled_down;
mod trains;

use crate::support::cli::{Cli, Output};
use crate::support::filter_source::filter;
use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;
use browser::load::Flip;
use canary_release::EmbeddedModule;
use mesh_lab::Lab;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use wasm_tests::mesh::{ShopperReport, Shoppers};
use wasm_tests::scenario::{Document, HOST};

/// More than any of these rollouts takes.
const DEADLINE: Duration = Duration::from_mins(4);

/// A release of the shop with a plan of seconds, whose versions fail so many of a hundred pages.
async fn release<'l>(lab: &'l Lab, name: &str, failing: [u8; 2]) -> (LoadedFixture<'l>, Cli) {
    release_with(lab, name, failing, &json!({})).await
}

/// The same with further settings in `spec.rollout`.
async fn release_with<'l>(
    lab: &'l Lab,
    name: &str,
    failing: [u8; 2],
    settings: &Value,
) -> (LoadedFixture<'l>, Cli) {
    release_that(lab, name, failing, settings, |document| document).await
}

/// The same, with a file that is changed further.
async fn release_that<'l>(
    lab: &'l Lab,
    name: &str,
    [v1, v2]: [u8; 2],
    settings: &Value,
    changed: impl FnOnce(Document) -> Document,
) -> (LoadedFixture<'l>, Cli) {
    let step = |weight: u32| json!({"weight": weight, "hold": "6s"});
    let mut rollout = json!({"plans": {"default": [step(10), step(25), step(50)]}, "deadline": "3m"});
    for (name, value) in settings.as_object().unwrap() {
        rollout[name] = value.clone();
    }
    let with = |document: Document| {
        changed(document.with("/spec/rollout", rollout).with("/spec/sessionAffinity", "identity"))
    };
    let mut loaded = LoadedFixture::set_up(lab, name, with).await;
    loaded.release.delivery.module.embed(EmbeddedModule::new(&filter()).as_ref());
    for (version, percent) in [("v1", v1), ("v2", v2)] {
        let deployment = format!("shop-{version}");
        if percent > 0 {
            let setting = format!("SHOP_FAIL_PERCENT={percent}");
            lab.kubectl(&["set", "env", "-n", name, "deployment", &deployment, &setting]).await.unwrap();
            lab.rolled_out(name, &deployment).await.unwrap();
        }
    }
    loaded.apply().await;
    if v1 == 0 {
        loaded.answers(HOST).await;
    }
    let cli = Cli::new(lab, &loaded.document);
    (loaded, cli)
}

/// A rollout from its start to its end, under load.
async fn rolled_out(loaded: &LoadedFixture<'_>, cli: &Cli) -> (Output, Duration, ShopperReport) {
    let shoppers = Shoppers::start(loaded.env.gateway);
    cli.expect("rollout start", 0, &["v2 by plan `default`"]).await;
    let begun = Instant::now();
    let run = cli.run("rollout run --interval 2s -o json");
    let output = tokio::time::timeout(DEADLINE, run).await.expect("a rollout that ends");
    let took = begun.elapsed();
    (output, took, shoppers.stop().await.unwrap())
}

fn ended(output: &Output) -> (String, String) {
    let view: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let text = |field: &str| view["rollout"]["ended"][field].as_str().unwrap_or_default().to_owned();
    (text("result"), text("reason"))
}

#[test]
fn a_good_canary_is_promoted_and_no_user_is_moved_or_gets_an_error() {
    in_the_mesh(async |lab| {
        let (loaded, cli) = release(lab, "rollout-good", [0, 0]).await;
        let (output, took, tally) = rolled_out(&loaded, &cli).await;
        println!(
            "promoted after {took:.1?}: {} users, {} requests\n{}",
            tally.users, tally.requests, output.stderr
        );
        assert_eq!((output.code, ended(&output).0.as_str()), (Some(0), "promoted"), "{output:?}");
        assert_eq!((tally.failed_users, tally.lost, tally.flips.len()), (0, 0, 0), "{tally:?}");
        for weight in ["10%", "25%", "50%"] {
            assert!(output.stderr.contains(&format!(" {weight} ")), "no step at {weight}: {}", output.stderr);
        }
        let user = loaded.user_at(HOST).navigate("/").await.unwrap();
        assert_eq!(user.header("x-shop-version"), Some("v2"), "new users are on what was the canary");
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_canary_that_fails_half_of_its_pages_is_rolled_back_in_its_first_step() {
    in_the_mesh(async |lab| {
        let (loaded, cli) = release(lab, "rollout-bad", [0, 50]).await;
        let (output, took, tally) = rolled_out(&loaded, &cli).await;
        let (result, reason) = ended(&output);
        println!(
            "rolled back after {took:.1?}: {} of {} users met the fault; {reason}\n{}",
            tally.failed_users, tally.users, output.stderr
        );
        assert_eq!((output.code, result.as_str()), (Some(1), "rolledBack"), "{output:?}");
        // Where the fuse has stopped new sessions before that, it ends the rollout after two minutes.
        let by_evidence = reason.starts_with("5xx: canary ") && reason.contains(", stable 0.00% of ");
        let by_fuse = reason.starts_with("the fuse of the canary is open in 1 proxy");
        assert!(by_evidence || (by_fuse && took >= Duration::from_mins(2)), "{took:?}: {reason}");
        assert!(!output.stderr.contains(" 25% "), "it went on to the second step: {}", output.stderr);
        assert_eq!(tally.failed_on, BTreeSet::from(["v2".to_owned()]), "users of stable met no error");
        assert!((1..tally.users / 5).contains(&tally.failed_users), "{tally:?}");
        let is_announced = |flip: &Flip| flip.to.version.as_deref() == Some("v1");
        assert!(tally.flips.iter().all(is_announced), "only the rollback moves users: {:?}", tally.flips);
        let user = loaded.user_at(HOST).navigate("/").await.unwrap();
        assert_eq!(user.header("x-shop-version"), Some("v1"));
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_canary_that_is_slower_than_allowed_is_rolled_back_and_no_request_has_failed() {
    in_the_mesh(async |lab| {
        let settings = json!({"slowerThan": "p95"});
        let timed = |document: Document| document.with("/spec/latencyHistogram", true);
        let (loaded, cli) = release_that(lab, "rollout-slow", [0, 0], &settings, timed).await;
        cli.expect("rollout start", 2, &["expected 1000 responses of stable `v1` in the proxies"]).await;
        // Users of stable, whose responses are counted.
        let shoppers = Shoppers::start(loaded.env.gateway);
        lab.until("a thousand responses of stable", async || {
            (cli.run("rollout start --dry-run").await.code == Some(0)).then_some(())
        })
        .await
        .unwrap();
        shoppers.stop().await.unwrap();
        cli.expect("rollout start --dry-run", 0, &["a response is slow after", "p95 of stable's responses"])
            .await;
        let setting = ["set", "env", "-n", "rollout-slow", "deployment/shop-v2", "SHOP_SLOW_PERCENT=20"];
        lab.kubectl(&setting).await.unwrap();
        lab.rolled_out("rollout-slow", "shop-v2").await.unwrap();
        let (output, took, tally) = rolled_out(&loaded, &cli).await;
        let (result, reason) = ended(&output);
        println!("rolled back after {took:.1?}: {reason}\n{}", output.stderr);
        assert_eq!((output.code, result.as_str()), (Some(1), "rolledBack"), "{output:?}");
        assert!(reason.starts_with("slow: canary ") && reason.contains("rollback at 80"), "{reason}");
        assert_eq!((tally.failed_users, tally.lost_in_place), (0, 0), "{tally:?}");
        let is_announced = |flip: &Flip| flip.to.version.as_deref() == Some("v1");
        assert!(tally.flips.iter().all(is_announced), "only the rollback moves users: {:?}", tally.flips);
    });
}

/// No response fails and none is slow: what the tool exists for is lost all the same.
#[test]
fn a_canary_that_forgets_sessions_is_rolled_back_though_every_response_is_200() {
    in_the_mesh(async |lab| {
        let (loaded, cli) = release(lab, "rollout-forgets", [0, 0]).await;
        let setting = ["set", "env", "-n", "rollout-forgets", "deployment/shop-v2", "SHOP_FORGET_PERCENT=20"];
        lab.kubectl(&setting).await.unwrap();
        lab.rolled_out("rollout-forgets", "shop-v2").await.unwrap();
        let (output, took, tally) = rolled_out(&loaded, &cli).await;
        let (result, reason) = ended(&output);
        println!(
            "rolled back after {took:.1?}: {} of {} users lost their cart; {reason}\n{}",
            tally.lost_in_place, tally.users, output.stderr
        );
        assert_eq!((output.code, result.as_str()), (Some(1), "rolledBack"), "{output:?}");
        assert!(reason.starts_with("lost sessions: canary ") && reason.contains("stable 0.00%"), "{reason}");
        assert_eq!(tally.failed_users, 0, "{tally:?}");
        assert!((1..tally.users / 5).contains(&tally.lost_in_place), "{tally:?}");
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_canary_whose_containers_restart_is_rolled_back_though_nobody_has_met_it() {
    in_the_mesh(async |lab| {
        let (_loaded, cli) = release(lab, "rollout-restarts", [0, 0]).await;
        // Its container is ended after some four seconds, again and again.
        let probe = json!({"exec": {"command": ["false"]}, "initialDelaySeconds": 3, "periodSeconds": 1, "failureThreshold": 1});
        let patch =
            json!([{"op": "add", "path": "/spec/template/spec/containers/0/livenessProbe", "value": probe}]);
        let patch = format!("--patch={patch}");
        lab.kubectl(&["patch", "-n", "rollout-restarts", "deployment/shop-v2", "--type=json", &patch])
            .await
            .unwrap();
        lab.rolled_out("rollout-restarts", "shop-v2").await.unwrap();
        cli.expect("rollout start", 0, &["v2 by plan `default`"]).await;
        let begun = Instant::now();
        let run = cli.run("rollout run --interval 2s -o json");
        let output = tokio::time::timeout(DEADLINE, run).await.expect("a rollout that ends");
        let (result, reason) = ended(&output);
        println!("rolled back after {:.1?}: {reason}", begun.elapsed());
        assert_eq!((output.code, result.as_str()), (Some(1), "rolledBack"), "{output:?}");
        assert!(reason.contains("restart"), "{reason}");
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_canary_that_fails_no_more_than_stable_is_promoted() {
    in_the_mesh(async |lab| {
        let (loaded, cli) = release(lab, "rollout-alike", [5, 5]).await;
        let (output, took, tally) = rolled_out(&loaded, &cli).await;
        println!(
            "promoted after {took:.1?}, both fail 5 %: {} of {} users met it\n{}",
            tally.failed_users, tally.users, output.stderr
        );
        assert_eq!((output.code, ended(&output).0.as_str()), (Some(0), "promoted"), "{output:?}");
        assert_eq!(tally.flips.len(), 0, "{:?}", tally.flips);
    });
}
