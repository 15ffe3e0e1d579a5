//! An alert as Flagger sends its events, and the end of a rollout, to webhooks.
//!
//! # Source
//! [Flagger: webhooks](https://docs.flagger.app/usage/webhooks), event payload; `CallEventWebhook` of Flagger 1.44.

use super::{CanaryPhase, HookPayload, checksum};
use crate::alert::{AlertKind, AlertMessage};
use crate::spec::{AlertSeverity, HookType};

impl HookPayload {
    /// The payload of an alert for a hook of that type.
    pub fn of_alert(message: AlertMessage<'_>, hook: HookType) -> Self {
        let AlertMessage { release, alert } = message;
        // The number of the alert is no part of the rollout's name.
        let rollout = alert.id.rsplit_once('-').map_or(alert.id.as_str(), |(rollout, _)| rollout);
        let mut payload = Self::new(release, phase(alert.kind), checksum(rollout, &alert.canary));
        if hook == HookType::Event {
            let is_normal = alert.kind.severity() == AlertSeverity::Info;
            let event = [
                ("eventMessage", format!("{}: {}", message.title(), alert.reason)),
                ("eventType", if is_normal { "Normal" } else { "Warning" }.to_owned()),
                ("timestamp", alert.at.as_millisecond().to_string()),
            ];
            payload.metadata.extend(event.map(|(name, value)| (name.to_owned(), value)));
        }
        payload
    }
}

const fn phase(kind: AlertKind) -> CanaryPhase {
    match kind {
        AlertKind::Promoted | AlertKind::Completed | AlertKind::Observed => CanaryPhase::Succeeded,
        AlertKind::RolledBack | AlertKind::Stopped => CanaryPhase::Failed,
        AlertKind::Gate | AlertKind::Suspended => CanaryPhase::Waiting,
        AlertKind::Started
        | AlertKind::Step
        | AlertKind::Resumed
        | AlertKind::Stalled
        | AlertKind::Failed
        | AlertKind::HeldTooLong
        | AlertKind::Deadline
        | AlertKind::Aborted
        | AlertKind::Test => CanaryPhase::Progressing,
    }
}
