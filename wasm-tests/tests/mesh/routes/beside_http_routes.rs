//! `routes: gateway-api`: routes of our own beside the `HTTPRoute` of the shop's owner, under users with carts.

use super::gateway_api::{gateway, stream, user, versions};
use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use crate::support::operator::{come, run_under_load};
use mesh_lab::Lab;
use serde_json::{Value, json};
use std::net::SocketAddr;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::{Document, Faults, Sessions};
use wasm_tests::stats::{UNLIKELY, share_p_value};

/// Users before the canary has any; each step adds others.
const FIRST: usize = 200;
const NEW: usize = 200;
/// The number of users who send requests without a pause during a change.
const MOVING: usize = 100;

struct Shop<'l> {
    lab: &'l Lab,
    env: ShopEnv,
    cli: Cli,
    edge: SocketAddr,
    sessions: Sessions,
}

#[test]
#[ignore = "takes more than a minute: ./x test long"]
fn no_cart_is_lost_beside_the_routes_of_others_and_no_header_chooses_a_version() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "beside-routes", &ShopEnvOptions::gateway()).await.unwrap();
        let edge = owner(lab, &env).await;
        let release = beside(&env, &json!({"label": "version", "stable": "v1", "canary": "v2"}));
        let cli = Cli::new(lab, &release);
        let mut shop = Shop { lab, env, cli, edge, sessions: Sessions::default() };
        let before = shop.owners_objects().await;
        shop.come(FIRST, 0.0).await;
        shop.cli
            .expect(
                "apply --wait",
                2,
                &["expected Service `shop` to select `version: v1`", "kubectl patch service shop"],
            )
            .await;
        shop.select("v1").await;
        lab.scale(&shop.env.namespace, "shop-v2", 1).await.unwrap();
        lab.rolled_out(&shop.env.namespace, "shop-v2").await.unwrap();
        // The listener with the filter is another one, so connections are closed.
        let moving = shop.sessions.start_load(MOVING);
        shop.cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        let during = shop.sessions.stop_load(moving).await.expect("they come back").but_closed();
        assert_eq!(during, Faults::default(), "apply");
        shop.walk().await;
        let first = shop.value("v1").await;
        shop.promotion().await;
        shop.next_version(&first).await;
        shop.forged(&first).await;
        shop.end().await;
        assert_eq!(shop.owners_objects().await, before, "the owner's route was never written");
    });
}

