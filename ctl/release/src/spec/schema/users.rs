//! How users are identified, how they stay on a version, and how testers choose one.

use super::build::{SchemaField, duration, flag, list, mapping, optional, required, set, text, words};
use crate::spec::read::users::{FALLBACKS, IDENTITIES, MINT, OVERRIDES, STICKINESS};
use serde_json::{Value, json};

/// The fields of `spec`.
pub(super) fn fields() -> Vec<SchemaField> {
    vec![
        required(
            "stickiness",
            words(
                "`session`: a live session stays on its version at every weight. `user`: users move with the weight.",
                &STICKINESS,
            ),
        ),
        optional("session", session()),
        optional(
            "identifyBy",
            list("Sources of the user key, in order; the first one found is used.", key()),
        ),
        optional(
            "mint",
            words("Requests on which a user without a key gets an id (default: navigation).", &MINT),
        ),
        optional(
            "fallback",
            words("Version for clients that keep no cookies (default: stable).", &FALLBACKS),
        ),
        optional(
            "identity",
            words(
                "Hash of the user key. Use `keyed` if keys name persons, or clients must not compute their bucket (default: plain).",
                &IDENTITIES,
            ),
        ),
        optional(
            "salt",
            text(
                "Salt of the hash, which selects the users of the canary (default: other users for every version).",
            ),
        ),
        optional("train", train()),
    ]
}

fn train() -> Value {
    let name = || text("Name of the train. Releases of one train assign a user to the same role.");
    let namespaces =
        list("Other namespaces whose releases belong to the train (default: none).", text("A namespace."));
    let whole = mapping(
        "Train with releases in several namespaces.",
        vec![required("name", name()), optional("namespaces", namespaces)],
    );
    json!({"description": "Train of the release: its name, or name and namespaces. Releases of one train assign a user to the same role.", "anyOf": [name(), whole]})
}

fn session() -> Value {
    mapping(
        "Sessions of the application.",
        vec![
            optional("cookie", text("Session cookie of the application.")),
            optional(
                "adopt",
                flag("Keep sessions that are older than the filter on their version (default: true)."),
            ),
            optional(
                "adoptFor",
                duration(
                    "Time after the installation of the filter in which such sessions are adopted (default: 24h).",
                ),
            ),
            optional(
                "maxAge",
                duration(
                    "Maximum age of a pin. After it, a pin with a session is renewed, and one without is decided again (default: 24h).",
                ),
            ),
            optional(
                "idle",
                duration("Lifetime of the pin cookie without requests (default: the browser's session)."),
            ),
        ],
    )
}

/// One word, or one field.
fn key() -> Value {
    let claim = json!({
        "description": "Name of the claim, or its path.",
        "anyOf": [text("A claim."), list("Names.", text("A name."))],
    });
    let jwt = mapping(
        "Claim of a JWT that a RequestAuthentication has verified.",
        vec![
            required("claim", claim),
            optional(
                "payload",
                text("Metadata key under which Istio's filter stores the claims (default: payload)."),
            ),
        ],
    );
    let mut field = mapping(
        "Source of the user key.",
        vec![
            required("cookie", text("A cookie.")),
            required("header", text("A request header.")),
            required("query", text("A query parameter.")),
            required("jwt", jwt),
        ],
    );
    // One of them, and not all.
    set(&mut field, "required", json!([]));
    set(&mut field, "minProperties", json!(1));
    set(&mut field, "maxProperties", json!(1));
    json!({
        "description": "Source of the user key: one of cookie, header, query and jwt, or a word.",
        "anyOf": [field, {"enum": ["identity", "client-address"]}],
    })
}

/// A word, or a mapping.
pub(super) fn overrides() -> Value {
    let modes = || words("Clients that may choose a version (default: off).", &OVERRIDES);
    let whole = mapping(
        "Choice of a version by testers.",
        vec![
            required("mode", modes()),
            optional(
                "tokensNotBefore",
                text("Tokens issued before this moment are revoked: 2026-11-21T12:00:00Z."),
            ),
        ],
    );
    json!({
        "description": "Choice of a version by testers: off, token (signed, at most 7 days), or open (trusted networks).",
        "anyOf": [modes(), whole],
    })
}
