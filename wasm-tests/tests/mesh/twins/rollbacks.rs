//! Helm's own rollback: of a canary that does not get ready, and by `helm rollback` in each phase of a release. What users get of it, what
//! `status` says, and what mends it.

use super::TwinChart;
use super::running_chart::exposed;
use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;
use crate::support::release_fixture::{Verb, turn};
use mesh_lab::Helm;
use std::collections::BTreeSet;
use wasm_tests::scenario::{Faults, HOST, Sessions};

const SESSIONS: usize = 40;
/// The revision of stable alone.
const STABLE: &str = "1";
/// The revision of both versions.
const BOTH: &str = "2";

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn helm_3_takes_away_a_canary_that_does_not_get_ready() {
    unready("unready-helm3", Helm::Three, "--atomic");
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn helm_4_takes_away_a_canary_that_does_not_get_ready() {
    unready("unready-helm4", Helm::Four, "--rollback-on-failure");
}

fn unready(namespace: &str, helm: Helm, flag: &str) {
    in_the_mesh(async |lab| {
        lab.kubectl(&["create", "namespace", namespace]).await.unwrap();
        let chart = TwinChart::new(lab, namespace, helm, "").await;
        chart.versions("v1", "v2");
        chart.upgrade("v1", &[]).await;
        chart.ready("shop").await;
        let (stable, before) = (chart.pods("v1").await, chart.objects().await);
        let deployed = chart.deployed().await;
        let failing = [flag, "--timeout=15s", "--set=probe=/missing"];
        let failed = chart.try_upgrade("v2", &[&deployed], &failing).await;
        let failed = failed.expect_err("the canary does not get ready").to_string();
        assert!(failed.contains("has been rolled back"), "{failed}");
        chart.gone("v2").await;
        assert_eq!(chart.objects().await, before, "{}", chart.helm(&["history", "shop"]).await);
        assert_eq!(chart.pods("v1").await, stable, "stable's pods");
        chart.deploy_beside("v2").await;
        assert_eq!(chart.pods("v1").await, stable, "stable's pods after the next attempt");
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_helm_rollback_takes_users_from_a_version_with_its_pods_and_a_second_one_brings_them_back() {
    in_the_mesh(async |lab| {
        let (loaded, chart) = exposed(lab, "rollbacks", Helm::Four).await;
        let phases = Phases { loaded: &loaded, chart: &chart };
        chart.upgrade("v1", &[]).await;
        chart.ready("shop").await;
        loaded.answers(HOST).await;
        let stable = chart.pods("v1").await;
        loaded.apply().await;
        chart.deploy_beside("v2").await;
        phases.at_weight_0().await;
        phases.both_again(&stable).await;
        loaded.weigh("20").await;
        phases.at_20_percent().await;
        phases.both_again(&stable).await;
        turn(&loaded.cluster, &loaded.release, Verb::Promote).await.unwrap();
        phases.promoted().await;
        phases.both_again(&stable).await;
        Box::pin(phases.promoted_and_rolled_back(&stable)).await;
        turn(&loaded.cluster, &loaded.release, Verb::Finish).await.unwrap();
        chart.finish("v2").await;
        chart.gone("v1").await;
        phases.finished().await;
    });
}

const NO_POD: &str = "problem: version `v2` has no pod";

struct Phases<'f, 'l> {
    loaded: &'f LoadedFixture<'l>,
    chart: &'f TwinChart<'l>,
}

impl Phases<'_, '_> {
    async fn sessions(&self) -> (Sessions, u64) {
        let mut sessions = Sessions::default();
        let (on_canary, faults) = sessions.open(self.loaded.users(SESSIONS)).await;
        assert_eq!(faults.but_closed(), Faults::default(), "they begin");
        (sessions, on_canary)
    }

    async fn roll_back(&self, revision: &str) -> String {
        self.chart.helm(&["rollback", "shop", revision]).await;
        if revision == STABLE {
            self.chart.gone("v2").await;
        }
        self.chart.ready("shop").await;
        self.chart.canary_ctl(&["status"]).await
    }

    /// The way back from Helm's rollback.
    async fn both_again(&self, stable: &BTreeSet<String>) {
        self.chart.helm(&["rollback", "shop", BOTH]).await;
        self.chart.ready("shop-v2").await;
        self.chart.canary_ctl(&["twin", "wait", "v2"]).await;
        assert_eq!(self.chart.pods("v1").await, *stable, "Helm's rollbacks leave stable alone");
        self.loaded.answers(HOST).await; // the gateway hears of the pods after they are ready
        let (mut sessions, _) = self.sessions().await;
        assert_eq!(sessions.verify_all(false).await.but_closed(), Faults::default(), "after the way back");
    }

    async fn at_weight_0(&self) {
        let (mut sessions, on_canary) = self.sessions().await;
        let status = self.roll_back(STABLE).await;
        assert!(on_canary == 0 && !status.contains("problem"), "{status}");
        assert_eq!(sessions.verify_all(false).await.but_closed(), Faults::default(), "weight 0");
    }

    /// The proxies eject a version without pods: its sessions are on stable, without their carts.
    async fn at_20_percent(&self) {
        let (mut sessions, on_canary) = self.sessions().await;
        let status = self.roll_back(STABLE).await;
        assert!(on_canary > 0 && status.contains(NO_POD), "{on_canary} on the canary: {status}");
        let faults = sessions.verify_all(false).await;
        println!("at 20%, {on_canary} sessions on the canary: {faults:?}");
        assert!(!faults.moved.is_empty(), "the carts are lost: {faults:?}");
        let (_, on_canary) = self.sessions().await;
        assert_eq!(on_canary, 0, "new users get stable");
    }

    /// The old version's pods get nobody: it drains.
    async fn promoted(&self) {
        let status = self.roll_back(STABLE).await;
        assert!(status.contains(NO_POD) && status.contains("`canary-ctl rollback` gives users"), "{status}");
        self.chart.canary_ctl(&["rollback", "--dry-run"]).await;
        let mut sessions = Sessions::default();
        let (_, faults) = sessions.open(self.loaded.users(SESSIONS)).await;
        assert_eq!(faults.failed.len(), 2 * SESSIONS, "every request fails: {faults:?}");
    }

    /// Without the new version's pods `canary-ctl rollback` gives users the old version back. The release begins again after it.
    async fn promoted_and_rolled_back(&self, stable: &BTreeSet<String>) {
        let status = self.roll_back(STABLE).await;
        assert!(status.contains(NO_POD), "{status}");
        self.chart.canary_ctl(&["rollback"]).await;
        let (mut sessions, on_canary) = self.sessions().await;
        assert_eq!(on_canary, 0, "everybody is on the version before");
        let status = self.chart.canary_ctl(&["status"]).await;
        let expected = [
            NO_POD,
            "its sessions are on stable; `canary-ctl promote --finish --skip-check moves-users` ends the drain",
        ];
        assert!(expected.iter().all(|text| status.contains(text)), "{status}");
        self.chart.canary_ctl(&["promote", "--finish", "--skip-check", "moves-users"]).await;
        let status = self.chart.canary_ctl(&["status"]).await;
        assert!(!status.contains("problem"), "{status}");
        assert_eq!(self.chart.pods("v1").await, *stable, "its pods have stayed");

        self.chart.helm(&["rollback", "shop", BOTH]).await;
        self.chart.canary_ctl(&["twin", "wait", "v2"]).await;
        assert_eq!(sessions.verify_all(false).await.but_closed(), Faults::default(), "the canary has pods");
        self.loaded.apply_again().await;
        self.loaded.weigh("20").await;
        turn(&self.loaded.cluster, &self.loaded.release, Verb::Promote).await.unwrap();
        assert_eq!(sessions.verify_all(false).await.but_closed(), Faults::default(), "promoted again");
    }

    async fn finished(&self) {
        let (mut sessions, on_canary) = self.sessions().await;
        let promoted = self.chart.pods("v2").await;
        let status = self.roll_back(BOTH).await;
        assert!(status.contains("v1 is not live and has 1 ready pod"), "{status}");
        assert_eq!(on_canary, SESSIONS as u64);
        assert_eq!(sessions.verify_all(false).await.but_closed(), Faults::default(), "finished");
        assert_eq!(self.chart.pods("v2").await, promoted, "the promoted pods stay");
        self.chart.finish("v2").await;
        self.chart.gone("v1").await;
        assert_eq!(self.chart.pods("v2").await, promoted, "finished again");
    }
}
