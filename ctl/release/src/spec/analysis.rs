//! What a rollout asks a Prometheus server, and what it expects of the values.

use super::{Seconds, SecretSource, SecretUrl};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The queries of a rollout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnalysisSpec {
    /// The server that answers them. A driver takes it from its own file and never from a record: who writes records must not choose to whom a token is
    /// sent.
    pub prometheus: Option<PrometheusServer>,
    /// The expected range of their values.
    pub metrics: Vec<RolloutMetric>,
    /// The queries, by the name of the metric.
    pub queries: BTreeMap<String, MetricQuery>,
}

/// The query of a metric. A driver has it from its own file and never from a record: who may write records must not choose what a server is
/// asked with the driver's token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricQuery {
    /// `PromQL` whose result is one value, with `{{ version }}` for the version that it is about.
    pub template: String,
    /// The time that a value is about: that of `{{ interval }}`.
    pub interval: Seconds,
}

/// A server with the HTTP API of Prometheus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrometheusServer {
    /// Its address.
    pub address: ServerAddress,
    /// The source of the bearer token.
    pub bearer_token_from: Option<SecretSource>,
}

/// The address of a server with a path before that of its API, without a slash at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress(String);

/// The text is no address. It is not repeated: it may have a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a URL without a user, a query and a fragment that begins with `https://` or `http://`, found another text"
)]
pub struct AddressError;

/// A metric as the record keeps it: what is expected of its value for the canary. The query is not here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "RecordedMetric")]
pub struct RolloutMetric {
    /// Its name, once in a release.
    pub name: String,
    /// The least time between two measurements, and the time that each is about.
    pub interval: Seconds,
    /// So many measurements in a row fail before the canary has failed.
    pub failure_threshold: u32,
    /// The range of the canary's value.
    #[serde(default, skip_serializing_if = "MetricBounds::is_empty")]
    pub canary: MetricBounds,
    /// The range of the canary's value divided by stable's.
    #[serde(default, skip_serializing_if = "MetricBounds::is_empty")]
    pub ratio: MetricBounds,
    /// The range of the canary's value minus stable's.
    #[serde(default, skip_serializing_if = "MetricBounds::is_empty")]
    pub difference: MetricBounds,
}

/// The same as records have it. Those of earlier versions have the query, too, which is dropped.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RecordedMetric {
    name: String,
    interval: Seconds,
    failure_threshold: u32,
    #[serde(default)]
    canary: MetricBounds,
    #[serde(default)]
    ratio: MetricBounds,
    #[serde(default)]
    difference: MetricBounds,
    #[serde(default, rename = "query")]
    _query: IgnoredAny,
}

/// The least and the greatest value, both allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricBounds {
    /// The least one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<FiniteNumber>,
    /// The greatest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<FiniteNumber>,
}

/// A number that is one: neither infinite nor NaN.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct FiniteNumber(f64);

/// The text is no such number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a number like `99` or `0.5`, found `{0}`")]
pub struct NumberError(String);

impl RolloutMetric {
    /// Measurements in a row that fail, where the file says no number.
    pub(super) const FAILURE_THRESHOLD: u32 = 3;
    /// Time between two measurements, where the file says none.
    pub(super) const INTERVAL: Seconds = Seconds::MINUTE;

    /// Whether stable's value is needed.
    pub const fn compares(&self) -> bool {
        !(self.ratio.is_empty() && self.difference.is_empty())
    }
}

impl From<RecordedMetric> for RolloutMetric {
    fn from(recorded: RecordedMetric) -> Self {
        let RecordedMetric { name, interval, failure_threshold, canary, ratio, difference, .. } = recorded;
        Self { name, interval, failure_threshold, canary, ratio, difference }
    }
}

impl MetricBounds {
    /// Whether any value is allowed.
    pub const fn is_empty(&self) -> bool {
        self.min.is_none() && self.max.is_none()
    }
}

impl FiniteNumber {
    /// A number; `None` if it is infinite or NaN.
    pub const fn new(number: f64) -> Option<Self> {
        if number.is_finite() { Some(Self(number)) } else { None }
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

// Without NaN it is an equivalence.
impl Eq for FiniteNumber {}

impl FromStr for FiniteNumber {
    type Err = NumberError;
    fn from_str(text: &str) -> Result<Self, NumberError> {
        let is_written_in_digits = text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
        let number = text.parse().ok().filter(|_| is_written_in_digits).and_then(Self::new);
        number.ok_or_else(|| NumberError(text.to_owned()))
    }
}

impl TryFrom<f64> for FiniteNumber {
    type Error = NumberError;
    fn try_from(number: f64) -> Result<Self, NumberError> {
        Self::new(number).ok_or_else(|| NumberError(number.to_string()))
    }
}

impl From<FiniteNumber> for f64 {
    fn from(number: FiniteNumber) -> Self {
        number.0
    }
}

impl fmt::Display for FiniteNumber {
    /// With at most four digits after the point: `812`, `0.0123`; vast and tiny ones by their power of ten.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = (self.0 * 1e4).round() / 1e4;
        let is_tiny = rounded == 0.0 && self.0 != 0.0;
        if is_tiny || self.0.abs() >= 1e15 {
            write!(f, "{:e}", self.0)
        } else {
            // Adding 0 makes -0 to 0.
            write!(f, "{}", rounded + 0.0)
        }
    }
}

impl ServerAddress {
    /// The URL of something below it.
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

impl FromStr for ServerAddress {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let url: SecretUrl = text.parse().map_err(|_| AddressError)?;
        let text = url.expose().trim_end_matches('/');
        if text.contains(['?', '#']) { Err(AddressError) } else { Ok(Self(text.to_owned())) }
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_in_digits_and_finite() {
        for (text, number) in [("99", 99.0), ("-0.5", -0.5), ("1e3", 1000.0), ("+.5", 0.5), ("7.", 7.0)] {
            assert_eq!(text.parse::<FiniteNumber>().map(FiniteNumber::get), Ok(number), "{text}");
        }
        for text in ["", "inf", "NaN", "1e999", "5%", "0x10", "1_000", " 1", "e", "."] {
            assert!(text.parse::<FiniteNumber>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_is_printed_as_people_read_it() {
        let printed = |number| FiniteNumber::new(number).unwrap().to_string();
        assert_eq!(
            [812.0, 0.012_345, 99.999_99, -0.0, 0.000_001, 1e300].map(printed),
            ["812", "0.0123", "100", "0", "1e-6", "1e300"]
        );
    }

    #[test]
    fn an_address_may_have_a_path_and_neither_user_nor_query() {
        for (text, url) in [
            ("http://prometheus:9090", "http://prometheus:9090/api/v1/query"),
            (
                "https://metrics.example.com/prometheus/",
                "https://metrics.example.com/prometheus/api/v1/query",
            ),
        ] {
            assert_eq!(
                text.parse::<ServerAddress>().map(|address| address.join("/api/v1/query")),
                Ok(url.to_owned())
            );
        }
        for text in
            ["prometheus:9090", "http://ada:secret@p/", "http://p/?x=1", "http://p/#x", "ftp://p", "http://"]
        {
            assert_eq!(text.parse::<ServerAddress>(), Err(AddressError), "{text}");
        }
    }
}
