//! Windows of time: outside them no weight rises and nothing is promoted, and all that protects users is done.

use crate::fixture::RolloutFixture;
use canary_release::evidence::EvidenceVerdict;
use canary_release::record::Author;
use canary_release::rollout::{Ending, RolloutAction, RolloutPhase, RolloutVerb};

/// The fixture's clock begins on Friday, 2026-11-20, at 17:00 in Berlin.
const OFFICE_HOURS: &str = "  rollout:
    plans: {default: [{weight: 1, hold: 10m}, {weight: 10, hold: 10m}]}
    windows: [{days: [mon, tue, wed, thu, fri], from: 09:00, to: 17:30, timeZone: Europe/Berlin}]
    deadline: 7d
    minResponses: 1
";
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

fn at_one_percent_on_friday_evening() -> RolloutFixture {
    let mut fixture = RolloutFixture::new(OFFICE_HOURS);
    assert_eq!(fixture.tick(EvidenceVerdict::Advance).action, RolloutAction::EnterStep(0));
    fixture.pass(31 * MINUTE);
    fixture
}

#[test]
fn outside_its_windows_a_rollout_waits_for_the_next_one_and_says_when_it_begins() {
    let mut fixture = at_one_percent_on_friday_evening();
    let decision = fixture.tick(EvidenceVerdict::Advance);
    assert_eq!(decision.phase, RolloutPhase::Progressing);
    assert_eq!(
        decision.reason,
        "outside the windows of the rollout, the next one begins at 2026-11-23 09:00 Europe/Berlin; Advance"
    );
    // A driver keeps the weight from expiring until Monday, 9:00 in Berlin.
    for _ in 0..(15 * 4 + 48 * 4 + 2) {
        fixture.tick(EvidenceVerdict::Advance);
        assert_eq!(fixture.record.state.weight.to_string(), "1%", "{}", fixture.now);
        fixture.pass(15 * MINUTE);
    }
    fixture.run_until_weight("10%", EvidenceVerdict::Advance);
    assert_eq!(fixture.now.to_string(), "2026-11-23T08:01:10Z", "a tick after 9:00 in Berlin");
    assert!(!fixture.told().contains(&"stalled"), "{:?}", fixture.told());
}

#[test]
fn the_promotion_waits_for_a_window_too_and_somebody_may_promote_at_any_time() {
    let mut fixture =
        RolloutFixture::new(&OFFICE_HOURS.replace("{weight: 10, hold: 10m}", "{weight: 10, hold: 30m}"));
    fixture.run_until_weight("10%", EvidenceVerdict::Advance);
    for _ in 0..12 {
        fixture.pass(5 * MINUTE);
        fixture.tick(EvidenceVerdict::Advance);
    }
    let decision = fixture.decide(EvidenceVerdict::Advance);
    assert!(decision.reason.starts_with("outside the windows of the rollout"), "{}", decision.reason);
    assert!(decision.reason.ends_with("; Advance"), "the weight has not expired: {}", decision.reason);
    let now = fixture.now;
    fixture.record.change_rollout(RolloutVerb::Promote, Author::new("ada", now)).unwrap();
    assert_eq!(fixture.decide(EvidenceVerdict::Advance).action, RolloutAction::Execute(Ending::Promote));
}

#[test]
fn one_open_window_of_several_is_enough() {
    let two = OFFICE_HOURS
        .replace("windows: [", "windows: [{days: [sun], from: 09:00, to: 10:00, timeZone: UTC}, ");
    let fixture = RolloutFixture::new(&two);
    assert_eq!(fixture.decide(EvidenceVerdict::Advance).action, RolloutAction::EnterStep(0));
}

#[test]
fn a_worse_canary_is_rolled_back_outside_the_windows() {
    let fixture = at_one_percent_on_friday_evening();
    let decision = fixture.decide(EvidenceVerdict::Rollback);
    assert_eq!(decision.action, RolloutAction::Decide(Ending::Rollback));
    assert_eq!(fixture.decide(EvidenceVerdict::Hold).phase, RolloutPhase::Held);
}

#[test]
fn a_weight_that_has_expired_is_set_again_in_a_window_alone() {
    let mut fixture = at_one_percent_on_friday_evening();
    fixture.pass(2 * HOUR);
    let decision = fixture.decide(EvidenceVerdict::Advance);
    assert_eq!(decision.action, RolloutAction::Wait, "{}", decision.reason);
    assert!(decision.reason.contains("the weight has expired"), "{}", decision.reason);
}

#[test]
fn a_rollout_that_is_started_outside_its_windows_begins_in_the_next_one() {
    let mut fixture = RolloutFixture::new(OFFICE_HOURS);
    fixture.pass(HOUR);
    let decision = fixture.decide(EvidenceVerdict::Advance);
    assert_eq!(decision.action, RolloutAction::Wait, "{}", decision.reason);
    assert!(decision.reason.ends_with("; the rollout begins"), "{}", decision.reason);
}
