//! A release from its first `apply` to its `uninstall`, typed by an operator while 2,000 people shop.

use super::chart::virtual_service;
use super::operator::Operator;
use crate::modules::{Module, Web, filter};
use crate::support::{UNDISTURBED, counters, in_the_mesh};
use serde_json::json;
use wasm_tests::client::User;
use wasm_tests::lab::{Lab, Stage, StageOptions, sha256};
use wasm_tests::scenario::{Document, Faults, Sessions};
use wasm_tests::stats::{UNLIKELY, share_p_value};

/// Who is there before the first user is moved; others come with every step.
const FIRST: usize = 1_000;
const NEW: usize = 500;
/// Of all, as many never rest while something changes.
const MOVING: usize = 200;

/// The shop, its people and the operator.
struct Day<'l> {
    lab: &'l Lab,
    stage: Stage,
    operator: Operator,
    sessions: Sessions,
}

#[test]
fn nobody_loses_a_cart_from_apply_to_uninstall_but_by_a_rollback_that_says_so() {
    in_the_mesh(async |lab| {
        let stage = Stage::set_up(lab, "day", &StageOptions::gateway()).await.unwrap();
        let release = stage
            .release()
            .unwrap()
            .with("/spec/podAffinity", "identity")
            .with("/spec/maxStep", "20")
            .with("/spec/weight", "0")
            .with("/spec/override", json!({"mode": "token"}));
        let operator = Operator::new(lab, &release);
        let mut day = Day { lab, stage, operator, sessions: Sessions::default() };
        day.canary().await;
        let undisturbed = counters(lab, &day.stage, &UNDISTURBED).await;
        day.bad_canary().await;
        day.fixed_build().await;
        assert_eq!(counters(lab, &day.stage, &UNDISTURBED).await, undisturbed, "no listener was touched");
        day.promotion(&release).await;
        day.end().await;
    });
}

