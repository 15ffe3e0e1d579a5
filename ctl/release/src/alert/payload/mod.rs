//! An alert in the format of a receiver.

mod cloud_event;
mod discord;
mod slack;
mod teams;
mod webhook;

use super::AlertMessage;
use crate::spec::{AlertFormat, AlertSeverity};
use serde_json::Value;

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Its media type.
    pub content_type: &'static str,
    /// Its JSON.
    pub body: Value,
}

impl AlertMessage<'_> {
    /// The request for a receiver of that format.
    pub fn payload(self, format: AlertFormat) -> Payload {
        let (content_type, body) = match format {
            AlertFormat::Slack => ("application/json", slack::body(self)),
            AlertFormat::Discord => ("application/json", discord::body(self)),
            AlertFormat::Teams => ("application/json", teams::body(self)),
            AlertFormat::Webhook => ("application/json", webhook::body(self)),
            AlertFormat::CloudEvents => {
                ("application/cloudevents+json; charset=utf-8", cloud_event::body(self))
            }
        };
        Payload { content_type, body }
    }
}

/// A sign that is seen in a list of messages.
const fn sign(severity: AlertSeverity) -> &'static str {
    match severity {
        AlertSeverity::Info => "ℹ️",
        AlertSeverity::Warning => "⚠️",
        AlertSeverity::Error => "🛑",
    }
}
