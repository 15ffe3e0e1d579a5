//! What the evidence says about the next step, with the numbers of both versions and the reason in one sentence.

use crate::analysis::MetricReport;
use crate::evidence::{
    Criteria, Evidence, EvidenceVerdict, FailureKind, Found, GROUPS, InnerEvidence, InnerReport,
    KindEvidence, KindNumbers, ProxyCoverage, RestartCounts, TrainReport, VersionCounts, percent,
};
use crate::hook::HookReport;
use crate::spec::ReleaseName;
use crate::stats::as_f64;
use serde::Serialize;
use std::collections::BTreeMap;

/// The number of user groups that a step must have seen on the canary.
pub const MIN_GROUPS: usize = 8;
/// Over this share of silent proxies nothing is decided.
const MAX_SILENT: f64 = 0.2;

/// A verdict with its reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assessment {
    /// The next step.
    pub verdict: EvidenceVerdict,
    /// Why, as a sentence.
    pub reason: String,
    /// The numbers of each kind of failure.
    pub kinds: Vec<KindNumbers>,
    /// The number of restarts of containers.
    pub restarts: RestartCounts,
    /// The measurements of metrics.
    pub metrics: Vec<MetricReport>,
    /// The responses of hooks since the step began.
    pub hooks: Vec<HookReport>,
    /// The observations of the other releases of the train.
    pub train: TrainReport,
}

impl Assessment {
    /// Whether something was seen that speaks against the canary. Silence does not.
    pub fn speaks_against(&self) -> bool {
        self.verdict == EvidenceVerdict::Rollback || self.kinds.iter().any(KindNumbers::is_against)
    }
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
}

/// More failures in this step than the operator allows, and not those of one user group alone.
fn above_ceiling(kind: FailureKind, evidence: &KindEvidence, criteria: &Criteria) -> Option<Found> {
    let ceiling = criteria.max_errors?;
    let canary = &evidence.step.canary;
    let total = canary.total();
    let without_worst = (0..GROUPS).map(|group| canary.total_without(group).rate()).fold(1.0, f64::min);
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

#[cfg(test)]
#[path = "assessment_tests.rs"]
mod tests;
