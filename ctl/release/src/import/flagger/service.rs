//! Service, versions, hosts, paths and gateways of a Canary, and how it keeps sessions.

use super::super::common::{Context, seconds};
use super::super::difference::{BEHAVIOUR, COSMETIC, SourceOrigin};
use super::super::draft::DraftField;
use super::{service_name, target};
use serde_json::{Value, json};

pub(super) fn read(context: &mut Context<'_>) {
    let origin = context.origin("spec.service");
    let service = service_name(context);
    context.add(DraftField::value("spec/service/name", service, &origin).or("service-name"));
    let port = context
        .subject
        .get("spec.service.port")
        .map(|node| (node.to_json(), context.origin("spec.service.port")));
    if let Some((port, origin)) = port {
        context.add(DraftField::value("spec/service/port", port, &origin).or(80));
    }
    versions(context);
    hosts(context);
    paths(context);
    gateways(context);
    let cookie = session_cookie(context);
    context.users(cookie);
    affinity(context);
}

/// Flagger's pods of stable are those of Deployment `x-primary`, and it tells the two by the label of the selector.
fn versions(context: &mut Context<'_>) {
    let target = target(context);
    let origin = context.origin("spec.targetRef.name");
    let deployment = context.sources.find(&["Deployment", "DaemonSet"], &target, &context.namespace);
    let labels = deployment.and_then(|deployment| deployment.get("spec.selector.matchLabels"));
    let label = labels.and_then(|labels| labels.entries().first()).map(|entry| entry.key.clone());
    if label.is_none() {
        context.placeholder(
            &origin,
            format!("the source has no Deployment `{target}`: `app` is taken for the label by which Flagger tells its pods from the primary's"),
            "check `spec.versions.label`: the first label of the Deployment's selector",
        );
    }
    let (stable, canary) = (context.options.stable.clone(), context.options.canary.clone());
    let stable = stable.unwrap_or_else(|| format!("{target}-primary"));
    let canary = canary.unwrap_or(target);
    let field = DraftField::value("spec/versions/label", label.unwrap_or_else(|| "app".to_owned()), &origin);
    context.add(
        field
            .or("app")
            .comment("Flagger's primary is stable. After the promotion the roles are the other way round."),
    );
    context.version("spec/versions/stable", stable, ("stable", &origin));
    context.version("spec/versions/canary", canary, ("canary", &origin));
}

fn hosts(context: &mut Context<'_>) {
    let origin = context.origin("spec.service.hosts");
    let named = context.subject.get("spec.service.hosts").map_or(&[][..], |node| node.items());
    let named: Vec<&str> = named.iter().filter_map(|node| node.as_text()).collect();
    let hosts: Vec<String> = match (context.options.hosts.as_slice(), named.as_slice()) {
        ([], []) => {
            let (service, namespace) = (service_name(context), context.namespace.clone());
            context.differences.differs(
                &origin,
                COSMETIC,
                "Flagger takes the name of the Service where no host is given",
                "add the hosts that users type to `spec.hosts`",
            );
            ["", ".svc", ".svc.cluster.local"]
                .iter()
                .map(|suffix| format!("{service}.{namespace}{suffix}"))
                .chain([service.clone()])
                .collect()
        }
        ([], named) => named.iter().map(|host| host.to_lowercase()).collect(),
        (asked, _) => asked.to_vec(),
    };
    context.add(DraftField::value("spec/hosts", hosts, &origin).or(json!(["host.example.com"])));
}

/// Prefixes of paths, if every match is one.
fn paths(context: &mut Context<'_>) {
    let matches = context.subject.get("spec.service.match").map_or(&[][..], |node| node.items());
    if matches.is_empty() {
        return;
    }
    let origin = context.origin("spec.service.match");
    let prefixes: Option<Vec<Value>> = matches
        .iter()
        .map(|entry| {
            let only = entry.entries().len() == 1;
            entry.at("uri.prefix").and_then(|prefix| prefix.as_text()).filter(|_| only).map(Value::from)
        })
        .collect();
    match prefixes {
        Some(prefixes) => context.add(DraftField::value("spec/paths", prefixes, &origin).or(json!(["/"]))),
        None => context.differences.differs(
            &origin,
            BEHAVIOUR,
            "the release decides for prefixes of paths alone: the filter decides for the whole host, and the matches are those of the VirtualService",
            "check that each route of the VirtualService is one of this application",
        ),
    }
}

