//! A workflow of Microsoft Teams ("when a Teams webhook request is received"): a message with an Adaptive Card. The connectors of Office 365
//! with their `MessageCard` are gone.
//!
//! # Source
//! [Create incoming webhooks with Workflows](https://support.microsoft.com/office/8ae491c7-0394-4861-ba59-055e33f75498),
//! [Adaptive Cards](https://adaptivecards.microsoft.com/): Teams has version 1.5 and less.

use super::sign;
use crate::alert::AlertMessage;
use crate::spec::AlertSeverity;
use serde_json::{Value, json};

pub(super) fn body(message: AlertMessage<'_>) -> Value {
    let (alert, severity) = (message.alert, message.alert.kind.severity());
    let facts = message.facts().into_iter().map(|(title, value)| json!({"title": title, "value": value}));
    let facts: Vec<Value> = facts.collect();
    let mut body = vec![
        json!({
            "type": "TextBlock",
            "text": format!("{} {}", sign(severity), message.title()),
            "size": "Medium",
            "weight": "Bolder",
            "color": colour(severity),
            "wrap": true,
        }),
        json!({"type": "TextBlock", "text": alert.reason, "wrap": true}),
    ];
    if !facts.is_empty() {
        body.push(json!({"type": "FactSet", "facts": facts}));
    }
    let context = format!("{:.0} · {}", alert.at, alert.id);
    body.push(json!({"type": "TextBlock", "text": context, "size": "Small", "isSubtle": true, "wrap": true}));
    json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "contentUrl": null,
            "content": {
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "type": "AdaptiveCard",
                "version": "1.4",
                "body": body,
            },
        }],
    })
}

const fn colour(severity: AlertSeverity) -> &'static str {
    match severity {
        AlertSeverity::Info => "Default",
        AlertSeverity::Warning => "Warning",
        AlertSeverity::Error => "Attention",
    }
}
