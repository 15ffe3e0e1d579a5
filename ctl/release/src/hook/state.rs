//! The responses of a hook since a step began, as the record keeps them: the last one, and how many in a row had its outcome.

use super::{HookError, HookResult};
use crate::alert::Alert;
use crate::analysis::{Outcome, verdict_of};
use crate::evidence::EvidenceVerdict;
use crate::spec::{HookType, RolloutHook, Seconds};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A confirmation is as old as that at most: it is asked for when the rollout would go on.
const CONFIRMED_FOR: SignedDuration = SignedDuration::from_mins(1);
/// A call that is later than this past its time is missing: drivers observe every ten to thirty seconds.
const LATENESS: SignedDuration = SignedDuration::from_mins(1);

/// The state of a hook since a step began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HookState {
    /// When a driver has learned of its last response.
    pub at: Timestamp,
    /// So many calls in a row had the same outcome.
    pub in_a_row: u32,
    /// That of the last one; unknown where no response came.
    pub outcome: Outcome,
    /// The reason for which it has not succeeded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// A hook as it is printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookReport {
    /// The hook.
    #[serde(flatten)]
    pub hook: RolloutHook,
    /// The responses since the step began; `None` before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<HookState>,
}

impl HookState {
    /// With the result of a further call.
    pub(crate) fn followed_by(before: Option<&Self>, result: &HookResult) -> Self {
        let (outcome, reason) = match &result.result {
            Ok(()) => (Outcome::Passed, ""),
            Err(HookError { reason, is_response: true, .. }) => (Outcome::Failed, reason.as_str()),
            Err(HookError { reason, .. }) => (Outcome::Unknown, reason.as_str()),
        };
        let same = before.filter(|before| before.outcome == outcome);
        let in_a_row = same.map_or(0, |before| before.in_a_row).saturating_add(1);
        Self { at: result.at, in_a_row, outcome, reason: Alert::bounded(reason) }
    }

    /// Whether a result of that time is in it, or came before it. A state of a clock that was far ahead knows no result.
    pub(crate) fn has_result_of(&self, at: Timestamp) -> bool {
        at <= self.at && self.at.duration_since(at) <= CONFIRMED_FOR
    }
}

impl HookReport {
    /// With one response, whatever it was about.
    pub fn of_response(hook: RolloutHook, result: &HookResult) -> Self {
        let state = Some(HookState::followed_by(None, result));
        Self { hook, state }
    }

    /// Whether a rollout that begins now may get through: the hook has responded, no check has failed, no notification was refused, and nobody
    /// asks for a rollback. A gate may be closed: somebody opens it.
    pub fn may_pass(&self) -> bool {
        let kind = self.hook.kind;
        let must_succeed = kind.is_check() || kind.is_notification();
        self.state.as_ref().is_some_and(|state| match state.outcome {
            Outcome::Passed => kind != HookType::Rollback,
            Outcome::Failed => !must_succeed,
            Outcome::Unknown => false,
        })
    }

    /// Whether it is to be called, where a rollout wants it.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        let Some(state) = &self.state else { return true };
        let since = now.duration_since(state.at);
        match self.hook.kind {
            // A test before the first weight is made until it succeeds.
            HookType::ConfirmRollout | HookType::PreRollout if state.outcome == Outcome::Passed => false,
            kind if kind.has_interval() => {
                since >= length(self.hook.interval) || since <= -length(self.hook.interval)
            }
            // A gate that opens is seen with the next observation.
            _ => true,
        }
    }

    /// Whether it lets the rollout go on. What comes before the first weight lasts; what confirms is asked each time.
    pub(crate) fn has_passed(&self, now: Timestamp) -> bool {
        let Some(state) = &self.state else { return false };
        let lasts = matches!(self.hook.kind, HookType::ConfirmRollout | HookType::PreRollout);
        let is_new = now.duration_since(state.at).abs() <= CONFIRMED_FOR;
        state.outcome == Outcome::Passed && (lasts || is_new)
    }

    /// Whether a response keeps the rollout from going on.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.outcome == Outcome::Failed)
    }

    /// The verdict of the calls, whatever their age; `None` if nothing speaks against going on.
    pub(crate) fn verdict(&self) -> Option<EvidenceVerdict> {
        match &self.state {
            None => Some(EvidenceVerdict::Waiting),
            Some(state) => verdict_of(state.outcome, state.in_a_row, self.hook.failure_threshold),
        }
    }

    /// The finding of a check during a step against the next one, if any; `None` for other hooks.
    pub(crate) fn finding(&self, now: Timestamp) -> Option<(EvidenceVerdict, String)> {
        if self.hook.kind != HookType::Rollout {
            return None;
        }
        if let Some(verdict) = self.verdict() {
            return Some((verdict, self.to_string()));
        }
        let state = self.state.as_ref()?;
        let is_old = now.duration_since(state.at) > length(self.hook.interval) * 2 + LATENESS;
        is_old.then(|| {
            let RolloutHook { name, kind, .. } = &self.hook;
            let reason =
                format!("hook `{name}` ({kind}): expected a response after {:.0}, found none", state.at);
            (EvidenceVerdict::Waiting, reason)
        })
    }
}

impl HookReport {
    /// The responses in words; `None` before the first.
    pub fn said(&self) -> Option<String> {
        let RolloutHook { kind, failure_threshold, .. } = &self.hook;
        let HookState { in_a_row, outcome, reason, .. } = self.state.as_ref()?;
        let times = in_a_row.min(failure_threshold);
        let in_a_row = if kind.is_check() {
            format!(", {times} of {failure_threshold} times in a row")
        } else {
            String::new()
        };
        Some(match (outcome, kind) {
            (Outcome::Passed, HookType::Rollback) => "asks for a rollback".to_owned(),
            (Outcome::Passed, kind) if kind.is_notification() => "accepted".to_owned(),
            (Outcome::Passed, _) => "passed".to_owned(),
            (Outcome::Failed, HookType::Rollback) => format!("asks for no rollback: {reason}"),
            (Outcome::Failed, kind) if kind.is_notification() => format!("not accepted: {reason}"),
            (Outcome::Failed, kind) if kind.is_check() => format!("failed{in_a_row}: {reason}"),
            (Outcome::Failed, _) => format!("closed: {reason}"),
            (Outcome::Unknown, _) => format!("no response{in_a_row}: {reason}"),
        })
    }
}

impl fmt::Display for HookReport {
    /// ``hook `smoke` (pre-rollout): failed, 1 of 3 times in a row: 500 Internal Server Error``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RolloutHook { name, kind, .. } = &self.hook;
        let said = self.said().unwrap_or_else(|| "no response yet".to_owned());
        write!(f, "hook `{name}` ({kind}): {said}")
    }
}

fn length(interval: Seconds) -> SignedDuration {
    i64::try_from(interval.get()).map_or(SignedDuration::MAX, SignedDuration::from_secs)
}
