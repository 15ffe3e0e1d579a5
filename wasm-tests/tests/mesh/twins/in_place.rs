//! `helm upgrade` without the post-renderer where stable has the name that the chart gives it: between `twin adopt` and the first
//! rendered deployment, and beside a canary.

use super::running_chart::exposed;
use super::{TwinChart, sorted};
use crate::support::in_the_mesh;
use mesh_lab::Helm;
use wasm_tests::scenario::HOST;

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn helm_3_takes_the_label_from_stable_and_status_says_so_at_once() {
    upgraded_in_place("in-place-helm3", Helm::Three, "makes pods without the label `version`, expected `v1`");
}

/// The label that `twin adopt` has written stays: Helm 4 applies on the server, and it is not Helm's alone.
#[test]
#[ignore = "a variant of another test: ./x test long"]
fn helm_4_replaces_stable_under_its_label_and_status_says_so_at_once() {
    upgraded_in_place("in-place-helm4", Helm::Four, "has lost the annotation `canary-ctl.io/version: v1`");
}

fn upgraded_in_place(name: &str, helm: Helm, expected: &str) {
    in_the_mesh(async |lab| {
        let (loaded, chart) = exposed(lab, name, helm).await;
        chart.upgrade_alone("v1").await;
        chart.ready("shop").await;
        loaded.answers(HOST).await;
        chart.canary_ctl(&["twin", "adopt", "shop"]).await;
        loaded.apply().await;
        chart.has_no_problem("adopted").await;

        chart.upgrade_alone("forgotten").await;
        chart.has_problem("has another template than when its pods got the label `version: v1`").await;
        chart.ready("shop").await;
        chart.has_problem("has another template than when").await;
        chart.helm(&["rollback", "shop"]).await;
        chart.ready("shop").await;
        chart.has_no_problem("rolled back").await;

        // It is meant: a fix of stable.
        chart.upgrade_alone("fixed").await;
        chart.ready("shop").await;
        chart.has_problem("has another template than when").await;
        let stable = chart.pods("v1").await;
        let deployed = chart.deployed().await;
        chart.upgrade("fixed", &[&deployed, "--alone"]).await;
        chart.has_no_problem("deployed through the post-renderer").await;
        assert_eq!(chart.pods("v1").await, stable, "the same pods");

        chart.deploy_beside("v2").await;
        assert_eq!(chart.pods("v1").await, stable, "after the canary came");
        chart.has_no_problem("both").await;
        chart.upgrade_alone("forgotten").await;
        let status = chart.has_problem(expected).await;
        assert!(status.contains("no Deployment makes pods of `v2`"), "{status}");
        chart.helm(&["rollback", "shop"]).await;
        chart.ready("shop").await;
        chart.canary_ctl(&["twin", "wait", "v2"]).await;
        chart.has_no_problem("rolled back to both").await;
        chart.deployed().await;
        let files = ["deployed.yaml", "expected.yaml"].map(|file| sorted(&chart.path(file)));
        assert_eq!(files[0], files[1], "Helm's record");
    });
}

impl TwinChart<'_> {
    async fn upgrade_alone(&self, version: &str) {
        let version = format!("version={version}");
        self.helm(&["upgrade", "--install", "shop", &self.text("chart"), "--set", &version]).await;
    }

    /// At once: Helm has returned, and nothing is waited for.
    async fn has_problem(&self, expected: &str) -> String {
        let status = self.canary_ctl(&["status"]).await;
        let expected = format!("problem: Deployment {}/shop {expected}", self.namespace);
        assert!(status.contains(&expected), "expected `{expected}` in {status}");
        assert!(status.contains("helm rollback shop"), "{status}");
        status
    }

    async fn has_no_problem(&self, when: &str) {
        let settled = async || (!self.canary_ctl(&["status"]).await.contains("problem")).then_some(());
        let settled = self.lab.until("a status without a problem", settled).await;
        assert!(settled.is_ok(), "{when}: {}", self.canary_ctl(&["status"]).await);
    }
}
