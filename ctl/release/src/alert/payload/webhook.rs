//! An alert as JSON, for programs.

use crate::alert::AlertMessage;
use serde_json::{Value, json};

/// Basis points of a percent.
const PERCENT: f64 = 100.0;

pub(super) fn body(message: AlertMessage<'_>) -> Value {
    let AlertMessage { release, alert } = message;
    json!({
        "id": alert.id,
        "type": alert.kind.as_str(),
        "severity": alert.kind.severity(),
        "time": alert.at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "release": {"namespace": release.namespace.as_str(), "name": release.name.as_str()},
        "canary": alert.canary,
        "stable": alert.stable,
        "plan": alert.plan,
        "step": alert.step,
        "weightPercent": f64::from(alert.weight.basis_points()) / PERCENT,
        "title": message.title(),
        "reason": alert.reason,
        "counts": alert.counts,
    })
}
