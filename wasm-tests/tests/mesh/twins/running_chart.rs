//! An application that was installed without any of our tools gets its first canary: no request fails, no cart is lost, and no pod that
//! stays is replaced; with an autoscaler, too.

use super::{AUTOSCALER, TwinChart};
use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;
use crate::support::release_fixture::{Verb, turn};
use mesh_lab::{Helm, Lab};
use serde_json::json;
use std::collections::BTreeSet;
use wasm_tests::mesh::ShopEnvOptions;
use wasm_tests::scenario::{Document, Faults, HOST, LoadHandle, Sessions};

const SESSIONS: usize = 40;
/// Those that send requests while something changes.
const MOVING: usize = 20;

#[test]
fn the_first_canary_of_a_running_chart_costs_no_request_and_no_cart() {
    in_the_mesh(async |lab| {
        let (loaded, chart) = running(lab).await;
        let stable = chart.pods_with("app=shop").await;
        let mut sessions = Sessions::default();
        assert_eq!(sessions.open(loaded.users(SESSIONS)).await, (0, Faults::default()));

        let moving = sessions.start_load(MOVING);
        chart.canary_ctl(&["twin", "adopt", "shop"]);
        assert_eq!(chart.pods("v1").await, stable, "adopted");
        loaded.apply().await;
        chart.deploy_beside("v2").await;
        assert_eq!(chart.pods("v1").await, stable, "after the canary came");
        chart.is_refused_by_the_policy().await;
        loaded.weigh("20").await;
        nothing_is_lost(&mut sessions, moving, "to 20%").await;
        let (on_canary, begun) = sessions.open(loaded.users(SESSIONS)).await;
        assert_eq!(begun.but_closed(), Faults::default());
        assert!((1..SESSIONS as u64).contains(&on_canary), "{on_canary} of {SESSIONS} on the canary");

        let moving = sessions.start_load(MOVING);
        turn(&loaded.cluster, &loaded.release, Verb::Promote).await.unwrap();
        let (on_canary, begun) = sessions.open(loaded.users(SESSIONS)).await;
        assert_eq!((on_canary, begun.but_closed()), (SESSIONS as u64, Faults::default()), "promoted");
        nothing_is_lost(&mut sessions, moving, "promoted").await;
        assert_eq!(chart.pods("v1").await, stable, "it drains");

        // The sessions of the old version have ended.
        let ended = sessions.remove_version("v1");
        println!("{} sessions ended on v1, {} live on v2", ended.count(), sessions.count());
        let promoted = chart.pods("v2").await;
        let moving = sessions.start_load(MOVING);
        turn(&loaded.cluster, &loaded.release, Verb::Finish).await.unwrap();
        chart.finish("v2").await;
        chart.gone("v1").await;
        nothing_is_lost(&mut sessions, moving, "finished").await;
        assert_eq!(chart.pods("v2").await, promoted, "the promoted pods stay");
        chart.is_reported_and_mended("v2").await;
    });
}

/// A chart that was installed by Helm alone, with routes of its owner; users reach it, and the release is not applied yet.
async fn running(lab: &Lab) -> (LoadedFixture<'_>, TwinChart<'_>) {
    let (loaded, chart) = exposed(lab, "running-chart", Helm::Three).await;
    chart.helm(&["install", "shop", &chart.text("chart"), "--set", "version=v1"]).await;
    chart.ready("shop").await;
    loaded.answers(HOST).await;
    (loaded, chart)
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
async fn nothing_is_lost(sessions: &mut Sessions, moving: LoadHandle, when: &str) {
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
    chart.canary_ctl(&["twin", "adopt", "shop", "-n", namespace, "--label", "version=v1"]);
    assert_eq!(chart.pods("v1").await, stable, "adopted");
    (chart, stable)
}

#[test]
fn an_autoscaled_deployment_of_helm_3_gets_a_narrower_selector_and_keeps_its_pods() {
    narrowed("running-scaled3", Helm::Three);
}

#[test]
fn an_autoscaled_deployment_of_helm_4_gets_a_narrower_selector_and_keeps_its_pods() {
    narrowed("running-scaled4", Helm::Four);
}

/// The selector of a Deployment cannot change, so it is made anew around its `ReplicaSet`.
fn narrowed(namespace: &str, helm: Helm) {
    in_the_mesh(async |lab| {
        let (chart, stable) = adopted(lab, namespace, helm, AUTOSCALER).await;
        lab.kubectl(&["delete", "deployment", "shop", "-n", namespace, "--cascade=orphan"]).await.unwrap();
        chart.deploy_beside("v2").await;
        chart.ready("shop").await;
        assert_eq!(chart.pods("v1").await, stable, "the new Deployment has found the ReplicaSet");
        let selector = "jsonpath={.spec.selector.matchLabels.version}";
        let line = ["get", "deployment", "shop", "-n", namespace, "-o", selector];
        assert_eq!(lab.kubectl(&line).await.unwrap(), "v1");
        chart.no_autoscaler_is_ambiguous(2).await;
    });
}
