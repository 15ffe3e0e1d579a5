//! `rollout.hooks`.

use super::build::{
    duration, integer, label, list, map_of, mapping, optional, pattern, required, set, text, words,
};
use super::rollout::{URL, one_of, optional_secret_source, secret_source};
use crate::spec::read::hooks::{HOOK_TYPES, MAX_FAILURE_THRESHOLD, MAX_HOOKS, MAX_RETRIES};
use serde_json::{Value, json};

pub(super) fn hooks() -> Value {
    let mut hook = mapping(
        "A webhook, of Flagger's types.",
        vec![
            required("name", label("Its name, once in a release, and the name of no receiver of alerts.")),
            required("type", words("When it is called, and what its response decides.", &HOOK_TYPES)),
            optional("url", pattern("Its URL.", URL)),
            optional("urlFrom", secret_source("Source of the URL.")),
            optional(
                "signatureKeyFrom",
                optional_secret_source("Where the keys stand that sign its requests: one of these."),
            ),
            optional(
                "timeout",
                duration(
                    "How long a response is waited for (default: 10s, at most 1h; 20s for `post-rollout` and `event`).",
                ),
            ),
            optional(
                "retries",
                integer(
                    "So often a call is repeated without a response, or with 408, 425, 429 or 5xx (default: 0).",
                    0,
                    Some(MAX_RETRIES.into()),
                ),
            ),
            optional("interval", duration("The least time between two calls (default: 1m, at least 10s).")),
            optional(
                "failureThreshold",
                integer(
                    "So many responses in a row are failures before the rollout has failed (default: 3).",
                    1,
                    Some(MAX_FAILURE_THRESHOLD.into()),
                ),
            ),
            optional("metadata", map_of("What is sent with each call.", text("A text."))),
        ],
    );
    set(&mut hook, "oneOf", one_of(&["url", "urlFrom"]));
    let mut hooks = list("Which webhooks a rollout calls.", hook);
    set(&mut hooks, "maxItems", json!(MAX_HOOKS));
    hooks
}
