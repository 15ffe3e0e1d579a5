//! What is asked before a weight and before the promotion.

use super::*;
use canary_release::record::Author;
use canary_release::rollout::RolloutVerb;
use serde_json::json;

const ALL: &str = "name: start, type: confirm-rollout
    name: smoke, type: pre-rollout
    name: raise, type: confirm-traffic-increase
    name: promote, type: confirm-promotion";

#[test]
fn hooks_come_before_the_first_weight_each_later_one_and_the_promotion_in_their_order() {
    let mut driver = HookDriver::of(with_hooks(ALL));
    let mut seen = Vec::new();
    while driver.fixture.record.rollout.as_ref().unwrap().ended.is_none() {
        let before = driver.weight();
        let decision = driver.tick(Advance, |_| Response::Ok);
        let calls = driver.calls();
        if !calls.is_empty() {
            assert_eq!((decision.action, driver.weight()), (RolloutAction::Wait, before), "{calls:?}");
            seen.push(format!("{} at {}", calls.join(" "), driver.weight()));
        }
    }
    assert_eq!(
        seen,
        ["start at 0%", "smoke at 0%", "raise at 0%", "raise at 10%", "promote at 50%"],
        "each is asked once where it passes"
    );
}

#[test]
fn a_step_without_users_needs_no_hook_and_the_first_one_with_users_all() {
    let plan = "[{weight: 0, hold: 1m, gate: manual}, {weight: 10, hold: 1m}]";
    let mut driver = HookDriver::of(with_plan(plan, ALL));
    driver.ticks(20, |_| Response::Ok);
    assert_eq!((driver.weight().as_str(), driver.calls()), ("0%", Vec::new()), "before the approval");
    driver.fixture.record.active_rollout().unwrap().approve("ada").unwrap();
    driver.ticks(4, |_| Response::Ok);
    assert_eq!(
        (driver.weight().as_str(), driver.calls()),
        ("10%", vec!["start".into(), "smoke".into(), "raise".into()])
    );
}

#[test]
fn a_gate_that_is_closed_is_waited_for_with_its_reason_and_one_alert_and_opens_at_once() {
    for kind in ["confirm-rollout", "confirm-traffic-increase"] {
        let mut driver = HookDriver::of(with_hooks(&format!("name: gate, type: {kind}")));
        assert_eq!(
            driver.tick(Advance, |_| Response::Ok).reason,
            format!("hook `gate` ({kind}): no response yet")
        );
        assert_eq!(driver.fixture.told(), ["started"], "{kind}: one that has not responded asks nobody");
        let decision = driver.ticks(300, |_| Response::Forbidden);
        assert_eq!((decision.phase, decision.action), (RolloutPhase::Waiting, RolloutAction::Wait));
        assert_eq!(decision.reason, format!("hook `gate` ({kind}): closed: 403 Forbidden"));
        assert_eq!(
            (driver.weight().as_str(), driver.fixture.told()),
            ("0%", vec!["started", "gate"]),
            "{kind}"
        );
        assert_eq!(driver.called.len(), 301, "{kind}: with each observation");
        driver.tick(Advance, |_| Response::Ok);
        assert_eq!(driver.weight(), "10%", "{kind}");
    }
}

#[test]
fn an_endpoint_that_is_away_is_waited_for_until_the_deadline_and_people_are_told_that_it_stalls() {
    for kind in ["confirm-rollout", "confirm-traffic-increase", "pre-rollout", "rollout"] {
        let mut driver = HookDriver::of(with_hooks(&format!("name: away, type: {kind}")));
        let decision = driver.ticks(300, |_| Response::None);
        let expected = match kind {
            "pre-rollout" | "rollout" => (RolloutPhase::Held, ", 3 of 3 times in a row"),
            _ => (RolloutPhase::Waiting, ""),
        };
        let reason = format!("hook `away` ({kind}): no response{}: connection refused", expected.1);
        assert_eq!((decision.phase, decision.reason), (expected.0, reason));
        let weight = if kind == "rollout" { "10%" } else { "0%" };
        assert_eq!(driver.weight(), weight, "{kind}");
        assert!(driver.fixture.told().ends_with(&["stalled"]), "{kind}: {:?}", driver.fixture.told());
    }
}

