//! The end of a promotion by Helm that is killed after each of its writes: the promoted pods stay, and the same command, after `helm
//! rollback` where Helm says that another operation is in progress, ends it.

use super::{AUTOSCALER, TwinChart, text};
use crate::support::fault_proxy::{Fault, FaultProxy, writes};
use crate::support::in_the_mesh;
use mesh_lab::{Helm, Lab, LabError};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

/// More than there are.
const MOST_WRITES: u32 = 30;

#[test]
#[ignore = "takes long: ./x test long"]
fn the_end_of_a_promotion_by_helm_that_is_killed_after_any_write_keeps_the_pods_and_is_mended() {
    in_the_mesh(async |lab| {
        tokio::join!(
            killed_at_each_write(lab, "killed-helm3", Helm::Three),
            killed_at_each_write(lab, "killed-helm4", Helm::Four),
        );
    });
}

async fn killed_at_each_write(lab: &Lab, namespace: &str, helm: Helm) {
    lab.kubectl(&["create", "namespace", namespace]).await.unwrap();
    let chart = TwinChart::new(lab, namespace, helm, AUTOSCALER).await;
    chart.versions("v1", "v2");
    chart.upgrade("v1", &[]).await;
    chart.ready("shop").await;
    chart.deploy_beside("v2").await;
    let (both, promoted) = (chart.objects().await, chart.pods("v2").await);
    let mut killed = 0;
    while let Err(error) = chart.ends_after(killed).await {
        assert!(killed < MOST_WRITES, "after {killed} writes: {error}");
        assert_eq!(chart.pods("v2").await, promoted, "killed after {killed} writes");
        let status = chart.last_status().await;
        println!("{helm:?} killed after {killed} writes: {status}");
        if status == "pending-upgrade" {
            let again = chart.try_to_finish(&[]).await.expect_err("another operation").to_string();
            assert!(again.contains("another operation"), "{again}");
            chart.helm(&["rollback", "shop"]).await;
        }
        assert_eq!(chart.objects().await, both, "mended after {killed} writes");
        assert_eq!(chart.pods("v2").await, promoted, "mended after {killed} writes");
        killed += 1;
    }
    assert!(killed > 5, "a revision, what changes, what goes, and the revisions: {killed} writes");
    chart.gone("v1").await;
    chart.promoted("v2", BTreeSet::new()).await;
}

impl TwinChart<'_> {
    /// Ends the promotion in a process that is killed after so many writes. Succeeds where that are all.
    async fn ends_after(&self, count: u32) -> Result<String, LabError> {
        let proxy = FaultProxy::new(self.lab).await;
        let seen = AtomicU32::new(0);
        // What comes after so many writes reaches no API server. Helm sends a request again that gets no response, but not one that fails.
        proxy.inject(u32::MAX, Fault::Status(500), move |call| {
            let is_write = u32::from(writes(call));
            seen.fetch_add(is_write, Ordering::SeqCst) + is_write > count
        });
        let kubeconfig = proxy.kubeconfig();
        self.try_to_finish(&["--kubeconfig", kubeconfig.to_str().unwrap()]).await
    }

    async fn try_to_finish(&self, helm: &[&str]) -> Result<String, LabError> {
        let deployed = self.deployed().await;
        self.try_upgrade("v2", &[&deployed, "--finish"], helm).await
    }

    /// Of the latest revision.
    async fn last_status(&self) -> String {
        let history = self.helm(&["history", "shop", "-o", "json"]).await;
        let history: Value = serde_json::from_str(&history).unwrap();
        text(&history.as_array().unwrap().last().unwrap()["status"]).to_owned()
    }
}
