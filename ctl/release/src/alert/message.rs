//! What an alert says.

use super::{AlertKind, KindCounts};
use crate::spec::ReleaseName;
use assignment::Weight;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// No reason of a rollout is longer; a message of an API server may be.
const MAX_REASON: usize = 600;

/// One alert. Its id is the same however often it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Alert {
    /// Unique: uid of the release, start of the rollout, number of the alert.
    pub id: String,
    /// The transition.
    pub kind: AlertKind,
    /// When.
    pub at: Timestamp,
    /// The version that the rollout is about.
    pub canary: String,
    /// The version that it is compared with; `None` once it is the canary itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stable: Option<String>,
    /// The name of the plan.
    pub plan: String,
    /// The step; `None` before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<AlertStep>,
    /// The canary's share then.
    pub weight: Weight,
    /// Why, as a sentence.
    pub reason: String,
    /// The counts since the rollout began, by kind of failure.
    pub counts: Vec<KindCounts>,
}

/// A step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlertStep {
    /// From 1 on.
    pub number: usize,
    /// All of them.
    pub of: usize,
}

/// An alert, and the release that it is about.
#[derive(Clone, Copy, Debug)]
pub struct AlertMessage<'a> {
    /// The release.
    pub release: &'a ReleaseName,
    /// The alert.
    pub alert: &'a Alert,
}

impl Alert {
    /// One that tells nothing but that a receiver is reached.
    pub fn test(id: String, canary: &str, at: Timestamp) -> Self {
        Self {
            id,
            kind: AlertKind::Test,
            at,
            canary: canary.to_owned(),
            stable: None,
            plan: "none".to_owned(),
            step: None,
            weight: Weight::ZERO,
            reason: "somebody tries the receivers of alerts: nothing has happened".to_owned(),
            counts: Vec::new(),
        }
    }

    /// A reason in one line, of bounded length.
    pub(crate) fn bounded(reason: &str) -> String {
        let line = |character: char| if character.is_control() { ' ' } else { character };
        let mut characters = reason.chars().map(line);
        let mut text: String = characters.by_ref().take(MAX_REASON).collect();
        if characters.next().is_some() {
            text.push('…');
        }
        text
    }
}

impl AlertMessage<'_> {
    /// The event, in a few words.
    pub fn title(&self) -> String {
        let Self { release, alert } = self;
        let Alert { canary, weight, .. } = alert;
        let what = match alert.kind {
            AlertKind::Started => format!("the rollout of {canary} has started"),
            AlertKind::Step => format!("{canary} is at {weight}"),
            AlertKind::Gate => format!("{canary} needs an approval at {weight}"),
            AlertKind::Suspended => format!("the rollout of {canary} is suspended"),
            AlertKind::Resumed => format!("the rollout of {canary} goes on"),
            AlertKind::Stalled => format!("the rollout of {canary} does not go on"),
            AlertKind::Failed => format!("the rollout of {canary} has failed"),
            AlertKind::HeldTooLong => format!("the rollout of {canary} was held too long"),
            AlertKind::Deadline => format!("the rollout of {canary} has missed its deadline"),
            AlertKind::Aborted => format!("the rollout of {canary} was aborted"),
            AlertKind::Promoted => format!("{canary} is promoted"),
            AlertKind::RolledBack => format!("{canary} is rolled back"),
            AlertKind::Stopped => format!("{canary} receives no new users"),
            AlertKind::Completed => format!("the rollout of {canary} is complete"),
            AlertKind::Observed => format!("the observation of {canary} has ended"),
            AlertKind::Test => "a test of its alerts".to_owned(),
        };
        format!("{release}: {what}")
    }

    /// The place and the counts: names with values.
    pub(super) fn facts(&self) -> Vec<(String, String)> {
        let Alert { canary, stable, plan, step, weight, counts, kind, .. } = self.alert;
        if *kind == AlertKind::Test {
            return Vec::new();
        }
        let at = step.map(|step| format!("step {} of {}, ", step.number, step.of)).unwrap_or_default();
        let mut facts = vec![("Weight".to_owned(), format!("{weight} ({at}plan {plan})"))];
        let stable = stable.as_deref().unwrap_or("stable");
        for counts in counts {
            let kind = counts.kind;
            // The versions of another release have names of their own.
            let names = counts
                .release
                .as_ref()
                .map(|release| ["canary", "stable"].map(|role| format!("{release} {role}")));
            let [canary, stable] = names.unwrap_or_else(|| [canary.clone(), stable.to_owned()]);
            facts.push((format!("{canary}, {kind}"), counts.said(|counts| counts.canary)));
            facts.push((format!("{stable}, {kind}"), counts.said(|counts| counts.stable)));
        }
        facts
    }
}
