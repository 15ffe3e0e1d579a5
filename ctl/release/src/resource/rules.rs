//! Rules in CEL: what fields say together.
//!
//! # Source
//! [Validation rules](https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules).
//! `has()` is false for an empty field. The API server limits what all rules may cost, so lists in them have limits.

use super::bounds::SECRET_SOURCES;
use serde_json::{Map, Value, json};

/// A rule about the value at a place.
struct Rule {
    place: &'static str,
    expression: &'static str,
    message: &'static str,
    /// The field of the value that is wrong; none for the value itself.
    field: &'static str,
}

const fn rule(
    place: &'static str,
    field: &'static str,
    expression: &'static str,
    message: &'static str,
) -> Rule {
    Rule { place, expression, message, field }
}

const OBJECT: [Rule; 2] = [
    rule(
        "",
        "",
        "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",
        "expected a name of 1 to 63 of `a-z 0-9 -`, beginning and ending with a letter or digit",
    ),
    rule(
        "",
        ".spec.rollout.dependsOn",
        "!has(self.spec.rollout) || !has(self.spec.rollout.dependsOn) || self.spec.rollout.dependsOn.all(release, has(release.namespace) || release.name != self.metadata.name)",
        "expected another release, found the release itself",
    ),
];

/// Percentages in steps of 0.01.
const PERCENTAGES: [&str; 5] =
    ["weight", "maxStep", "rollout.falseAlarm", "rollout.maxErrors", "rollout.plans.*.[].weight"];
const HUNDREDTHS: &str = "self * 100.0 - double(int(self * 100.0 + 0.5)) < 0.000001 && self * 100.0 - double(int(self * 100.0 + 0.5)) > -0.000001";

/// Bounds of values that are compared.
const BOUNDS: [&str; 3] = ["rollout.metrics.[]", "rollout.metrics.[].ratio", "rollout.metrics.[].difference"];

/// Rules of `spec` with places of their own.
const SPEC: [Rule; 11] = [
    rule(
        "",
        "",
        "(has(self.gateways) && self.gateways.size() > 0) || (has(self.sidecars) && self.sidecars.size() > 0)",
        "expected a gateway or a sidecar that decides, found none",
    ),
    rule(
        "versions",
        ".canary",
        "!has(self.canary) || self.canary != self.stable",
        "expected two versions, found the same as stable and as canary",
    ),
    rule(
        "versions",
        ".canary",
        "!has(self.canary) || self.canary == self.stable || self.canary.lowerAscii().replace('_', '-').replace('.', '-') != self.stable.lowerAscii().replace('_', '-').replace('.', '-')",
        "expected versions that differ in letters and digits: both would be the same subset",
    ),
    rule(
        "cookies",
        ".sameSite",
        "!has(self.sameSite) || self.sameSite != 'None' || !has(self.tls) || self.tls",
        "expected no `sameSite: None` beside `tls: false`",
    ),
    rule(
        "delivery",
        ".mode",
        "!has(self.mode) || self.mode != 'local'",
        "expected a mode of a cluster, found `local`: a file of this machine is not applied to a cluster",
    ),
    rule(
        "delivery",
        ".module",
        "!has(self.mode) || !(self.mode in ['wasmplugin', 'trafficextension']) || (has(self.module) && self.module != 'embedded')",
        "expected the URL of a module in this mode: its kind has no field for the bytes of a module",
    ),
    rule(
        "delivery",
        ".sha256",
        "!has(self.sha256) || (has(self.module) && self.module != 'embedded')",
        "expected no `sha256` with an embedded module: nothing is fetched",
    ),
    rule(
        "",
        ".rollout.lostSessions",
        "!has(self.rollout) || !has(self.rollout.lostSessions) || !self.rollout.lostSessions || (has(self.session) && has(self.session.cookie))",
        "expected `spec.session.cookie` beside `lostSessions: true`, found none",
    ),
    rule(
        "",
        ".rollout.slowerThan",
        "!has(self.rollout) || !has(self.rollout.slowerThan) || !self.rollout.slowerThan.contains('p') || (has(self.latencyHistogram) && self.latencyHistogram)",
        "expected `latencyHistogram: true` beside a percentile, found none",
    ),
    rule(
        "",
        ".rollout.metrics",
        "!has(self.rollout) || !has(self.rollout.metrics) || !has(self.versions.label) || self.versions.label in ['version', 'app.kubernetes.io/version', 'service.istio.io/canonical-revision'] || self.rollout.metrics.all(metric, !has(metric.preset))",
        "expected `query` for pods with this `versions.label`: Istio's metrics do not know it",
    ),
    rule(
        "rollout",
        ".plans",
        "!has(self.plans) || has(self.maxErrors) || self.plans.all(plan, self.plans[plan].all(step, step.weight != 100.0 || (has(step.gate) && step.gate == 'manual')))",
        "expected `gate: manual` or `maxErrors` in a step at 100%, found neither",
    ),
];

