//! An application that was installed without any of our tools gets its first canary, and the next: no request fails, no cart is lost, and no
//! pod that stays is replaced. Its chart has a random password and a migration, and an autoscaler, too.

use super::{AUTOSCALER, TwinChart};
use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;
use crate::support::release_fixture::{ReleaseFixture, Verb, turn};
use mesh_lab::{Helm, Lab};
use serde_json::json;
use std::collections::BTreeSet;
use wasm_tests::mesh::ShopEnvOptions;
use wasm_tests::scenario::{Document, Faults, HOST, LoadHandle, Sessions};

const SESSIONS: usize = 40;
/// Those that send requests while something changes.
const MOVING: usize = 20;

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn the_first_canary_of_a_running_chart_costs_no_request_and_no_cart() {
    in_the_mesh(async |lab| {
        let mut walk = Walk::new(lab, "running-chart", Helm::Three, "").await;
        let stable = walk.adopts_and_applies().await;
        walk.deploys_beside("v2").await;
        assert_eq!(walk.chart.pods("v1").await, stable, "after the canary came");
        walk.chart.is_refused_by_the_policy().await;
        walk.moves_a_fifth().await;
        Box::pin(walk.promotes()).await;
        assert_eq!(walk.chart.pods("v1").await, stable, "it drains");
        Box::pin(walk.finishes()).await;
        walk.chart.is_kept_by_the_policy("v2").await;
        walk.chart.loses_the_policy("v2").await;
        walk.chart.is_reported_and_mended("v2").await;
    });
}

/// Helm's manifest does not say that the Deployment was created again with a narrower selector.
pub(super) const NARROWED: &[&str] = &["--skip-check=selector-unchanged"];

/// The selector of stable's Deployment cannot change, so it is made anew around its `ReplicaSet`, while users are there.
#[test]
#[ignore = "a variant of another test: ./x test long"]
fn the_first_canary_and_the_next_of_an_autoscaled_chart_by_helm_4_cost_no_request_and_no_cart() {
    in_the_mesh(async |lab| {
        let mut walk = Walk::new(lab, "running-scaled4", Helm::Four, AUTOSCALER).await;
        walk.chart.decisions = &["--share=db", "--hooks=run", "--skip-check=selector-unchanged"];
        let stable = walk.adopts_and_applies().await;
        let line = ["delete", "deployment", "shop", "-n", &walk.chart.namespace, "--cascade=orphan"];
        lab.kubectl(&line).await.unwrap();
        walk.deploys_beside("v2").await;
        walk.chart.has_narrowed("v1", &stable).await;
        walk.moves_a_fifth().await;
        Box::pin(walk.promotes()).await;
        Box::pin(walk.finishes()).await;
        walk.brings_the_next().await;
    });
}

/// What a chart with a database has: a password that each render makes anew, and a migration before each upgrade.
const DATABASE: &str = r"---
apiVersion: v1
kind: Secret
metadata: {name: db}
stringData: {password: {{ randAlphaNum 20 | quote }}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations: {helm.sh/hook: pre-upgrade, helm.sh/hook-delete-policy: before-hook-creation}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: migrate, image: demo-shop, command: [/bin/echo, {{ .Values.version }}]}]
";
/// What its pods name.
const VALUES: &str = "volumes: [{name: db, secret: {secretName: db}}]";
/// What is answered about them.
const DECISIONS: [&str; 2] = ["--share=db", "--hooks=run"];

/// A running chart, its users with carts, and what Helm has deployed without a canary.
struct Walk<'l> {
    loaded: LoadedFixture<'l>,
    chart: TwinChart<'l>,
    sessions: Sessions,
    alone: Vec<String>,
    password: String,
}

impl<'l> Walk<'l> {
    /// A chart that was installed by Helm alone, with routes of its owner; users shop, and the release is not applied yet.
    async fn new(lab: &'l Lab, name: &str, helm: Helm, more: &str) -> Self {
        let (loaded, mut chart) = exposed_with(lab, name, helm, &format!("{DATABASE}{more}")).await;
        std::fs::write(chart.path("chart/values.yaml"), VALUES).unwrap();
        chart.decisions = &DECISIONS;
        chart.helm(&["install", "shop", &chart.text("chart"), "--set", "version=v1"]).await;
        chart.ready("shop").await;
        loaded.answers(HOST).await;
        let mut sessions = Sessions::default();
        assert_eq!(sessions.open(loaded.users(SESSIONS)).await, (0, Faults::default()));
        let (alone, password) = (chart.listed().await, chart.password().await);
        Self { loaded, chart, sessions, alone, password }
    }

