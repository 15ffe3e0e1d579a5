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
        optional("paths", list("Path prefixes (default: `/`).", text("Prefix, compared byte by byte."))),
        optional("gateways", list("Gateways that serve the hosts.", gateway())),
        optional(
            "sidecars",
            list("Workloads inside the mesh that call the service; their sidecars decide too.", sidecar()),
        ),
    ];
    fields.extend(users::fields());
    fields.extend([
        optional("weight", percentage("First share of the canary in percent (default: 0). On a cluster, the weight is changed by commands.")),
        optional("maxStep", percentage("Largest raise of the weight at once, in percent (default: 50).")),
        optional("onExpiry", words("Action when a weight expires (default: stop).", &EXPIRY_ACTIONS)),
        optional("rollout", rollout::rollout()),
        optional("override", users::overrides()),
        optional("cookies", cookies()),
        optional("sessionAffinity", words("Session affinity of the subsets, for hosts without a policy of their own (default: none).", &SESSION_AFFINITIES)),
        optional("cacheControl", words("Handling of cacheable responses of the canary (default: unchanged).", &CACHE_CONTROL)),
        optional("latencyHistogram", flag("Keep a histogram of latencies for each version (default: false).")),
        optional("fuse", flag("Send new sessions to stable while a proxy sees the canary fail and stable not (default: true; false with `train`).")),
        optional("routes", words("Writer of the routes: this tool, another tool, this tool into the routes of another, or this tool beside HTTPRoutes and GRPCRoutes of another (default: by the owner of the existing routes).", &ROUTES)),
        optional("delivery", delivery::delivery()),
    ]);
    mapping("The release.", fields)
}

fn service() -> Value {
    mapping(
        "Service of the release (default: the Service with the name of the release, port 80).",
        vec![
            required("name", label("Its name.")),
            optional("port", integer("Port of the Service (default: 80).", 1, Some(u64::from(u16::MAX)))),
        ],
    )
}

fn versions() -> Value {
    mapping(
        "Versions behind the Service: values of the pods' version label.",
        vec![
            optional("label", text("The pods' version label (default: version).")),
            required("stable", text("Version for all users but those of the canary.")),
            optional("canary", text("Version under test.")),
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
            optional("namespace", label("Namespace of its pods (default: the namespace of the Gateway).")),
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
    map_of("Labels of its pods; without labels every pod of the namespace.", text("The value of the label."))
}

fn cookies() -> Value {
    mapping(
        "Attributes of the cookies that the filter sets.",
        vec![
            optional(
                "tls",
                flag("Browsers use TLS, to the gateway or to a proxy in front of it (default: true)."),
            ),
            optional("sameSite", words("SameSite (default: Lax).", &SAME_SITE)),
            optional("domain", text("Domain attribute, for cookies that sub-domains share.")),
        ],
    )
}
