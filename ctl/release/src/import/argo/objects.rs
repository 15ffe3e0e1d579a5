//! The objects in the place of a Rollout, in the order in which they are applied.

use super::super::common::Context;
use super::super::draft::DraftField;
use super::super::steps::{ISTIO, MoveAction, MoveStep, NO_LABEL, ObjectName, object};
use super::service::{destination_rule, route_objects, service_name};
use super::versions::RolloutVersions;
use super::{BLUE_GREEN, CANARY, HASH};
use placed_yaml::Node;
use serde_json::{Map, Value, json};

/// Replaces an unknown hash. The API server refuses it as a label, so the object is not applied by mistake.
const NO_HASH: &str = "<status.stableRS of the Rollout>";

pub(super) fn read(context: &mut Context<'_>, versions: &RolloutVersions) {
    let (name, namespace) = (context.name.clone(), context.namespace.clone());
    context.steps.push(MoveStep::note(
        "Begin between two releases: the Rollout is healthy, and all users are on its stable revision.",
    ));
    if let Some(workload) = context.subject.text("spec.workloadRef.name") {
        context.steps.push(MoveStep::action(
            "This Deployment goes first. Its selector fits the pods of the Rollout: it would take them over, and end them. Argo has scaled it down, so no user loses a pod.",
            MoveAction::DeleteDeployment(ObjectName::new(&namespace, workload)),
        ));
    }
    context.steps.push(MoveStep::action(
        "Argo stops, and its pods stay: their ReplicaSet loses its owner and is not deleted. No request changes its way.",
        MoveAction::OrphanRollout(ObjectName::new(&namespace, &name)),
    ));
    deployment(context, versions);
    let (service, _) = service_name(context);
    let spec = service_spec(context, &service);
    context.steps.push(MoveStep::object(
        "The Service selects the pods of all versions: Argo's hash is no part of the selector any more. There are pods of one version, so no request changes its way.",
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
        context
            .steps
            .push(MoveStep::object("One destination in the place of Argo's two: the Service.", routes));
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
    context.steps.push(MoveStep::note(
        "Apply the release. This is the one moment in which users are assigned again: to stable, where all of them are already. The next version is a Deployment of its own with its own value of the label, or a twin of the chart.",
    ));
}

/// A Deployment that takes over the pods of stable. Kubernetes gives it a `ReplicaSet` without an owner that its selector fits, and
/// replaces no pod while both have the same template.
///
/// # Source
/// Kubernetes, `getReplicaSetsForDeployment` and `FindNewReplicaSet` of the Deployment controller.
fn deployment(context: &mut Context<'_>, versions: &RolloutVersions) {
    let (subject, namespace) = (context.subject, context.namespace.clone());
    let hash = subject.text("status.stableRS").unwrap_or(NO_HASH);
    let replica_set = context.sources.find(&["ReplicaSet"], &format!("{}-{hash}", context.name), &namespace);
    if replica_set.is_none() {
        let difference = "the source has no ReplicaSet of stable: the Deployment of the steps takes over its pods only if both have the same template, and ends those beyond its `replicas`";
        context.placeholder(
            &context.origin("spec.template"),
            difference,
            "import by NAMESPACE/NAME, or give the Rollout and its ReplicaSet as the cluster has them",
        );
    }
    let mut template = match replica_set.and_then(|found| found.get("spec.template")) {
        Some(template) => template.to_json(),
        None => own_template(context, hash),
    };
    template
        .get_mut("metadata")
        .and_then(Value::as_object_mut)
        .map(|fields| fields.remove("creationTimestamp"));
    let is_labelled = template.pointer("/metadata/labels").and_then(|labels| labels.get(&versions.label))
        == Some(&versions.stable.clone().into());
    let mut spec = Map::new();
    let scaled = replica_set.unwrap_or(subject);
    for (name, source) in [("replicas", scaled), ("minReadySeconds", subject)] {
        if let Some(value) = source.get(&format!("spec.{name}")) {
            spec.insert(name.to_owned(), value.to_json());
        }
    }
    let mut selector = subject.get("spec.selector").map_or_else(|| json!({}), Node::to_json);
    set_label(&mut selector, "matchLabels", hash);
    spec.insert("selector".to_owned(), selector);
    spec.insert("template".to_owned(), template);
    let name = format!("{}-{}", context.name, crate::spec::version_subset(&versions.stable));
    context.steps.push(MoveStep::object(
        "It takes over the pods of stable, and replaces none: the template is that of their ReplicaSet, with Argo's hash. An autoscaler of the Rollout has to name it from now on.",
        object("apps/v1", "Deployment", (&namespace, &name), &Value::Object(spec)),
    ));
    if !is_labelled {
        context.steps.push(MoveStep::action(
            "The pods get the label of their version as they run.",
            MoveAction::AdoptDeployment(
                ObjectName::new(&namespace, &name),
                [versions.label.clone(), versions.stable.clone()],
            ),
        ));
    }
}

/// The pod template of the Rollout, or of its Deployment, as Argo gives it to the pods of stable.
fn own_template(context: &Context<'_>, hash: &str) -> Value {
    let workload = context.subject.text("spec.workloadRef.name");
    let workload = workload.and_then(|name| context.sources.find(&["Deployment"], name, &context.namespace));
    let template = workload.unwrap_or(context.subject).get("spec.template");
    let mut template = template.map_or_else(|| json!({}), Node::to_json);
    let Some(metadata) = child(&mut template, "metadata") else { return template };
    for kind in ["labels", "annotations"] {
        let added = context.subject.get(&format!("{CANARY}.stableMetadata.{kind}"));
        let added = added.map_or(&[][..], Node::entries);
        for entry in added {
            if let Some(fields) = child(metadata, kind).and_then(Value::as_object_mut) {
                fields.insert(entry.key.clone(), entry.node.to_json());
            }
        }
    }
    set_label(metadata, "labels", hash);
    template
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

fn set_label(value: &mut Value, name: &str, hash: &str) {
    if let Some(labels) = child(value, name).and_then(Value::as_object_mut) {
        labels.insert(HASH.to_owned(), hash.into());
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
    let namespace = rule.namespace.clone().unwrap_or_else(|| context.namespace.clone());
    let object = object(ISTIO, "DestinationRule", (&namespace, &rule.name), &spec);
    context.steps.push(MoveStep::object(
        "The settings of the host without Argo's subsets. It comes after the VirtualService, so that no route names a subset that is gone.",
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
