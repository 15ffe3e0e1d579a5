//! What a rollout demands of its evidence, and what one kind of failure says against the canary.

use super::{Evidence, FailureKind, KindEvidence, LogRatio, RateRatio, ResponseCount};
use crate::spec::ReleaseName;
use crate::stats::as_f64;
use serde::Serialize;
use std::fmt;

/// The hold line as a fraction of the rollback line.
const HOLD: f64 = 0.2;

/// The demands of a rollout on its evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criteria {
    /// The probability that a canary as good as stable is rolled back, at most; `0.0..1.0`, over all kinds of failure.
    pub false_alarm: f64,
    /// A share of failed responses that the canary must not exceed, whatever stable does; `0.0..=1.0`.
    pub max_errors: Option<f64>,
    /// The responses of the canary that the step must have seen, before it ends and before [`Self::max_errors`] counts: 300 without a failure exclude a rate of 1 % (3/rate).
    pub min_responses: u64,
    /// The restarts of the canary's containers that are allowed.
    pub max_pod_restarts: u64,
    /// The number of kinds of failure that are judged, of all releases together: each has its part of the false alarms.
    pub kinds: u64,
}

/// The proxies that took part in the last interval, and those that serve the release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ProxyCoverage {
    /// Those that were observed.
    pub observed: usize,
    /// All.
    pub of: usize,
}

/// The next step by the evidence alone. The worse is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum EvidenceVerdict {
    /// Enough was seen, and the canary is not worse.
    Advance,
    /// Too little was seen.
    Waiting,
    /// The canary may be worse, or what it does is not observed well enough.
    Hold,
    /// The canary is worse.
    Rollback,
}

/// The numbers of both versions for one kind of failure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindNumbers {
    /// Another release of the train, whose versions these are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseName>,
    /// The kind.
    pub kind: FailureKind,
    /// The canary's responses in the rollout.
    pub canary: ResponseCount,
    /// Stable's.
    pub stable: ResponseCount,
    /// The likelihood ratio of the counts if the canary fails more often.
    pub evidence: f64,
    /// The same if the canary loses more than twice as many sessions: only then it is rolled back for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_of_more_than_twice: Option<f64>,
    /// The canary's rate of failures minus stable's, at the same time.
    pub difference: f64,
    /// The ratio of the failure rates, canary to stable; nothing if one of both had no failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<RateRatio>,
    /// So many users of the canary at least had a failed response: the user groups with one, 16 at most.
    pub users: usize,
    /// The canary is rolled back at this evidence.
    pub rollback_at: f64,
}

impl Evidence {
    /// The numbers of each kind of failure.
    pub(crate) fn numbers(&self, release: Option<&ReleaseName>, criteria: &Criteria) -> Vec<KindNumbers> {
        let numbers = |(kind, evidence)| {
            let numbers = numbers(release, kind, evidence, criteria);
            let is_lost = kind == FailureKind::LostSessions;
            let of_more_than_twice = self.of_more_than_twice().filter(|_| is_lost).map(LogRatio::ratio);
            KindNumbers { evidence_of_more_than_twice: of_more_than_twice, ..numbers }
        };
        self.kinds().map(numbers).collect()
    }
}

fn numbers(
    release: Option<&ReleaseName>,
    kind: FailureKind,
    evidence: &KindEvidence,
    criteria: &Criteria,
) -> KindNumbers {
    let counts = evidence.test.counts();
    KindNumbers {
        release: release.cloned(),
        kind,
        canary: counts.canary.total(),
        stable: counts.stable.total(),
        evidence: evidence.test.log_evidence().ratio(),
        evidence_of_more_than_twice: None,
        difference: evidence.test.rate_difference(),
        ratio: evidence.test.rate_ratio(),
        users: counts.canary.groups_failed(),
        rollback_at: criteria.rollback_at(),
    }
}

impl Criteria {
    /// The evidence at which the canary is rolled back: each kind of failure has its part of the false alarms.
    pub fn rollback_at(&self) -> f64 {
        as_f64(self.kinds) / self.false_alarm
    }
}

/// A verdict, and why.
pub(crate) type Found = (EvidenceVerdict, String);

impl KindNumbers {
    /// Whether it reaches the hold line.
    pub(crate) fn is_against(&self) -> bool {
        self.finding().is_some()
    }

    /// `5xx`, or `shop/api: 5xx` of another release.
    pub fn name(&self) -> String {
        self.release
            .as_ref()
            .map_or_else(|| self.kind.to_string(), |release| format!("{release}: {}", self.kind))
    }

    /// ``the canary's fail 12 times as often (95% interval 3.1 to 46); at least 5 users met one``; nothing where no response of the canary failed.
    pub fn detail(&self) -> Option<String> {
        if self.canary.failed == 0 {
            return None;
        }
        let users = match self.users {
            1 => "1 user".to_owned(),
            users => format!("{users} users"),
        };
        let ratio = self.ratio.map_or_else(String::new, |RateRatio { ratio, low, high }| {
            let (ratio, low, high) = (times(ratio), times(low), times(high));
            format!("the canary's fail {ratio} times as often (95% interval {low} to {high}); ")
        });
        Some(format!("{ratio}at least {users} met one"))
    }

    /// Whether there may be no more lost sessions than twice as many logins by GET would make.
    fn may_be_logins(&self) -> bool {
        self.evidence_of_more_than_twice.is_some_and(|evidence| evidence < self.rollback_at)
    }

    /// The finding of this kind of failure against the canary.
    pub(crate) fn finding(&self) -> Option<Found> {
        let is_worse = self.difference >= self.kind.least_difference();
        let verdict = match self.evidence {
            evidence if is_worse && evidence >= self.rollback_at && !self.may_be_logins() => {
                EvidenceVerdict::Rollback
            }
            evidence if is_worse && evidence >= self.rollback_at * HOLD => EvidenceVerdict::Hold,
            _ => return None,
        };
        Some((verdict, self.to_string()))
    }
}

impl fmt::Display for KindNumbers {
    /// ``5xx: canary 1.20% of 1000 responses, stable 0.10% of 9000: 35 times likelier if the canary is worse (rollback at 40)``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { canary, stable, evidence, evidence_of_more_than_twice, rollback_at, .. } = self;
        let name = self.name();
        let (canary_rate, stable_rate) = (percent(canary.rate()), percent(stable.rate()));
        let by_whom = if self.difference > 0.0 && canary.rate() < stable.rate() {
            ", most of them of few users"
        } else {
            ""
        };
        write!(
            f,
            "{name}: canary {canary_rate} of {} responses, stable {stable_rate} of {}{by_whom}: {} times likelier if the \
             canary is worse (rollback at {rollback_at:.0})",
            canary.responses,
            stable.responses,
            times(*evidence),
        )?;
        match evidence_of_more_than_twice {
            Some(of_twice) if *evidence >= *rollback_at && self.may_be_logins() => write!(
                f,
                "; {} times if it loses more than twice as many: a login by GET looks the same, so that a person decides",
                times(*of_twice)
            ),
            _ => Ok(()),
        }
    }
}

pub(crate) fn percent(rate: f64) -> String {
    format!("{:.2}%", rate * 100.0)
}

/// A ratio for people: none needs more than two digits of one that is small, nor all of one that is vast.
fn times(ratio: f64) -> String {
    match ratio {
        ..10.0 => format!("{ratio:.1}"),
        ..1e6 => format!("{ratio:.0}"),
        _ => "over a million".to_owned(),
    }
}

impl LogRatio {
    /// Whether the evidence reaches a line.
    pub fn reaches(self, line: f64) -> bool {
        self.nats() >= line.ln()
    }
}
