//! A release whose objects and record are two things, drivers that may be killed between any two writes, and a clock.

use canary_release::assessment::Assessment;
use canary_release::evidence::{EvidenceVerdict, RestartCounts, TrainReport};
use canary_release::file;
use canary_release::record::{Author, Record};
use canary_release::rollout::{
    CanaryRole, Decision, DependencyState, Ending, RolloutAction, RolloutObservation,
};
use canary_release::spec::MetricQuery;
use canary_release::state::ReleaseState;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;
use std::path::Path;

const HEAD: &str = "\
apiVersion: canary-ctl.io/v1alpha1
kind: Release
metadata: {name: shop, namespace: shop}
spec:
  versions: {stable: v1, canary: v2}
  hosts: [shop.example.com]
  gateways: [{name: shop/shop, selector: {app: gateway}}]
  stickiness: session
  session: {cookie: SESSIONID}
  identifyBy: [{cookie: SESSIONID}]
  delivery: {mode: envoyfilter, module: \"oci://registry.example.com/filter:1\"}
";

/// A plan with a gate before half of the users.
pub(crate) const PLAN: &str = "  onExpiry: stop
  rollout:
    plans: {default: [{weight: 1, hold: 1m}, {weight: 10, hold: 2m, gate: manual}, {weight: 50, hold: 1m}]}
    deadline: 2h
    expiresIn: 10m
";

/// Where a driver is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Killed {
    Never,
    BeforeTheRecord,
    BeforeTheObjects,
}

/// A release on a cluster.
#[derive(Clone)]
pub(crate) struct RolloutFixture {
    pub(crate) record: Record,
    /// The version of the record: a write names the one that it was computed from.
    pub(crate) version: u64,
    /// The generation that the objects have.
    pub(crate) deployed: u64,
    pub(crate) now: Timestamp,
    /// The weights that were written, each with its reason.
    pub(crate) writes: Vec<(String, String)>,
    /// Those of the driver's file.
    pub(crate) queries: BTreeMap<String, MetricQuery>,
    /// What is observed of the releases that it depends on.
    pub(crate) dependencies: Vec<DependencyState>,
}

/// What a driver read, and what it will do.
pub(crate) struct Read {
    record: Record,
    version: u64,
    pub(crate) decision: Decision,
}

impl RolloutFixture {
    pub(crate) fn new(rollout: &str) -> Self {
        let text = format!("{HEAD}{rollout}");
        let release = file::parse(Path::new("canary.yaml"), &text).unwrap().release;
        let mut record = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
        let now = "2026-11-20T16:00:00Z".parse().unwrap();
        record.start_rollout(&release.rollout, "default", Author::new("ada", now)).unwrap();
        let deployed = record.state.generation;
        let queries = release.rollout.analysis.queries;
        Self { record, version: 0, deployed, now, writes: Vec::new(), queries, dependencies: Vec::new() }
    }

    pub(crate) fn observe(&self, verdict: EvidenceVerdict) -> RolloutObservation {
        RolloutObservation {
            role: self.record.rollout_role(),
            weight: self.record.state.weight,
            until: self.record.state.until,
            fused: 0,
            scaled_down: None,
            dependencies: self.dependencies.clone(),
            is_deployed: self.deployed == self.record.state.generation,
            assessment: Assessment {
                verdict,
                reason: format!("{verdict:?}"),
                kinds: Vec::new(),
                restarts: RestartCounts::default(),
                metrics: Vec::new(),
                hooks: Vec::new(),
                train: TrainReport::default(),
            },
        }
    }

    pub(crate) fn decide(&self, verdict: EvidenceVerdict) -> Decision {
        self.record.rollout.as_ref().unwrap().next(&self.observe(verdict), self.now)
    }

    /// A driver reads the record.
    pub(crate) fn read(&self, verdict: EvidenceVerdict) -> Read {
        Read { record: self.record.clone(), version: self.version, decision: self.decide(verdict) }
    }

    /// And does what it has decided, unless it is killed before.
    pub(crate) fn carry_out(&mut self, read: Read, killed: Killed) {
        let Read { mut record, version, decision } = read;
        let is_noted = record.note_wait(&decision, self.now);
        let changed = record.apply_decision(&decision, Author::new("driver", self.now))
            || execute(&mut record, &decision, self.now);
        if killed == Killed::BeforeTheRecord || version != self.version {
            return;
        }
        if changed || is_noted {
            let weight = |record: &Record| (record.state.weight, record.state.until);
            if weight(&record) != weight(&self.record) {
                self.writes.push((record.state.weight.to_string(), decision.reason.clone()));
            }
            self.record = record;
            self.version += 1;
        }
        if killed == Killed::BeforeTheObjects {
            return;
        }
        if changed || decision.action == RolloutAction::Deploy {
            self.deployed = self.record.state.generation;
        }
    }

    /// A driver does what it has decided.
    pub(crate) fn carry_out_decision(&mut self, decision: Decision) {
        let read = Read { record: self.record.clone(), version: self.version, decision };
        self.carry_out(read, Killed::Never);
    }

    pub(crate) fn tick(&mut self, verdict: EvidenceVerdict) -> Decision {
        let read = self.read(verdict);
        let decision = read.decision.clone();
        self.carry_out(read, Killed::Never);
        decision
    }

    /// The transitions that were told, in their order. Nobody has got an alert, so all of them are in the record.
    pub(crate) fn told(&self) -> Vec<&'static str> {
        self.record.alerts.pending().iter().map(|pending| pending.alert.kind.as_str()).collect()
    }

    pub(crate) fn pass(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }

    /// Ticks each ten seconds until the weight changes, or for two hours.
    pub(crate) fn run_until_weight(&mut self, percent: &str, verdict: EvidenceVerdict) {
        for _ in 0..720 {
            if self.record.state.weight.to_string() == percent {
                return;
            }
            self.tick(verdict);
            self.pass(10);
        }
        panic!("expected {percent}, found {} after {:?}", self.record.state.weight, self.writes);
    }
}

/// The operations that end a rollout.
fn execute(record: &mut Record, decision: &Decision, now: Timestamp) -> bool {
    let RolloutAction::Execute(ending) = decision.action else { return false };
    match ending {
        Ending::Promote if record.rollout_role() == CanaryRole::Canary => {
            record.promote(now + SignedDuration::from_hours(24), Author::new("driver", now));
        }
        Ending::Rollback if record.rollout_role() == CanaryRole::Canary => {
            let target = record.to_roll_back().unwrap();
            record.roll_back(&target, None, Author::new("driver", now));
        }
        Ending::Stop => record.stop_rollout(Author::new("driver", now)),
        Ending::Promote | Ending::Rollback => {}
    }
    true
}
