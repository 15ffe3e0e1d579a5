//! The response of an instant query, read for the one value that it should have, or for values over a time.
//!
//! # Source
//! [HTTP API](https://prometheus.io/docs/prometheus/latest/querying/api/): format overview, instant queries, expression query result
//! formats.

use crate::redaction::Redaction;
use crate::spec::TemplateError;
use crate::spec::{FiniteNumber, Seconds};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// Longer texts of a server are cut, in characters.
const MAX_TEXT: usize = 300;

/// The reason why a query has no value. It says nothing about a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The driver's file has no metric of that name: nothing is asked.
    #[error("expected metric `{0}` in the driver's file, found none")]
    NotInFile(String),
    /// A value of the driver's file is about another time than a measurement of the rollout: nothing is asked.
    #[error(
        "expected an interval of {expected} for metric `{name}` in the driver's file, as the rollout began with it, found {found}"
    )]
    OtherInterval {
        /// The name of the metric.
        name: String,
        /// That of the record.
        expected: Seconds,
        /// That of the file.
        found: Seconds,
    },
    /// There is no query for a version: nothing is asked.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// No response came.
    #[error("{0}")]
    NoResponse(String),
    /// The server has refused the query, or has failed.
    #[error("Prometheus: {0}")]
    Refused(String),
    /// It is another server, or the response is of another form.
    #[error("expected a response of Prometheus, found {0}")]
    Foreign(String),
    /// No series.
    #[error("expected one value, found none")]
    Empty,
    /// Several series: which one is meant is not known.
    #[error("expected one value, found {0}: an aggregation like `sum(…)` has one")]
    Several(usize),
    /// A value that is no number.
    #[error("expected a number, found {0}")]
    NoNumber(String),
    /// A part of the data may be missing.
    #[error("Prometheus warns: {0}")]
    Warned(String),
}

