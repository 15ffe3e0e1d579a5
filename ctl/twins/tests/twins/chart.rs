//! A chart with one feature, and the rules of most tests.

use helm_twins::{HookAnswer, Object, Phase, Rules, TwinPlan, read_manifest};
use serde_json::Value;
use std::collections::BTreeSet;

/// The chart: a Service, a Deployment with an image and what a test adds to its pod spec.
pub(crate) fn chart(image: &str, pod_spec: &str, more: &str) -> Vec<Object> {
    let text = format!(
        "apiVersion: v1
kind: Service
metadata: {{name: shop, labels: {{helm.sh/chart: shop-{image}}}}}
spec: {{selector: {{app: shop}}, ports: [{{port: 80}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: shop, labels: {{helm.sh/chart: shop-{image}}}}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: shop}}}}
  template:
    metadata: {{labels: {{app: shop, app.kubernetes.io/version: {image}}}}}
    spec:
      containers: [{{name: shop, image: 'shop:{image}'}}]
{pod_spec}
---
{more}"
    );
    read_manifest(&text).unwrap()
}

pub(crate) fn rules(phase: Phase) -> Rules {
    Rules {
        service: "shop".to_owned(),
        namespace: "shop".to_owned(),
        version_label: "version".to_owned(),
        phase,
        replicas: None,
        hooks: HookAnswer::Unanswered,
        shared: BTreeSet::new(),
        twinned: BTreeSet::new(),
        skip: BTreeSet::new(),
    }
}

pub(crate) fn beside(stable: &str, candidate: &str) -> Rules {
    rules(Phase::Beside { stable: stable.to_owned(), candidate: candidate.to_owned() })
}

pub(crate) fn alone(version: &str) -> Rules {
    rules(Phase::Alone { version: version.to_owned() })
}

/// The objects, of a plan that no check has refused.
#[track_caller]
pub(crate) fn objects(plan: TwinPlan) -> Vec<Object> {
    assert_eq!(plan.refusals, [], "refused");
    plan.objects
}

pub(crate) fn names(objects: &[Object]) -> Vec<String> {
    let mut names: Vec<_> = objects.iter().map(ToString::to_string).collect();
    names.sort();
    names
}

#[track_caller]
pub(crate) fn object(objects: &[Object], name: &str) -> Value {
    let found = objects.iter().find(|object| object.to_string() == name);
    assert!(found.is_some(), "expected {name}, found {:?}", names(objects));
    found.unwrap().value().clone()
}

pub(crate) const CONFIG_VOLUME: &str = "      volumes: [{name: c, configMap: {name: shop-config}}]";

pub(crate) fn config(text: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: shop-config}}, data: {{a: {text}}}}}")
}