/// Rules of `spec.rollout`.
const ROLLOUT: [Rule; 21] = [
    rule(
        "rollout.plans",
        "",
        "self.all(plan, plan.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'))",
        "expected names of 1 to 63 of `a-z 0-9 -`, beginning and ending with a letter or digit",
    ),
    rule(
        "rollout.plans.*",
        "",
        "self.map(step, step.weight).isSorted() && self.all(step, self.exists_one(other, other.weight == step.weight))",
        "expected a weight above that of the step before",
    ),
    rule(
        "rollout.plans.*.[]",
        "",
        "self.weight != 0.0 || (has(self.gate) && self.gate == 'manual')",
        "expected `gate: manual` in a step without users of the canary",
    ),
    rule(
        "rollout",
        ".windows",
        "!has(self.windows) || self.windows.size() == 0 || has(self.deadline)",
        "expected `deadline` beside `windows`, found none",
    ),
    rule(
        "rollout",
        ".maxHeld",
        "!has(self.maxHeld) || !has(self.onFailure) || self.onFailure != 'hold'",
        "expected `onFailure: rollback` or `onFailure: stop` beside `maxHeld`, found `hold`",
    ),
    rule(
        "rollout",
        ".metrics",
        "!has(self.metrics) || self.metrics.size() == 0 || has(self.prometheus)",
        "expected `prometheus` beside `metrics`, found none",
    ),
    rule(
        "rollout",
        ".hooks",
        "!has(self.hooks) || !has(self.alerts) || self.hooks.all(hook, !self.alerts.exists(alert, alert.name == hook.name))",
        "expected hooks with the name of no receiver of alerts",
    ),
    rule(
        "rollout.windows.[]",
        "",
        "(has(self.from) ? self.from : '00:00') != (has(self.to) ? self.to : '24:00') && (!has(self.from) || self.from != '24:00')",
        "expected a window that begins before it ends",
    ),
    rule("rollout.alerts.[]", "", URL_OR_SOURCE, URL_OR_SOURCE_MESSAGE),
    rule("rollout.hooks.[]", "", URL_OR_SOURCE, URL_OR_SOURCE_MESSAGE),
    rule(
        "rollout.hooks.[]",
        ".interval",
        "!has(self.interval) || self.type in ['pre-rollout', 'rollout', 'rollback']",
        "expected `interval` beside `pre-rollout`, `rollout` or `rollback`",
    ),
    rule(
        "rollout.hooks.[]",
        ".failureThreshold",
        "!has(self.failureThreshold) || self.type in ['pre-rollout', 'rollout']",
        "expected `failureThreshold` beside `pre-rollout` or `rollout`",
    ),
    rule(
        "rollout.hooks.[]",
        ".retries",
        "!has(self.retries) || !(self.type in ['post-rollout', 'event'])",
        "expected `retries` beside a type that is not `post-rollout` or `event`",
    ),
    rule(
        "rollout.hooks.[]",
        ".timeout",
        "!has(self.timeout) || (!self.timeout.contains('d') && duration(self.timeout.trim()) <= (self.type in ['post-rollout', 'event'] ? duration('20s') : duration('1h')))",
        "expected at most 1h, and at most 20s for `post-rollout` and `event`",
    ),
    rule(
        "rollout.metrics.[]",
        "",
        "has(self.preset) != has(self.query)",
        "expected `preset` or `query`, and not both",
    ),
    rule(
        "rollout.metrics.[]",
        "",
        "has(self.preset) || !(has(self.reporter) || has(self.minRequests) || has(self.quantile))",
        "expected `reporter`, `minRequests` and `quantile` beside `preset` alone",
    ),
    rule(
        "rollout.metrics.[]",
        ".quantile",
        "!has(self.quantile) || !has(self.preset) || self.preset == 'request-duration'",
        "expected `quantile` beside `preset: request-duration` alone",
    ),
    rule(
        "rollout.metrics.[]",
        "",
        "has(self.min) || has(self.max) || has(self.ratio) || has(self.difference)",
        "expected at least one of `min`, `max`, `ratio`, `difference`, found none",
    ),
    rule("rollout.metrics.[].ratio", "", MIN_OR_MAX, MIN_OR_MAX_MESSAGE),
    rule("rollout.metrics.[].difference", "", MIN_OR_MAX, MIN_OR_MAX_MESSAGE),
    rule(
        "rollout.metrics.[]",
        ".query",
        r"!has(self.query) || !(has(self.ratio) || has(self.difference)) || self.query.matches('[{][{]\\s*version\\s*[}][}]')",
        "expected `{{ version }}` in a query whose values are compared, found none",
    ),
];

