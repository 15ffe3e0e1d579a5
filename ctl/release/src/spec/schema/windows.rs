//! `rollout.windows`.

use super::build::{list, mapping, optional, pattern, required, set, text, words};
use crate::spec::read::windows::{DAYS, MAX_WINDOWS};
use serde_json::{Value, json};

const TIME: &str = "^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$";

pub(super) fn windows() -> Value {
    let mut days = list("The days on which it begins (default: all).", words("A day.", &DAYS));
    set(&mut days, "minItems", json!(1));
    let window = mapping(
        "Times of the week.",
        vec![
            optional("days", days),
            optional("from", pattern("When it begins (default: 00:00).", TIME)),
            optional(
                "to",
                pattern("When it ends: on the next day if that is before `from` (default: 24:00).", TIME),
            ),
            required("timeZone", text("Whose days and times these are: `Europe/Berlin`, `UTC`.")),
        ],
    );
    let mut windows = list("When a rollout may raise the weight and promote (default: at any time).", window);
    set(&mut windows, "maxItems", json!(MAX_WINDOWS));
    windows
}
