//! A release from its first `apply` to its `uninstall`, by an operator on the command line, under the load of 2,000
//! users.

use crate::support::cli::Cli;
use crate::support::filter_source::{Module, Web, filter};
use crate::support::object_owner::virtual_service;
use crate::support::operator::{come, run_under_load};
use crate::support::{UNDISTURBED, counters, in_the_mesh};
use browser::User;
use mesh_lab::{Lab, sha256};
use serde_json::json;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::{Document, Faults, Sessions};

/// Users before the first one is assigned to the canary; each step adds others.
const FIRST: usize = 1_000;
const NEW: usize = 500;
/// The number of users who send requests without a pause during a change.
const MOVING: usize = 200;

/// The shop, its users and the operator.
struct Day<'l> {
    lab: &'l Lab,
    env: ShopEnv,
    cli: Cli,
    sessions: Sessions,
}

#[test]
fn no_cart_is_lost_from_apply_to_uninstall_but_by_a_rollback_that_announces_it() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "day", &ShopEnvOptions::gateway()).await.unwrap();
        let release = env
            .release()
            .unwrap()
            .with("/spec/sessionAffinity", "identity")
            .with("/spec/maxStep", "20")
            .with("/spec/weight", "0")
            .with("/spec/override", json!({"mode": "token"}));
        let cli = Cli::new(lab, &release);
        let mut day = Day { lab, env, cli, sessions: Sessions::default() };
        day.canary().await;
        let undisturbed = counters(lab, &day.env, &UNDISTURBED).await;
        day.bad_canary().await;
        day.fixed_build().await;
        assert_eq!(counters(lab, &day.env, &UNDISTURBED).await, undisturbed, "no listener was touched");
        day.promotion(&release).await;
        day.end().await;
    });
}

impl Day<'_> {
    /// The canary at 0, 1 and 20 %, the last with an expiry.
    async fn canary(&mut self) {
        self.cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        self.come(FIRST, 0.0).await;
        self.tester_sees("v2").await;
        self.run("weight 1 --wait", &["0% -> 1%"]).await;
        self.come(NEW, 0.01).await;
        self.run("weight 20 --wait", &["1% -> 20%"]).await;
        self.come(NEW, 0.20).await;
        self.run("weight 20 --expires-in 2h --wait", &["until"]).await;
        self.come(NEW, 0.20).await;
        assert!(self.sessions.count() >= 2_000, "{} sessions", self.sessions.count());
        self.cli.expect("status", 0, &["weight 20%", "1 of 1 proxies run it", "seen on the canary"]).await;
    }

    /// The canary is broken: the rollback prints beforehand that its users lose their carts, and no other user loses
    /// anything.
    async fn bad_canary(&mut self) {
        let mut on_canary = self.sessions.remove_version("v2");
        let said = self.run("rollback", &["its sessions lose their state", "v1 is stable"]).await;
        println!("{said}");
        let people = on_canary.count();
        let (lost, faults) = on_canary.reopen("v1").await;
        println!(
            "{lost} of {people} people on the canary have lost a cart, and no one of {} others",
            self.sessions.count()
        );
        assert_eq!((lost, faults), (people, Faults::default()));
        self.sessions.merge(on_canary);
        self.come(NEW, 0.0).await;
    }

    /// The fixed build under the same label; one pod, so that the filter can be taken off later without a lost cart.
    async fn fixed_build(&mut self) {
        let namespace = self.env.namespace.as_str();
        self.lab.scale(namespace, "shop-v2", 1).await.unwrap();
        self.lab.kubectl(&["rollout", "restart", "-n", namespace, "deployment/shop-v2"]).await.unwrap();
        self.lab.rolled_out(namespace, "shop-v2").await.unwrap();
        self.run("apply --allow-rolled-back --wait", &["active in 1 proxy"]).await;
        self.come(NEW, 0.0).await;
        self.tester_sees("v2").await;
        self.run("weight 20 --wait", &["0% -> 20%"]).await;
        self.come(NEW, 0.20).await;
    }

    /// New users are on v2 and no user moves; when the users on v1 have left, v1 is removed.
    async fn promotion(&mut self, release: &Document) {
        self.run("promote --drain 1s --wait --skip-check max-step", &["no session moves", "v2 is stable"])
            .await;
        self.come(NEW, 1.0).await;
        let gone_home = self.sessions.remove_version("v1");
        assert_ne!(gone_home.count(), 0, "users on v1");
        drop(gone_home);
        self.run("promote --finish", &["nothing leads to the pods of v1 any more"]).await;
        self.come(NEW, 1.0).await;
        // The file follows, with the module from elsewhere: a step of its own.
        let web = Web::start().await;
        let module = Module { url: web.url("filter.wasm"), sha256: Some(sha256(&filter())) };
        let versions = json!({"label": "version", "stable": "v2"});
        let release = release.clone().with("/spec/versions", versions);
        self.cli.edits(&module.of(&release, "envoyfilter"));
        self.run("apply --wait", &["active in 1 proxy"]).await;
        self.come(NEW, 1.0).await;
    }

    /// Uninstalls the release under load; a route of the shop's own replaces ours, and the Service leads to the
    /// remaining version.
    async fn end(&mut self) {
        let namespace = self.env.namespace.as_str();
        self.lab.scale(namespace, "shop-v1", 0).await.unwrap();
        let none_left =
            async || self.lab.pods(namespace, "app=shop,version=v1").await.ok()?.is_empty().then_some(());
        self.lab.until("the end of v1", none_left).await.unwrap();
        let shop = format!("shop.{namespace}.svc.cluster.local");
        let to_shop = json!([{"route": [{"destination": {"host": shop}}]}]);
        let route = virtual_service(&self.env, "shop", &to_shop);
        self.lab.apply(&route.to_string()).await.unwrap();
        let moving = self.sessions.start_load(MOVING);
        self.cli.expect("uninstall", 0, &["the release needs it no longer"]).await;
        // The filter chain without the filter is another one, so connections are closed.
        let during = self.sessions.stop_load(moving).await.expect("they come back").but_closed();
        assert_eq!(during, Faults::default(), "uninstall");
        assert_eq!(
            self.sessions.verify_all(false).await.but_closed(),
            Faults::default(),
            "without the filter"
        );
    }

    /// Runs this command under load: the newest users send requests without a pause, all users afterwards.
    async fn run(&mut self, line: &str, parts: &[&str]) -> String {
        run_under_load(&self.cli, &mut self.sessions, MOVING, (line, parts)).await
    }

    /// Adds new users, and checks the canary's share of them.
    async fn come(&mut self, count: usize, share: f64) {
        come(&mut self.sessions, (0..count).map(|_| self.env.user()).collect(), share).await;
    }

    /// A tester with a token link.
    async fn tester_sees(&mut self, version: &str) {
        let token = self.cli.expect("token create --version canary -o json", 0, &[]).await;
        let token: serde_json::Value = serde_json::from_str(&token.stdout).unwrap();
        let mut tester: User = self.env.user();
        let link = format!("/?canary-token={}", token["token"].as_str().unwrap());
        tester.navigate(&link).await.unwrap();
        let response = tester.navigate("/").await.unwrap();
        assert_eq!((response.status, response.header("x-shop-version")), (200, Some(version)));
    }
}
