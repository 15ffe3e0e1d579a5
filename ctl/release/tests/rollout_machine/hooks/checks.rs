//! Tests, checks while a step lasts, and hooks that ask for a rollback.

use super::*;

#[test]
fn tests_that_fail_as_often_as_the_threshold_end_the_rollout_and_no_failure_counts_twice() {
    for (kind, weight) in [("pre-rollout", "0%"), ("rollout", "10%")] {
        let hooks = format!("name: smoke, type: {kind}, interval: 30s, failureThreshold: 2");
        let mut driver = HookDriver::of(with_hooks(&hooks));
        let mut decisions = (0..30).map(|_| driver.tick(Advance, |_| Response::Forbidden));
        let failed = decisions.find(|decision| matches!(decision.action, RolloutAction::Decide(_))).unwrap();
        assert_eq!(failed.action, RolloutAction::Decide(Ending::Rollback), "{kind}");
        let reason = format!("hook `smoke` ({kind}): failed, 2 of 2 times in a row: 403 Forbidden");
        assert_eq!(failed.reason, reason);
        assert_eq!(driver.called.len(), 2, "{kind}: once in an interval");
        assert_eq!(driver.fixture.writes.last().map_or("0%", |(weight, _)| weight.as_str()), weight);
    }
}

#[test]
fn a_test_that_fails_once_holds_and_one_success_forgets_it() {
    let mut driver = HookDriver::of(with_hooks("name: smoke, type: pre-rollout, interval: 10s"));
    driver.tick(Advance, |_| Response::Ok);
    // Every second observation calls it, and the one after that has its response.
    let decision = driver.ticks(4, |_| Response::Forbidden);
    assert_eq!(decision.phase, RolloutPhase::Held);
    assert_eq!(decision.reason, "hook `smoke` (pre-rollout): failed, 2 of 3 times in a row: 403 Forbidden");
    assert_eq!(driver.fixture.told(), ["started"], "nobody is to approve it");
    driver.ticks(2, |_| Response::None);
    driver.ticks(4, |_| Response::Forbidden);
    assert_eq!(driver.weight(), "0%", "no response ends the row");
    driver.tick(Advance, |_| Response::Ok);
    assert_eq!(driver.weight(), "10%");
}

#[test]
fn a_check_is_called_in_each_step_with_users_and_not_while_nobody_is_on_the_canary() {
    let plan = "[{weight: 0, hold: 2m, gate: manual}, {weight: 10, hold: 5m}]";
    let mut driver = HookDriver::of(with_plan(plan, "name: load, type: rollout, interval: 2m"));
    driver.ticks(30, |_| Response::Ok);
    assert_eq!(driver.called, Vec::<String>::new(), "testers alone are on the canary");
    driver.fixture.record.active_rollout().unwrap().approve("ada").unwrap();
    driver.tick(Advance, |_| Response::Ok);
    assert_eq!((driver.weight().as_str(), driver.called.len()), ("10%", 1), "as soon as the weight is set");
    driver.ticks(26, |_| Response::Ok);
    assert_eq!(driver.called.len(), 3, "in more than four minutes");
    driver.fixture.record.active_rollout().unwrap().pause("ada").unwrap();
    driver.ticks(24, |_| Response::Ok);
    assert_eq!(driver.called.len(), 3, "paused");
}

#[test]
fn a_step_needs_a_response_of_a_check_in_it_and_one_of_the_step_before_says_nothing() {
    let mut driver = HookDriver::of(with_hooks("name: load, type: rollout"));
    driver.tick(Advance, |_| Response::Ok);
    let [late] = &driver.in_flight[..] else { panic!("{:?}", driver.in_flight) };
    let late = late.clone();
    driver.fixture.pass(60);
    driver.tick(Advance, |_| Response::Ok);
    assert_eq!(driver.weight(), "50%");
    driver.in_flight.clear();
    driver.fixture.pass(60);
    driver.serve_users();
    let late = result(&late, |_| Response::Ok, &driver.fixture);
    assert!(!driver.fixture.record.add_hook_results(&[late]), "it is about the step before");
    let decision = driver.decide(Advance);
    assert_eq!(
        (decision.phase, decision.reason.as_str()),
        (RolloutPhase::Waiting, "hook `load` (rollout): no response yet")
    );
}

