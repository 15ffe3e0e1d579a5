//! A webhook of Discord: a line for notifications, and an embed.
//!
//! # Source
//! [Execute Webhook](https://docs.discord.com/developers/resources/webhook#execute-webhook) and
//! [embed limits](https://docs.discord.com/developers/resources/message#embed-object-embed-limits): content 2000, title 256, description 4096,
//! 25 fields. `allowed_mentions` without any lets no text call anybody.

use super::sign;
use crate::alert::AlertMessage;
use crate::spec::AlertSeverity;
use serde_json::{Value, json};

const MAX_TITLE: usize = 256;
const MAX_FIELDS: usize = 25;

pub(super) fn body(message: AlertMessage<'_>) -> Value {
    let (alert, severity) = (message.alert, message.alert.kind.severity());
    let title: String = message.title().chars().take(MAX_TITLE).collect();
    let facts = message.facts();
    let field = |(name, value): &(String, String)| json!({"name": name, "value": value, "inline": false});
    json!({
        "content": format!("{} {title}", sign(severity)),
        "embeds": [{
            "title": title,
            "description": alert.reason,
            "color": colour(severity),
            "timestamp": alert.at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "fields": facts.iter().take(MAX_FIELDS).map(field).collect::<Vec<_>>(),
            "footer": {"text": alert.id},
        }],
        "allowed_mentions": {"parse": []},
    })
}

/// Red, green and blue in one number.
const fn colour(severity: AlertSeverity) -> u32 {
    match severity {
        AlertSeverity::Info => 0x002e_7d32,
        AlertSeverity::Warning => 0x00ed_6c02,
        AlertSeverity::Error => 0x00c6_2828,
    }
}
