//! An incoming webhook of Slack: a text for notifications, and blocks.
//!
//! # Source
//! [Incoming webhooks](https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/),
//! [Block Kit](https://docs.slack.dev/reference/block-kit/blocks/) (a header has at most 150 characters, a section 10 fields),
//! [escaping](https://docs.slack.dev/messaging/formatting-message-text/#escaping): `<!channel>` would call everybody.

use super::sign;
use crate::alert::AlertMessage;
use serde_json::{Value, json};

const MAX_HEADER: usize = 150;
const MAX_FIELDS: usize = 10;

pub(super) fn body(message: AlertMessage<'_>) -> Value {
    let (alert, title) = (message.alert, message.title());
    let heading = format!("{} {title}", sign(alert.kind.severity()));
    let header: String = heading.chars().take(MAX_HEADER).collect();
    let mut blocks = vec![
        json!({"type": "header", "text": {"type": "plain_text", "text": header}}),
        json!({"type": "section", "text": {"type": "mrkdwn", "text": escaped(&alert.reason)}}),
    ];
    let facts = message.facts();
    let field = |(name, value): &(String, String)| json!({"type": "mrkdwn", "text": format!("*{}*\n{}", escaped(name), escaped(value))});
    let fields: Vec<Value> = facts.iter().take(MAX_FIELDS).map(field).collect();
    if !fields.is_empty() {
        blocks.push(json!({"type": "section", "fields": fields}));
    }
    let context = format!("{:.0} · {}", alert.at, alert.id);
    blocks.push(json!({"type": "context", "elements": [{"type": "mrkdwn", "text": escaped(&context)}]}));
    json!({"text": escaped(&format!("{heading}: {}", alert.reason)), "blocks": blocks})
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
