//! The metrics of an analysis: Flagger's two checks of Istio, and queries of templates.

use super::super::common::{Context, duration, seconds};
use super::super::difference::{COSMETIC, GUARD, SourceOrigin};
use super::super::draft::DraftField;
use super::super::fields::check;
use super::super::metric::{Metric, is_asked, note_service};
use super::super::query::{VERSION, replace_service, replace_variables};
use super::{Analysis, METRIC_TEMPLATE, service_name, target};
use placed_yaml::Node;

/// The queries of Flagger's Istio observer, about the workload of a version.
const BUILT_IN: [(&str, &str); 2] = [
    (
        "request-success-rate",
        "sum(rate(istio_requests_total{reporter=\"destination\",destination_workload_namespace=\"{{ namespace }}\",destination_workload=~\"{{ target }}\",response_code!~\"5.*\"}[{{ interval }}])) / sum(rate(istio_requests_total{reporter=\"destination\",destination_workload_namespace=\"{{ namespace }}\",destination_workload=~\"{{ target }}\"}[{{ interval }}])) * 100",
    ),
    (
        "request-duration",
        "histogram_quantile(0.99, sum(rate(istio_request_duration_milliseconds_bucket{reporter=\"destination\",destination_workload_namespace=\"{{ namespace }}\",destination_workload=~\"{{ target }}\"}[{{ interval }}])) by (le))",
    ),
];

pub(super) fn read(context: &mut Context<'_>, analysis: &Analysis<'_>) {
    for (index, node) in analysis.node.list("metrics").iter().enumerate() {
        let path = analysis.field(&format!("metrics[{index}]"));
        let origin = context.origin(&path);
        if let Some(query) = query(context, &path, node) {
            metric(context, analysis, node, (&origin, &query));
        }
    }
}

/// The query with our variables; `None` if the metric is lost, which is noted.
fn query(context: &mut Context<'_>, path: &str, node: &Node) -> Option<String> {
    let origin = context.origin(path);
    let name = node.text("name").unwrap_or_default();
    let server = context.subject.text("spec.metricsServer").map(str::to_owned);
    let written = node.text("query").map(str::to_owned);
    if let Some(template) = node.get("templateRef") {
        let query = template_query(context, &origin, template)?;
        return filled(context, node, &query, &context.origin(&format!("{path}.templateRef")));
    }
    let built_in = BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, query)| (*query).to_owned());
    let Some(query) = written.or(built_in) else {
        context.differences.lost_guard(
            &origin,
            format!("metric `{name}` has no query, and is none of Flagger's checks for Istio"),
            "write it into `rollout.metrics` with a query",
        );
        return None;
    };
    // Flagger's builtin checks ask the server of the controller, or that of the Canary.
    if !is_asked(context, server.as_deref(), &origin) {
        return None;
    }
    filled(context, node, &query, &origin)
}

fn template_query(context: &mut Context<'_>, origin: &SourceOrigin, reference: &Node) -> Option<String> {
    let name = reference.text("name").unwrap_or_default();
    let namespace = reference.text("namespace").unwrap_or(&context.namespace).to_owned();
    let sources = context.sources;
    let Some(template) = sources.find(&["MetricTemplate"], name, &namespace) else {
        let difference = format!("MetricTemplate `{namespace}/{name}` is in none of the sources");
        context.differences.lost_guard(origin, difference, "give the file with it, too");
        return None;
    };
    check(template, METRIC_TEMPLATE, &mut context.differences);
    let provider = template.text("spec.provider.type").unwrap_or_default();
    if provider != "prometheus" {
        let origin = template.origin("spec.provider.type");
        let difference = format!("metrics of `{provider}` are not read: Prometheus alone is asked");
        let action = "ask the same of Prometheus, or by a `rollout` hook that responds with 2xx or an error";
        context.differences.lost_guard(&origin, difference, action);
        return None;
    }
    let address = template.text("spec.provider.address");
    if !is_asked(context, address, &template.origin("spec.provider.address")) {
        return None;
    }
    if let Some(secret) = template.text("spec.provider.secretRef.name") {
        credentials(context, &template.origin("spec.provider.secretRef"), secret);
    }
    let query = template.text("spec.query").map(str::to_owned);
    if query.is_none() {
        context.differences.lost_guard(&template.origin("spec"), "the template has no query", "write one");
    }
    query
}

