//! `spec.rollout.prometheus` and `spec.rollout.metrics`: what is asked, and what is expected.

use super::rollout::checked;
use super::secret_source::secret_source;
use crate::spec::{
    AnalysisSpec, FiniteNumber, ISTIO_VERSION_LABELS, IstioMetric, Label, MetricBounds, MetricQuery,
    PrometheusServer, QueryTemplate, QueryVariables, ReleaseName, Reporter, RolloutMetric, Seconds,
    ServerAddress, Service, Versions,
};
use placed_yaml::{Node, Section};

/// Each one is two requests in its interval.
pub(in crate::spec) const MAX_METRICS: usize = 10;
/// A request has them in its address.
pub(crate) const MAX_QUERY: usize = 4_096;
/// Prometheus scrapes each 15 s to a minute, and a rate needs two samples.
const MIN_INTERVAL: u64 = 10;
/// More in a row are no safeguard any more.
pub(in crate::spec) const MAX_FAILURE_THRESHOLD: u32 = 100;
/// Requests of the canary in an interval, as many as the default of `minResponses` asks for in a step of ten minutes.
const MIN_REQUESTS: u64 = 30;
/// Flagger's `request-duration` is this one.
const QUANTILE: f64 = 0.99;

/// A query of Istio's metrics without `PromQL`; the names are Flagger's.
#[derive(Clone, Copy, Debug)]
pub(in crate::spec) enum Preset {
    SuccessRate,
    Duration,
}

pub(in crate::spec) const PRESETS: [(&str, Preset); 2] =
    [("request-success-rate", Preset::SuccessRate), ("request-duration", Preset::Duration)];
pub(in crate::spec) const REPORTERS: [(&str, Reporter); 3] =
    [("source", Reporter::Source), ("destination", Reporter::Destination), ("waypoint", Reporter::Waypoint)];

/// The subject of queries: empty texts if the file does not say it, which is a fault elsewhere.
#[derive(Clone, Copy)]
pub(super) struct MetricSubject<'r> {
    pub(super) namespace: &'r str,
    pub(super) release: &'r str,
    service: &'r str,
    version_label: &'r str,
}

impl<'r> MetricSubject<'r> {
    pub(super) fn of(
        name: Option<&'r ReleaseName>,
        service: Option<&'r Service>,
        versions: Option<&'r Versions>,
    ) -> Self {
        Self {
            namespace: name.map_or("", |name| name.namespace.as_str()),
            release: name.map_or("", |name| name.name.as_str()),
            service: service.map_or("", |service| service.name.as_str()),
            version_label: versions.map_or("version", |versions| &versions.label),
        }
    }
}

/// Reads them. Faults are recorded, and a metric with one is left out.
pub(super) fn analysis(rollout: &mut Section<'_>, subject: &MetricSubject<'_>) -> AnalysisSpec {
    let prometheus = rollout.section("prometheus").map(server);
    let items = rollout.list("metrics").unwrap_or_default();
    if let Some((_, node)) = items.get(MAX_METRICS) {
        let message = format!("expected at most {MAX_METRICS} metrics, found {}", items.len());
        rollout.fault(node.place, message, None);
    }
    if let Some((_, node)) = items.first().filter(|_| prometheus.is_none()) {
        let hint = "say where it is: `prometheus: {address: \"http://prometheus.monitoring:9090\"}`";
        let message = "expected `rollout.prometheus` beside `rollout.metrics`, found none";
        rollout.fault(node.place, message, Some(hint.to_owned()));
    }
    let mut spec = AnalysisSpec { prometheus: prometheus.flatten(), ..AnalysisSpec::default() };
    for (path, node) in items {
        let Some((metric, query)) = metric(Section::new(rollout.faults(), path, node), node, subject) else {
            continue;
        };
        if spec.metrics.iter().any(|other| other.name == metric.name) {
            let message = format!("expected a metric of another name, found `{}` twice", metric.name);
            rollout.fault(node.place, message, None);
        }
        spec.queries.insert(metric.name.clone(), query);
        spec.metrics.push(metric);
    }
    spec
}

fn server(mut section: Section<'_>) -> Option<PrometheusServer> {
    let address = section.required_parsed::<ServerAddress>("address");
    let token = section.section("bearerTokenFrom").map(secret_source);
    section.finish();
    // A place that has a fault is not left out: without a token it would be another server.
    let bearer_token_from = match token {
        Some(source) => Some(source?),
        None => None,
    };
    Some(PrometheusServer { address: address?, bearer_token_from })
}

