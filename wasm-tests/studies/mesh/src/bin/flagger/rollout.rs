//! One rollout by each tool, under the same users.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use http::Request;
use mesh_lab::{Lab, LabError};
use mesh_studies::{Addition, Error, Scenario, ShopRelease};
use serde_json::{Value, json};
use tokio::time::sleep;
use wasm_tests::mesh::{PacedReport, PacedShoppers, ShopEnv, ShopEnvOptions};

use crate::controller::{Controller, reason};
use crate::objects::{NAME, canary, metric_template, target, template};
use crate::outcome::{Course, Outcome, Tool};
use crate::settings::{AFTER, BEFORE, HANG_TIMEOUT, INTERVAL, OLDER, PACE, PLAN, RANDOM_FAULTS};

/// More than a rollout of Flagger takes here; one that takes longer has not ended.
const LIMIT: Duration = Duration::from_mins(6);
const POLL: Duration = Duration::from_millis(250);

/// Which rollout: what is wrong, and how often it was tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) scenario: &'static Scenario,
    pub(crate) round: u32,
}

impl Job {
    fn outcome(&self, tool: Tool, course: Course, users: &PacedReport) -> Outcome {
        Outcome::new((self.scenario.name, self.round), tool, course, users)
    }
}

/// The users of one rollout.
struct Users(PacedShoppers, Option<PacedShoppers>);

impl Users {
    async fn start(gateway: SocketAddr, scenario: &Scenario) -> Self {
        let older = scenario.addition == Addition::OlderSessions;
        let users =
            Self(PacedShoppers::start(gateway, PACE), older.then(|| PacedShoppers::start(gateway, OLDER)));
        sleep(BEFORE).await;
        users
    }

    async fn stop(self) -> Result<PacedReport, Error> {
        sleep(AFTER).await;
        let mut report = self.0.stop().await?;
        if let Some(older) = self.1 {
            report.merge(older.stop().await?);
        }
        Ok(report)
    }
}

/// By `canary-ctl rollout run`.
pub(crate) async fn by_canary_ctl(lab: &Lab, name: &str, job: Job) -> Result<Outcome, Error> {
    let shop = ShopRelease::set_up(lab, name, job.scenario, &PLAN).await?;
    for deployment in ["shop-v1", "shop-v2"] {
        lab.scale(name, deployment, 1).await?;
    }
    shop.env.set_shop(lab, &[RANDOM_FAULTS]).await?;
    let users = Users::start(shop.env.gateway, job.scenario).await;
    let begun = Instant::now();
    shop.start(lab).await?;
    let end = shop.run(lab, INTERVAL).await?;
    let ended = Instant::now();
    let users = users.stop().await?;
    shop.delete(lab).await?;
    let course = Course { begun, promoting: ended, ended, result: end.result, reason: end.reason };
    Ok(job.outcome(Tool::CanaryCtl, course, &users))
}

pub(crate) async fn by_flagger(
    lab: &Lab,
    controller: &Controller,
    name: &str,
    job: Job,
) -> Result<Outcome, Error> {
    let options = ShopEnvOptions {
        shop: false,
        statistics: vec!["cluster.outbound".to_owned()],
        ..ShopEnvOptions::gateway()
    };
    let env = ShopEnv::set_up(lab, name, &options).await?;
    let metrics = env.gateway_metrics(lab).await?;
    controller.scrape(metrics)?;
    initialize(lab, controller, &env, job.scenario).await?;
    let users = Users::start(env.gateway, job.scenario).await;
    let begun = Instant::now();
    let patch = json!({"spec": {"template": pods("v2", job.scenario)?}}).to_string();
    let deployment = format!("deployment/{NAME}");
    lab.kubectl(&["patch", "-n", name, &deployment, "--type=merge", "-p", &patch]).await?;
    let course = watched(lab, controller, name, begun).await?;
    let users = users.stop().await?;
    let object = format!("canary/{NAME}");
    lab.kubectl(&["delete", "-n", name, &object]).await?;
    controller.forget(metrics)?;
    env.delete(lab).await?;
    Ok(job.outcome(Tool::Flagger, course, &users))
}

/// The shop in version v1 as Flagger's primary, and all users on it.
async fn initialize(
    lab: &Lab,
    controller: &Controller,
    env: &ShopEnv,
    scenario: &Scenario,
) -> Result<(), Error> {
    let name = &env.namespace;
    let target = target(name, &pods("v1", scenario)?);
    let hangs = scenario.name == Scenario::HANGS.name;
    let canary = canary(name, &env.ingress, hangs.then_some(HANG_TIMEOUT));
    let metric = metric_template(name, &controller.prometheus());
    lab.apply(&format!("---\n{target}\n---\n{metric}\n")).await?;
    lab.rolled_out(name, NAME).await?;
    lab.apply(&canary.to_string()).await?;
    let initialized = async || phase(lab, name).await.is_ok_and(|phase| phase == "Initialized").then_some(());
    let what = format!("Flagger's initialization of {name}");
    lab.until(&what, initialized).await.map_err(|error| with_log(error, controller))?;
    let mut user = env.user();
    let routed = async || {
        let page = user.navigate("/").await;
        page.is_ok_and(|page| page.header("x-shop-version") == Some("v1")).then_some(())
    };
    Ok(lab.until("a page of the shop", routed).await?)
}

/// The pods of a version for Flagger.
fn pods(version: &str, scenario: &Scenario) -> Result<Value, LabError> {
    let [v1, v2] = scenario.variables;
    template(version, &[if version == "v1" { v1 } else { v2 }, &[RANDOM_FAULTS]].concat())
}

/// The same error, with what Flagger said.
fn with_log(error: LabError, controller: &Controller) -> LabError {
    match error {
        LabError::Timeout { what, after, found, .. } => {
            LabError::Timeout { what, after, found, logs: controller.log_tail() }
        }
        other => other,
    }
}

/// A rollout that has begun, to its end.
async fn watched(lab: &Lab, controller: &Controller, name: &str, begun: Instant) -> Result<Course, Error> {
    let mut promoting = None;
    let (ended, result) = loop {
        sleep(POLL).await;
        let now = Instant::now();
        let phase = phase(lab, name).await?;
        match phase.as_str() {
            "Succeeded" => break (now, "promoted".to_owned()),
            "Failed" => break (now, "rolledBack".to_owned()),
            "Promoting" => promoting = promoting.or(Some(now)),
            _ if now - begun > LIMIT => break (now, phase),
            _ => {}
        }
    };
    let reason = reason(&controller.messages(name));
    Ok(Course { begun, promoting: promoting.unwrap_or(ended), ended, result, reason })
}

async fn phase(lab: &Lab, namespace: &str) -> Result<String, Error> {
    let path = format!("/apis/flagger.app/v1beta1/namespaces/{namespace}/canaries/{NAME}");
    let request = Request::get(path).body(Vec::new()).map_err(std::io::Error::other)?;
    let text = lab.client()?.request_text(request).await.map_err(LabError::from)?;
    let canary: Value = serde_json::from_str(&text)?;
    Ok(canary.pointer("/status/phase").and_then(Value::as_str).unwrap_or_default().to_owned())
}