#[test]
fn a_hook_that_asks_for_a_rollback_gets_it_whatever_the_file_says_about_failures() {
    let mut fixture =
        with_plan("[{weight: 10, hold: 1m}, {weight: 50, hold: 1h}]", "name: undo, type: rollback");
    fixture.record.rollout.as_mut().unwrap().policy.on_failure = canary_release::spec::FailureAction::Hold;
    let mut driver = HookDriver::of(fixture);
    driver.ticks(20, |_| Response::Forbidden);
    assert_eq!(driver.weight(), "50%", "one that asks for none lets it go on");
    assert_eq!(driver.calls(), ["undo"]);
    let decision =
        (0..10).map(|_| driver.tick(Waiting, |_| Response::Ok)).find(|it| it.action != RolloutAction::Wait);
    let decision = decision.unwrap();
    assert_eq!(decision.action, RolloutAction::Decide(Ending::Rollback));
    assert_eq!(decision.reason, "hook `undo` (rollback): asks for a rollback");
}

#[test]
fn a_rollback_can_be_asked_for_before_the_first_weight() {
    let hooks = "name: undo, type: rollback, interval: 10s
        name: gate, type: confirm-rollout";
    let mut driver = HookDriver::of(with_hooks(hooks));
    driver.ticks(5, |_| Response::Forbidden);
    let decision = driver.ticks(2, |name| if name == "undo" { Response::Ok } else { Response::Forbidden });
    assert_eq!(decision.action, RolloutAction::Execute(Ending::Rollback), "{decision:?}");
}

#[test]
fn of_two_drivers_that_called_a_test_in_one_interval_one_result_counts() {
    let mut driver = HookDriver::of(with_hooks("name: smoke, type: pre-rollout"));
    driver.tick(Advance, |_| Response::Ok);
    let [request] = &driver.in_flight[..] else { panic!("{:?}", driver.in_flight) };
    let request = request.clone();
    let first = result(&request, |_| Response::Forbidden, &driver.fixture);
    driver.fixture.pass(5);
    let second = result(&request, |_| Response::Forbidden, &driver.fixture);
    let record = &mut driver.fixture.record;
    assert_eq!(
        [record.add_hook_results(std::slice::from_ref(&first)), record.add_hook_results(&[second, first])],
        [true, false]
    );
    let json = record.to_json().unwrap();
    assert_eq!(
        Record::parse(&"shop/shop".parse().unwrap(), &json).unwrap(),
        *record,
        "read as it was written"
    );
    assert!(!json.contains("http://"), "a record never says whom a driver calls: {json}");
}

#[test]
fn a_check_that_has_fallen_silent_is_waited_for() {
    let mut driver = HookDriver::of(with_hooks("name: load, type: rollout, interval: 1m"));
    driver.ticks(2, |_| Response::Ok);
    driver.in_flight.clear();
    driver.fixture.pass(150);
    driver.serve_users();
    assert_eq!(driver.decide(Advance).action, RolloutAction::EnterStep(1), "it may be late");
    driver.fixture.pass(60);
    let decision = driver.decide(Advance);
    assert_eq!((decision.phase, decision.action), (RolloutPhase::Waiting, RolloutAction::Wait));
    assert!(
        decision.reason.starts_with("hook `load` (rollout): expected a response after"),
        "{}",
        decision.reason
    );
}

#[test]
fn a_check_whose_last_result_is_of_a_clock_far_ahead_is_made_again() {
    let mut driver = HookDriver::of(with_hooks("name: load, type: rollout, interval: 1m"));
    driver.tick(Advance, |_| Response::Ok);
    let mut early = result(&driver.in_flight[0].clone(), |_| Response::Ok, &driver.fixture);
    early.at += jiff::SignedDuration::from_hours(24);
    driver.fixture.record.add_hook_results(&[early]);
    let decision = driver.decide(Advance);
    assert_eq!(driver.requests(&decision).len(), 1);
}
