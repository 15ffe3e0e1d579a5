//! A driver of a rollout, in the order of `canary_operations`: what was observed is added to the record, assessed, decided, and the decision
//! done to the record. Objects have the state of the record at once; nobody else writes.

use crate::baseline::{Baseline, Observed};
use crate::counters::INTERVAL;
use crate::error::ModelError;
use crate::scenario::{PlanStep, Population, Scenario};
use assignment::Weight;
use canary_release::alert::AlertKind;
use canary_release::assessment::Assessment;
use canary_release::evidence::{ProxyCoverage, TrainReport};
use canary_release::file;
use canary_release::record::{Author, Record};
use canary_release::rollout::{
    Decision, Ending, InnerIntervals, RolloutAction, RolloutObservation, RolloutPhase,
};
use canary_release::spec::{DEFAULT_PLAN, Gate, Release, RolloutSpec, RolloutStep, Seconds};
use canary_release::state::ReleaseState;
use jiff::{SignedDuration, Timestamp};
use std::path::Path;

const HEAD: &str = "\
apiVersion: canary-ctl.io/v1alpha1
kind: Release
metadata: {name: shop, namespace: shop}
spec:
  versions: {stable: v1, canary: v2}
  hosts: [shop.example.com]
  gateways: [{name: shop/shop, selector: {app: gateway}}]
  identifyBy: [{cookie: SESSIONID}]
  delivery: {mode: envoyfilter, module: \"oci://registry.example.com/filter:1\"}
";
/// Ready pods of stable, at every time.
const STABLE_PODS: usize = 9;
const DRIVER: &str = "driver";

/// How a rollout has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalState {
    /// The canary is promoted.
    Promoted,
    /// It is rolled back for what was counted.
    RolledBack,
    /// The deadline has passed.
    Deadline,
    /// It goes on.
    Open,
}

/// A record with a rollout, and what its driver remembers.
pub(crate) struct Driver {
    pub(crate) record: Record,
    started_at: Timestamp,
    baseline: Option<Baseline>,
    /// Observations at which the rollout was held.
    pub(crate) held: u32,
    /// Why the last decision was made.
    pub(crate) reason: String,
}

