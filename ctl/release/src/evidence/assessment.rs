//! What the evidence says about the next step, with the numbers of both versions and the reason in one sentence.

use super::{
    Evidence, FailureKind, InnerEvidence, InnerReport, KindEvidence, LogRatio, ResponseCount, RestartCounts,
    TrainReport, VersionCounts,
};
use crate::analysis::MetricReport;
use crate::hook::HookReport;
use crate::spec::ReleaseName;
use crate::stats::as_f64;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The number of user groups that a step must have seen on the canary.
pub const MIN_GROUPS: usize = 8;
/// The hold line as a fraction of the rollback line.
const HOLD: f64 = 0.2;
/// Over this share of silent proxies nothing is decided.
const MAX_SILENT: f64 = 0.2;

/// What a rollout demands of its evidence.
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

/// What to do next, as far as the evidence goes. The worse is the greater.
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
    /// How many times likelier the counts are if the canary fails more often.
    pub evidence: f64,
    /// The canary's rate of failures minus stable's, at the same time.
    pub difference: f64,
    /// The canary is rolled back at this evidence.
    pub rollback_at: f64,
}

/// A verdict with its reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assessment {
    /// What to do next.
    pub verdict: EvidenceVerdict,
    /// Why, as a sentence.
    pub reason: String,
    /// The numbers of each kind of failure.
    pub kinds: Vec<KindNumbers>,
    /// How often containers were restarted.
    pub restarts: RestartCounts,
    /// What was measured besides.
    pub metrics: Vec<MetricReport>,
    /// What hooks have said since the step began.
    pub hooks: Vec<HookReport>,
    /// What was observed of the other releases of the train.
    pub train: TrainReport,
}

impl Evidence {
    /// Assesses what was counted so far.
    pub fn assess(&self, criteria: &Criteria, proxies: ProxyCoverage) -> Assessment {
        self.assess_in_train(criteria, proxies, &BTreeMap::new(), TrainReport::default())
    }

    /// The same with what was counted of the other releases of the train. Each gives reasons to roll back or to hold, and none to wait: users of
    /// the canary need not call it.
    pub fn assess_in_train(
        &self,
        criteria: &Criteria,
        proxies: ProxyCoverage,
        inner: &BTreeMap<ReleaseName, InnerEvidence>,
        train: TrainReport,
    ) -> Assessment {
        let mut kinds = self.numbers(None, criteria);
        kinds.extend(inner.iter().flat_map(|(name, inner)| inner.evidence.numbers(Some(name), criteria)));
        let findings = kinds.iter().filter_map(KindNumbers::finding);
        let ceilings = self.kinds().filter(|(kind, _)| kind.has_ceiling());
        let ceilings = ceilings.filter_map(|(kind, evidence)| above_ceiling(kind, evidence, criteria));
        let failures = findings.chain(ceilings).chain(restarted(&self.restarts, criteria));
        let silent = silence(proxies).into_iter().chain(train.releases.iter().filter_map(inner_silence));
        let found = failures.chain(silent).chain(too_little(&self.server_errors().step, criteria));
        // Of several with the same verdict the first is said.
        let worst = found.reduce(|worst, next| if next.0 > worst.0 { next } else { worst });
        let (verdict, reason) = worst.unwrap_or_else(|| (EvidenceVerdict::Advance, not_worse(&kinds)));
        let (metrics, hooks) = (Vec::new(), Vec::new());
        Assessment { verdict, reason, kinds, restarts: self.restarts, metrics, hooks, train }
    }

    /// The numbers of each kind of failure.
    pub(crate) fn numbers(&self, release: Option<&ReleaseName>, criteria: &Criteria) -> Vec<KindNumbers> {
        self.kinds().map(|(kind, evidence)| numbers(release, kind, evidence, criteria)).collect()
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
        difference: evidence.test.rate_difference(),
        rollback_at: criteria.rollback_at(),
    }
}

impl Criteria {
    /// The evidence at which the canary is rolled back: each kind of failure has its part of the false alarms.
    pub fn rollback_at(&self) -> f64 {
        as_f64(self.kinds) / self.false_alarm
    }
}

type Found = (EvidenceVerdict, String);

impl KindNumbers {
    /// Whether it reaches the hold line.
    pub(crate) fn is_against(&self) -> bool {
        self.finding().is_some()
    }

    /// `5xx`, or `shop/api: 5xx` of another release.
    fn name(&self) -> String {
        self.release
            .as_ref()
            .map_or_else(|| self.kind.to_string(), |release| format!("{release}: {}", self.kind))
    }

