//! A rollout of a good canary by the embedded module while its driver is killed, gateways come and go, and the API server is away.

use super::{DEADLINE, LoadedFixture, Shoppers, ended, release_that};
use crate::support::alert_receiver::AlertReceiver;
use crate::support::cli::Cli;
use crate::support::fault_proxy::{Fault, FaultProxy};
use crate::support::in_the_mesh;
use mesh_lab::Lab;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use wasm_tests::scenario::Document;

const RUN: &str = "rollout run --interval 1s -o json";
/// How often the driver is killed.
const KILLS: usize = 5;
/// Gateways at the most; each that comes gets the module from istiod.
const GATEWAYS: usize = 5;
/// How long the API server is away for it.
const OUTAGE: Duration = Duration::from_secs(4);
/// The responses of the canary that a step must have seen, unless the file says another number.
const MIN_RESPONSES: u64 = 300;

/// Runs the driver, and kills it at moments that nobody has chosen; returns how long each process lived.
async fn killed_at_random(cli: &Cli) -> Vec<Duration> {
    let mut random = fastrand::Rng::with_seed(18);
    let mut lives = Vec::new();
    for _ in 0..KILLS {
        let mut process = cli.spawn(RUN);
        let life = Duration::from_millis(random.u64(600..6_000));
        // Also one that is started while the API server is away.
        let ended = timeout(life, process.wait()).await;
        assert!(ended.is_err(), "a driver ended before it was killed: {ended:?}");
        process.kill().await.unwrap();
        lives.push(life);
    }
    lives
}

/// More gateways, then an API server that is away for the driver, then one gateway.
async fn disturb(lab: &Lab, loaded: &LoadedFixture<'_>, proxy: &FaultProxy) {
    scale_gateway(lab, loaded, GATEWAYS).await;
    sleep(Duration::from_secs(3)).await;
    proxy.inject(u32::MAX, Fault::DropsRequest, |_| true);
    sleep(OUTAGE).await;
    proxy.is_done();
    scale_gateway(lab, loaded, 1).await;
}

async fn scale_gateway(lab: &Lab, loaded: &LoadedFixture<'_>, replicas: usize) {
    let ingress = &loaded.env.ingress;
    lab.scale(ingress, "gateway", replicas).await.unwrap();
    lab.rolled_out(ingress, "gateway").await.unwrap();
    let selector = format!("istio={}", loaded.env.selector);
    lab.until(&format!("{replicas} gateways"), async || {
        (lab.pods(ingress, &selector).await.ok()?.len() == replicas).then_some(())
    })
    .await
    .unwrap();
}

fn text(alert: &Value, field: &str) -> String {
    alert[field].as_str().unwrap_or_default().to_owned()
}

/// No step was taken on less than it needs, nor on responses that there were not.
fn assert_steps_have_evidence(alerts: &[Value], canary_responses: u64) {
    let seen = |alert: &Value| alert["counts"][0]["canary"]["responses"].as_u64().unwrap();
    let counted: Vec<u64> = alerts.iter().map(seen).collect();
    // Of the alerts of steps and of the end each follows what the step before it has seen.
    for pair in counted[1..].windows(2) {
        assert!(pair[1] >= pair[0] + MIN_RESPONSES, "a step with too few responses: {counted:?}");
    }
    assert!(counted.iter().all(|counted| *counted <= canary_responses), "{counted:?} of {canary_responses}");
}

#[test]
#[ignore = "takes long: ./x test long"]
fn a_good_canary_is_promoted_while_drivers_are_killed_gateways_scale_and_the_api_server_is_away() {
    in_the_mesh(async |lab| {
        let receiver = AlertReceiver::start().await;
        let alerts = json!({"alerts": [{"name": "test", "type": "webhook", "url": receiver.url()}]});
        let embedded = |document: Document| document.with("/spec/delivery/module", "embedded");
        let (loaded, cli) = release_that(lab, "rollout-disturbed", [0, 0], &alerts, embedded).await;
        let proxy = FaultProxy::new(lab).await;
        let driver = Cli::through(&loaded.document, proxy.kubeconfig());
        let shoppers = Shoppers::start(loaded.env.gateway);
        cli.expect("rollout start", 0, &["v2 by plan `default`"]).await;
        let begun = Instant::now();
        let (lives, ()) = tokio::join!(killed_at_random(&driver), disturb(lab, &loaded, &proxy));
        let disturbed = begun.elapsed();
        let output = timeout(DEADLINE, driver.run(RUN)).await.expect("a rollout that ends");
        let took = begun.elapsed();
        let tally = shoppers.stop().await.unwrap();
        println!(
            "promoted after {took:.1?}, disturbed for {disturbed:.1?}, killed after {lives:.1?}: {} users, {} requests\n{}",
            tally.users, tally.requests, output.stderr
        );
        assert_eq!((output.code, ended(&output).0.as_str()), (Some(0), "promoted"), "{output:?}");
        assert_eq!((tally.failed_users, tally.lost, tally.flips.len()), (0, 0, 0), "{tally:?}");

        let (alerts, times): (Vec<Value>, Vec<usize>) = receiver.alerts().into_iter().unzip();
        println!("alerts were sent {times:?} times");
        let told: Vec<(String, String)> =
            alerts.iter().map(|alert| (text(alert, "type"), alert["weightPercent"].to_string())).collect();
        let expected =
            [("started", "0.0"), ("step", "10.0"), ("step", "25.0"), ("step", "50.0"), ("promoted", "0.0")];
        assert_eq!(told, expected.map(|(kind, weight)| (kind.to_owned(), weight.to_owned())));
        assert!(
            times.iter().sum::<usize>() <= alerts.len() + KILLS,
            "only what a kill interrupts is sent twice"
        );
        assert_steps_have_evidence(&alerts, tally.canary_responses);
        let record = loaded.cluster.get_record(&loaded.release.name).await.unwrap().record;
        assert!(record.alerts.is_empty(), "{:?}", record.alerts);
        assert!(!record.to_json().unwrap().contains("hooks/secret"), "no URL is recorded");
        let user = loaded.user_at(wasm_tests::scenario::HOST).navigate("/").await.unwrap();
        assert_eq!(user.header("x-shop-version"), Some("v2"));
    });
}
