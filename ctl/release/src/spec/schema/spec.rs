//! `spec`.

use super::build::{
    flag, integer, label, list, map_of, mapping, optional, pattern, percentage, required, set, text, words,
};
use super::{delivery, rollout, users};
use crate::spec::read::{CACHE_CONTROL, EXPIRY_ACTIONS, ROUTES, SAME_SITE, SESSION_AFFINITIES};
use serde_json::{Value, json};

pub(super) fn spec() -> Value {
    let mut fields = vec![
        optional(
            "uid",
            text(
                "Part of everything that is signed; drawn by `init`. A new one invalidates pins, ids and tokens.",
            ),
        ),
        optional("service", service()),
        required("versions", versions()),
        required("hosts", hosts()),
        optional("paths", list("Path prefixes (default: `/`).", text("A prefix, byte by byte."))),
        optional("gateways", list("The gateways that serve the hosts.", gateway())),
        optional(
            "sidecars",
            list("Workloads inside the mesh that call the service; their sidecars decide too.", sidecar()),
        ),
    ];
    fields.extend(users::fields());
    fields.extend([
        optional("weight", percentage("The share of users to begin with, in percent (default: 0); the weight of a release on a cluster is changed there.")),
        optional("maxStep", percentage("The largest raise of the weight, in percent (default: 50).")),
        optional("onExpiry", words("What happens when a weight that was set for a while expires (default: stop).", &EXPIRY_ACTIONS)),
        optional("rollout", rollout::rollout()),
        optional("override", users::overrides()),
        optional("cookies", cookies()),
        optional("sessionAffinity", words("Whether subsets hash on the user, for hosts without a policy of their own (default: none).", &SESSION_AFFINITIES)),
        optional("cacheControl", words("Whether cacheable responses of the canary become private (default: unchanged).", &CACHE_CONTROL)),
        optional("latencyHistogram", flag("Whether the proxies keep a histogram of latencies for each version (default: false).")),
        optional("fuse", flag("Whether a proxy that sees the canary fail, and stable not, sends new sessions to stable for a time (default: true; false with `train`).")),
        optional("routes", words("Who writes the routes: this tool, somebody else, or this tool into theirs (default: by the owner of the existing ones).", &ROUTES)),
        optional("delivery", delivery::delivery()),
    ]);
    mapping("The release.", fields)
}

fn service() -> Value {
    mapping(
        "The Service that is released (default: the one that is called as the release, port 80).",
        vec![
            required("name", label("Its name.")),
            optional("port", integer("Its port (default: 80).", 0, Some(u64::from(u16::MAX)))),
        ],
    )
}

fn versions() -> Value {
    mapping(
        "The versions behind the Service, by the pods' version label.",
        vec![
            optional("label", text("The pods' version label (default: version).")),
            required("stable", text("The version that everyone is on.")),
            optional("canary", text("The version under test.")),
        ],
    )
}

fn hosts() -> Value {
    let mut hosts = list("Host names that users type: exact, `*.suffix`, or `*`.", text("A host."));
    set(&mut hosts, "minItems", json!(1));
    hosts
}

fn gateway() -> Value {
    let name = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";
    mapping(
        "A gateway.",
        vec![
            required("name", pattern("The Gateway object, `NAMESPACE/NAME`.", name)),
            optional("namespace", label("Where its pods run (default: the namespace of the object).")),
            optional("selector", selector()),
        ],
    )
}

fn sidecar() -> Value {
    mapping(
        "Workloads.",
        vec![required("namespace", label("Where they run.")), optional("selector", selector())],
    )
}

fn selector() -> Value {
    map_of(
        "The labels of its pods; none selects every pod of the namespace.",
        text("The value of the label."),
    )
}

fn cookies() -> Value {
    mapping(
        "Attributes of the cookies that the filter sets.",
        vec![
            optional(
                "tls",
                flag(
                    "Whether browsers speak TLS, with the gateway or with what is in front of it (default: true).",
                ),
            ),
            optional("sameSite", words("SameSite (default: Lax).", &SAME_SITE)),
            optional("domain", text("Domain, where sub-domains must share them.")),
        ],
    )
}
