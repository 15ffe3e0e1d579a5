//! The conditions of each phase with each problem, by age.

use super::*;
use jiff::SignedDuration;

/// The states of `Ready`, `Reconciling` and `Stalled`, and the reason of the first.
fn concluded(phase: Phase, problem: Option<(&str, i64)>) -> (Vec<String>, String) {
    let now = Timestamp::now();
    let mut status = Status { phase, ..Status::default() };
    if let Some((id, minutes)) = problem {
        status.observe([(id.to_owned(), String::new())], now - SignedDuration::from_mins(minutes));
        status.observe([(id.to_owned(), String::new())], now);
    }
    conclude(&mut status, problem.is_none(), 1, now);
    let found = status.conditions.iter().take(3).map(|condition| condition.status.clone()).collect();
    (found, status.conditions[0].reason.clone())
}

#[test]
fn a_problem_that_lasts_stalls_what_is_settled_with_its_id_and_nothing_is_ready_with_one() {
    use Phase::{
        Canary, Failed, Gated, Held, Installing, Paused, Progressing, Promoted, RolledBack, Stable, Stopped,
    };
    let problems = [
        (None, Verdict::READY, ""),
        (Some(("proxy-behind", 0)), Verdict::RECONCILING, ""),
        (Some(("no-ready-pod", 9)), Verdict::RECONCILING, ""),
        (Some(("no-ready-pod", 10)), Verdict::STALLED, "NoReadyPod"),
        (Some(("not-observed", 60)), Verdict::STALLED, "NotObserved"),
        (Some(("weight-expired", 0)), Verdict::STALLED, "WeightExpired"),
    ];
    let phases =
        [Installing, Stable, Canary, Progressing, Gated, Held, Paused, Promoted, RolledBack, Stopped, Failed];
    for (phase, (problem, settled, id)) in phases.into_iter().flat_map(|phase| problems.map(|of| (phase, of)))
    {
        let phase_reason = format!("{phase:?}");
        let (states, reason) = match phase {
            Stable | Canary | Promoted => (settled, if id.is_empty() { &phase_reason } else { id }),
            RolledBack | Stopped | Failed => (Verdict::STALLED, phase_reason.as_str()),
            _ => (Verdict::RECONCILING, phase_reason.as_str()),
        };
        let expected = (states.map(str::to_owned).to_vec(), reason.to_owned());
        assert_eq!(concluded(phase, problem), expected, "{phase:?}: {problem:?}");
    }
}
