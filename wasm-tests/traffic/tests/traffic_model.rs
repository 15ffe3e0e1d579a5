//! The model sends what a scenario says: rates, shares and failures, as the product counts them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use traffic_model::{Counting, FinalState, PlanStep, RolloutOutcome, Scenario, simulate};

/// Half an hour at one weight, in which nothing is decided but a rollback.
fn half(scenario: Scenario) -> Scenario {
    scenario.with_plan(&[(50, 20_000)]).with(|scenario| scenario.horizon = 1_800)
}

fn run(scenario: &Scenario) -> RolloutOutcome {
    simulate(scenario, 1).unwrap()
}

#[test]
fn the_same_seed_gives_the_same_rollout() {
    let scenario = half(Scenario::sessions(50.0).failing(0.01).with_blips());
    assert_eq!(simulate(&scenario, 3).unwrap(), simulate(&scenario, 3).unwrap());
    assert_ne!(simulate(&scenario, 3).unwrap(), simulate(&scenario, 4).unwrap());
}

#[test]
fn users_who_fail_are_counted_once() {
    let users = half(Scenario::users_of(20.0, 40).failing(0.5));
    let found = run(&users).met;
    assert!((10..=30).contains(&found), "half of 40 users are on the canary, found {found}");
    let good = run(&half(Scenario::users(20.0)));
    assert_eq!(good.met, 0, "nothing fails");
}

#[test]
fn a_bot_fails_in_sessions_of_15_minutes() {
    let bot = half(Scenario::sessions(20.0).with_bots(1, 0.1, 1.0)).with(|scenario| scenario.horizon = 9_000);
    let found = run(&bot).met;
    assert!((1..=10).contains(&found), "some of its 10 sessions are on the canary, found {found}");
}

#[test]
fn a_canary_that_hangs_is_rolled_back_for_it() {
    let scenario = half(Scenario::sessions(50.0)).canary(|canary| canary.hangs = 0.5);
    let found = run(&scenario);
    assert_eq!(found.state, FinalState::RolledBack, "{found:?}");
    assert!(found.reason.starts_with("unanswered"), "{found:?}");
}

#[test]
fn a_change_comes_when_it_is_said() {
    let scenario = half(Scenario::sessions(100.0).failing(0.001)).with(|scenario| {
        let worse = traffic_model::Behaviour { adds: 0.5, ..scenario.canary };
        scenario.change = Some((900, worse));
    });
    let found = run(&scenario);
    assert_eq!(found.state, FinalState::RolledBack, "{found:?}");
    assert!((900..1_200).contains(&found.seconds), "{found:?}");
}

#[test]
fn sessions_of_earlier_steps_count_where_it_is_asked_for() {
    let first = Scenario::sessions(200.0).failing_first(3, 0.02, 0.0005);
    let ends = |counting| {
        let scenario = first.clone().with(|scenario| scenario.counting = counting);
        let outcomes = (0..10).map(|seed| simulate(&scenario, seed).unwrap());
        outcomes.filter(|outcome| outcome.state == FinalState::RolledBack).count()
    };
    let (recorded, whole) = (ends(Counting::AsRecorded), ends(Counting::WholeRollout));
    assert!(recorded <= 1, "both versions have sessions of one age, {recorded} of 10 were rolled back");
    assert!(whole >= 5, "stable has the older sessions, and {whole} of 10 were rolled back");
}

#[test]
fn a_step_that_is_no_weight_is_refused() {
    let scenario =
        Scenario::sessions(1.0).with(|scenario| scenario.plan = vec![PlanStep { percent: 101, hold: 600 }]);
    let found = simulate(&scenario, 1).unwrap_err();
    assert!(found.to_string().contains("found PlanStep { percent: 101, hold: 600 }"), "{found}");
}
