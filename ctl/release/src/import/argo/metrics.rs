//! One metric of an analysis template.

use super::super::common::{Context, seconds};
use super::super::difference::{BEHAVIOUR, COSMETIC, SourceOrigin};
use super::super::metric::{Metric, is_asked, note_service};
use super::super::query::{VERSION, replace_service, replace_variables};
use super::super::source::SourceObject;
use super::condition::{Bounds, failure, success};
use super::{BLUE_GREEN, CANARY, HASH};
use placed_yaml::Node;
use std::collections::BTreeMap;

/// Values by name; without one where it is not known before the analysis.
type Arguments = BTreeMap<String, Option<String>>;

pub(super) fn read(
    context: &mut Context<'_>,
    object: &SourceObject,
    node: &Node,
    origin: &SourceOrigin,
    arguments: &Arguments,
) {
    let Some(prometheus) = node.at("provider.prometheus") else {
        // The table says it for each provider that it knows.
        let has_provider = node.get("provider").is_some_and(|provider| !provider.entries().is_empty());
        if !has_provider {
            context.differences.lost_guard(
                origin,
                "the metric has no provider",
                "write it into `rollout.metrics`",
            );
        }
        return;
    };
    if prometheus.get("rangeQuery").is_some_and(|range| !range.is_off()) {
        let difference = "a query of a range has several values, and one is compared here";
        context.differences.lost_guard(origin, difference, "ask for one value, as with `max_over_time`");
        return;
    }
    let Some(bounds) = bounds(context, node, origin, arguments) else { return };
    let field = |name: &str| object.origin(&format!("{}.provider.prometheus.{name}", origin.field));
    let address = prometheus.text("address").unwrap_or_default();
    let Ok(address) = replace_variables(address, |name| argument(arguments, name)) else {
        context.differences.lost_guard(
            &field("address"),
            "the address is an argument without a value",
            "set `rollout.prometheus.address`",
        );
        return;
    };
    if !is_asked(context, Some(&address), &field("address")) {
        return;
    }
    let written = prometheus.text("query").unwrap_or_default();
    let query_origin = field("query");
    if let Some(query) = query(context, written, &query_origin, arguments) {
        write(context, node, (origin, bounds), (&query, &query_origin));
    }
}

/// `args.name`.
fn argument(arguments: &Arguments, name: &str) -> Option<String> {
    arguments.get(name.strip_prefix("args.")?.trim())?.clone()
}

fn bounds(
    context: &mut Context<'_>,
    node: &Node,
    origin: &SourceOrigin,
    arguments: &Arguments,
) -> Option<Bounds> {
    let condition = |name: &str| {
        let text = node.text(name)?;
        replace_variables(text, |name| argument(arguments, name)).ok().or_else(|| Some(text.to_owned()))
    };
    let (good, bad) = (condition("successCondition"), condition("failureCondition"));
    let found = match (&good, &bad) {
        (Some(good), _) => success(good),
        (None, Some(bad)) => failure(bad),
        (None, None) => None,
    };
    let Some(bounds) = found else {
        let text = good.or(bad).unwrap_or_else(|| "none".to_owned());
        let difference = format!("the condition `{text}` is no comparison of one value with a number");
        context.differences.lost_guard(
            origin,
            difference,
            "write the metric with `min` and `max`, and the rest into its query",
        );
        return None;
    };
    if good.is_some() && bad.is_some() {
        let difference = "a value that neither condition holds for is inconclusive there and pauses; here all but the good ones fail";
        context.differences.differs(origin, BEHAVIOUR, difference, "check `min` and `max`");
    }
    if bounds.is_strict {
        context.differences.differs(origin, COSMETIC, "the bound itself is as expected, too", "nothing");
    }
    if bounds.accepts_none {
        context.differences.differs(
            origin,
            COSMETIC,
            "without a value nothing is decided, and the rollout waits",
            "nothing, if there is traffic",
        );
    }
    Some(bounds)
}

/// The query with our variables; `None` if it is lost, which is noted.
fn query(
    context: &mut Context<'_>,
    written: &str,
    origin: &SourceOrigin,
    arguments: &Arguments,
) -> Option<String> {
    let lost = |context: &mut Context<'_>, difference: String| {
        context.differences.lost_guard(
            origin,
            difference,
            format!("write the query into `rollout.metrics`, and name the version by `{VERSION}`"),
        );
        None
    };
    let query = match replace_variables(written, |name| argument(arguments, name)) {
        Ok(query) if query.is_empty() => return lost(context, "the metric has no query".to_owned()),
        Ok(query) => query,
        Err(unknown) => {
            return lost(
                context,
                format!("the query uses `{}`, whose value is not known before a revision is", unknown.0),
            );
        }
    };
    if query.contains(&HASH.replace('-', "_")) {
        return lost(
            context,
            format!("the query is about label `{HASH}`, which the pods of a Deployment do not have"),
        );
    }
    let fields = [format!("{CANARY}.canaryService"), format!("{BLUE_GREEN}.previewService")];
    let service = fields.iter().find_map(|field| context.subject.text(field));
    let Some(service) = service else { return Some(query) };
    let ours = replace_service(&query, service);
    if ours != query {
        note_service(context, service, origin);
    } else if query.contains(service) && service != super::service::service_name(context).0 {
        return lost(context, format!("the query is about `{service}`, to which no request goes any more"));
    }
    Some(ours)
}

fn write(
    context: &mut Context<'_>,
    node: &Node,
    (origin, bounds): (&SourceOrigin, Bounds),
    (query, query_origin): (&str, &SourceOrigin),
) {
    let interval = node.text("interval").and_then(seconds);
    if interval.is_none() {
        context.differences.differs(
            origin,
            BEHAVIOUR,
            "without an interval it is measured once there, and every minute here",
            "set `interval`",
        );
    }
    if interval.is_some_and(|interval| interval < 10) {
        context.differences.differs(
            origin,
            COSMETIC,
            "a metric is measured every ten seconds at most",
            "nothing",
        );
    }
    let limit = node.text("failureLimit").and_then(|limit| limit.parse::<u32>().ok());
    let metric = Metric {
        name: node.text("name").unwrap_or_default(),
        query,
        query_origin,
        min: bounds.min,
        max: bounds.max,
        interval: interval.unwrap_or(60).max(10),
        // Argo fails with the first failure above the limit.
        failure_threshold: limit.unwrap_or_default().min(99) + 1,
    };
    metric.write(context, origin);
}