#[test]
fn a_confirmation_that_is_older_than_a_minute_is_asked_for_again() {
    let hooks = "name: one, type: confirm-promotion
        name: two, type: confirm-promotion";
    let mut driver = HookDriver::of(with_hooks(hooks));
    driver.fixture.run_until_weight("50%", Advance);
    driver.fixture.pass(60);
    driver.ticks(3, |name| if name == "one" { Response::Ok } else { Response::Forbidden });
    assert_eq!(driver.calls(), ["one", "two"]);
    driver.ticks(3, |_| Response::Forbidden);
    assert_eq!(driver.calls(), ["two"], "the other one has just passed");
    let decision = driver.ticks(6, |_| Response::Forbidden);
    assert_eq!(driver.calls(), ["two", "one"]);
    assert_eq!(
        decision.reason,
        "hook `one` (confirm-promotion): closed: 403 Forbidden; hook `two` (confirm-promotion): closed: 403 Forbidden"
    );
    let decision = driver.tick(Advance, |_| Response::Ok);
    assert_eq!(decision.action, RolloutAction::Decide(Ending::Promote), "{decision:?}");
}

#[test]
fn while_a_promotion_is_confirmed_the_evidence_counts_on() {
    let mut driver = HookDriver::of(with_hooks("name: gate, type: confirm-promotion"));
    driver.fixture.run_until_weight("50%", Advance);
    driver.fixture.pass(60);
    driver.ticks(3, |_| Response::Forbidden);
    assert_eq!(driver.tick(Hold, |_| Response::Ok).phase, RolloutPhase::Held);
    assert_eq!(driver.tick(Waiting, |_| Response::Ok).reason, "Waiting");
    let decision = driver.tick(EvidenceVerdict::Rollback, |_| Response::Ok);
    assert_eq!(decision.action, RolloutAction::Decide(Ending::Rollback), "{decision:?}");
}

#[test]
fn a_rollout_that_observes_asks_no_gate_and_says_what_it_would_do() {
    let hooks = format!("{ALL}\nname: undo, type: rollback");
    let mut fixture = with_hooks(&hooks);
    fixture.record.rollout.as_mut().unwrap().policy.observe = true;
    let mut driver = HookDriver::of(fixture);
    let decision = driver.ticks(4, |_| Response::Ok);
    assert_eq!(driver.calls(), ["undo"]);
    assert_eq!(decision.action, RolloutAction::Wait);
    assert_eq!(
        decision.reason,
        "a rollout that acts would end here: hook `undo` (rollback): asks for a rollback"
    );
}

#[test]
fn a_state_of_a_clock_that_was_far_ahead_opens_no_gate_and_keeps_none_closed() {
    let mut driver = HookDriver::of(with_hooks("name: gate, type: confirm-traffic-increase"));
    driver.tick(Advance, |_| Response::Ok);
    let request = driver.in_flight[0].clone();
    let mut early = result(&request, |_| Response::Ok, &driver.fixture);
    early.at += jiff::SignedDuration::from_hours(24);
    driver.fixture.record.add_hook_results(&[early]);
    driver.in_flight.clear();
    assert_eq!(driver.tick(Advance, |_| Response::Ok).action, RolloutAction::Wait, "it is no confirmation");
    assert_eq!(driver.tick(Advance, |_| Response::Ok).action, RolloutAction::EnterStep(0));
}

#[test]
fn a_driver_that_is_killed_before_it_has_written_a_response_lets_the_next_one_ask_again() {
    let mut driver = HookDriver::of(with_hooks("name: gate, type: confirm-rollout"));
    driver.tick(Advance, |_| Response::Ok);
    driver.in_flight.clear();
    let read = driver.fixture.read(Advance);
    driver.fixture.carry_out(read, Killed::BeforeTheRecord);
    driver.tick(Advance, |_| Response::Ok);
    assert_eq!(driver.weight(), "0%");
    driver.tick(Advance, |_| Response::Ok);
    assert_eq!(driver.weight(), "10%");
}

#[test]
fn of_two_drivers_that_asked_a_gate_one_result_counts_and_one_that_passed_stays_open() {
    let mut driver = HookDriver::of(with_hooks("name: gate, type: confirm-rollout"));
    driver.tick(Advance, |_| Response::Ok);
    let request = driver.in_flight[0].clone();
    let closed = result(&request, |_| Response::Forbidden, &driver.fixture);
    let record = &mut driver.fixture.record;
    let added = [0, 1].map(|_| record.add_hook_results(std::slice::from_ref(&closed)));
    assert_eq!((added, record.lacks_hook_result(&closed)), ([true, false], false));
    driver.fixture.pass(120);
    let passed = result(&request, |_| Response::Ok, &driver.fixture);
    driver.fixture.pass(120);
    let closed = result(&request, |_| Response::Forbidden, &driver.fixture);
    let record = &mut driver.fixture.record;
    assert_eq!([passed, closed].map(|result| record.add_hook_results(&[result])), [true, false]);
}