fn metric(
    mut section: Section<'_>,
    node: &Node,
    subject: &MetricSubject<'_>,
) -> Option<(RolloutMetric, MetricQuery)> {
    let name = section.required_parsed::<Label>("name");
    let interval =
        checked(&mut section, "interval", "at least 10s", |time: &Seconds| time.get() >= MIN_INTERVAL)
            .unwrap_or(RolloutMetric::INTERVAL);
    let template = template(&mut section, node, subject, interval);
    let failure_threshold = checked(&mut section, "failureThreshold", "1 to 100", |count: &u32| {
        (1..=MAX_FAILURE_THRESHOLD).contains(count)
    })
    .unwrap_or(RolloutMetric::FAILURE_THRESHOLD);
    let canary = bounds(&mut section);
    let [ratio, difference] = ["ratio", "difference"].map(|field| {
        let inner = section.section(field);
        inner.map(|mut inner| {
            let bounds = bounds(&mut inner);
            expect_one(&mut inner, &["min", "max"]);
            inner.finish();
            bounds
        })
    });
    let (ratio, difference) = (ratio.unwrap_or_default(), difference.unwrap_or_default());
    let name = name.map(|name| name.to_string()).unwrap_or_default();
    let metric = RolloutMetric { name, interval, failure_threshold, canary, ratio, difference };
    expect_one(&mut section, &["min", "max", "ratio", "difference"]);
    expect_version(&section, node, &metric, template.as_deref());
    section.finish();
    let query = MetricQuery { template: template.filter(|text| !text.is_empty())?, interval };
    (!metric.name.is_empty()).then_some((metric, query))
}

/// The query, with a value for every variable but the version.
fn template(
    section: &mut Section<'_>,
    node: &Node,
    subject: &MetricSubject<'_>,
    interval: Seconds,
) -> Option<String> {
    let preset = section.node("preset").map(|node| section.chosen(node, &PRESETS));
    let written = section.node("query");
    let (template, place) = match (preset, written) {
        (Some(preset), None) => (istio_metric(section, node, preset?, subject.version_label)?, node.place),
        (None, Some(written)) => {
            only_beside_a_preset(section);
            (section.scalar(written)?.trim().to_owned(), written.place)
        }
        (preset, _) => {
            let found = if preset.is_some() { "both" } else { "neither" };
            section.fault(node.place, format!("expected `preset` or `query`, found {found}"), None);
            only_beside_a_preset(section);
            return None;
        }
    };
    if !(1..=MAX_QUERY).contains(&template.len()) {
        let message = format!("expected 1 to {MAX_QUERY} bytes of PromQL, found {}", template.len());
        section.fault(place, message, None);
    }
    let MetricSubject { namespace, release, service, .. } = *subject;
    let filled = QueryVariables { namespace, release, service, interval }.fill(&template);
    filled.map_err(|error| section.fault(place, error.to_string(), None)).ok()
}

/// The query of a preset, with its settings.
fn istio_metric(
    section: &mut Section<'_>,
    node: &Node,
    preset: Preset,
    version_label: &str,
) -> Option<String> {
    let reporter = section.choice("reporter", &REPORTERS).unwrap_or_default();
    let min_requests = checked(section, "minRequests", "at least 1", |count: &u64| *count > 0);
    let quantile = checked(section, "quantile", "more than 0 and less than 1", |quantile: &FiniteNumber| {
        quantile.get() > 0.0 && quantile.get() < 1.0
    });
    let metric = match preset {
        Preset::SuccessRate => {
            if quantile.is_some() {
                section.fault(
                    node.place,
                    "expected `quantile` beside `preset: request-duration` alone",
                    None,
                );
            }
            IstioMetric::RequestSuccessRate
        }
        Preset::Duration => IstioMetric::RequestDuration(quantile.or_else(|| FiniteNumber::new(QUANTILE))?),
    };
    let template = metric.template(version_label, reporter, min_requests.unwrap_or(MIN_REQUESTS));
    if template.is_none() {
        let message = format!(
            "expected `query` for pods whose `versions.label` is `{version_label}`: Istio's metrics know {ISTIO_VERSION_LABELS} alone"
        );
        section.fault(node.place, message, None);
    }
    template
}

/// The settings of a preset are no variables of a query.
fn only_beside_a_preset(section: &mut Section<'_>) {
    for field in ["reporter", "minRequests", "quantile"] {
        if let Some(node) = section.node(field) {
            let message = format!("expected `{field}` beside `preset`, found it beside `query`");
            section.fault(node.place, message, None);
        }
    }
}

fn bounds(section: &mut Section<'_>) -> MetricBounds {
    let node = section.place();
    let bounds = MetricBounds { min: section.parsed("min"), max: section.parsed("max") };
    if let (Some(min), Some(max)) = (bounds.min, bounds.max)
        && min > max
    {
        section.fault(node, format!("expected `min` of at most `max`, found {min} and {max}"), None);
    }
    bounds
}

/// Without a bound every value would be as expected.
fn expect_one(section: &mut Section<'_>, fields: &[&'static str]) {
    if !fields.iter().any(|field| section.node(field).is_some()) {
        let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
        let message = format!("expected at least one of {}, found none", fields.join(", "));
        section.fault(section.place(), message, None);
    }
}

/// Versions are compared only where the query tells them apart.
fn expect_version(section: &Section<'_>, node: &Node, metric: &RolloutMetric, template: Option<&str>) {
    let template = template.filter(|text| !text.is_empty());
    let is_same_for_both = template.is_some_and(|text| !QueryTemplate(text).names_version());
    if metric.compares() && is_same_for_both {
        let message = "expected `{{ version }}` in a query whose values are compared, found none";
        section.fault(node.place, message, None);
    }
}
