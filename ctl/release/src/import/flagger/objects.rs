//! The objects that Flagger has made and that are the team's from now on, in the order in which they are changed.

use super::super::common::Context;
use super::super::difference::{BEHAVIOUR, Fate};
use super::super::draft::DraftField;
use super::super::steps::{ISTIO, MoveAction, MoveStep, NO_LABEL, ObjectName, object};
use super::{service_name, target};
use serde_json::{Map, Value, json};

pub(super) fn read(context: &mut Context<'_>) {
    providers(context);
    let (name, namespace) = (context.subject.name.clone(), context.namespace.clone());
    context.steps.push(MoveStep::note(
        "Begin between two releases: the canary's Deployment has no pods, and all users are on the primary.",
    ));
    context.steps.push(MoveStep::action(
        "Flagger stops, and what it has made stays: Deployment, Services and VirtualService lose their owner and are not deleted. No request changes its way.",
        MoveAction::OrphanCanary(ObjectName::new(&namespace, &name)),
    ));
    let service = service(context);
    context.steps.push(MoveStep::object(
        "The Service selects the pods of both versions; Flagger's selects the primary alone. The canary has no pods yet, so no request changes its way.",
        service,
    ));
    if let Some(policy) = context.subject.get("spec.service.trafficPolicy") {
        let spec = json!({"host": service_name(context), "trafficPolicy": policy.to_json()});
        let rule = object(ISTIO, "DestinationRule", (&namespace, &service_name(context)), &spec);
        context.steps.push(MoveStep::object("The settings of the host, for both versions.", rule));
    }
    if context.subject.text("spec.provider").is_some_and(|provider| provider.starts_with("gatewayapi")) {
        let field = DraftField::value("spec/routes", "external", &context.origin("spec.provider"));
        context.add(field.comment("HTTPRoutes are yours, and name a Service for each version."));
    } else {
        virtual_service(context);
    }
    context.steps.push(MoveStep::note(
        "Apply the release. This is the one moment in which users are assigned again: to stable, where all of them are already.",
    ));
    let target = target(context);
    context.steps.push(MoveStep::action(
        "Start the new version: change the image of the canary's Deployment, then scale it. From here on you scale both Deployments.",
        MoveAction::ScaleDeployment(ObjectName::new(&namespace, &target), 1),
    ));
}

fn virtual_service(context: &mut Context<'_>) {
    let routes = routes(context);
    context.steps.push(MoveStep::object(
        "One destination in the place of Flagger's two. The canary still has no pods, so users stay on the primary.",
        routes,
    ));
    let service = service_name(context);
    context.steps.push(MoveStep::action(
        "No route leads to the hosts of Flagger's rules any more, and `NAME-canary` is the name of a rule of ours. Its Services of each version stay for the way back.",
        MoveAction::DeleteRulesOfVersions(ObjectName::new(&context.namespace, &service)),
    ));
    let routes = DraftField::value("spec/routes", "inject", &context.origin("spec.service"));
    context.add(
        routes.comment("Into the VirtualService of the steps; `external` if Helm or a GitOps tool owns it."),
    );
}

/// Other meshes and kinds of workloads.
fn providers(context: &mut Context<'_>) {
    let provider = context.subject.text("spec.provider").unwrap_or("istio").to_owned();
    let origin = context.origin("spec.provider");
    if provider.starts_with("gatewayapi") {
        let difference =
            "HTTPRoutes of the Gateway API are printed and not written, and need a Gateway of Istio";
        context.differences.differs(&origin, BEHAVIOUR, difference, "set `routes: external`, and print them");
    } else if provider != "istio" {
        let difference = format!("the provider is `{provider}`: the filter runs in proxies of Istio alone");
        context.differences.note(
            &origin,
            (BEHAVIOUR, Fate::Lost),
            difference,
            "move the host to a gateway of Istio first",
        );
    }
    let kind = context.subject.text("spec.targetRef.kind").unwrap_or("Deployment").to_owned();
    if kind != "Deployment" {
        let difference = format!(
            "the target is a {kind}: the versions of a release are told by a label of pods behind one Service"
        );
        let origin = context.origin("spec.targetRef.kind");
        context.differences.note(
            &origin,
            (BEHAVIOUR, Fate::Lost),
            difference,
            "run each version as a workload of its own",
        );
    }
}

