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
                "Whether a live session stays on its version whatever happens to the weight, or a user moves with it.",
                &STICKINESS,
            ),
        ),
        optional("session", session()),
        optional("identifyBy", list("Where the user's key may be; the first hit counts.", key())),
        optional("mint", words("When a user without a key is given an id (default: navigation).", &MINT)),
        optional(
            "fallback",
            words("What a client gets that keeps no cookies (default: stable).", &FALLBACKS),
        ),
        optional(
            "identity",
            words(
                "`keyed` where a key names a person, or clients must not compute their bucket (default: plain).",
                &IDENTITIES,
            ),
        ),
        optional(
            "salt",
            text(
                "Makes the users of this release independent of those of others (default: other users for every version).",
            ),
        ),
        optional("train", train()),
    ]
}

fn train() -> Value {
    let name = || text("Releases of one train agree on the user.");
    let namespaces = list(
        "The other namespaces whose releases belong to the train (default: none).",
        text("A namespace."),
    );
    let whole = mapping(
        "A train with releases in several namespaces.",
        vec![required("name", name()), optional("namespaces", namespaces)],
    );
    json!({"description": "Releases of one train agree on the user: the name of the train, or its name and namespaces.", "anyOf": [name(), whole]})
}

fn session() -> Value {
    mapping(
        "The application's sessions.",
        vec![
            optional("cookie", text("The application's session cookie.")),
            optional(
                "adopt",
                flag("Whether sessions older than the filter stay where they are (default: true)."),
            ),
            optional("adoptFor", duration("How long after the installation of the filter (default: 24h).")),
            optional(
                "maxAge",
                duration(
                    "Past this age a pin is renewed with its session, or decided anew without one (default: 24h).",
                ),
            ),
            optional(
                "idle",
                duration("Gives the pin an age of its own (default: it ends with the browser's session)."),
            ),
        ],
    )
}

/// One word, or one field.
fn key() -> Value {
    let claim = json!({
        "description": "The claim, or the names on the way to it.",
        "anyOf": [text("A claim."), list("Names.", text("A name."))],
    });
    let jwt = mapping(
        "A claim of a JWT that a RequestAuthentication has verified.",
        vec![
            required("claim", claim),
            optional("payload", text("Where Istio's filter keeps the claims (default: payload).")),
        ],
    );
    let mut field = mapping(
        "A place of the key.",
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
        "description": "A place of the key: one of cookie, header, query and jwt, or a word.",
        "anyOf": [field, {"enum": ["identity", "client-address"]}],
    })
}

/// A word, or a mapping.
pub(super) fn overrides() -> Value {
    let modes = || words("Who may choose a version (default: off).", &OVERRIDES);
    let whole = mapping(
        "How testers choose a version.",
        vec![
            required("mode", modes()),
            optional(
                "tokensNotBefore",
                text("Tokens issued before this moment are revoked: 2026-11-21T12:00:00Z."),
            ),
        ],
    );
    json!({
        "description": "How testers choose a version: off, token (signed, at most 7 days), or open (trusted networks).",
        "anyOf": [modes(), whole],
    })
}
