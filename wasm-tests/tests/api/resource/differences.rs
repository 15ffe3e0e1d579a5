//! The files that the reader takes and the API server does not, and the reverse.

use serde_json::{Value, json};

#[path = "../../../../ctl/release/tests/schema/every_field.rs"]
#[expect(dead_code, reason = "the other files of that module are for other tests")]
pub(super) mod every_field;

/// Who takes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    ByReader,
    ByApiServer,
}

/// A difference with its reason, what the other one says, and a change that shows it.
pub(super) struct Difference {
    pub(super) name: &'static str,
    #[expect(dead_code, reason = "for people who read the table")]
    reason: &'static str,
    pub(super) taken: Taken,
    pub(super) said: &'static [&'static str],
    pub(super) at: &'static str,
    pub(super) example: fn() -> Value,
}

/// Every field of a release on a cluster, its numbers as numbers.
pub(super) fn valid() -> Value {
    let mut file = every_field::on_a_cluster();
    file["metadata"].as_object_mut().unwrap().remove("uid");
    file["metadata"]["namespace"] = json!("resource-agreement");
    for (pointer, number) in [
        ("/spec/maxStep", json!(50)),
        ("/spec/rollout/maxErrors", json!(1)),
        ("/spec/rollout/metrics/1/max", json!(500)),
        ("/spec/rollout/metrics/2/difference/max", json!(0.5)),
    ] {
        *file.pointer_mut(pointer).unwrap() = number;
    }
    file
}

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "a text without quotes",
        reason: "YAML makes a number of an unquoted 1.10 before the API server sees it: its text is lost",
        taken: Taken::ByReader,
        said: &[
            "must be of type string: \"",
            "must validate at least one schema (anyOf)",
            "must not validate the schema (not)",
        ],
        at: "/spec/versions/canary",
        example: || json!(1.1),
    },
    Difference {
        name: "a number in quotes",
        reason: "a number of the API is one",
        taken: Taken::ByReader,
        said: &[
            "must be of type number: \"string\"",
            "must be of type integer: \"string\"",
            "must be of type boolean: \"string\"",
        ],
        at: "/spec/weight",
        example: || json!("20%"),
    },
    Difference {
        name: "a local Envoy",
        reason: "a file of this machine is no object of a cluster",
        taken: Taken::ByReader,
        said: &["found `local`", "spec.delivery.module: ", "found none"],
        at: "/spec/delivery",
        example: || json!({"mode": "local", "local": {"listen": "127.0.0.1:1", "admin": "127.0.0.1:2", "endpoints": {"v1": ["127.0.0.1:3"], "v2": ["127.0.0.1:4"]}}}),
    },
    Difference {
        name: "a time zone",
        reason: "the API server knows no names of time zones",
        taken: Taken::ByApiServer,
        said: &["time zone"],
        at: "/spec/rollout/windows/0/timeZone",
        example: || json!("Europe/Nowhere"),
    },
    Difference {
        name: "variables of a query",
        reason: "a rule has no loop over the variables of a text",
        taken: Taken::ByApiServer,
        said: &["expected a variable of", "expected `}}` after"],
        at: "/spec/rollout/metrics/2/query",
        example: || json!("up{a=\"{{ version }}{{ other }}\"}"),
    },
    Difference {
        name: "an empty value of a name that is the user's",
        reason: "the API server leaves it out before it looks, so it is not there when the object is read",
        taken: Taken::ByApiServer,
        said: &["found nothing"],
        at: "/spec/gateways/0/selector",
        example: || json!({"istio": null}),
    },
    Difference {
        name: "a dependency on itself by its namespace",
        reason: "a rule sees no namespace of its object",
        taken: Taken::ByApiServer,
        said: &["expected another release, found the release itself"],
        at: "/spec/rollout/dependsOn/0",
        example: || json!({"name": "shop", "namespace": "resource-agreement", "stable": "v1"}),
    },
    Difference {
        name: "the rest of a URL",
        reason: "its schema looks at the beginning alone, and no message may repeat it",
        taken: Taken::ByApiServer,
        said: &["URL"],
        at: "/spec/rollout/prometheus/address",
        example: || json!("http://a b/"),
    },
    Difference {
        name: "names of labels that belong to others",
        reason: "tools of a cluster write their labels into its objects",
        taken: Taken::ByApiServer,
        said: &["expected a name of your own"],
        at: "/metadata/labels",
        example: || json!({"app.kubernetes.io/managed-by": "Helm"}),
    },
];