impl Day<'_> {
    /// Nobody, one percent, twenty, and those for a while.
    async fn canary(&mut self) {
        self.operator.is_told("apply --wait", 0, &["active in 1 proxies"]).await;
        self.come(FIRST, 0.0).await;
        self.tester_sees("v2").await;
        self.types("weight 1 --wait", &["0% -> 1%"]).await;
        self.come(NEW, 0.01).await;
        self.types("weight 20 --wait", &["1% -> 20%"]).await;
        self.come(NEW, 0.20).await;
        self.types("weight 20 --for 2h --wait", &["until"]).await;
        self.come(NEW, 0.20).await;
        assert!(self.sessions.count() >= 2_000);
        self.operator
            .is_told("status", 0, &["weight 20%", "1 of 1 proxies run it", "seen on the canary"])
            .await;
    }

    /// The canary is no good: who is on it is told beforehand to lose the cart, and nobody else loses anything.
    async fn bad_canary(&mut self) {
        let mut on_canary = self.sessions.leave("v2");
        let said = self.types("rollback", &["its sessions lose their state", "v1 is stable"]).await;
        println!("{said}");
        let people = on_canary.count();
        let (lost, faults) = on_canary.begin_again("v1").await;
        println!(
            "{lost} of {people} people on the canary have lost a cart, and no one of {} others",
            self.sessions.count()
        );
        assert_eq!((lost, faults), (people, Faults::default()));
        self.sessions.join(on_canary);
        self.come(NEW, 0.0).await;
    }

    /// The fixed build under the same label; one pod, so that the filter can be taken off later without a lost cart.
    async fn fixed_build(&mut self) {
        let namespace = self.stage.namespace.as_str();
        self.lab.kubectl(&["scale", "-n", namespace, "deployment/shop-v2", "--replicas=1"]).await.unwrap();
        self.lab.kubectl(&["rollout", "restart", "-n", namespace, "deployment/shop-v2"]).await.unwrap();
        self.lab.rolled_out(namespace, "deployment/shop-v2").await.unwrap();
        self.types("apply --again --wait", &["active in 1 proxies"]).await;
        self.come(NEW, 0.0).await;
        self.tester_sees("v2").await;
        self.types("weight 20 --wait", &["0% -> 20%"]).await;
        self.come(NEW, 0.20).await;
    }

    /// Everybody new is on v2 and nobody moves; when those on v1 have gone home, v1 leaves.
    async fn promotion(&mut self, release: &Document) {
        self.types("promote --drain 1s --wait --skip-check max-step", &["no session moves", "v2 is stable"])
            .await;
        self.come(NEW, 1.0).await;
        let gone_home = self.sessions.leave("v1");
        assert!(gone_home.count() > 0);
        drop(gone_home);
        self.types("promote --finish", &["nothing leads to the pods of v1 any more"]).await;
        self.come(NEW, 1.0).await;
        // The file follows, with the module from elsewhere: a step of its own.
        let web = Web::start().await;
        let module = Module { url: web.url("filter.wasm"), sha256: Some(sha256(&filter())) };
        let versions = json!({"label": "version", "stable": "v2"});
        let release = release.clone().with("/spec/versions", versions);
        self.operator.edits(&module.of(&release, "envoyfilter"));
        self.types("apply --wait", &["active in 1 proxies"]).await;
        self.come(NEW, 1.0).await;
    }

    /// The release is taken off, while people shop; a route of the shop's own takes over, and the Service leads to what is
    /// left.
    async fn end(&mut self) {
        let namespace = self.stage.namespace.as_str();
        self.lab.kubectl(&["scale", "-n", namespace, "deployment/shop-v1", "--replicas=0"]).await.unwrap();
        let none_left =
            async || self.lab.pods(namespace, "app=shop,version=v1").await.ok()?.is_empty().then_some(());
        self.lab.until("the end of v1", none_left).await.unwrap();
        let shop = format!("shop.{namespace}.svc.cluster.local");
        let to_shop = json!([{"route": [{"destination": {"host": shop}}]}]);
        let route = virtual_service(&self.stage, "shop", &to_shop);
        self.lab.apply(&route.to_string()).await.unwrap();
        let moving = self.sessions.set_out(MOVING);
        self.operator.is_told("uninstall", 0, &["the release needs it no longer"]).await;
        // The filter chain without the filter is another one, so connections are closed.
        let during = self.sessions.settle(moving).await.expect("they come back").but_closed();
        assert_eq!(during, Faults::default(), "uninstall");
        assert_eq!(
            self.sessions.come_back(false).await.but_closed(),
            Faults::default(),
            "without the filter"
        );
    }

    /// These words, while people shop: the latest without a pause, everybody afterwards.
    async fn types(&mut self, line: &str, parts: &[&str]) -> String {
        let moving = self.sessions.set_out(MOVING);
        let said = self.operator.is_told(line, 0, parts).await;
        assert_eq!(self.sessions.settle(moving).await.expect("they come back"), Faults::default(), "{line}");
        assert_eq!(self.sessions.come_back(true).await, Faults::default(), "{line}");
        format!("{}{}", said.data, said.told)
    }

    /// New people come, and the canary gets its share of them.
    async fn come(&mut self, count: usize, share: f64) {
        let (on_canary, faults) = self.sessions.begin((0..count).map(|_| self.stage.user()).collect()).await;
        assert_eq!(faults, Faults::default(), "{count} new people at {share}");
        let p_value = share_p_value(on_canary, count as u64, share);
        println!("{on_canary} of {count} new people at {share}: p = {p_value:.3}");
        assert!(p_value > UNLIKELY, "{on_canary} of {count} at {share}");
    }

    /// Somebody with a link from QA.
    async fn tester_sees(&mut self, version: &str) {
        let token = self.operator.is_told("token create --version canary -o json", 0, &[]).await;
        let token: serde_json::Value = serde_json::from_str(&token.data).unwrap();
        let mut tester: User = self.stage.user();
        let link = format!("/?canary-token={}", token["token"].as_str().unwrap());
        tester.navigate(&link).await.unwrap();
        let answer = tester.navigate("/").await.unwrap();
        assert_eq!((answer.status, answer.header("x-shop-version")), (200, Some(version)));
    }
}
