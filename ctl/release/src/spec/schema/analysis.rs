//! `rollout.prometheus` and `rollout.metrics`.

use super::build::{
    duration, integer, label, list, mapping, number, optional, pattern, required, set, text, words,
};
use super::rollout::{URL, one_of, optional_secret_source};
use crate::spec::read::analysis::{MAX_FAILURE_THRESHOLD, MAX_METRICS, PRESETS, REPORTERS};
use serde_json::{Value, json};

pub(super) fn prometheus() -> Value {
    let token = optional_secret_source("Source of the bearer token; exactly one of:");
    mapping(
        "Server with the HTTP API of Prometheus. It evaluates the queries of `metrics`.",
        vec![
            required(
                "address",
                pattern("URL of the server, with the path before `/api/v1` if there is one.", URL),
            ),
            optional("bearerTokenFrom", token),
        ],
    )
}

/// The least and the greatest value.
fn bounds(description: &str) -> Value {
    let fields = vec![
        optional("min", number("Smallest expected value.")),
        optional("max", number("Largest expected value.")),
    ];
    mapping(description, fields)
}

pub(super) fn metrics() -> Value {
    let mut metric = mapping(
        "Query, and the expected range of its value.",
        vec![
            required("name", label("Name, unique in the release.")),
            optional("preset", words("Predefined query on Istio's standard metrics.", &PRESETS)),
            optional(
                "query",
                text(
                    "PromQL query with one value. Variables: {{ namespace }}, {{ release }}, {{ service }}, {{ version }}, {{ interval }}.",
                ),
            ),
            optional(
                "interval",
                duration(
                    "Time between two measurements, and the time range of each (default: 1m, at least 10s).",
                ),
            ),
            optional(
                "failureThreshold",
                integer(
                    "Consecutive failed measurements after which the canary has failed (default: 3).",
                    1,
                    Some(MAX_FAILURE_THRESHOLD.into()),
                ),
            ),
            optional("min", number("Smallest expected value of the canary.")),
            optional("max", number("Largest expected value of the canary.")),
            optional("ratio", bounds("Expected range of the canary's value divided by stable's.")),
            optional("difference", bounds("Expected range of the canary's value minus stable's.")),
            optional("quantile", number("Quantile of `request-duration` (default: 0.99).")),
            optional(
                "reporter",
                words("For a preset: the proxy that counts the requests (default: source).", &REPORTERS),
            ),
            optional(
                "minRequests",
                integer(
                    "For a preset: smallest number of requests in an interval with a result (default: 30).",
                    1,
                    None,
                ),
            ),
        ],
    );
    set(&mut metric, "oneOf", one_of(&["preset", "query"]));
    let mut metrics = list("Prometheus queries of a rollout.", metric);
    set(&mut metrics, "maxItems", json!(MAX_METRICS));
    metrics
}
