//! An alert as a `CloudEvent`. Source and id together are unique, so a receiver that gets it twice knows it.
//!
//! # Source
//! [CloudEvents 1.0.2](https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md#required-attributes), its
//! [JSON format](https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md) and its
//! [HTTP binding](https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md#32-structured-content-mode)

use super::webhook;
use crate::alert::AlertMessage;
use serde_json::{Value, json};

pub(super) fn body(message: AlertMessage<'_>) -> Value {
    let AlertMessage { release, alert } = message;
    json!({
        "specversion": "1.0",
        "id": alert.id,
        "source": format!("/namespaces/{}/releases/{}", release.namespace, release.name),
        "type": format!("io.canary-ctl.rollout.{}", alert.kind.as_str()),
        "subject": alert.canary,
        "time": alert.at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "datacontenttype": "application/json",
        "data": webhook::body(message),
    })
}