#[test]
fn a_rollout_that_was_confirmed_is_not_asked_again_however_long_the_test_after_it_takes() {
    let mut driver = HookDriver::of(with_hooks(ALL));
    driver.ticks(60, |name| if name == "smoke" { Response::None } else { Response::Ok });
    assert_eq!(driver.calls(), ["start", "smoke"]);
    driver.ticks(12, |_| Response::Ok);
    assert_eq!((driver.weight().as_str(), driver.calls()), ("10%", vec!["smoke".into(), "raise".into()]));
}

#[test]
fn a_rollout_that_ends_asks_nobody() {
    let mut driver = HookDriver::of(with_hooks("name: undo, type: rollback, interval: 10s"));
    driver.tick(Advance, |_| Response::Forbidden);
    driver.fixture.record.active_rollout().unwrap().promote_now("ada").unwrap();
    let decision = driver.decide(Advance);
    driver.fixture.pass(60);
    assert_eq!(driver.requests(&decision), []);
}

#[test]
fn a_gate_that_closes_after_an_approval_is_told_too() {
    let plan = "[{weight: 10, hold: 1m, gate: manual}, {weight: 50, hold: 1m}]";
    let mut driver = HookDriver::of(with_plan(plan, "name: raise, type: confirm-traffic-increase"));
    let only_first = |driver: &HookDriver| driver.weight() == "0%";
    for _ in 0..20 {
        let opens = only_first(&driver);
        driver.tick(Advance, |_| if opens { Response::Ok } else { Response::Forbidden });
    }
    assert_eq!(driver.fixture.told(), ["started", "step", "gate"], "the approval");
    let now = driver.fixture.now;
    driver.fixture.record.change_rollout(RolloutVerb::Approve, Author::new("ada", now)).unwrap();
    driver.ticks(4, |_| Response::Forbidden);
    assert_eq!(driver.fixture.told(), ["started", "step", "gate", "gate"], "and the hook");
}

#[test]
fn a_retry_asks_again_what_has_passed() {
    let mut driver = HookDriver::of(with_hooks(
        "name: smoke, type: pre-rollout\nname: gate, type: confirm-traffic-increase",
    ));
    driver.ticks(3, |name| if name == "smoke" { Response::Ok } else { Response::Forbidden });
    assert_eq!(driver.calls(), ["smoke", "gate"]);
    let now = driver.fixture.now;
    driver.fixture.record.active_rollout().unwrap().retry(now).unwrap();
    driver.in_flight.clear();
    driver.ticks(2, |_| Response::Ok);
    assert_eq!(driver.calls(), ["smoke", "gate"]);
}

#[test]
fn the_phase_is_flaggers_and_the_checksum_is_that_of_the_rollout() {
    let mut driver = HookDriver::of(with_hooks(
        "name: gate, type: confirm-rollout\nname: undo, type: rollback, interval: 10s",
    ));
    let payload = |driver: &HookDriver| serde_json::to_value(&driver.in_flight[0].payload).unwrap();
    driver.tick(Advance, |_| Response::Forbidden);
    let first = payload(&driver);
    assert_eq!(
        first,
        serde_json::json!({"name": "shop", "namespace": "shop", "phase": "Progressing", "checksum": first["checksum"]}),
        "without metadata there is no such field"
    );
    driver.tick(Advance, |_| Response::Forbidden);
    assert_eq!(payload(&driver)["phase"], "Waiting");
    assert_eq!(payload(&driver)["checksum"], first["checksum"]);
    assert_eq!(first["checksum"].as_str().unwrap().len(), 10);
}
#[test]
fn outside_its_windows_a_rollout_asks_no_gate() {
    let mut driver = HookDriver::of(with_hooks(ALL));
    // The fixture's clock begins at 16:00 UTC.
    let night = json!([{"days": ["fri"], "from": "18:00", "to": "24:00", "timeZone": "UTC"}]);
    driver.fixture.record.rollout.as_mut().unwrap().windows = serde_json::from_value(night).unwrap();
    let decision = driver.ticks(20, |_| Response::Ok);
    assert!(decision.reason.starts_with("outside the windows"), "{decision:?}");
    assert_eq!(driver.calls(), Vec::<String>::new());
    driver.fixture.pass(2 * 3_600);
    driver.ticks(4, |_| Response::Ok);
    assert_eq!((driver.weight().as_str(), driver.calls().len()), ("10%", 3));
}
