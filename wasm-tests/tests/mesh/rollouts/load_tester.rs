//! Hooks of rollouts against Flagger's load tester itself: its gates, its rollback gate, and commands that it runs.

use super::{DEADLINE, LoadedFixture, Shoppers, ended, release_with};
use crate::support::cli::{Cli, Output};
use crate::support::in_the_mesh;
use browser::{Kind, User, Visit};
use envoy_kit::free_ports;
use mesh_lab::Lab;
use programs::artifact;
use programs::child::LoggedChild;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::Command;
use tokio::time::timeout;

/// The load tester. It ends with the value.
struct LoadTester {
    process: LoggedChild,
    address: SocketAddr,
}

impl LoadTester {
    async fn start(lab: &Lab) -> Self {
        let [port] = free_ports();
        let mut command = Command::new(artifact::peer("Flagger's load tester", "bin/loadtester").unwrap());
        command.arg(format!("-port={port}"));
        let process = LoggedChild::start("loadtester", &mut command).unwrap();
        let tester = Self { process, address: SocketAddr::from(([127, 0, 0, 1], port)) };
        let is_up = async || (tester.get("/healthz").await? == 200).then_some(());
        lab.until("the load tester", is_up).await.unwrap();
        tester
    }

    async fn get(&self, path: &str) -> Option<u16> {
        User::http1(self.address, "loadtester").api(path).await.ok().map(|response| response.status)
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What a person sends by `curl -d '{"name": …}'` to open and to close a gate.
    async fn post(&self, path: &str, loaded: &LoadedFixture<'_>) {
        let name = &loaded.release.name;
        let body = json!({"name": name.name.to_string(), "namespace": name.namespace.to_string()});
        let mut user = User::http1(self.address, "loadtester");
        let visit = Visit::new(Kind::Api, path).method(http::Method::POST).body(body.to_string());
        let response = user.send(&visit).await.unwrap();
        assert_eq!(response.status, 202, "{path}");
    }

    fn has_logged(&self, text: &str) -> bool {
        self.process.log().contains(text)
    }

    /// Each type of hook, at its endpoint.
    fn hooks(&self) -> Value {
        let [gate, rollback, task] = ["/gate/check", "/rollback/check", "/"].map(|path| self.url(path));
        let bash = json!({"type": "bash", "cmd": "echo accepted"});
        let cmd = |text: &str| json!({"type": "cmd", "cmd": format!("echo {text}")});
        json!({"hooks": [
            {"name": "start", "type": "confirm-rollout", "url": gate},
            {"name": "acceptance", "type": "pre-rollout", "url": task, "metadata": bash},
            {"name": "load", "type": "rollout", "url": task, "interval": "10s", "metadata": cmd("loaded")},
            {"name": "raise", "type": "confirm-traffic-increase", "url": self.url("/gate/approve")},
            {"name": "promotion", "type": "confirm-promotion", "url": gate},
            {"name": "undo", "type": "rollback", "url": rollback, "interval": "10s"},
            {"name": "bus", "type": "event", "url": task, "metadata": cmd("told")},
            {"name": "after", "type": "post-rollout", "url": task, "metadata": bash},
        ]})
    }
}

/// Returns when the rollout waits, or is held, for this reason.
async fn until_reason(lab: &Lab, cli: &Cli, expected: &str) {
    let found = async || {
        let output = cli.run("rollout status -o json").await;
        let view: Value = serde_json::from_str(&output.stdout).ok()?;
        view["reason"].as_str()?.contains(expected).then_some(())
    };
    lab.until(expected, found).await.unwrap();
}

/// Returns when the canary has users.
async fn until_users(lab: &Lab, cli: &Cli) {
    let found = async || {
        let output = cli.run("rollout status -o json").await;
        let view: Value = serde_json::from_str(&output.stdout).ok()?;
        (view["weight"].as_u64()? > 0).then_some(())
    };
    lab.until("a weight", found).await.unwrap();
}

async fn set_up<'l>(lab: &'l Lab, name: &str) -> (LoadTester, LoadedFixture<'l>, Cli) {
    let tester = LoadTester::start(lab).await;
    let (loaded, cli) = release_with(lab, name, [0, 0], &tester.hooks()).await;
    (tester, loaded, cli)
}

/// A rollout with this going on beside it.
async fn rolled_out(loaded: &LoadedFixture<'_>, cli: &Cli, beside: impl Future<Output = ()>) -> Output {
    let shoppers = Shoppers::start(loaded.env.gateway);
    cli.expect("rollout start", 0, &["v2 by plan `default`"]).await;
    let run = timeout(DEADLINE, cli.run("rollout run --interval 2s -o json"));
    let (output, ()) = tokio::join!(run, beside);
    let shopped = shoppers.stop().await.unwrap();
    assert_eq!(shopped.failed_users, 0, "{shopped:?}");
    output.expect("a rollout that ends")
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn flaggers_load_tester_tests_a_canary_and_its_gates_let_it_begin_and_be_promoted() {
    in_the_mesh(async |lab| {
        let (tester, loaded, cli) = set_up(lab, "rollout-gates").await;
        let said = [
            "start       confirm-rollout           closed: 403 Forbidden: Forbidden",
            "acceptance  pre-rollout               passed",
            "load        rollout                   passed",
            "raise       confirm-traffic-increase  passed",
            "undo        rollback                  asks for no rollback: 403 Forbidden: Forbidden",
            "bus         event                     accepted",
        ];
        cli.expect("rollout test-hooks", 0, &said).await;
        tester.post("/rollback/open", &loaded).await;
        cli.expect("rollout test-hooks --hook undo", 1, &["asks for a rollback"]).await;
        tester.post("/rollback/close", &loaded).await;

        let output = rolled_out(&loaded, &cli, async {
            until_reason(lab, &cli, "hook `start` (confirm-rollout): closed: 403 Forbidden").await;
            tester.post("/gate/open", &loaded).await;
            until_users(lab, &cli).await;
            tester.post("/gate/close", &loaded).await;
            until_reason(lab, &cli, "hook `promotion` (confirm-promotion): closed: 403 Forbidden").await;
            tester.post("/gate/open", &loaded).await;
        })
        .await;
        println!("{}", output.stderr);
        assert_eq!((output.code, ended(&output).0.as_str()), (Some(0), "promoted"), "{output:?}");
        for command in ["bash command echo accepted", "echo loaded", "echo told"] {
            assert!(tester.has_logged(command), "{command}: {}", tester.process.log());
        }
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn flaggers_rollback_gate_ends_a_rollout() {
    in_the_mesh(async |lab| {
        let (tester, loaded, cli) = set_up(lab, "rollout-undo").await;
        tester.post("/gate/open", &loaded).await;
        let output = rolled_out(&loaded, &cli, async {
            until_users(lab, &cli).await;
            tester.post("/rollback/open", &loaded).await;
        })
        .await;
        let (result, reason) = ended(&output);
        assert_eq!((output.code, result.as_str()), (Some(1), "rolledBack"), "{output:?}");
        assert!(reason.contains("hook `undo` (rollback): asks for a rollback"), "{reason}");
    });
}
