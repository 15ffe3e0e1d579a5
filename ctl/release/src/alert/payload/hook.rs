//! An alert as Flagger sends its events, and the end of a rollout, to webhooks.
//!
//! # Source
//! [Flagger: webhooks](https://docs.flagger.app/usage/webhooks), event payload; `CallEventWebhook` of Flagger 1.44.

use crate::alert::{AlertKind, AlertMessage};
use crate::hook::{CanaryPhase, HookPayload, checksum};
use crate::spec::{AlertSeverity, HookType};

impl AlertMessage<'_> {
    /// What a hook of that type is sent.
    pub fn hook_payload(self, hook: HookType) -> HookPayload {
        let AlertMessage { release, alert } = self;
        // The number of the alert is no part of the rollout's name.
        let rollout = alert.id.rsplit_once('-').map_or(alert.id.as_str(), |(rollout, _)| rollout);
        let mut payload = HookPayload::new(release, phase(alert.kind), checksum(rollout, &alert.canary));
        if hook == HookType::Event {
            let is_normal = alert.kind.severity() == AlertSeverity::Info;
            let event = [
                ("eventMessage", format!("{}: {}", self.title(), alert.reason)),
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
        | AlertKind::Deadline
        | AlertKind::Aborted
        | AlertKind::Test => CanaryPhase::Progressing,
    }
}
