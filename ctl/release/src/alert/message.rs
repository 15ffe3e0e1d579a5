//! What an alert says.

use crate::evidence::{Criteria, Evidence, FailureKind, GROUPS, GroupCounts, KindNumbers};
use crate::rollout::{Rollout, RolloutResult};
use crate::spec::{AlertSeverity, ReleaseName};
use crate::stats::as_f64;
use assignment::Weight;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// No reason of a rollout is longer; a message of an API server may be.
const MAX_REASON: usize = 600;
/// Kinds of failure of other releases that an alert has: a record keeps many alerts.
const MAX_INNER_COUNTS: usize = 4;

/// A transition of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AlertKind {
    /// It was started.
    Started,
    /// The weight of a step was set.
    Step,
    /// A step needs an approval.
    Gate,
    /// Somebody has paused it, or has set a weight.
    Suspended,
    /// Somebody lets it go on.
    Resumed,
    /// It was held, or has seen too little, for long.
    Stalled,
    /// The canary is worse, or has ended because no driver was there.
    Failed,
    /// The deadline has passed.
    Deadline,
    /// Somebody has ended it.
    Aborted,
    /// The canary is stable.
    Promoted,
    /// The canary is gone.
    RolledBack,
    /// The canary receives no new users.
    Stopped,
    /// All steps are done, and the weight stays.
    Completed,
    /// It only observed, and has ended.
    Observed,
    /// None: somebody tries the receivers.
    Test,
}

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
    /// What was counted since the rollout began, by kind of failure.
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

/// What was counted of both versions at the same time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindCounts {
    /// Another release of the train, whose versions these are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseName>,
    /// What counts as failed.
    pub kind: FailureKind,
    /// Of the canary.
    pub canary: VersionCount,
    /// Of stable.
    pub stable: VersionCount,
}

/// What was counted of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VersionCount {
    /// The user groups with a response, of 16: the proxies count groups and not users.
    pub user_groups: usize,
    /// Responses; requests where a missing response is the failure.
    pub responses: u64,
    /// Those that failed.
    pub failed: u64,
}

/// An alert, and the release that it is about.
#[derive(Clone, Copy, Debug)]
pub struct AlertMessage<'a> {
    /// The release.
    pub release: &'a ReleaseName,
    /// What happened to it.
    pub alert: &'a Alert,
}

impl AlertKind {
    /// How much it asks for attention.
    pub const fn severity(self) -> AlertSeverity {
        match self {
            Self::Started
            | Self::Step
            | Self::Resumed
            | Self::Promoted
            | Self::Completed
            | Self::Observed
            | Self::Test => AlertSeverity::Info,
            Self::Gate | Self::Suspended | Self::Stalled | Self::Aborted => AlertSeverity::Warning,
            Self::Failed | Self::Deadline | Self::RolledBack | Self::Stopped => AlertSeverity::Error,
        }
    }

    /// Whether the rollout has ended with it.
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Promoted | Self::RolledBack | Self::Stopped | Self::Completed | Self::Observed)
    }

    /// The name that programs read: `rolledBack`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Step => "step",
            Self::Gate => "gate",
            Self::Suspended => "suspended",
            Self::Resumed => "resumed",
            Self::Stalled => "stalled",
            Self::Failed => "failed",
            Self::Deadline => "deadline",
            Self::Aborted => "aborted",
            Self::Promoted => "promoted",
            Self::RolledBack => "rolledBack",
            Self::Stopped => "stopped",
            Self::Completed => "completed",
            Self::Observed => "observed",
            Self::Test => "test",
        }
    }
}

impl From<RolloutResult> for AlertKind {
    fn from(result: RolloutResult) -> Self {
        match result {
            RolloutResult::Promoted => Self::Promoted,
            RolloutResult::RolledBack => Self::RolledBack,
            RolloutResult::Stopped => Self::Stopped,
            RolloutResult::Completed => Self::Completed,
            RolloutResult::Observed => Self::Observed,
        }
    }
}

impl KindCounts {
    /// What a rollout has counted: of the other releases of its train what speaks against the canary.
    pub fn of(rollout: &Rollout) -> Vec<Self> {
        let criteria = rollout.criteria();
        let inner = rollout
            .train
            .iter()
            .flat_map(|(name, inner)| Self::of_evidence(Some(name), &inner.evidence, &criteria));
        let mut counts: Vec<Self> = Self::of_evidence(None, &rollout.evidence, &criteria).collect();
        counts.extend(inner.take(MAX_INNER_COUNTS));
        counts
    }

    fn of_evidence<'e>(
        release: Option<&'e ReleaseName>,
        evidence: &'e Evidence,
        criteria: &Criteria,
    ) -> impl Iterator<Item = Self> + use<'e> {
        let numbers = evidence.numbers(release, criteria);
        let is_told =
            move |index: usize| release.is_none() || numbers.get(index).is_some_and(KindNumbers::is_against);
        let told = evidence.kinds().enumerate().filter(move |(index, _)| is_told(*index));
        told.map(move |(_, (kind, evidence))| {
            let counts = evidence.test.counts();
            let [canary, stable] = [&counts.canary, &counts.stable].map(VersionCount::of);
            Self { release: release.cloned(), kind, canary, stable }
        })
    }
}

impl VersionCount {
    fn of(counts: &GroupCounts) -> Self {
        let total = counts.total();
        Self { user_groups: counts.groups_seen(), responses: total.responses, failed: total.failed }
    }
}

impl KindCounts {
    /// `3 of 120 responses (2.50%), users of 14 of 16 groups`.
    fn said(&self, of: fn(&Self) -> VersionCount) -> String {
        let VersionCount { user_groups, responses, failed } = of(self);
        let counted = match self.kind {
            FailureKind::Unanswered => "requests",
            FailureKind::ServerErrors | FailureKind::ClientErrors | FailureKind::SlowResponses => "responses",
        };
        if responses == 0 {
            return format!("no {counted}");
        }
        let percent = as_f64(failed) / as_f64(responses) * 100.0;
        format!(
            "{failed} of {responses} {counted} ({percent:.2}%), users of {user_groups} of {GROUPS} groups"
        )
    }
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
    /// What has happened, in a few words.
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

    /// Where it is, and what was counted: names with values.
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