    /// Returns stable's pods, which are those of before.
    async fn adopts_and_applies(&mut self) -> BTreeSet<String> {
        let stable = self.chart.pods_with("app=shop").await;
        let moving = self.sessions.start_load(MOVING);
        self.chart.canary_ctl(&["twin", "adopt", "shop"]).await;
        assert_eq!(self.chart.pods("v1").await, stable, "adopted");
        self.loaded.apply().await;
        nothing_is_lost(&mut self.sessions, moving, "applied").await;
        stable
    }

    async fn deploys_beside(&mut self, version: &str) {
        let moving = self.sessions.start_load(MOVING);
        self.chart.deploy_beside(version).await;
        nothing_is_lost(&mut self.sessions, moving, "after the canary came").await;
        self.chart.has_migrated_to(version).await;
        let twins = self.alone.iter().filter(|name| {
            ["ConfigMap ", "Deployment ", "HorizontalPodAutoscaler "]
                .iter()
                .any(|kind| name.starts_with(kind))
        });
        let mut both: Vec<String> = self.alone.iter().chain(twins).cloned().collect();
        both.sort();
        assert_eq!(self.chart.listed().await, both, "with twins");
    }

    async fn moves_a_fifth(&mut self) {
        let moving = self.sessions.start_load(MOVING);
        self.loaded.weigh("20").await;
        nothing_is_lost(&mut self.sessions, moving, "to 20%").await;
        let (on_canary, begun) = self.sessions.open(self.loaded.users(SESSIONS)).await;
        assert_eq!(begun.but_closed(), Faults::default());
        assert!((1..SESSIONS as u64).contains(&on_canary), "{on_canary} of {SESSIONS} on the canary");
    }

    async fn promotes(&mut self) {
        let moving = self.sessions.start_load(MOVING);
        turn(&self.loaded.cluster, &self.loaded.release, Verb::Promote).await.unwrap();
        let (on_canary, begun) = self.sessions.open(self.loaded.users(SESSIONS)).await;
        assert_eq!((on_canary, begun.but_closed()), (SESSIONS as u64, Faults::default()), "promoted");
        nothing_is_lost(&mut self.sessions, moving, "promoted").await;
    }

    /// The sessions of the old version have ended.
    async fn finishes(&mut self) {
        let ended = self.sessions.remove_version("v1");
        println!("{} sessions ended on v1, {} live on v2", ended.count(), self.sessions.count());
        let promoted = self.chart.pods("v2").await;
        let moving = self.sessions.start_load(MOVING);
        // As `canary-ctl promote` says.
        let after = self.loaded.document.clone().with("/spec/versions", json!({"stable": "v2"}));
        std::fs::write(self.chart.path("canary.yaml"), after.text()).unwrap();
        self.chart.finish_as_printed("v2").await;
        self.chart.gone("v1").await;
        nothing_is_lost(&mut self.sessions, moving, "finished").await;
        assert_eq!(self.chart.pods("v2").await, promoted, "the promoted pods stay");
        assert_eq!(self.chart.listed().await, self.alone, "finished");
        assert_eq!(self.chart.password().await, self.password, "the password of the first installation");
    }

    /// The promoted version is stable, under its own name, and the next one comes beside it.
    async fn brings_the_next(&mut self) {
        let stable = self.chart.pods("v2").await;
        let versions = json!({"stable": "v2", "canary": "v3"});
        let document = self.loaded.document.clone().with("/spec/versions", versions);
        std::fs::write(self.chart.path("canary.yaml"), document.text()).unwrap();
        self.loaded.release = ReleaseFixture::read(&document);
        self.loaded.document = document;
        let moving = self.sessions.start_load(MOVING);
        self.loaded.apply().await;
        nothing_is_lost(&mut self.sessions, moving, "the next is applied").await;
        self.deploys_beside("v3").await;
        assert_eq!(self.chart.pods("v2").await, stable, "after the next canary came");
        assert_eq!(self.chart.password().await, self.password, "the password of the first installation");
    }
}

impl TwinChart<'_> {
    async fn password(&self) -> String {
        let line = ["get", "secret", "db", "-n", &self.namespace, "-o", "jsonpath={.data.password}"];
        self.lab.kubectl(&line).await.unwrap()
    }

    /// Fails unless the last migration was that of this version, and has succeeded.
    async fn has_migrated_to(&self, version: &str) {
        let path = "jsonpath={.spec.template.spec.containers[0].command[1]} {.status.succeeded}";
        let line = ["get", "job", "migrate", "-n", &self.namespace, "-o", path];
        assert_eq!(self.lab.kubectl(&line).await.unwrap(), format!("{version} 1"), "the migration");
    }

    /// Fails unless the Deployment of stable has found its pods, and both autoscalers theirs.
    async fn has_narrowed(&self, version: &str, pods: &BTreeSet<String>) {
        self.ready("shop").await;
        assert_eq!(self.pods(version).await, *pods, "the new Deployment has found the ReplicaSet");
        let selector = "jsonpath={.spec.selector.matchLabels.version}";
        let line = ["get", "deployment", "shop", "-n", &self.namespace, "-o", selector];
        assert_eq!(self.lab.kubectl(&line).await.unwrap(), version);
        self.no_autoscaler_is_ambiguous(2).await;
    }
}