/// Flagger takes a key `token`, else `username` and `password`; the Secret alone tells which.
fn credentials(context: &mut Context<'_>, origin: &SourceOrigin, secret: &str) {
    const PATH: &str = "spec/rollout/prometheus/bearerTokenFrom";
    if context.draft.count(PATH) > 0 {
        return;
    }
    let source = serde_json::json!({"name": secret, "key": "token"});
    context.add(DraftField::fields(PATH, vec![("secret", source)], origin).guard());
    context.differences.differs(
        origin,
        GUARD,
        "a Secret with `username` and `password` cannot be used: Prometheus is asked with a bearer token, the key `token` of a Secret in the release's namespace",
        "check the Secret",
    );
}

/// The query with our variables. `target` is the Deployment of the canary, whose name is the version.
fn filled(context: &mut Context<'_>, node: &Node, query: &str, origin: &SourceOrigin) -> Option<String> {
    let subject = context.subject;
    let target = target(context);
    let is_version = context.options.canary.as_ref().is_none_or(|canary| *canary == target);
    let value = |name: &str| match name {
        "namespace" | "service" | "interval" => Some(format!("{{{{ {name} }}}}")),
        "target" if is_version => Some(VERSION.to_owned()),
        "target" => Some(target.clone()),
        "name" => Some(subject.name.clone()),
        "ingress" => subject.text("spec.ingressRef.name").map(str::to_owned),
        "route" => subject.text("spec.routeRef.name").map(str::to_owned),
        _ => node.get("templateVariables")?.text(name.strip_prefix("variables.")?).map(str::to_owned),
    };
    let found = replace_variables(query, value);
    let query = match found {
        Ok(query) => query,
        Err(unknown) => {
            let difference = format!("the query uses `{}`, which has no value here", unknown.0);
            context.differences.lost_guard(
                origin,
                difference,
                "write the query into `rollout.metrics` yourself",
            );
            return None;
        }
    };
    let service = service_name(context);
    let ours = replace_service(
        &query.replace("{{ service }}-canary", &format!("{service}-canary")),
        &format!("{service}-canary"),
    );
    let gone = [&service, &target, VERSION].map(|name| format!("{name}-canary"));
    if let Some(gone) = gone.iter().find(|gone| ours.contains(*gone)) {
        let difference =
            format!("the query is about `{gone}`, which is gone: requests go to one Service here");
        context.differences.lost_guard(origin, difference, format!("ask for the version by `{VERSION}`"));
        return None;
    }
    if ours != query {
        note_service(context, &format!("{service}-canary"), origin);
    }
    Some(ours)
}

fn metric(
    context: &mut Context<'_>,
    analysis: &Analysis<'_>,
    node: &Node,
    (origin, query): (&SourceOrigin, &str),
) {
    let name = node.text("name").unwrap_or_default();
    let (min, max) = bounds(node, name);
    if min.is_none() && max.is_none() {
        context.differences.lost_guard(
            origin,
            format!("metric `{name}` has no threshold"),
            "set `min` or `max`",
        );
        return;
    }
    let interval = node.text("interval").and_then(seconds).unwrap_or(60).max(10);
    if interval != analysis.interval() {
        context.differences.differs(
            origin,
            COSMETIC,
            format!(
                "it is measured every {}; Flagger measures it every {}",
                duration(interval),
                duration(analysis.interval())
            ),
            "nothing",
        );
    }
    let failure_threshold = analysis.threshold();
    Metric { name, query, query_origin: origin, min, max, interval, failure_threshold }
        .write(context, origin);
}

/// `thresholdRange`, or the deprecated `threshold`: of the success rate the least value, of all others the greatest.
fn bounds(node: &Node, name: &str) -> (Option<f64>, Option<f64>) {
    let range = |bound: &str| node.get("thresholdRange")?.number(bound);
    match (range("min"), range("max"), node.number("threshold")) {
        (None, None, Some(least)) if name == "request-success-rate" => (Some(least), None),
        (None, None, greatest) => (None, greatest),
        (min, max, _) => (min, max),
    }
}