impl QueryError {
    /// The same error without the secrets that a server may have repeated.
    #[must_use]
    pub fn redacted(self, redaction: &Redaction) -> Self {
        let redact = |text: String| redaction.redact(&text);
        match self {
            Self::NoResponse(text) => Self::NoResponse(redact(text)),
            Self::Refused(text) => Self::Refused(redact(text)),
            Self::Foreign(text) => Self::Foreign(redact(text)),
            Self::NoNumber(text) => Self::NoNumber(redact(text)),
            Self::Warned(text) => Self::Warned(redact(text)),
            Self::NotInFile(_)
            | Self::OtherInterval { .. }
            | Self::Template(_)
            | Self::Empty
            | Self::Several(_) => self,
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum Response {
    Success {
        data: QueryData,
        #[serde(default)]
        warnings: Vec<String>,
    },
    Error {
        #[serde(default, rename = "errorType")]
        kind: String,
        #[serde(default)]
        error: String,
    },
}

#[derive(Deserialize)]
#[serde(tag = "resultType", content = "result", rename_all = "lowercase")]
enum QueryData {
    Vector(Vec<VectorSample>),
    Scalar(TimedValue),
    String(IgnoredAny),
    Matrix(Vec<Series>),
}

#[derive(Deserialize)]
struct VectorSample {
    /// None where the sample is a native histogram.
    value: Option<TimedValue>,
}

/// A series, and its values over a time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Series {
    /// Its labels, `__name__` among them.
    #[serde(rename = "metric")]
    pub labels: BTreeMap<String, String>,
    /// Its values, the oldest first; none where they are native histograms.
    #[serde(default)]
    pub values: Vec<TimedValue>,
}

/// Seconds since 1970-01-01 UTC, and the value as a text: JSON has no NaN.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TimedValue(pub f64, pub String);

/// The one value of a response.
///
/// # Errors
///
/// If it is an error, no response of Prometheus, or has not one value that is a number. A warning is one too, because a part of the data may
/// be missing.
pub fn parse_response(status: u16, body: &[u8]) -> Result<FiniteNumber, QueryError> {
    match data(status, body)? {
        QueryData::Scalar(value) => value.number(),
        QueryData::Vector(samples) => match samples.as_slice() {
            [] => Err(QueryError::Empty),
            [VectorSample { value: Some(value) }] => value.number(),
            [_] => Err(QueryError::NoNumber("a histogram".to_owned())),
            several => Err(QueryError::Several(several.len())),
        },
        QueryData::String(_) => Err(QueryError::NoNumber("a text".to_owned())),
        QueryData::Matrix(_) => Err(QueryError::NoNumber("values over a time".to_owned())),
    }
}

/// The series of a response whose query asks for values over a time: `metric[1m]`.
///
/// # Errors
///
/// As [`parse_response`], and if the result has another form.
pub fn parse_series(status: u16, body: &[u8]) -> Result<Vec<Series>, QueryError> {
    match data(status, body)? {
        QueryData::Matrix(series) => Ok(series),
        _ => Err(QueryError::Foreign("no values over a time".to_owned())),
    }
}

/// The data of a response.
fn data(status: u16, body: &[u8]) -> Result<QueryData, QueryError> {
    let response = serde_json::from_slice::<Response>(body).map_err(|_| match status {
        200..=299 => QueryError::Foreign(format!("status {status} and another text")),
        _ => QueryError::Foreign(format!("status {status}")),
    })?;
    match response {
        Response::Success { .. } if !(200..=299).contains(&status) => {
            Err(QueryError::Foreign(format!("status {status}")))
        }
        Response::Success { warnings, .. } if !warnings.is_empty() => {
            Err(QueryError::Warned(bounded(&warnings.join("; "))))
        }
        Response::Success { data, .. } => Ok(data),
        Response::Error { kind, error } => Err(QueryError::Refused(bounded(&format!("{kind}: {error}")))),
    }
}

impl TimedValue {
    /// Prometheus writes `NaN`, `+Inf` and `-Inf`.
    fn number(&self) -> Result<FiniteNumber, QueryError> {
        let number = self.1.parse::<f64>().ok().and_then(FiniteNumber::new);
        number.ok_or_else(|| QueryError::NoNumber(bounded(&self.1)))
    }
}

/// A text of a server in one line, without an end that nobody reads.
fn bounded(text: &str) -> String {
    let shown = |character: char| if character.is_control() { ' ' } else { character };
    let mut cut: String = text.chars().take(MAX_TEXT).map(shown).collect();
    if text.chars().nth(MAX_TEXT).is_some() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parsed(status: u16, body: &Value) -> Result<f64, String> {
        let found = parse_response(status, body.to_string().as_bytes());
        found.map(FiniteNumber::get).map_err(|error| error.to_string())
    }

    fn vector(values: &[&str]) -> Value {
        let sample = |value: &&str| json!({"metric": {"version": "v2"}, "value": [1_435_781_451.781, value]});
        let result: Vec<Value> = values.iter().map(sample).collect();
        json!({"status": "success", "data": {"resultType": "vector", "result": result}})
    }

    #[test]
    fn one_value_is_read_as_a_vector_of_one_and_as_a_scalar() {
        assert_eq!(parsed(200, &vector(&["99.5"])), Ok(99.5));
        let scalar =
            json!({"status": "success", "data": {"resultType": "scalar", "result": [1_435_781_451, "1e-3"]}});
        assert_eq!(parsed(200, &scalar), Ok(0.001));
        let mut infos = vector(&["1"]);
        infos["infos"] = json!(["PromQL info: metric might not be a counter"]);
        infos["data"]["stats"] = json!({});
        assert_eq!(parsed(200, &infos), Ok(1.0), "an information is no warning");
    }

    #[test]
    fn nothing_else_is_a_value_and_each_says_why() {
        let of = |kind: &str, result: Value| json!({"status": "success", "data": {"resultType": kind, "result": result}});
        let histogram = json!([{"metric": {}, "histogram": [1, {"count": "4"}]}]);
        let mut partial = vector(&["1"]);
        partial["warnings"] = json!(["store 10.0.0.7 is away"]);
        for (status, body, reason) in [
            (200, vector(&[]), "expected one value, found none"),
            (200, vector(&["1", "2"]), "expected one value, found 2: an aggregation like `sum(…)` has one"),
            (200, vector(&["NaN"]), "expected a number, found NaN"),
            (200, vector(&["+Inf"]), "expected a number, found +Inf"),
            (200, of("vector", histogram), "expected a number, found a histogram"),
            (200, of("matrix", json!([])), "expected a number, found values over a time"),
            (200, of("string", json!([1, "x"])), "expected a number, found a text"),
            (200, partial, "Prometheus warns: store 10.0.0.7 is away"),
            (
                200,
                json!({"hello": 1}),
                "expected a response of Prometheus, found status 200 and another text",
            ),
            (502, json!("Bad Gateway"), "expected a response of Prometheus, found status 502"),
            (503, vector(&["1"]), "expected a response of Prometheus, found status 503"),
            (
                400,
                json!({"status": "error", "errorType": "bad_data", "error": "1:3: parse error\nat x"}),
                "Prometheus: bad_data: 1:3: parse error at x",
            ),
        ] {
            assert_eq!(parsed(status, &body), Err(reason.to_owned()), "{status} {body}");
        }
    }

    #[test]
    fn values_over_a_time_are_read_with_their_times() {
        let series = json!([{"metric": {"__name__": "up", "pod": "a"}, "values": [[1.5, "0"], [2, "1"]]}]);
        let body =
            json!({"status": "success", "data": {"resultType": "matrix", "result": series}}).to_string();
        let found = parse_series(200, body.as_bytes()).unwrap();
        assert_eq!(found[0].labels["pod"], "a");
        assert_eq!(found[0].values, [TimedValue(1.5, "0".to_owned()), TimedValue(2.0, "1".to_owned())]);
        let other = parse_series(200, vector(&["1"]).to_string().as_bytes()).unwrap_err();
        assert_eq!(other.to_string(), "expected a response of Prometheus, found no values over a time");
    }

    #[test]
    fn a_long_text_of_a_server_is_cut() {
        let error = json!({"status": "error", "errorType": "execution", "error": "x".repeat(10_000)});
        assert!(parsed(422, &error).unwrap_err().chars().count() < MAX_TEXT + 20);
    }
}
