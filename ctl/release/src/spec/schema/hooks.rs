//! `rollout.hooks`.

use super::build::{
    duration, integer, label, list, map_of, mapping, optional, pattern, required, set, text, words,
};
use super::rollout::{URL, one_of, optional_secret_source, secret_source};
use crate::spec::read::hooks::{HOOK_TYPES, MAX_FAILURE_THRESHOLD, MAX_HOOKS, MAX_RETRIES};
use serde_json::{Value, json};

pub(super) fn hooks() -> Value {
    let mut hook = mapping(
        "Webhook, with a type of Flagger.",
        vec![
            required("name", label("Name, unique among hooks and alert receivers of the release.")),
            required("type", words("When the hook is called, and what its response decides.", &HOOK_TYPES)),
            optional("url", pattern("Its URL.", URL)),
            optional("urlFrom", secret_source("Source of the URL.")),
            optional(
                "signatureKeyFrom",
                optional_secret_source("Source of the keys that sign its requests; exactly one of:"),
            ),
            optional(
                "timeout",
                duration("Timeout of a call (default: 10s, at most 1h; 20s for `post-rollout` and `event`)."),
            ),
            optional(
                "retries",
                integer(
                    "Retries of a call without a response, or with 408, 425, 429 or 5xx (default: 0).",
                    0,
                    Some(MAX_RETRIES.into()),
                ),
            ),
            optional("interval", duration("Minimum time between two calls (default: 1m, at least 10s).")),
            optional(
                "failureThreshold",
                integer(
                    "Consecutive failed calls after which the rollout has failed (default: 3).",
                    1,
                    Some(MAX_FAILURE_THRESHOLD.into()),
                ),
            ),
            optional("metadata", map_of("Metadata that is sent with each call.", text("A text."))),
        ],
    );
    set(&mut hook, "oneOf", one_of(&["url", "urlFrom"]));
    let mut hooks = list("Webhooks of a rollout.", hook);
    set(&mut hooks, "maxItems", json!(MAX_HOOKS));
    hooks
}
