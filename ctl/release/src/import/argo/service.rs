//! The Service of a Rollout, and what its VirtualService says: hosts, gateways, a session cookie.

use super::super::common::Context;
use super::super::difference::{BEHAVIOUR, SourceOrigin};
use super::super::draft::DraftField;
use super::super::source::SourceObject;
use super::{BLUE_GREEN, CANARY};
use placed_yaml::Node;
use serde_json::{Value, json};

pub(super) fn read(context: &mut Context<'_>) {
    let (name, origin) = service_name(context);
    let service = context.sources.find(&["Service"], &name, &context.namespace);
    let port = service.and_then(|service| service.get("spec.ports")?.items().first()?.text("port"));
    let port = port.and_then(|port| port.parse::<u16>().ok()).or_else(|| route_port(context));
    context.add(DraftField::value("spec/service/name", name.clone(), &origin).or("service-name"));
    match port {
        Some(port) => context.add(DraftField::value("spec/service/port", port, &origin).or(80)),
        None => context.placeholder(
            &origin,
            format!("Service `{name}` is in none of the sources: port 80 is taken"),
            "check `spec.service.port`",
        ),
    }
    hosts(context, &name);
    let cookie = session_cookie(context, &name);
    context.users(cookie);
    if let Some(tls) = context.options.tls {
        let origin = context.origin("spec");
        context.add(DraftField::value("spec/cookies/tls", tls, &origin));
    }
}

/// The Service to which routes lead when there is one alone: that of subsets, that of stable, or one with the selector of the pods.
pub(super) fn service_name(context: &Context<'_>) -> (String, SourceOrigin) {
    let rule =
        destination_rule(context).and_then(|rule| Some((rule.text("spec.host")?, rule.origin("spec.host"))));
    let fields = [
        format!("{CANARY}.stableService"),
        format!("{CANARY}.pingPong.pingService"),
        format!("{BLUE_GREEN}.activeService"),
    ];
    let named = fields.iter().find_map(|field| Some((context.subject.text(field)?, context.origin(field))));
    if let Some((host, origin)) = rule.or(named) {
        return (host.split('.').next().unwrap_or_default().to_owned(), origin);
    }
    let labels = context.subject.get("spec.selector.matchLabels");
    let selects = |service: &&SourceObject| {
        let selector = service.get("spec.selector").map(Node::to_json);
        selector.is_some() && selector == labels.map(Node::to_json)
    };
    match context.sources.of_kind("Service").find(selects) {
        Some(service) => (service.name.clone(), service.origin("metadata.name")),
        None => (context.name.clone(), context.origin("metadata.name")),
    }
}

pub(super) fn destination_rule<'s>(context: &Context<'s>) -> Option<&'s SourceObject> {
    let name = context.subject.text(&format!("{CANARY}.trafficRouting.istio.destinationRule.name"))?;
    context.sources.find(&["DestinationRule"], name, &context.namespace)
}

/// The route objects that the Rollout changes.
pub(super) fn route_objects<'s>(context: &Context<'s>) -> Vec<&'s SourceObject> {
    let istio = context.subject.get(&format!("{CANARY}.trafficRouting.istio"));
    let one = istio.and_then(|istio| istio.get("virtualService"));
    let several = istio.map_or(&[][..], |istio| istio.list("virtualServices"));
    let names = one.into_iter().chain(several).filter_map(|node| node.text("name"));
    names
        .filter_map(|name| {
            let (namespace, name) = match name.split_once('.') {
                Some((name, namespace)) => (namespace, name),
                None => (context.namespace.as_str(), name),
            };
            context.sources.find(&["VirtualService"], name, namespace)
        })
        .collect()
}

fn route_port(context: &Context<'_>) -> Option<u16> {
    route_objects(context).iter().find_map(|object| {
        let mut routes = object.get("spec.http")?.items().iter().flat_map(|http| http.list("route"));
        routes.find_map(|route| route.at("destination.port.number")?.as_text()?.parse().ok())
    })
}

fn hosts(context: &mut Context<'_>, service: &str) {
    let objects = route_objects(context);
    let texts = |field: &str| -> Vec<(String, SourceOrigin)> {
        let of = |object: &&SourceObject| {
            let nodes = object.get(field).map_or(&[][..], Node::items).iter();
            let origin = object.origin(field);
            nodes
                .filter_map(|node| Some((node.as_text()?.to_owned(), origin.at(field, node.place))))
                .collect::<Vec<_>>()
        };
        objects.iter().flat_map(of).collect()
    };
    let (found, gateways) = (texts("spec.hosts"), texts("spec.gateways"));
    let origin = found.first().map_or_else(|| context.origin("spec"), |(_, origin)| origin.clone());
    let mut hosts = context.options.hosts.clone();
    if hosts.is_empty() {
        hosts = found.iter().map(|(host, _)| host.to_lowercase()).collect();
        hosts.sort_unstable();
        hosts.dedup();
    }
    if hosts.is_empty() {
        hosts = ["", ".svc", ".svc.cluster.local"]
            .map(|end| format!("{service}.{}{end}", context.namespace))
            .to_vec();
        hosts.push(service.to_owned());
        context.placeholder(
            &origin,
            "no VirtualService of the sources names the hosts: those of the Service inside the mesh are taken",
            "add the hosts that users type to `spec.hosts`",
        );
    }
    context.add(DraftField::value("spec/hosts", hosts, &origin).or(json!(["host.example.com"])));
    let gateways: Vec<_> = gateways.into_iter().filter(|(name, _)| name != "mesh").collect();
    deciding_proxies(context, &gateways, &origin);
}

/// Gateways, or sidecars where no gateway is named.
fn deciding_proxies(context: &mut Context<'_>, gateways: &[(String, SourceOrigin)], origin: &SourceOrigin) {
    let is_internal = gateways.is_empty() && context.options.gateway.is_none();
    context.gateways(gateways);
    if is_internal {
        let namespace = Value::from(context.namespace.clone());
        let field = DraftField::fields("spec/sidecars/-", vec![("namespace", namespace)], origin);
        context.add(
            field
                .or(json!({"namespace": "default"}))
                .comment("CHECK: the workloads that call it, or `gateways`."),
        );
        context.differences.differs(
            origin,
            BEHAVIOUR,
            "no gateway is named: sidecars of callers decide, and callers that are not named get stable",
            "name the callers in `spec.sidecars`, or the gateways",
        );
    }
}

/// A cookie of the application on which Istio hashes; one with a `ttl` is Envoy's own.
fn session_cookie(context: &Context<'_>, service: &str) -> Option<(String, SourceOrigin)> {
    let is_of_host = |rule: &&SourceObject| {
        rule.text("spec.host").is_some_and(|host| host.split('.').next() == Some(service))
    };
    let path = "spec.trafficPolicy.loadBalancer.consistentHash.httpCookie";
    context.sources.of_kind("DestinationRule").filter(is_of_host).find_map(|rule| {
        let cookie = rule.get(path)?;
        let ttl = cookie.text("ttl").and_then(super::super::common::seconds);
        let is_own = ttl.is_none_or(|ttl| ttl == 0);
        Some((cookie.text("name").filter(|_| is_own)?.to_owned(), rule.origin(path)))
    })
}