    /// What this kind of failure says against the canary.
    fn finding(&self) -> Option<Found> {
        let is_worse = self.difference >= self.kind.least_difference();
        let verdict = match self.evidence {
            evidence if is_worse && evidence >= self.rollback_at => EvidenceVerdict::Rollback,
            evidence if is_worse && evidence >= self.rollback_at * HOLD => EvidenceVerdict::Hold,
            _ => return None,
        };
        Some((verdict, self.to_string()))
    }
}

impl fmt::Display for KindNumbers {
    /// ``5xx: canary 1.20% of 1000 responses, stable 0.10% of 9000: 35 times likelier if the canary is worse (rollback at 40)``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { canary, stable, evidence, rollback_at, .. } = self;
        let name = self.name();
        let (canary_rate, stable_rate) = (percent(canary.rate()), percent(stable.rate()));
        write!(
            f,
            "{name}: canary {canary_rate} of {} responses, stable {stable_rate} of {}: {} times likelier if the canary is \
             worse (rollback at {rollback_at:.0})",
            canary.responses,
            stable.responses,
            times(*evidence),
        )
    }
}

/// More failures in this step than the operator allows, and not those of one user group alone.
fn above_ceiling(kind: FailureKind, evidence: &KindEvidence, criteria: &Criteria) -> Option<Found> {
    let ceiling = criteria.max_errors?;
    let canary = &evidence.step.canary;
    let total = canary.total();
    let without_worst =
        (0..super::GROUPS).map(|group| canary.total_without(group).rate()).fold(1.0, f64::min);
    (total.responses >= criteria.min_responses && without_worst > ceiling).then(|| {
        let found = percent(total.rate());
        let reason = format!(
            "{kind}: expected at most {} of the canary's responses in this step, found {found} of {}",
            percent(ceiling),
            total.responses
        );
        (EvidenceVerdict::Rollback, reason)
    })
}

/// More restarts than the operator allows, and clearly more of each pod than stable has.
fn restarted(restarts: &RestartCounts, criteria: &Criteria) -> Option<Found> {
    let most = criteria.max_pod_restarts;
    restarts.exceed(most).then(|| {
        let RestartCounts { canary, stable } = restarts;
        let reason = format!(
            "restarts: expected at most {most} of the canary's containers, found {canary}; stable {stable}"
        );
        (EvidenceVerdict::Rollback, reason)
    })
}

fn silence(ProxyCoverage { observed, of }: ProxyCoverage) -> Option<Found> {
    let silent = of.saturating_sub(observed);
    let is_too_much = of == 0 || as_f64(silent as u64) > as_f64(of as u64) * MAX_SILENT;
    is_too_much.then(|| {
        let reason = match of {
            0 => "expected a proxy that serves the release, found none".to_owned(),
            _ => format!("expected counters of at least 80% of {of} proxies, {silent} were not observed"),
        };
        (EvidenceVerdict::Hold, reason)
    })
}

/// As of the release's own proxies, but where none calls it: there is no response that could have failed.
fn inner_silence(InnerReport { release, proxies, .. }: &InnerReport) -> Option<Found> {
    let proxies = proxies.filter(|proxies| proxies.of > 0)?;
    silence(proxies).map(|(verdict, reason)| (verdict, format!("{release}: {reason}")))
}

fn too_little(step: &VersionCounts, criteria: &Criteria) -> Option<Found> {
    let (canary, stable) = (step.canary.total().responses, step.stable.total().responses);
    let groups = step.canary.groups_seen();
    let expected = criteria.min_responses;
    let reason = if canary < expected {
        format!("expected {expected} responses of the canary in this step, found {canary}")
    } else if groups < MIN_GROUPS {
        format!("expected users of {MIN_GROUPS} of 16 groups on the canary in this step, found {groups}")
    } else if stable == 0 && criteria.max_errors.is_none() {
        "expected responses of stable to compare with in this step, found none".to_owned()
    } else {
        return None;
    };
    Some((EvidenceVerdict::Waiting, reason))
}

fn not_worse(kinds: &[KindNumbers]) -> String {
    let is_said = |numbers: &&KindNumbers| numbers.release.is_none() || numbers.canary.responses > 0;
    let each = kinds.iter().filter(is_said).map(|numbers| {
        let (canary, stable) = (percent(numbers.canary.rate()), percent(numbers.stable.rate()));
        format!("{} canary {canary}, stable {stable}", numbers.name())
    });
    format!("the canary is not worse: {}", each.collect::<Vec<_>>().join("; "))
}

fn percent(rate: f64) -> String {
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

#[cfg(test)]
#[path = "assessment_tests.rs"]
mod tests;
