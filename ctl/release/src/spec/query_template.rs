//! `PromQL` with variables in double braces, as Flagger's `MetricTemplate` has them, and queries for Istio's standard metrics.
//!
//! # Source
//! [Istio standard metrics](https://istio.io/latest/docs/reference/config/metrics/): `istio_requests_total`,
//! `istio_request_duration_milliseconds` and their labels.

use crate::spec::{FiniteNumber, Seconds};
use std::fmt::Write as _;

/// The variable that differs between the queries for canary and stable.
pub(crate) const VERSION: &str = "version";

/// `PromQL` with variables: `{{ namespace }}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryTemplate<'t>(pub &'t str);

/// A variable that is none.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// One that does not end.
    #[error("expected `}}}}` after `{{{{`, found none")]
    Open,
    #[error("expected a variable of {}, found `{name}`", known.join(", "))]
    Unknown {
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A version that is no label value: in a query it could be more than a text.
    #[error("expected a version of letters, digits, `-`, `_` and `.`, found `{0}`")]
    Version(String),
}

impl QueryTemplate<'_> {
    /// The query with values for variables; `{{ version }}` stays where no value of it is given.
    ///
    /// # Errors
    ///
    /// If there is no such variable, or one does not end.
    pub fn fill(&self, values: &[(&str, &str)]) -> Result<String, TemplateError> {
        let mut filled = String::new();
        let mut rest = self.0;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").ok_or(TemplateError::Open)?;
            filled.push_str(before);
            match values.iter().find(|(known, _)| *known == name.trim()) {
                Some((_, value)) => filled.push_str(value),
                None if name.trim() == VERSION => filled.push_str("{{ version }}"),
                None => return Err(unknown(name.trim(), values)),
            }
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// The query for one version.
    ///
    /// # Errors
    ///
    /// If the version is no label value, or there is another variable.
    pub fn for_version(&self, version: &str) -> Result<String, TemplateError> {
        // A version may come from a record; who can write that must not write the query.
        if version.bytes().all(is_of_label_value) {
            self.fill(&[(VERSION, version)])
        } else {
            Err(TemplateError::Version(version.to_owned()))
        }
    }

    /// Whether it differs between versions.
    pub fn names_version(&self) -> bool {
        self.for_version("a") != self.for_version("b")
    }
}

const fn is_of_label_value(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

fn unknown(name: &str, values: &[(&str, &str)]) -> TemplateError {
    let known = values.iter().map(|(known, _)| *known).chain([VERSION]);
    TemplateError::Unknown { name: name.to_owned(), known: known.map(|name| format!("`{name}`")).collect() }
}

/// A query that needs no `PromQL`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IstioMetric {
    /// The share of requests without a status of 500 to 599, in percent.
    RequestSuccessRate,
    /// The time until the last byte of a response, in milliseconds: the quantile of that number, between 0 and 1.
    RequestDuration(FiniteNumber),
}

/// Whose counters are read: requests are counted where they are sent and where they arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reporter {
    /// The proxies that send them: gateways, and sidecars of callers. They know what has not reached a pod.
    #[default]
    Source,
    /// The sidecars of the pods.
    Destination,
    /// Waypoints of an ambient mesh.
    Waypoint,
}

/// Labels of pods from which Istio takes the version that its metrics name, each with the label of the metric. `version` comes last: it counts
/// where a pod has no other.
const VERSION_LABELS: [(&str, &str); 3] = [
    ("service.istio.io/canonical-revision", "destination_canonical_revision"),
    ("app.kubernetes.io/version", "destination_canonical_revision"),
    ("version", "destination_version"),
];

/// The labels of pods that Istio's metrics know as a version.
pub(crate) const ISTIO_VERSION_LABELS: &str =
    "`version`, `app.kubernetes.io/version` and `service.istio.io/canonical-revision`";

impl IstioMetric {
    /// The template of its query for pods whose version is in that label; `None` if Istio's metrics do not know it. Fewer requests than
    /// `min_requests` in the time have no result.
    pub fn template(self, version_label: &str, reporter: Reporter, min_requests: u64) -> Option<String> {
        let (_, label) = VERSION_LABELS.into_iter().find(|(of_pods, _)| *of_pods == version_label)?;
        let reporter = match reporter {
            Reporter::Source => "source",
            Reporter::Destination => "destination",
            Reporter::Waypoint => "waypoint",
        };
        let labels = format!(
            "reporter=\"{reporter}\",destination_service_namespace=\"{{{{ namespace }}}}\",\
             destination_service_name=\"{{{{ service }}}}\",{label}=\"{{{{ version }}}}\""
        );
        let enough = |counter: &str| {
            format!("sum(increase({counter}{{{labels}}}[{{{{ interval }}}}])) >= {min_requests}")
        };
        let mut query = String::new();
        // Writing into a text does not fail.
        let _ = match self {
            // A version that only fails has no series of successes, so failures are counted.
            Self::RequestSuccessRate => write!(
                query,
                "100 * (1 - (sum(rate(istio_requests_total{{{labels},response_code=~\"5..\"}}[{{{{ interval }}}}])) or vector(0)) \
                 / (sum(rate(istio_requests_total{{{labels}}}[{{{{ interval }}}}])) and {}))",
                enough("istio_requests_total")
            ),
            Self::RequestDuration(quantile) => write!(
                query,
                "histogram_quantile({}, sum by (le) \
                 (rate(istio_request_duration_milliseconds_bucket{{{labels}}}[{{{{ interval }}}}]))) and {}",
                quantile.get(),
                enough("istio_request_duration_milliseconds_count")
            ),
        };
        Some(query)
    }
}