fn gateways(context: &mut Context<'_>) {
    let path = "spec.service.gateways";
    let named = context.subject.get(path).map_or(&[][..], |node| node.items());
    let origins: Vec<(String, SourceOrigin)> = named
        .iter()
        .enumerate()
        .filter_map(|(index, node)| {
            Some((node.as_text()?.to_owned(), context.origin(&format!("{path}[{index}]"))))
        })
        .collect();
    let refs = context.subject.get("spec.service.gatewayRefs").map_or(&[][..], |node| node.items());
    let refs = refs.iter().enumerate().filter_map(|(index, node)| {
        let namespace = node.text("namespace").unwrap_or(&context.namespace);
        let origin = context.origin(&format!("spec.service.gatewayRefs[{index}]"));
        Some((format!("{namespace}/{}", node.text("name")?), origin))
    });
    let gateways: Vec<_> = origins.iter().filter(|(name, _)| name != "mesh").cloned().chain(refs).collect();
    let is_internal = gateways.is_empty() && context.options.gateway.is_none();
    context.gateways(&gateways);
    let mesh = origins.into_iter().find(|(name, _)| name == "mesh").map(|(_, origin)| origin);
    let Some(origin) = mesh.or_else(|| is_internal.then(|| context.origin(path))) else { return };
    let namespace = context.namespace.clone();
    if is_internal {
        let field = DraftField::fields("spec/sidecars/-", vec![("namespace", namespace.into())], &origin);
        context.add(field.or(json!({"namespace": "default"})).comment("CHECK: the workloads that call it."));
    }
    context.differences.differs(
        &origin,
        BEHAVIOUR,
        "callers inside the mesh are named one by one: their sidecars decide, and callers that are not named get stable",
        "name the callers in `spec.sidecars`",
    );
}

/// A cookie of the application on which Istio hashes; one with a `ttl` is Envoy's own.
fn session_cookie(context: &Context<'_>) -> Option<(String, SourceOrigin)> {
    let path = "spec.service.trafficPolicy.loadBalancer.consistentHash.httpCookie";
    let cookie = context.subject.get(path)?;
    let is_own = cookie.text("ttl").and_then(seconds).is_none_or(|ttl| ttl == 0);
    Some((cookie.text("name").filter(|_| is_own)?.to_owned(), context.origin(path)))
}

fn affinity(context: &mut Context<'_>) {
    let path = "spec.analysis.sessionAffinity";
    let Some(affinity) = context.subject.get(path) else {
        if let Some(tls) = context.options.tls {
            context.add(DraftField::value("spec/cookies/tls", tls, &context.origin("spec")));
        }
        return;
    };
    let field = |name: &str| context.origin(&format!("{path}.{name}"));
    let mut fields = Vec::new();
    if let Some(age) = affinity.text("maxAge").and_then(seconds).filter(|age| *age > 0) {
        let value = super::super::common::duration(age);
        fields.push(DraftField::value("spec/session/maxAge", value, &field("maxAge")));
    }
    for (name, ours) in [("sameSite", "spec/cookies/sameSite"), ("domain", "spec/cookies/domain")] {
        if let Some(value) = affinity.text(name) {
            fields.push(DraftField::value(ours, value, &field(name)));
        }
    }
    let secure = affinity.text("secure").map(|text| text == "true");
    if let Some(tls) = context.options.tls.or(secure) {
        fields.push(DraftField::value("spec/cookies/tls", tls, &field("secure")));
    }
    for field in fields {
        context.add(field);
    }
}