fn service(context: &mut Context<'_>) -> Value {
    let subject = context.subject;
    let field = |name: &str| subject.get(&format!("spec.service.{name}")).map(placed_yaml::Node::to_json);
    let mut port = Map::new();
    port.insert("name".to_owned(), field("portName").unwrap_or_else(|| "http".into()));
    port.insert("port".to_owned(), field("port").unwrap_or_else(|| 80.into()));
    for name in ["targetPort", "appProtocol"] {
        if let Some(value) = field(name) {
            port.insert(name.to_owned(), value);
        }
    }
    let spec = json!({"selector": common_labels(context), "ports": [port]});
    object("v1", "Service", (&context.namespace, &service_name(context)), &spec)
}

/// The labels of the pods but the one by which Flagger tells them apart; it copies them to the primary.
fn common_labels(context: &mut Context<'_>) -> Value {
    let target = target(context);
    let deployment = context.sources.find(&["Deployment"], &target, &context.namespace);
    let own = deployment.and_then(|found| found.get("spec.selector.matchLabels"));
    let own = own.and_then(|labels| labels.entries().first()).map(|entry| entry.key.clone());
    let labels = deployment.and_then(|found| found.get("spec.template.metadata.labels"));
    let entries = labels.map_or(&[][..], |labels| labels.entries());
    // A label of a team or a system selects pods of other applications, too.
    let is_of_target = |value: &str| value == target || value == context.subject.name;
    let common = entries
        .iter()
        .filter(|entry| own.as_ref() != Some(&entry.key) && entry.node.as_text().is_some_and(is_of_target));
    let common: Map<String, Value> =
        common.filter_map(|entry| Some((entry.key.clone(), entry.node.as_text()?.into()))).collect();
    if !common.is_empty() {
        return Value::Object(common);
    }
    let origin = context.origin("spec.targetRef.name");
    let difference = match deployment {
        Some(_) => format!(
            "the pods of Deployment `{target}` have no other label with its name, which the primary's would have too"
        ),
        None => {
            format!("the source has no Deployment `{target}`: the label that both versions have is not known")
        }
    };
    context.placeholder(&origin, difference, "put a label of both into the selector of the Service; a new one has to be in both pod templates first, which replaces the pods");
    json!({NO_LABEL: ""})
}

fn routes(context: &Context<'_>) -> Value {
    let subject = context.subject;
    let field = |name: &str| subject.get(&format!("spec.service.{name}")).map(placed_yaml::Node::to_json);
    let service = service_name(context);
    let mut route = Map::new();
    for (theirs, istio) in [
        ("match", "match"),
        ("rewrite", "rewrite"),
        ("timeout", "timeout"),
        ("retries", "retries"),
        ("headers", "headers"),
        ("corsPolicy", "corsPolicy"),
    ] {
        if let Some(mut value) = field(theirs) {
            // A field of the Gateway API.
            value.as_object_mut().filter(|_| theirs == "rewrite").map(|rewrite| rewrite.remove("type"));
            route.insert(istio.to_owned(), value);
        }
    }
    route.insert("route".to_owned(), json!([{"destination": {"host": service}}]));
    let mut spec = Map::new();
    spec.insert("hosts".to_owned(), field("hosts").unwrap_or_else(|| json!([service])));
    if let Some(gateways) = field("gateways") {
        spec.insert("gateways".to_owned(), gateways);
    }
    spec.insert("http".to_owned(), json!([route]));
    object(ISTIO, "VirtualService", (&context.namespace, &service), &Value::Object(spec))
}