/// The values of the variables that do not depend on the version.
pub(crate) struct QueryVariables<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) release: &'a str,
    pub(crate) service: &'a str,
    pub(crate) interval: Seconds,
}

impl QueryVariables<'_> {
    /// A template in which only `{{ version }}` is left.
    pub(crate) fn fill(&self, template: &str) -> Result<String, TemplateError> {
        let interval = self.interval.to_string();
        QueryTemplate(template).fill(&[
            ("namespace", self.namespace),
            ("release", self.release),
            ("service", self.service),
            ("interval", &interval),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> QueryVariables<'static> {
        QueryVariables { namespace: "shop", release: "web", service: "shop-svc", interval: Seconds::MINUTE }
    }

    #[test]
    fn variables_are_filled_in_and_the_version_last() {
        let template = "sum(rate(x{ns=\"{{ namespace }}\", r=\"{{release}}\", s=\"{{ service }}\", v=\"{{version}}\"}[{{ interval }}]))";
        let filled = variables().fill(template).unwrap();
        assert_eq!(filled, "sum(rate(x{ns=\"shop\", r=\"web\", s=\"shop-svc\", v=\"{{ version }}\"}[1m]))");
        let template = QueryTemplate(&filled);
        assert!(template.names_version());
        assert!(template.for_version("v2").unwrap().contains("v=\"v2\""));
        assert!(!QueryTemplate("up{a=\"b\"}").names_version());
    }

    #[test]
    fn an_unknown_variable_and_one_that_does_not_end_are_errors_that_name_it() {
        let error = variables().fill("up{a=\"{{ target }}\"}").unwrap_err().to_string();
        assert_eq!(
            error,
            "expected a variable of `namespace`, `release`, `service`, `interval`, `version`, found `target`"
        );
        let open = variables().fill("up{a=\"{{ target\"}").unwrap_err().to_string();
        assert_eq!(open, "expected `}}` after `{{`, found none");
    }

    #[test]
    fn a_version_is_no_more_than_a_text_in_a_query() {
        let template = QueryTemplate("latency{version=\"{{ version }}\"}");
        assert_eq!(template.for_version("2026.11_A-1").unwrap(), "latency{version=\"2026.11_A-1\"}");
        for version in ["v2\"} or revenue{a=\"", "v2'", "v2`", "v2\\", "v2 or up", "{{ version }}"] {
            let error = template.for_version(version).unwrap_err();
            assert_eq!(error, TemplateError::Version(version.to_owned()));
        }
    }

    #[test]
    fn the_metrics_of_istio_name_the_version_as_the_label_of_the_pods_says() {
        let metric = IstioMetric::RequestSuccessRate;
        let of = |label| metric.template(label, Reporter::Source, 30);
        assert!(of("version").unwrap().contains("destination_version=\"{{ version }}\""));
        let canonical = of("app.kubernetes.io/version").unwrap();
        assert!(canonical.contains("destination_canonical_revision=\"{{ version }}\""), "{canonical}");
        assert_eq!(of("track"), None);
    }

    #[test]
    fn the_query_of_a_success_rate_is_complete() {
        let query = IstioMetric::RequestSuccessRate.template("version", Reporter::Destination, 30).unwrap();
        let labels = "reporter=\"destination\",destination_service_namespace=\"shop\",destination_service_name=\"shop-svc\",destination_version=\"v2\"";
        let expected = format!(
            "100 * (1 - (sum(rate(istio_requests_total{{{labels},response_code=~\"5..\"}}[1m])) or vector(0)) / \
             (sum(rate(istio_requests_total{{{labels}}}[1m])) and sum(increase(istio_requests_total{{{labels}}}[1m])) >= 30))"
        );
        let filled = variables().fill(&query).unwrap();
        assert_eq!(QueryTemplate(&filled).for_version("v2"), Ok(expected));
    }
}
