//! Two versions of one chart by the real Helm 3 and Helm 4: installed, a canary, promoted, the next canary, rolled back, uninstalled.
//!
//! ```text
//! adopting       the version label for the pods of a running Deployment
//! chart_objects  what is there of a chart, on the cluster
//! charts         what becomes of the features of charts, rendered by the real Helm
//! copies         two versions by copies of the objects, and by twins: autoscalers and evictions
//! forgotten      an upgrade without the post-renderer
//! interrupted    the end of a promotion by Helm that is killed after each write, and what mends it
//! in_place       an upgrade without the post-renderer where stable has the chart's name
//! gitops         files as Argo CD and Flux apply them, again and again
//! rollbacks      Helm's own rollback: of a canary that does not get ready, and in each phase
//! running_chart  an application that runs already, from there to the end of its first promotion, under load
//! same_objects   what Helm 3, Helm 4, Argo CD and Flux make of one chart, byte for byte
//! templates      what the charts consist of
//! twin_chart     a chart and its commands
//! walks          charts of one feature each, from there to the next version and back, under load, side by side
//! ```

mod adopting;
mod chart_objects;
mod charts;
mod copies;
mod forgotten;
mod gitops;
mod in_place;
mod interrupted;
mod rollbacks;
mod running_chart;
mod same_objects;
mod templates;
mod twin_chart;
pub(crate) mod walks;

use crate::support::in_the_mesh;
use mesh_lab::{Helm, documents};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use templates::AUTOSCALER;
use twin_chart::TwinChart;

/// What Kubernetes and Istio put into each namespace.
const IN_EACH_NAMESPACE: [&str; 3] =
    ["configmap/kube-root-ca.crt", "configmap/istio-ca-root-cert", "configmap/istio-ca-crl"];

/// The label of what Helm has installed.
const HELMS: &str = "app.kubernetes.io/managed-by=Helm";
/// What the charts of the tests consist of.
const LISTED: &str = "deployments,services,configmaps,secrets,horizontalpodautoscalers,poddisruptionbudgets,\
    serviceaccounts,roles,rolebindings,persistentvolumeclaims";

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn releases_by_helm_3_restart_no_pod_and_leave_nothing_behind() {
    releases("twins-helm3", Helm::Three);
}

#[test]
fn releases_by_helm_4_restart_no_pod_and_leave_nothing_behind() {
    releases("twins-helm4", Helm::Four);
}

fn releases(namespace: &str, helm: Helm) {
    in_the_mesh(async |lab| {
        lab.kubectl(&["create", "namespace", namespace]).await.unwrap();
        let chart = TwinChart::new(lab, namespace, helm, AUTOSCALER).await;
        chart.versions("v1", "v2");
        chart.upgrade("v1", &[]).await;
        chart.ready("shop").await;
        let stable = chart.pods("v1").await;
        chart.deploy_beside("v2").await;
        assert_eq!(chart.pods("v1").await, stable, "stable's pods after the canary came");
        chart.no_autoscaler_is_ambiguous(2).await;
        chart.is_refused_by_the_selector().await;
        assert_eq!(
            chart.pods("v1").await,
            stable,
            "stable's pods after an upgrade without the post-renderer"
        );
        let (mut names, mut stable) = chart.promoted("v2", BTreeSet::new()).await;
        for (stable_version, canary) in [("v2", "v3"), ("v3", "v4")] {
            chart.versions(stable_version, canary);
            chart.deploy_beside(canary).await;
            if canary == "v3" {
                chart.helm(&["rollback", "shop"]).await;
                chart.gone(canary).await;
                assert_eq!(chart.pods(stable_version).await, stable, "stable's pods after Helm's rollback");
                assert_eq!(chart.objects().await, names, "a rollback leaves nothing behind");
                chart.deploy_beside(canary).await;
            }
            (names, stable) = chart.promoted(canary, names).await;
        }
        chart.helm(&["uninstall", "shop", "--wait"]).await;
        assert_eq!(chart.objects().await, BTreeSet::new(), "uninstalled");
    });
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// The documents of a file, by kind and name.
fn sorted(path: &PathBuf) -> Vec<Value> {
    let mut objects = documents(path).unwrap();
    objects.sort_by_key(|object| format!("{} {}", object["kind"], object["metadata"]["name"]));
    objects
}
