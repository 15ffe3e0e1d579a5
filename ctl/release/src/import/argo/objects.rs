//! The objects in the place of a Rollout, in the order in which they are applied.

use super::super::common::Context;
use super::super::draft::DraftField;
use super::super::steps::{ISTIO, MoveAction, MoveStep, NO_LABEL, ObjectName, object};
use super::service::{destination_rule, route_objects, service_name};
use super::versions::RolloutVersions;
use super::{BLUE_GREEN, CANARY, HASH};
use crate::yaml::Node;
use serde_json::{Map, Value, json};

pub(super) fn read(context: &mut Context<'_>, versions: &RolloutVersions) {
    let (name, namespace) = (context.name.clone(), context.namespace.clone());
    context.steps.push(MoveStep::note(
        "Begin between two releases: the Rollout is healthy, and all users are on its stable revision.",
    ));
    deployment(context, versions);
    let (service, _) = service_name(context);
    let spec = service_spec(context, &service);
    context.steps.push(MoveStep::object(
        "The Service selects the pods of all versions: Argo's hash is no part of the selector any more. Users may reach the pods of the Rollout and those of the Deployment, which are the same version.",
        object("v1", "Service", (&namespace, &service), &spec),
    ));
    let objects = route_objects(context);
    for found in &objects {
        let routes = object(
            ISTIO,
            "VirtualService",
            (found.namespace.as_deref().unwrap_or(&namespace), &found.name),
            &routes(context, found.get("spec"), &service),
        );
        context.steps.push(MoveStep::object(
            "One destination in the place of Argo's two: the Service. Argo writes its weights until the Rollout is gone, so let it be healthy.",
            routes,
        ));
    }
    settings(context, &service);
    if !objects.is_empty() {
        let field = DraftField::value("spec/routes", "inject", &context.origin(CANARY));
        context.add(
            field.comment(
                "Into the VirtualService of the steps; `external` if Helm or a GitOps tool owns it.",
            ),
        );
    }
    context.steps.push(MoveStep::action(
        "Apply the release when the Deployment is ready. Then the Rollout goes with its pods: sessions in their memory end here, once, as in every update before.",
        MoveAction::DeleteRollout(ObjectName::new(&namespace, &name)),
    ));
}

/// The pods of stable under a name that belongs to their version.
fn deployment(context: &mut Context<'_>, versions: &RolloutVersions) {
    let subject = context.subject;
    let (name, namespace) = (context.name.clone(), context.namespace.clone());
    if let Some(workload) = subject.text("spec.workloadRef.name") {
        let replicas = subject.text("spec.replicas").and_then(|count| count.parse().ok()).unwrap_or(1);
        context.steps.push(MoveStep::action(
            format!("Deployment `{workload}` has the pod template already, and Argo may have scaled it down. Give its pods the label `{}: {}`, and scale it: it is stable from now on, and the next version is a Deployment of its own, or a twin of its chart.", versions.label, versions.stable),
            MoveAction::ScaleDeployment(ObjectName::new(&namespace, workload), replicas),
        ));
        return;
    }
    let labels = subject.get("spec.selector").map_or_else(|| json!({}), Node::to_json);
    let mut selector = labels;
    set_label(&mut selector, "matchLabels", versions);
    let mut template = subject.get("spec.template").map_or_else(|| json!({}), Node::to_json);
    if let Some(metadata) = child(&mut template, "metadata") {
        set_label(metadata, "labels", versions);
    }
    let mut spec = Map::new();
    for name in ["replicas", "minReadySeconds"] {
        if let Some(value) = subject.get(&format!("spec.{name}")) {
            spec.insert(name.to_owned(), value.to_json());
        }
    }
    spec.insert("selector".to_owned(), selector);
    spec.insert("template".to_owned(), template);
    let name = format!("{name}-{}", crate::spec::version_subset(&versions.stable));
    context.steps.push(MoveStep::object(
        "The version that all users are on, with a label that does not change. The next version is another Deployment with its own value of the label, or a twin of its chart.",
        object("apps/v1", "Deployment", (&namespace, &name), &Value::Object(spec)),
    ));
}

