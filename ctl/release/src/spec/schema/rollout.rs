//! `rollout`.

use super::build::{
    LABEL, SchemaField, duration, flag, integer, list, map_of, mapping, optional, pattern, percentage,
    required, set, slower_than, text, words,
};
use crate::spec::read::alerts::{FORMATS, MAX_RECEIVERS, SEVERITIES};
use crate::spec::read::dependencies::MAX_DEPENDENCIES;
use crate::spec::read::rollout::{FAILURE_ACTIONS, GATES, MAX_STEPS, SUCCESS_ACTIONS};
use serde_json::{Value, json};

pub(super) fn rollout() -> Value {
    let plans = [optional("plans", plans())];
    let fields = [
        optional(
            "onFailure",
            words("What is done when the canary is worse (default: rollback).", &FAILURE_ACTIONS),
        ),
        optional(
            "onSuccess",
            words("What is done after the last step (default: promote).", &SUCCESS_ACTIONS),
        ),
        optional(
            "deadline",
            duration(
                "The longest time from the start to the end (default: 24h). Past it a canary that nothing speaks against takes no new users, \
                 and its sessions finish.",
            ),
        ),
        optional(
            "expiresIn",
            duration(
                "After this time without a driver the weight ends by itself (default: 1h, at least 30s).",
            ),
        ),
        optional(
            "stalledAfter",
            duration(
                "Send a `stalled` alert when the rollout has made no progress for this long (default: 10m).",
            ),
        ),
        optional("windows", super::windows::windows()),
        optional("dependsOn", dependencies()),
        optional("alerts", alerts()),
        optional("prometheus", super::analysis::prometheus()),
        optional("metrics", super::analysis::metrics()),
        optional("hooks", super::hooks::hooks()),
        optional("observe", flag("Whether the rollout only says what it would do (default: false).")),
    ];
    let fields = plans.into_iter().chain(criteria()).chain(fields).collect();
    mapping("How a release goes from its first weight to the promotion by itself.", fields)
}

/// What is expected of the canary.
fn criteria() -> Vec<SchemaField> {
    vec![
        optional(
            "falseAlarm",
            percentage("The share of rollouts of a good canary that are ended for it, at most (default: 5)."),
        ),
        optional(
            "maxErrors",
            percentage("The share of the canary's responses that may fail, whatever stable does."),
        ),
        optional(
            "minResponses",
            integer("The responses of the canary that a step must have seen (default: 300).", 1, None),
        ),
        optional(
            "clientErrors",
            flag("Whether responses with a status of 400 to 499 count as failed (default: false)."),
        ),
        optional(
            "lostSessions",
            flag(
                "Whether responses that take the session from a GET or HEAD request, by deleting its session cookie or setting another value, count as \
                 failed (default: true with `stickiness: session` and a session cookie).",
            ),
        ),
        optional(
            "slowerThan",
            slower_than(
                "Responses whose headers come later count as failed: a time, or a percentile of stable's responses, which needs `latencyHistogram` (default: none).",
            ),
        ),
        optional(
            "maxPodRestarts",
            integer(
                "The restarts of the canary's containers that are allowed in a rollout (default: 3).",
                0,
                None,
            ),
        ),
    ]
}

/// What begins as the URL of a receiver does.
pub(super) const URL: &str = "^https?://[^/?#:@ ]";

/// One of these fields, and no other of them.
pub(super) fn one_of(fields: &[&str]) -> Value {
    let given = |field: &&str| json!({"type": "object", "required": [field], "properties": {*field: {"not": {"type": "null"}}}});
    fields.iter().map(given).collect()
}

/// Where a secret stands.
pub(super) fn secret_source(description: &str) -> Value {
    let secret = mapping(
        "A Secret of the release's namespace.",
        vec![required("name", text("Its name.")), required("key", text("The key whose value it is."))],
    );
    let mut source = mapping(
        description,
        vec![
            optional("env", text("An environment variable of the driver.")),
            optional("file", text("The absolute path of a file of the driver.")),
            optional("secret", secret),
        ],
    );
    set(&mut source, "oneOf", one_of(&["env", "file", "secret"]));
    source
}

/// The same where there may be none.
pub(super) fn optional_secret_source(description: &str) -> Value {
    let mut source = secret_source(description);
    let given = one_of(&["env", "file", "secret"]);
    let or_none = given.as_array().into_iter().flatten().cloned().chain([json!({"type": "null"})]);
    set(&mut source, "oneOf", or_none.collect());
    source
}

fn dependencies() -> Value {
    let release = mapping(
        "Another release.",
        vec![
            required("name", super::build::label("Its name.")),
            optional("namespace", super::build::label("Its namespace (default: that of this release).")),
            required("stable", text("The version that it must have as stable.")),
        ],
    );
    let mut releases = list(
        "Releases that have to be at a version before a rollout raises the weight and promotes (default: none).",
        release,
    );
    set(&mut releases, "maxItems", json!(MAX_DEPENDENCIES));
    releases
}

fn alerts() -> Value {
    let mut receiver = mapping(
        "Alert receivers.",
        vec![
            required("name", super::build::label("Its name, once in a release.")),
            required("type", words("Payload format.", &FORMATS)),
            optional(
                "severity",
                words("Alerts that are less severe are not sent (default: info).", &SEVERITIES),
            ),
            optional("url", pattern("Its URL: a secret; `urlFrom` names a source for it.", URL)),
            optional("urlFrom", secret_source("Source of the URL.")),
        ],
    );
    set(&mut receiver, "oneOf", one_of(&["url", "urlFrom"]));
    let mut alerts = list("Alert receivers.", receiver);
    set(&mut alerts, "maxItems", json!(MAX_RECEIVERS));
    alerts
}

fn plans() -> Value {
    let step = mapping(
        "A weight, and what is needed to go on from it.",
        vec![
            required("weight", percentage("The canary's share, in percent; above that of the step before.")),
            optional("hold", duration("The least time at it (default: 10m).")),
            optional(
                "gate",
                words("Who lets the rollout go on: the evidence, or a person (default: evidence).", &GATES),
            ),
            optional(
                "minResponses",
                integer(
                    "The responses of the canary that it must have seen (default: that of the rollout).",
                    1,
                    None,
                ),
            ),
        ],
    );
    let mut steps = list("The steps of a plan.", step);
    set(&mut steps, "minItems", json!(1));
    set(&mut steps, "maxItems", json!(MAX_STEPS));
    let mut plans = map_of("Plans by name; `default` is the one that is taken where none is named.", steps);
    set(&mut plans, "propertyNames", json!({"pattern": LABEL}));
    plans
}
