//! `rollout.prometheus` and `rollout.metrics`.

use super::build::{
    duration, integer, label, list, mapping, number, optional, pattern, required, set, text, words,
};
use super::rollout::{URL, one_of, optional_secret_source};
use crate::spec::read::analysis::{MAX_FAILURE_THRESHOLD, MAX_METRICS, PRESETS, REPORTERS};
use serde_json::{Value, json};

pub(super) fn prometheus() -> Value {
    let token = optional_secret_source("Where the bearer token stands that it asks for: one of these.");
    mapping(
        "A server with the HTTP API of Prometheus, which answers the queries of `metrics`.",
        vec![
            required("address", pattern("Its URL, with the path before `/api/v1` if it has one.", URL)),
            optional("bearerTokenFrom", token),
        ],
    )
}

/// The least and the greatest value.
fn bounds(description: &str) -> Value {
    let fields = vec![
        optional("min", number("The least one that is as expected.")),
        optional("max", number("The greatest one that is as expected.")),
    ];
    mapping(description, fields)
}

pub(super) fn metrics() -> Value {
    let mut metric = mapping(
        "A query, and what is expected of its value.",
        vec![
            required("name", label("Its name, once in a release.")),
            optional("preset", words("A query on Istio's standard metrics.", &PRESETS)),
            optional(
                "query",
                text(
                    "PromQL with one value; variables: {{ namespace }}, {{ release }}, {{ service }}, {{ version }}, {{ interval }}.",
                ),
            ),
            optional(
                "interval",
                duration(
                    "The time between two measurements, and that each is about (default: 1m, at least 10s).",
                ),
            ),
            optional(
                "failureThreshold",
                integer(
                    "So many measurements in a row fail before the canary has failed (default: 3).",
                    1,
                    Some(MAX_FAILURE_THRESHOLD.into()),
                ),
            ),
            optional("min", number("The least value of the canary that is as expected.")),
            optional("max", number("The greatest value of the canary that is as expected.")),
            optional("ratio", bounds("The canary's value divided by stable's.")),
            optional("difference", bounds("The canary's value minus stable's.")),
            optional("quantile", number("Of `request-duration` (default: 0.99).")),
            optional(
                "reporter",
                words("Of a preset: who counts the requests (default: source).", &REPORTERS),
            ),
            optional(
                "minRequests",
                integer("Of a preset: fewer requests in an interval have no result (default: 30).", 1, None),
            ),
        ],
    );
    set(&mut metric, "oneOf", one_of(&["preset", "query"]));
    let mut metrics = list("What a rollout asks Prometheus.", metric);
    set(&mut metrics, "maxItems", json!(MAX_METRICS));
    metrics
}