/// The mapping under a name, made where there is none.
fn child<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    if !value.is_object() {
        *value = json!({});
    }
    let inner = value.as_object_mut()?.entry(name).or_insert_with(|| json!({}));
    if !inner.is_object() {
        *inner = json!({});
    }
    Some(inner)
}

fn set_label(value: &mut Value, name: &str, versions: &RolloutVersions) {
    if let Some(labels) = child(value, name).and_then(Value::as_object_mut) {
        labels.insert(versions.label.clone(), versions.stable.clone().into());
    }
}

/// The Service of the sources without Argo's hash, or one for the selector of the Rollout.
fn service_spec(context: &Context<'_>, name: &str) -> Value {
    let found = context.sources.find(&["Service"], name, &context.namespace);
    let mut spec = found.and_then(|service| service.get("spec")).map_or_else(|| json!({}), Node::to_json);
    let labels = context.subject.get("spec.selector.matchLabels").filter(|labels| !labels.is_off());
    let own = labels.map_or_else(|| json!({NO_LABEL: ""}), Node::to_json);
    let Some(fields) = spec.as_object_mut() else { return json!({"selector": own}) };
    for field in ["clusterIP", "clusterIPs"] {
        fields.remove(field);
    }
    let selector = fields.entry("selector").or_insert(own);
    selector.as_object_mut().map(|labels| labels.remove(HASH));
    fields.entry("ports").or_insert_with(|| json!([{"name": "http", "port": 80}]));
    spec
}

/// The DestinationRule without the subsets of Argo: ours adds its own.
fn settings(context: &mut Context<'_>, service: &str) {
    let Some(rule) = destination_rule(context) else { return };
    let names = context.subject.get(&format!("{CANARY}.trafficRouting.istio.destinationRule"));
    let of_argo = |name: &str| names.and_then(|names| names.text(name));
    let own = [of_argo("canarySubsetName"), of_argo("stableSubsetName")];
    let mut spec = rule.get("spec").map_or_else(|| json!({"host": service}), Node::to_json);
    if let Some(subsets) = spec.get_mut("subsets").and_then(Value::as_array_mut) {
        subsets.retain(|subset| !own.contains(&subset.get("name").and_then(Value::as_str)));
    }
    if spec.get("subsets").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        spec.as_object_mut().map(|fields| fields.remove("subsets"));
    }
    let namespace = rule.namespace.clone().unwrap_or_else(|| context.namespace.clone());
    let object = object(ISTIO, "DestinationRule", (&namespace, &rule.name), &spec);
    context.steps.push(MoveStep::object(
        "The settings of the host without Argo's subsets, whose labels end with the Rollout. It comes after the VirtualService, so that no route names a subset that is gone.",
        object,
    ));
}

/// The routes with one destination for Argo's two. Routes to others stay.
fn routes(context: &Context<'_>, spec: Option<&Node>, service: &str) -> Value {
    let text = |field: String| context.subject.text(&field).map(str::to_owned);
    let gone: Vec<String> = [
        text(format!("{CANARY}.canaryService")),
        text(format!("{CANARY}.pingPong.pongService")),
        text(format!("{BLUE_GREEN}.previewService")),
    ]
    .into_iter()
    .flatten()
    .chain([service.to_owned()])
    .collect();
    let mut spec = spec.map_or_else(|| json!({}), Node::to_json);
    let routes = spec.get_mut("http").and_then(Value::as_array_mut).into_iter().flatten();
    for destinations in routes.filter_map(|http| http.get_mut("route")?.as_array_mut()) {
        let is_argos = |route: &Value| {
            let host = route.pointer("/destination/host").and_then(Value::as_str).unwrap_or_default();
            let host = host.split('.').next().unwrap_or_default();
            gone.iter().any(|name| name == host)
        };
        let Some(first) = destinations.iter().find(|route| is_argos(route)).cloned() else { continue };
        destinations.retain(|route| !is_argos(route));
        let mut only = json!({"destination": {"host": service}});
        if let (Some(port), Some(destination)) =
            (first.pointer("/destination/port"), only.get_mut("destination").and_then(Value::as_object_mut))
        {
            destination.insert("port".to_owned(), port.clone());
        }
        destinations.insert(0, only);
    }
    spec
}