/// A gateway with routes to a chart that is not installed yet.
pub(super) async fn exposed<'l>(lab: &'l Lab, name: &str, helm: Helm) -> (LoadedFixture<'l>, TwinChart<'l>) {
    exposed_with(lab, name, helm, "").await
}

/// The same of a chart with these objects besides.
pub(super) async fn exposed_with<'l>(
    lab: &'l Lab,
    name: &str,
    helm: Helm,
    more: &str,
) -> (LoadedFixture<'l>, TwinChart<'l>) {
    let options = ShopEnvOptions { shop: false, ..ShopEnvOptions::gateway() };
    let inject = |release: Document| release.with("/spec/routes", "inject");
    let loaded = LoadedFixture::set_up_with(lab, name, &options, inject).await;
    let chart = TwinChart::new(lab, &loaded.env.namespace, helm, more).await;
    std::fs::write(chart.path("canary.yaml"), loaded.document.text()).unwrap();
    let gateway = format!("{}/shop", loaded.env.ingress);
    let route = json!([{"route": [{"destination": {"host": "shop"}}]}]);
    let routes = json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
        "metadata": {"name": "shop", "namespace": chart.namespace},
        "spec": {"hosts": [HOST], "gateways": [gateway], "http": route}});
    lab.apply(&routes.to_string()).await.unwrap();
    (loaded, chart)
}

/// Fails if a request failed, or a session has lost its cart or moved. The first filter replaces the gateway's listener, whose
/// connections are closed one by one for a while.
pub(super) async fn nothing_is_lost(sessions: &mut Sessions, moving: LoadHandle, when: &str) {
    let moved = sessions.stop_load(moving).await.expect("they come back");
    assert_eq!(moved.but_closed(), Faults::default(), "{when}");
    assert_eq!(sessions.verify_all(false).await.but_closed(), Faults::default(), "{when}");
}

/// Helm 4 applies on the server: the label that `twin adopt` has written is its, too, from the first canary on.
#[test]
fn a_chart_that_helm_4_has_installed_gets_its_first_canary_and_keeps_its_pods() {
    in_the_mesh(async |lab| {
        let (chart, stable) = adopted(lab, "running-helm4", Helm::Four, "").await;
        chart.deploy_beside("v2").await;
        assert_eq!(chart.pods("v1").await, stable, "after the canary came");
        let promoted = chart.pods("v2").await;
        chart.finish("v2").await;
        chart.gone("v1").await;
        assert_eq!(chart.pods("v2").await, promoted, "finished");
    });
}

/// A chart that Helm alone has installed, with the label on its pods.
async fn adopted<'l>(
    lab: &'l Lab,
    namespace: &str,
    helm: Helm,
    more: &str,
) -> (TwinChart<'l>, BTreeSet<String>) {
    lab.kubectl(&["create", "namespace", namespace]).await.unwrap();
    let chart = TwinChart::new(lab, namespace, helm, more).await;
    chart.versions("v1", "v2");
    chart.helm(&["install", "shop", &chart.text("chart"), "--set", "version=v1"]).await;
    chart.ready("shop").await;
    let stable = chart.pods_with("app=shop").await;
    chart.canary_ctl(&["twin", "adopt", "shop", "-n", namespace, "--label", "version=v1"]).await;
    assert_eq!(chart.pods("v1").await, stable, "adopted");
    (chart, stable)
}

/// The selector of a Deployment cannot change, so it is made anew around its `ReplicaSet`.
#[test]
fn an_autoscaled_deployment_of_helm_3_gets_a_narrower_selector_and_keeps_its_pods() {
    in_the_mesh(async |lab| {
        let namespace = "running-scaled3";
        let (mut chart, stable) = adopted(lab, namespace, Helm::Three, AUTOSCALER).await;
        chart.decisions = NARROWED;
        lab.kubectl(&["delete", "deployment", "shop", "-n", namespace, "--cascade=orphan"]).await.unwrap();
        chart.deploy_beside("v2").await;
        chart.has_narrowed("v1", &stable).await;
    });
}
