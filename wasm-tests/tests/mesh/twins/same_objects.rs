//! Helm 3 by its post-renderer, Helm 4 by its plugin, and a file of `twin render` by server-side apply as Argo CD and as Flux: what is on
//! the cluster is the same, byte for byte, but for what each writes onto all its objects.

use super::{AUTOSCALER, LISTED, TwinChart, text};
use crate::support::in_the_mesh;
use mesh_lab::{Helm, Lab};
use serde_json::Value;
use std::collections::BTreeMap;

/// What the API server and the controllers write, and the names of the places.
const OF_THE_CLUSTER: [&str; 7] = [
    "/metadata/uid",
    "/metadata/resourceVersion",
    "/metadata/creationTimestamp",
    "/metadata/generation",
    "/metadata/namespace",
    "/status",
    "/spec/clusterIPs",
];
/// By which Helm knows its own objects.
const OF_HELM: [&str; 3] = [
    "/metadata/labels/app.kubernetes.io~1managed-by",
    "/metadata/annotations/meta.helm.sh~1release-name",
    "/metadata/annotations/meta.helm.sh~1release-namespace",
];
/// A Role whose rules get the twins' names.
const ROLE: &str = "---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: reader}, rules: [{apiGroups: [''], resources: [configmaps],
    resourceNames: [shop-config], verbs: [get]}]}
";

#[test]
fn helm_3_helm_4_argo_cd_and_flux_make_the_same_objects_byte_for_byte() {
    in_the_mesh(async |lab| {
        let (three, four, argo_cd, flux) = tokio::join!(
            by_helm(lab, "same-helm3", Helm::Three),
            by_helm(lab, "same-helm4", Helm::Four),
            by_files(lab, "same-argocd", "argocd-controller"),
            by_files(lab, "same-flux", "kustomize-controller"),
        );
        assert_eq!(three.len(), 9, "{:?}", three.keys());
        for (other, objects) in [("Helm 4", four), ("Argo CD", argo_cd), ("Flux", flux)] {
            assert_eq!(objects, three, "{other}, and Helm 3");
        }
    });
}

async fn by_helm(lab: &Lab, namespace: &str, helm: Helm) -> BTreeMap<String, String> {
    let chart = chart(lab, namespace, helm).await;
    chart.upgrade("v1", &[]).await;
    chart.ready("shop").await;
    let deployed = chart.deployed().await;
    chart.upgrade("v2", &[&deployed]).await;
    chart.deployed_objects().await
}

async fn by_files(lab: &Lab, namespace: &str, manager: &str) -> BTreeMap<String, String> {
    let chart = chart(lab, namespace, Helm::Three).await;
    let mut line = vec!["twin", "render", "--rendered=rendered.yaml"];
    for version in ["v1", "v2"] {
        std::fs::write(chart.path("rendered.yaml"), chart.template(version).await).unwrap();
        let file = chart.canary_ctl(&line).await;
        let manager = format!("--field-manager={manager}");
        let apply = ["apply", "--server-side", "--force-conflicts", &manager, "-n", namespace, "-f", "-"];
        lab.kubectl_as("admin", &apply, &file).await.unwrap();
        chart.ready("shop").await;
        std::fs::write(chart.path("deployed.yaml"), file).unwrap();
        line.push("--deployed=deployed.yaml");
    }
    chart.deployed_objects().await
}

async fn chart<'l>(lab: &'l Lab, namespace: &str, helm: Helm) -> TwinChart<'l> {
    lab.kubectl(&["create", "namespace", namespace]).await.unwrap();
    let chart = TwinChart::new(lab, namespace, helm, &format!("{AUTOSCALER}{ROLE}")).await;
    chart.versions("v1", "v2");
    chart
}

impl TwinChart<'_> {
    /// The texts of the chart's objects on the cluster, by kind and name.
    async fn deployed_objects(&self) -> BTreeMap<String, String> {
        self.ready("shop-v2").await;
        let line = ["get", LISTED, "-n", &self.namespace, "-o", "json"];
        let list: Value = serde_json::from_str(&self.lab.kubectl(&line).await.unwrap()).unwrap();
        let mut texts = BTreeMap::new();
        for object in list["items"].as_array().unwrap() {
            let name = format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]));
            let is_of_the_chart = text(&object["metadata"]["name"]).starts_with("shop");
            if is_of_the_chart || name == "Role reader" {
                texts.insert(name, without_marks(object.clone()).to_string());
            }
        }
        texts
    }
}

/// What was deployed of an object.
fn without_marks(mut object: Value) -> Value {
    for pointer in OF_THE_CLUSTER.iter().chain(&OF_HELM).chain(&["/spec/clusterIP"]) {
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        if let Some(parent) = object.pointer_mut(parent).and_then(Value::as_object_mut) {
            // What stays keeps its order.
            let field = field.replace("~1", "/");
            parent.retain(|name, _| *name != field);
        }
    }
    for map in ["labels", "annotations"] {
        if object["metadata"][map].as_object().is_some_and(serde_json::Map::is_empty) {
            object["metadata"].as_object_mut().unwrap().retain(|name, _| name != map);
        }
    }
    object
}
