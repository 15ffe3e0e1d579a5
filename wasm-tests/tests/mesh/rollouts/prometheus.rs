//! A real Prometheus as a second source: it scrapes the gateway, and the rollout asks it for what the filter has counted there.

use super::{DEADLINE, LoadedFixture, Shoppers, ended, release_that, release_with, rolled_out};
use crate::support::cli::Cli;
use crate::support::fault_proxy::{Fault, FaultProxy};
use crate::support::in_the_mesh;
use mesh_lab::Lab;
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::time::timeout;
use wasm_tests::prometheus::{Prometheus, dashboard_queries, monitoring};
use wasm_tests::scenario::Document;

/// The share of responses with a status of 500 to 599 in percent, testers left out, and what is expected of it.
fn failures(address: SocketAddr, max: u32) -> Value {
    let count = |class: &str| {
        let tag = format!("{{{{ version }}}}/(canary|stable)/{class}");
        let labels = format!("component=\"{{{{ namespace }}}}/{{{{ release }}}}\",tag=~\"{tag}\"");
        format!("sum(rate(canary_responses_total{{{labels}}}[{{{{ interval }}}}]))")
    };
    let query = format!("100 * ({} or vector(0)) / {}", count("5xx"), count(".*"));
    let metric = json!({"name": "failures", "query": query, "interval": "10s", "max": max});
    json!({"prometheus": {"address": format!("http://{address}")}, "metrics": [metric]})
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_canary_beyond_a_threshold_is_rolled_back_though_stable_fails_alike() {
    in_the_mesh(async |lab| {
        let address = Prometheus::free_address();
        let (loaded, cli) = release_with(lab, "rollout-metric", [20, 20], &failures(address, 5)).await;
        let prometheus =
            Prometheus::start_at(address, loaded.env.gateway_metrics(lab).await.unwrap(), &[], None).await;
        let (output, took, tally) = rolled_out(&loaded, &cli).await;
        let (result, reason) = ended(&output);
        println!(
            "rolled back after {took:.1?}: {} users, {} requests; {reason}\n{}",
            tally.users, tally.requests, output.stderr
        );
        assert_eq!((output.code, result.as_str()), (Some(1), "rolledBack"), "{output:?}");
        let begins = "metric `failures`: expected at most 5, found ";
        assert!(
            reason.starts_with(begins) && reason.contains(", 3 of 3 times in a row, stable "),
            "{reason}"
        );
        assert!(!output.stderr.contains(" 25% "), "it went on to the second step: {}", output.stderr);
        drop(prometheus);
    });
}

/// The view that `rollout status` prints as JSON.
async fn status(cli: &Cli) -> Value {
    let output = cli.run("rollout status -o json").await;
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_good_canary_is_held_while_prometheus_is_away_and_promoted_when_it_is_back() {
    in_the_mesh(async |lab| {
        let address = Prometheus::free_address();
        // The dashboard has a query of latencies, which are counted where a release asks for them.
        let counted = |document: Document| document.with("/spec/latencyHistogram", true);
        let (loaded, cli) = release_that(lab, "rollout-away", [0, 0], &failures(address, 5), counted).await;
        let shoppers = Shoppers::start(loaded.env.gateway);
        cli.expect("rollout test-metrics", 1, &["failures", "no result", "onnection refused"]).await;
        cli.expect("rollout start", 0, &["v2 by plan `default`"]).await;
        let run = cli.run("rollout run --interval 2s -o json");
        let observe = async {
            let held = lab
                .until("a rollout that is held", async || {
                    let view = status(&cli).await;
                    (view["phase"] == "held").then_some(view)
                })
                .await
                .unwrap();
            assert_eq!(held["weight"], json!(1_000), "the first step: {held}");
            let reason = held["reason"].as_str().unwrap();
            assert!(reason.starts_with("metric `failures`: no result, 3 of 3 times in a row"), "{reason}");
            assert!(held["metrics"][0]["measured"]["inARow"].as_u64() >= Some(3), "{held}");
            let pod = loaded.env.gateway_pod(lab).await.unwrap();
            let labels = [("namespace", loaded.env.ingress.as_str()), ("pod", pod.as_str())];
            let (metrics, rules) =
                (loaded.env.gateway_metrics(lab).await.unwrap(), monitoring().join("rules.yaml"));
            Prometheus::start_at(address, metrics, &labels, Some(&rules)).await
        };
        let (output, prometheus) =
            timeout(DEADLINE, async { tokio::join!(run, observe) }).await.expect("a rollout that ends");
        println!("{}", output.stderr);
        let tally = shoppers.stop().await.unwrap();
        assert_eq!((output.code, ended(&output).0.as_str()), (Some(0), "promoted"), "{output:?}");
        assert_eq!((tally.failed_users, tally.lost, tally.flips.len()), (0, 0, 0), "{tally:?}");
        for query in dashboard_queries() {
            prometheus.wait_for(&query).await;
        }
        port_of_the_pod_monitor(lab, &loaded).await;
        known_by_scrapes(lab, &loaded, &prometheus).await;
    });
}

/// The port that `pod-monitor.yaml` names is the one that Istio's injection gives the gateway.
async fn port_of_the_pod_monitor(lab: &Lab, loaded: &LoadedFixture<'_>) {
    let text = std::fs::read_to_string(monitoring().join("pod-monitor.yaml")).unwrap();
    let monitor: Value = serde_saphyr::from_str(&text).unwrap();
    let name = monitor["spec"]["podMetricsEndpoints"][0]["port"].as_str().unwrap();
    let pod = loaded.env.gateway_pod(lab).await.unwrap();
    let path = format!("jsonpath={{.spec.containers[*].ports[?(@.name==\"{name}\")].containerPort}}");
    let port = lab.kubectl(&["get", "pod", "-n", &loaded.env.ingress, &pod, "-o", &path]).await.unwrap();
    assert_eq!(port, "15090", "{name}");
}

/// Where neither the API server nor the kubelet reaches the gateway, what it runs is what was scraped.
async fn known_by_scrapes(lab: &Lab, loaded: &LoadedFixture<'_>, prometheus: &Prometheus) {
    let proxy = FaultProxy::new(lab).await;
    proxy.inject(u32::MAX, Fault::Status(503), |call| {
        call.contains(":15090/proxy") || call.contains("/portforward")
    });
    let cli = Cli::through(&loaded.document, proxy.kubeconfig());
    cli.expect("status", 0, &["0 of 1 proxies run it", "does not answer on port 15090"]).await;
    let line = format!("status --prometheus {}", prometheus.url());
    let scraped = cli.expect(&line, 0, &["1 of 1 proxies run it"]).await;
    assert!(!scraped.stdout.contains("15090"), "{scraped:?}");
}
