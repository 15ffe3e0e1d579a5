//! `delivery`.

use super::build::{address, flag, list, map_of, mapping, optional, pattern, required, set, text, words};
use crate::spec::read::delivery::MODES;
use serde_json::{Value, json};

pub(super) fn delivery() -> Value {
    let mut delivery = mapping(
        "Delivery of the filter to the proxies.",
        vec![
            optional(
                "mode",
                words("Kind of the objects that configure the filter (default: envoyfilter).", &MODES),
            ),
            optional(
                "module",
                text(
                    "`embedded`: the filter within canary-ctl (default); a URL: oci://, http(s)://, file://; with `mode: local` a path.",
                ),
            ),
            optional(
                "sha256",
                pattern(
                    "SHA-256 digest of a module with a URL: of the manifest for oci://, of the file for http(s)://.",
                    "^[0-9a-f]{64}$",
                ),
            ),
            optional("debugHeader", text("Name of a response header with the decision. For test systems.")),
            optional(
                "filterState",
                flag(
                    "Store the decision as filter state, so that access logs can print it (default: false).",
                ),
            ),
            optional("local", local()),
        ],
    );
    let is_mode = |modes: &[&str]| json!({"properties": {"mode": {"enum": modes}}, "required": ["mode"]});
    let url = json!({"properties": {"module": {"type": "string", "pattern": "^(oci|https?|file)://"}}});
    let url_or_embedded = json!({"properties": {"module": {"type": ["string", "null"], "pattern": "^(embedded$|(oci|https?|file)://)"}}});
    let needs = |field: &str| json!({"required": [field], "properties": {field: {"not": {"type": "null"}}}});
    set(
        &mut delivery,
        "allOf",
        json!([
            {"if": is_mode(&["local"]), "then": needs("local"), "else": url_or_embedded},
            {"if": is_mode(&["wasmplugin", "trafficextension"]), "then": {"allOf": [needs("module"), url]}},
        ]),
    );
    delivery
}

fn local() -> Value {
    mapping(
        "One Envoy on this machine, configured by files.",
        vec![
            optional(
                "directory",
                text("Folder of state, keys and Envoy's files (default: .canary); relative to this file."),
            ),
            required("listen", address("Address on which Envoy listens for users.")),
            required("admin", address("Address of Envoy's admin interface.")),
            required(
                "endpoints",
                map_of("Processes of each version.", list("Addresses.", address("A process."))),
            ),
        ],
    )
}
