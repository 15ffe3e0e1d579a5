//! Hooks of a rollout: when each is called, and what the machine makes of its responses.

mod checks;
mod gates;

use crate::fixture::{Killed, RolloutFixture};
use canary_release::evidence::EvidenceVerdict::{self, Advance, Hold, Waiting};
use canary_release::evidence::{ProxyCoverage, TrainReport};
use canary_release::hook::{HookError, HookRequest, HookResult};
use canary_release::record::Record;
use canary_release::rollout::{Decision, Ending, InnerIntervals, RolloutAction, RolloutPhase};
use canary_release::spec::ReleaseName;
use std::collections::BTreeSet;

/// Two steps of a minute, and these hooks.
fn with_hooks(hooks: &str) -> RolloutFixture {
    with_plan("[{weight: 10, hold: 1m}, {weight: 50, hold: 1m}]", hooks)
}

fn with_plan(plan: &str, hooks: &str) -> RolloutFixture {
    let hooks =
        hooks.trim().lines().map(|hook| format!("      - {{url: \"http://hooks/x\", {}}}\n", hook.trim()));
    RolloutFixture::new(&format!(
        "  rollout:\n    plans: {{default: {plan}}}\n    hooks:\n{}",
        hooks.collect::<String>()
    ))
}

/// How an endpoint responds.
#[derive(Clone, Copy)]
enum Response {
    Ok,
    Forbidden,
    None,
}

impl HookDriver {
    fn of(fixture: RolloutFixture) -> Self {
        Self { fixture, called: Vec::new(), in_flight: Vec::new() }
    }

    fn decide(&self, verdict: EvidenceVerdict) -> Decision {
        let now = self.fixture.now;
        let mut seen = self.fixture.observe(verdict);
        let proxies = ProxyCoverage { observed: 1, of: 1 };
        let assessment = self.fixture.record.assess_rollout(proxies, TrainReport::default(), now).unwrap();
        // What the proxies' counters say is given; hooks may say worse.
        if assessment.verdict > seen.assessment.verdict {
            seen.assessment = assessment;
        }
        self.fixture.record.rollout.as_ref().unwrap().next(&seen, now)
    }

    /// Users of both versions get responses, and none fails.
    fn serve_users(&mut self) {
        let record = &mut self.fixture.record;
        if record.state.weight > assignment::Weight::ZERO {
            let known = record.rollout.as_ref().unwrap().evidence.intervals;
            record.add_evidence(known, &crate::interval(40, 200), &InnerIntervals::new());
        }
    }

    /// One reconciliation: results of the calls before it, the decision, and the calls after it.
    fn tick(&mut self, verdict: EvidenceVerdict, respond: impl Fn(&str) -> Response) -> Decision {
        let results: Vec<HookResult> =
            self.in_flight.drain(..).map(|request| result(&request, &respond, &self.fixture)).collect();
        self.fixture.record.add_hook_results(&results);
        self.serve_users();
        let decision = self.decide(verdict);
        self.fixture.carry_out_decision(decision.clone());
        self.in_flight = self.requests(&decision);
        self.called.extend(self.in_flight.iter().map(|request| request.hook.name.clone()));
        self.fixture.pass(10);
        decision
    }

    fn requests(&self, decision: &Decision) -> Vec<HookRequest> {
        self.fixture.record.hook_requests(decision, &name(), self.fixture.now)
    }

    /// Ticks so often; the last decision.
    fn ticks(&mut self, count: usize, respond: impl Fn(&str) -> Response) -> Decision {
        for _ in 1..count {
            self.tick(Advance, &respond);
        }
        self.tick(Advance, &respond)
    }

    fn weight(&self) -> String {
        self.fixture.record.state.weight.to_string()
    }

    /// What was called since the last time, each once.
    fn calls(&mut self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        self.called.drain(..).filter(|name| seen.insert(name.clone())).collect()
    }
}

/// A driver that calls hooks.
struct HookDriver {
    fixture: RolloutFixture,
    called: Vec<String>,
    in_flight: Vec<HookRequest>,
}

fn name() -> ReleaseName {
    "shop/shop".parse().unwrap()
}

fn result(request: &HookRequest, respond: impl Fn(&str) -> Response, fixture: &RolloutFixture) -> HookResult {
    let error =
        |reason: &str, is_response| HookError { reason: reason.to_owned(), is_response, is_final: false };
    let result = match respond(&request.hook.name) {
        Response::Ok => Ok(()),
        Response::Forbidden => Err(error("403 Forbidden", true)),
        Response::None => Err(error("connection refused", false)),
    };
    HookResult { hook: request.hook.name.clone(), step_since: request.step_since, at: fixture.now, result }
}
