//! The status of a release in a cluster. A controller writes it, and no field has to be there.

use serde_json::{Map, Value, json};

/// The phases of a release.
const PHASES: [&str; 11] = [
    "Installing",
    "Stable",
    "Canary",
    "Progressing",
    "Gated",
    "Held",
    "Paused",
    "Promoted",
    "RolledBack",
    "Stopped",
    "Failed",
];
/// The actions that a request may name.
const ACTIONS: [&str; 8] = ["pause", "resume", "approve", "promote", "rollback", "retry", "abort", "weight"];
/// The results of a request.
const RESULTS: [&str; 3] = ["Accepted", "Done", "Refused"];

/// The schema. The default is what clients see before a controller has: `Current` for none of them.
pub(super) fn status() -> Value {
    let fields = [
        (
            "observedGeneration",
            number(
                "int64",
                "The generation of the object that the status is about; -1 before a controller has seen it.",
            ),
        ),
        ("conditions", conditions()),
        ("phase", word("The phase of the release.", &PHASES)),
        ("stable", text("The version that everyone else is on.")),
        ("canary", text("The version under test.")),
        ("weight", percent("The share of users of the canary that is asked for, in percent.")),
        ("seen", percent("The share of users of the canary that the proxies have seen, in percent.")),
        ("rollout", rollout()),
        ("problems", problems()),
        ("waitingFor", text("What is waited for.")),
        ("driver", text("Who drives the rollout.")),
        ("request", request()),
        ("lastRequest", last_request()),
    ];
    let mut status = mapping("The state of the release in the cluster, written by a controller.", fields);
    if let Value::Object(status) = &mut status {
        status.insert("default".to_owned(), json!({"observedGeneration": -1}));
    }
    status
}

fn mapping<const N: usize>(description: &str, fields: [(&str, Value); N]) -> Value {
    let fields: Map<String, Value> =
        fields.map(|(name, field)| (name.to_owned(), field)).into_iter().collect();
    json!({"description": description, "type": "object", "properties": fields})
}

fn text(description: &str) -> Value {
    json!({"description": description, "type": "string"})
}

fn word(description: &str, words: &[&str]) -> Value {
    json!({"description": description, "type": "string", "enum": words})
}

fn time(description: &str) -> Value {
    json!({"description": description, "type": "string", "format": "date-time"})
}

/// A whole number in `int32` or `int64`.
fn number(format: &str, description: &str) -> Value {
    json!({"description": description, "type": "integer", "format": format})
}

fn percent(description: &str) -> Value {
    json!({"description": description, "type": "number", "minimum": 0, "maximum": 100})
}

/// The limits of `metav1.Condition`.
fn conditions() -> Value {
    let mut condition = mapping(
        "A condition of the release.",
        [
            (
                "type",
                json!({"description": "Its type, once in the list.", "type": "string", "maxLength": 316, "pattern": r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"}),
            ),
            ("status", word("Whether it is true.", &["True", "False", "Unknown"])),
            (
                "reason",
                json!({"description": "The reason of the last transition, as one word.", "type": "string", "minLength": 1, "maxLength": 1024, "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"}),
            ),
            ("message", json!({"description": "The same in words.", "type": "string", "maxLength": 32768})),
            ("lastTransitionTime", time("When its status has changed.")),
            (
                "observedGeneration",
                json!({"description": "The generation of the object that it is about.", "type": "integer", "format": "int64", "minimum": 0}),
            ),
        ],
    );
    if let Value::Object(condition) = &mut condition {
        condition.insert(
            "required".to_owned(),
            json!(["type", "status", "reason", "message", "lastTransitionTime"]),
        );
    }
    json!({
        "description": "Conditions of the release: Ready, Reconciling, Stalled, and those of a rollout.",
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": condition,
    })
}

fn rollout() -> Value {
    mapping(
        "The rollout that runs, or the last one.",
        [
            ("plan", text("The name of its plan.")),
            ("step", number("int32", "The number of its step, from 1.")),
            ("steps", number("int32", "The number of steps of its plan.")),
            ("weight", percent("The weight of its step, in percent.")),
            ("since", time("When its step began.")),
            ("reason", text("Why it does not go on, or why it ended.")),
            ("expiresAt", time("When the weight expires if no driver renews it.")),
            ("kinds", kinds()),
        ],
    )
}

fn kinds() -> Value {
    let count = |description: &str| number("int64", description);
    let ratio = |description: &str| json!({"description": description, "type": "number"});
    let kind = mapping(
        "The evidence of one kind of responses.",
        [
            ("kind", text("The kind of responses that count as failed.")),
            ("canaryResponses", count("The responses of the canary.")),
            ("canaryFailed", count("Those of them that failed.")),
            ("stableResponses", count("The responses of stable.")),
            ("stableFailed", count("Those of them that failed.")),
            ("ratio", ratio("The canary's share of failed responses divided by stable's.")),
            ("low", ratio("The least ratio that fits the responses.")),
            ("high", ratio("The greatest ratio that fits the responses.")),
            ("users", number("int32", "The number of user groups with responses of the canary.")),
        ],
    );
    json!({"description": "The evidence of the rollout, by kind of responses.", "type": "array", "x-kubernetes-list-type": "atomic", "items": kind})
}

fn problems() -> Value {
    let problem = mapping(
        "A problem.",
        [
            ("id", text("Its id, which does not change between versions.")),
            ("message", text("The same in words.")),
            ("since", time("Since when the controller sees it in this phase.")),
        ],
    );
    json!({"description": "Problems of the release.", "type": "array", "x-kubernetes-list-type": "atomic", "items": problem})
}

/// The fields of a request. Its client and a controller write the same ones.
fn asked() -> [(&'static str, Value); 4] {
    [
        ("action", word("The action that is asked for.", &ACTIONS)),
        ("weight", percent("The share of users of the canary, in percent: of the action `weight`.")),
        ("by", text("Who asks.")),
        ("id", text("The id of the request: each is answered once.")),
    ]
}

fn request() -> Value {
    mapping("A request to the controller.", asked())
}

fn last_request() -> Value {
    let [action, weight, by, id] = asked();
    mapping(
        "The last request, with its answer.",
        [
            action,
            weight,
            by,
            id,
            ("at", time("When it was answered.")),
            ("result", word("The answer.", &RESULTS)),
            ("message", text("The answer in words.")),
        ],
    )
}
