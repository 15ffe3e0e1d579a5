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
            words("Action when the canary is worse than stable (default: rollback).", &FAILURE_ACTIONS),
        ),
        optional("onSuccess", words("Action after the last step (default: promote).", &SUCCESS_ACTIONS)),
        optional(
            "deadline",
            duration(
                "Maximum duration of a rollout (default: 24h). After it, a canary without failures takes no new users, \
                 and its sessions finish.",
            ),
        ),
        optional(
            "maxHeld",
            duration(
                "Maximum duration of a hold by evidence against the canary; after it, the action of `onFailure` (default: until the deadline).",
            ),
        ),
        optional(
            "expiresIn",
            duration("The weight expires after this time without a driver (default: 1h, at least 30s)."),
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
        optional("observe", flag("Only report what the rollout would do (default: false).")),
    ];
    let fields = plans.into_iter().chain(criteria()).chain(fields).collect();
    mapping("Automated rollout, from the first weight to the promotion.", fields)
}

/// The criteria for the canary.
fn criteria() -> Vec<SchemaField> {
    vec![
        optional(
            "falseAlarm",
            percentage("Largest share of rollouts of a good canary that end in a rollback (default: 5)."),
        ),
        optional(
            "maxErrors",
            percentage("Allowed share of failed responses of the canary, independent of stable."),
        ),
        optional(
            "minResponses",
            integer("Minimum number of responses of the canary in a step (default: 300).", 1, None),
        ),
        optional(
            "clientErrors",
            flag("Count responses with a status of 400 to 499 as failed (default: false)."),
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
                "Count responses as failed whose headers come later: a time, or a percentile of stable's responses. A percentile needs `latencyHistogram` (default: none).",
            ),
        ),
        optional(
            "maxPodRestarts",
            integer("Allowed restarts of the canary's containers in a rollout (default: 3).", 0, None),
        ),
    ]
}

/// The beginning of the URL of a receiver.
pub(super) const URL: &str = "^https?://[^/?#:@ ]";

/// One of these fields, and no other of them.
pub(super) fn one_of(fields: &[&str]) -> Value {
    let given = |field: &&str| json!({"type": "object", "required": [field], "properties": {*field: {"not": {"type": "null"}}}});
    fields.iter().map(given).collect()
}

pub(super) fn secret_source(description: &str) -> Value {
    let secret = mapping(
        "Secret in the namespace of the release.",
        vec![required("name", text("Its name.")), required("key", text("Key in the Secret."))],
    );
    let mut source = mapping(
        description,
        vec![
            optional("env", text("Environment variable of the driver.")),
            optional("file", text("Absolute path of a file on the driver's machine.")),
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
        "Release that this one depends on.",
        vec![
            required("name", super::build::label("Its name.")),
            optional("namespace", super::build::label("Namespace (default: that of this release).")),
            required("stable", text("Version that must be its stable one.")),
        ],
    );
    let mut releases = list(
        "Releases that must be at a version before a rollout raises the weight or promotes (default: none).",
        release,
    );
    set(&mut releases, "maxItems", json!(MAX_DEPENDENCIES));
    releases
}

fn alerts() -> Value {
    let mut receiver = mapping(
        "Alert receivers.",
        vec![
            required("name", super::build::label("Name, unique in the release.")),
            required("type", words("Payload format.", &FORMATS)),
            optional(
                "severity",
                words("Lowest severity of the alerts that are sent (default: info).", &SEVERITIES),
            ),
            optional("url", pattern("URL of the receiver. It is a secret: prefer `urlFrom`.", URL)),
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
        "Weight, and the condition for the next step.",
        vec![
            required("weight", percentage("Share of the canary in percent, above that of the step before.")),
            optional("hold", duration("Minimum time at this weight (default: 10m).")),
            optional(
                "gate",
                words(
                    "What lets the rollout go on: the evidence, or an approval (default: evidence).",
                    &GATES,
                ),
            ),
            optional(
                "minResponses",
                integer("Minimum number of responses of the canary (default: that of the rollout).", 1, None),
            ),
        ],
    );
    let mut steps = list("The steps of a plan.", step);
    set(&mut steps, "minItems", json!(1));
    set(&mut steps, "maxItems", json!(MAX_STEPS));
    let mut plans = map_of("Plans by name; `default` is used unless another is named.", steps);
    set(&mut plans, "propertyNames", json!({"pattern": LABEL}));
    plans
}