impl Shop<'_> {
    async fn walk(&mut self) {
        self.come(NEW, 0.0).await;
        self.run("weight 20 --wait", &["0% -> 20%"]).await;
        self.come(NEW, 0.20).await;
        self.run("weight 50 --wait", &["20% -> 50%"]).await;
        self.come(NEW, 0.50).await;
        let status = self.cli.expect("status", 0, &["1 of 1 proxies run it"]).await;
        assert!(!status.stdout.contains("problem: "), "{status:?}");
    }

    /// The default moves with the owner's edit of the Service, and the old version ends after it.
    async fn promotion(&mut self) {
        self.run("promote --drain 1s --wait --skip-check max-step", &["no session moves", "v2 is stable"])
            .await;
        self.come(NEW, 1.0).await;
        let left = self.sessions.remove_version("v1");
        assert_ne!(left.count(), 0, "users on v1");
        drop(left);
        self.cli
            .expect(
                "promote --finish",
                2,
                &["expected Service `shop` to select `version: v2`, found `version: v1`"],
            )
            .await;
        self.select("v2").await;
        self.run("promote --finish", &["nothing leads to the pods of v1 any more"]).await;
        self.come(NEW, 1.0).await;
        assert_eq!(
            self.ours().await,
            ["httproute.gateway.networking.k8s.io/shop-canary.v2-00", "service/shop-v2"]
        );
    }

    /// The old label again, as another build: its routes have another value than before.
    async fn next_version(&mut self, first: &str) {
        self.cli.edits(&beside(&self.env, &json!({"label": "version", "stable": "v2", "canary": "v1"})));
        self.run("apply --wait", &["active in 1 proxy"]).await;
        assert_ne!(self.value("v1").await, first, "another epoch");
        self.run("weight 50 --wait", &["0% -> 50%"]).await;
        let (on_canary, faults) = self.sessions.open((0..NEW).map(|_| user(self.edge)).collect()).await;
        assert_eq!(faults, Faults::default(), "the next version");
        // Sessions counts users of `v2`, which is stable now.
        assert!(share_p_value(on_canary, NEW as u64, 0.5) > UNLIKELY, "{on_canary} of {NEW}");
        let left = self.sessions.remove_version("v1");
        assert_ne!(left.count(), 0, "users on the canary");
        drop(left);
        self.run("rollback", &["v2 is stable"]).await;
        self.come(NEW, 1.0).await;
    }

    /// With the filter and without it: neither the default value, nor that of an epoch before, nor a guess names a version.
    async fn forged(&mut self, first: &str) {
        let name = self.env.namespace.clone();
        let default = format!("{name}/shop/v1");
        self.cli.expect("apply --allow-rolled-back --wait", 0, &["active in 1 proxy"]).await;
        let canary = self.value("v1").await;
        let forged = [default.as_str(), first, "v1"];
        for value in forged.into_iter().chain([canary.as_str()]) {
            assert_eq!(self.versions_with(value).await, ["v2"], "{value} with the filter");
        }
        let filter = self.filter().await;
        self.lab.kubectl(&["delete", "-n", &self.env.ingress, &filter]).await.unwrap();
        let is_gone = async || (self.versions_with(&canary).await == ["v1"]).then_some(());
        self.lab.until("the filter has left", is_gone).await.unwrap();
        for value in forged {
            assert_eq!(self.versions_with(value).await, ["v2"], "{value} without the filter");
        }
        self.cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        assert_eq!(self.versions_with(&canary).await, ["v2"], "with the filter again");
    }

    async fn end(&mut self) {
        let namespace = self.env.namespace.as_str();
        self.lab.scale(namespace, "shop-v1", 0).await.unwrap();
        let none_left =
            async || self.lab.pods(namespace, "app=shop,version=v1").await.ok()?.is_empty().then_some(());
        self.lab.until("the end of v1", none_left).await.unwrap();
        let moving = self.sessions.start_load(MOVING);
        self.cli.expect("uninstall", 0, &["the release needs it no longer"]).await;
        let during = self.sessions.stop_load(moving).await.expect("they come back").but_closed();
        assert_eq!(during, Faults::default(), "uninstall");
        assert_eq!(
            self.sessions.verify_all(false).await.but_closed(),
            Faults::default(),
            "without the filter"
        );
        assert_eq!(self.ours().await, [""; 0]);
    }

    /// Runs this command under load; no user notices.
    async fn run(&mut self, line: &str, parts: &[&str]) {
        run_under_load(&self.cli, &mut self.sessions, MOVING, (line, parts)).await;
    }

    async fn come(&mut self, count: usize, share: f64) {
        come(&mut self.sessions, (0..count).map(|_| user(self.edge)).collect(), share).await;
    }

    async fn versions_with(&self, value: &str) -> Vec<String> {
        versions(self.edge, &[("x-canary-version", value)]).await.unwrap_or_default()
    }

    /// What the hint of `apply` and `promote --finish` says to the owner.
    async fn select(&self, version: &str) {
        let patch = json!({"spec": {"selector": {"version": version}}}).to_string();
        self.lab
            .kubectl(&["patch", "service", "shop", "-n", &self.env.namespace, "-p", &patch])
            .await
            .unwrap();
    }

    /// The value of the routing header that leads to a version: of our routes.
    async fn value(&self, version: &str) -> String {
        let route = format!("httproute/shop-canary.{version}-00");
        let path = "jsonpath={.spec.rules[0].matches[0].headers[0].value}";
        self.lab.kubectl(&["get", "-n", &self.env.namespace, &route, "-o", path]).await.unwrap()
    }

    /// The names of our routes and Services.
    async fn ours(&self) -> Vec<String> {
        let label = "app.kubernetes.io/managed-by=canary-ctl";
        let names = ["get", "httproutes,services", "-n", &self.env.namespace, "-l", label, "-o", "name"];
        self.lab.kubectl(&names).await.unwrap().lines().map(str::to_owned).collect()
    }

    async fn filter(&self) -> String {
        let names =
            self.lab.kubectl(&["get", "envoyfilters", "-n", &self.env.ingress, "-o", "name"]).await.unwrap();
        names.lines().find(|name| name.ends_with("-filter")).unwrap().to_owned()
    }

    /// The specification of the owner's route, and its managers.
    async fn owners_objects(&self) -> String {
        let path = "jsonpath={.spec}{.metadata.generation}";
        self.lab.kubectl(&["get", "-n", &self.env.namespace, "httproute/site", "-o", path]).await.unwrap()
    }
}

/// The shop behind the Gateway `edge` by its owner's route, with one pod: its sessions live in pods.
async fn owner(lab: &Lab, env: &ShopEnv) -> SocketAddr {
    lab.scale(&env.namespace, "shop-v1", 1).await.unwrap();
    lab.scale(&env.namespace, "shop-v2", 0).await.unwrap();
    let route = json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
        "metadata": {"name": "site", "namespace": env.namespace},
        "spec": {"parentRefs": [{"name": "edge", "namespace": env.ingress}], "rules": rules()}});
    lab.apply(&stream(&[gateway(&env.ingress), route])).await.unwrap();
    lab.until("the gateway that Istio deploys", async || {
        lab.rolled_out(&env.ingress, "edge-istio").await.ok()
    })
    .await
    .unwrap();
    let edge = lab.service(&env.ingress, "edge-istio", 80).await.unwrap();
    let is_routed = async || (versions(edge, &[]).await? == ["v1"]).then_some(());
    lab.until("the owner's route", is_routed).await.unwrap();
    edge
}

/// Two rules: a longer path precedes any header.
fn rules() -> Value {
    let backend = json!([{"name": "shop", "port": 80}]);
    let prefix = |path: &str| json!([{"path": {"type": "PathPrefix", "value": path}}]);
    json!([{"matches": prefix("/cart"), "timeouts": {"request": "10s"}, "backendRefs": backend},
        {"matches": prefix("/"), "backendRefs": backend}])
}

fn beside(env: &ShopEnv, versions: &Value) -> Document {
    let gateways = json!([{
        "name": format!("{}/edge", env.ingress),
        "namespace": env.ingress,
        "selector": {"gateway.networking.k8s.io/gateway-name": "edge"},
    }]);
    let document = env.release().unwrap().with("/spec/weight", "0").with("/spec/maxStep", "100");
    document
        .with("/spec/gateways", gateways)
        .with("/spec/routes", "gateway-api")
        .with("/spec/versions", versions.clone())
}