const URL_OR_SOURCE: &str = "has(self.url) != has(self.urlFrom)";
const URL_OR_SOURCE_MESSAGE: &str = "expected `url` or `urlFrom`, and not both";
const MIN_OR_MAX: &str = "has(self.min) || has(self.max)";
const MIN_OR_MAX_MESSAGE: &str = "expected at least one of `min`, `max`, found none";

/// The rules with places in `spec`.
fn rules() -> impl Iterator<Item = Rule> {
    let hundredths = |place| rule(place, "", HUNDREDTHS, "expected a percentage in steps of 0.01");
    let ordered = |place| {
        rule(
            place,
            "",
            "!has(self.min) || !has(self.max) || self.min <= self.max",
            "expected `min` of at most `max`",
        )
    };
    let one_source = |place| {
        rule(
            place,
            "",
            "[has(self.env), has(self.file), has(self.secret)].filter(given, given).size() == 1",
            "expected one of `env`, `file` and `secret`",
        )
    };
    SPEC.into_iter()
        .chain(ROLLOUT)
        .chain(PERCENTAGES.into_iter().map(hundredths))
        .chain(BOUNDS.into_iter().map(ordered))
        .chain(SECRET_SOURCES.into_iter().map(one_source))
}

/// The rules of the object itself.
pub(super) fn object_rules() -> Value {
    OBJECT.iter().map(as_json).collect()
}

/// Adds the rules of `spec`. A place that the schema does not have is returned.
pub(super) fn add_rules(spec: &mut Value) -> Vec<String> {
    let mut missing = Vec::new();
    for rule in rules() {
        match super::place::at(spec, rule.place) {
            Some(of) => push(of, as_json(&rule)),
            None => missing.push(rule.place.to_owned()),
        }
    }
    missing
}

fn push(of: &mut Map<String, Value>, rule: Value) {
    let rules = of.entry("x-kubernetes-validations").or_insert_with(|| json!([]));
    if let Value::Array(rules) = rules {
        rules.push(rule);
    }
}

fn as_json(rule: &Rule) -> Value {
    let mut said = json!({"rule": rule.expression, "message": rule.message});
    if let (false, Value::Object(said)) = (rule.field.is_empty(), &mut said) {
        said.insert("fieldPath".to_owned(), rule.field.into());
    }
    said
}