impl Driver {
    /// Starts the rollout of a scenario.
    pub(crate) fn new(scenario: &Scenario) -> Result<Self, ModelError> {
        let release = release(scenario)?;
        let started_at = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * 365 * 56);
        let mut record = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
        let spec = spec(scenario, &release)?;
        record.start_rollout(&spec, DEFAULT_PLAN, Author::new("ada", started_at))?;
        Ok(Self { record, started_at, baseline: None, held: 0, reason: String::new() })
    }

    /// Observes the counters, so many seconds after the start, and does what follows.
    pub(crate) fn reconcile(&mut self, observed: &Observed, second: u32) -> Option<FinalState> {
        let now = self.started_at + SignedDuration::from_secs(i64::from(second));
        let proxies = ProxyCoverage { observed: self.add_interval(observed), of: observed.counters.len() };
        self.record.note_fuses(0, now);
        self.record.note_stable_pods(self.record.state.weight, STABLE_PODS);
        let assessment = self.record.assess_rollout(proxies, TrainReport::default(), now)?;
        self.record.note_held(&assessment, now);
        let decision = self.record.rollout.as_ref()?.next(&self.observation(assessment), now);
        self.held += u32::from(decision.phase == RolloutPhase::Held);
        let generation = self.record.state.generation;
        self.carry_out(&decision, now);
        let is_steady = self.record.state.generation == generation;
        let intervals = self.record.rollout.as_ref().map_or(0, |rollout| rollout.evidence.intervals);
        self.baseline = is_steady.then(|| Baseline::new(generation, intervals, observed));
        let result = result(&decision);
        self.reason = decision.reason;
        result
    }

    /// Adds what was counted since the last observation of this generation; the number of proxies that took part.
    fn add_interval(&mut self, observed: &Observed) -> usize {
        let generation = self.record.state.generation;
        let Some(baseline) = self.baseline.as_ref().filter(|baseline| baseline.generation == generation)
        else {
            return observed.counters.len();
        };
        let interval = baseline.interval(observed);
        self.record.add_evidence(baseline.intervals, &interval, &InnerIntervals::new());
        interval.proxies
    }

    fn observation(&self, assessment: Assessment) -> RolloutObservation {
        RolloutObservation {
            role: self.record.rollout_role(),
            weight: self.record.state.weight,
            until: self.record.state.until,
            is_deployed: true,
            fused: 0,
            scaled_down: None,
            dependencies: Vec::new(),
            assessment,
        }
    }

    fn carry_out(&mut self, decision: &Decision, now: Timestamp) {
        self.record.note_wait(decision, now);
        let before = self.record.state.weight;
        if self.record.apply_decision(decision, Author::new(DRIVER, now)) {
            self.record.note_stable_pods(before, STABLE_PODS);
        }
    }

    /// The canary's share, in basis points.
    pub(crate) fn weight(&self) -> u32 {
        u32::from(self.record.state.weight.basis_points())
    }

    /// Seconds from the start of the rollout to that of its step.
    pub(crate) fn step_since(&self) -> u32 {
        self.record.rollout.as_ref().map_or(0, |rollout| self.seconds(rollout.step_since().as_second()))
    }

    /// Seconds from the start of the rollout to the time from which on the state says that sessions count.
    pub(crate) fn recorded_since(&self) -> u32 {
        self.seconds(i64::try_from(self.record.state.rollout_since_seconds).unwrap_or_default())
    }

    fn seconds(&self, time: i64) -> u32 {
        u32::try_from(time - self.started_at.as_second()).unwrap_or_default()
    }
}

/// How a decision ends the rollout. What follows a decision about the end is not simulated.
fn result(decision: &Decision) -> Option<FinalState> {
    match decision.action {
        _ if decision.alert == Some(AlertKind::Deadline) => Some(FinalState::Deadline),
        RolloutAction::Decide(Ending::Promote) => Some(FinalState::Promoted),
        RolloutAction::Decide(Ending::Rollback | Ending::Stop) => Some(FinalState::RolledBack),
        _ => None,
    }
}

fn release(scenario: &Scenario) -> Result<Release, ModelError> {
    let cookie = "  session: {cookie: SESSIONID}\n";
    let judged = scenario.judged;
    let (sticky, cookie) = match scenario.population {
        Population::Sessions { .. } => ("  stickiness: session\n", cookie),
        Population::Users { .. } => ("  stickiness: user\n", if judged.lost_sessions { cookie } else { "" }),
    };
    let slower_than = if judged.slow_responses { "  rollout: {slowerThan: 500ms}\n" } else { "" };
    let text = format!("{HEAD}{sticky}{cookie}{slower_than}");
    Ok(file::parse(Path::new("canary.yaml"), &text)?.release)
}

fn spec(scenario: &Scenario, release: &Release) -> Result<RolloutSpec, ModelError> {
    let mut spec = release.rollout.clone();
    spec.policy.client_errors = scenario.judged.client_errors;
    spec.policy.lost_sessions |= scenario.judged.lost_sessions;
    if !scenario.plan.is_empty() {
        let plan = scenario.plan.iter().copied().map(step).collect::<Result<_, _>>()?;
        spec.plans.insert(DEFAULT_PLAN.to_owned(), plan);
    }
    Ok(spec)
}

fn step(step: PlanStep) -> Result<RolloutStep, ModelError> {
    Ok(RolloutStep {
        weight: Weight::new(step.percent * 100).map_err(|_| ModelError::Step(step))?,
        hold: Seconds::new(u64::from(step.hold.max(INTERVAL))).ok_or(ModelError::Step(step))?,
        gate: Gate::Evidence,
        min_responses: None,
    })
}
