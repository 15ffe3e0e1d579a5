//! Forms and limits that the reader has for a value, and its JSON Schema has not: an editor takes them for texts.

use serde_json::{Map, Value, json};

/// A Kubernetes label value that is not empty.
const LABEL_VALUE: &str = "^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
/// A host in either case: the reader makes it lower case.
const HOST: &str = r"^(\*|(\*\.)?([-_\[\]A-Za-z0-9][-_.\[\]A-Za-z0-9]*|\[[-_.:\[\]A-Za-z0-9]*\]))$";
/// A host in lower case that is no pattern.
const DOMAIN: &str = r"^([-_\[\]a-z0-9][-_.\[\]a-z0-9]*|\[[-_.:\[\]a-z0-9]*\])$";
/// RFC 9110 §5.6.2.
const TOKEN: &str = "^[-!#$%&'*+.^_`|~A-Za-z0-9]+$";
const VARIABLE: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
/// A DNS subdomain (RFC 1123).
const SUBDOMAIN: &str = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$";
const SECRET_KEY: &str = "^[-_.A-Za-z0-9]+$";
/// Of a duration: at least ten seconds, at least thirty.
const TEN_SECONDS: &str = "[1-9][0-9]*[dhm]|[1-9][0-9]+s";
const THIRTY_SECONDS: &str = "[1-9][0-9]*[dhm]|([3-9][0-9]|[1-9][0-9]{2,})s";

const MAX_LABEL_VALUE: usize = 63;
const MAX_SUBDOMAIN: usize = 253;
const MAX_HOST: usize = 255;
/// A duration with its spaces, where a rule reads it.
const MAX_DURATION: usize = 64;
/// Each rule about steps is counted for so many plans.
const MAX_PLANS: usize = 100;

/// A reference to a secret.
pub(super) const SECRET_SOURCES: [&str; 4] = [
    "rollout.alerts.[].urlFrom",
    "rollout.hooks.[].urlFrom",
    "rollout.hooks.[].signatureKeyFrom",
    "rollout.prometheus.bearerTokenFrom",
];
/// Lists of mappings with a name of their own.
const NAMED: [&str; 3] = ["rollout.alerts", "rollout.metrics", "rollout.hooks"];
/// Lists in which nothing is twice.
const SETS: [&str; 2] = ["hosts", "paths"];

/// The keywords, with their places in `spec`.
fn bounds() -> Vec<(String, Value)> {
    let label_value = json!({"pattern": LABEL_VALUE, "maxLength": MAX_LABEL_VALUE});
    let token = json!({"pattern": TOKEN});
    let fixed = [
        ("uid", json!({"minLength": 1, "maxLength": MAX_LABEL_VALUE})),
        ("hosts.[]", json!({"pattern": HOST, "maxLength": MAX_HOST})),
        ("paths", json!({"minItems": 1})),
        ("paths.[]", json!({"pattern": "^/[^?#]*$"})),
        ("versions.stable", label_value.clone()),
        ("versions.canary", label_value.clone()),
        ("train.|0", label_value.clone()),
        ("train.name", label_value),
        ("train.namespaces.[]", json!({"pattern": crate::spec::LABEL_PATTERN, "maxLength": MAX_LABEL_VALUE})),
        ("identifyBy.[].cookie", token.clone()),
        ("identifyBy.[].header", token.clone()),
        ("identifyBy.[].query", token.clone()),
        ("identifyBy.[].jwt.payload", json!({"minLength": 1})),
        ("session.cookie", token),
        ("override.tokensNotBefore", json!({"format": "date-time"})),
        ("cookies.domain", json!({"pattern": DOMAIN, "maxLength": MAX_HOST})),
        ("delivery.module", json!({"pattern": "^(embedded$|(oci|https?|file)://)"})),
        ("delivery.debugHeader", json!({"pattern": "^[-a-z0-9]+$"})),
        ("rollout.falseAlarm", json!({"exclusiveMinimum": true, "maximum": 50})),
        ("rollout.expiresIn", json!({"allOf": [{"pattern": THIRTY_SECONDS}]})),
        ("rollout.plans", json!({"maxProperties": MAX_PLANS})),
        ("rollout.hooks.[].timeout", json!({"maxLength": MAX_DURATION})),
        ("rollout.hooks.[].interval", json!({"allOf": [{"pattern": TEN_SECONDS}]})),
        ("rollout.metrics.[].interval", json!({"allOf": [{"pattern": TEN_SECONDS}]})),
        ("rollout.metrics.[].query", json!({"pattern": r"\S", "maxLength": crate::spec::MAX_QUERY})),
        (
            "rollout.metrics.[].quantile",
            json!({"minimum": 0, "exclusiveMinimum": true, "maximum": 1, "exclusiveMaximum": true}),
        ),
    ];
    let fixed = fixed.into_iter().map(|(place, keywords)| (place.to_owned(), keywords));
    fixed.chain(SECRET_SOURCES.iter().flat_map(|place| secret_source(place))).chain(lists()).collect()
}

fn secret_source(place: &str) -> [(String, Value); 4] {
    [
        (format!("{place}.env"), json!({"pattern": VARIABLE})),
        (format!("{place}.file"), json!({"pattern": "^/"})),
        (format!("{place}.secret.name"), json!({"pattern": SUBDOMAIN, "maxLength": MAX_SUBDOMAIN})),
        (format!("{place}.secret.key"), json!({"pattern": SECRET_KEY, "maxLength": MAX_SUBDOMAIN})),
    ]
}

fn lists() -> impl Iterator<Item = (String, Value)> {
    let named = json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]});
    let named = NAMED.into_iter().map(move |place| (place.to_owned(), named.clone()));
    let sets = SETS.into_iter().map(|place| (place.to_owned(), json!({"x-kubernetes-list-type": "set"})));
    named.chain(sets)
}

/// Adds them. A place that the schema does not have is returned.
pub(super) fn add_bounds(spec: &mut Value) -> Vec<String> {
    let mut missing = Vec::new();
    for (place, keywords) in bounds() {
        let Value::Object(keywords) = keywords else { continue };
        match super::place::at(spec, &place) {
            Some(of) => extend(of, keywords),
            None => missing.push(place),
        }
    }
    missing
}

fn extend(of: &mut Map<String, Value>, keywords: Map<String, Value>) {
    for (keyword, value) in keywords {
        of.insert(keyword, value);
    }
}
