//! What people ask of a rollout, and weights that they set meanwhile.

use crate::fixture::{Killed, PLAN, RolloutFixture};
use crate::{NO_GATE, result};
use canary_release::alert::RolloutResult;
use canary_release::evidence::EvidenceVerdict;
use canary_release::record::{Author, Operation};
use canary_release::rollout::{Ending, RolloutAction, RolloutPhase};
use jiff::Timestamp;

#[test]
fn a_step_that_begins_anew_needs_another_approval() {
    let mut fixture = RolloutFixture::new(PLAN);
    fixture.run_until_weight("10%", EvidenceVerdict::Advance);
    fixture.record.active_rollout().unwrap().approve("grace").unwrap();
    let now = fixture.now;
    fixture.record.active_rollout().unwrap().retry(now).unwrap();
    fixture.pass(120);
    assert_eq!(fixture.decide(EvidenceVerdict::Advance).phase, RolloutPhase::Waiting);
}

#[test]
fn a_weight_by_hand_is_not_renewed_where_it_is_that_of_the_step() {
    let mut fixture = RolloutFixture::new(NO_GATE);
    fixture.tick(EvidenceVerdict::Advance);
    let until = fixture.record.state.until;
    fixture.record.set_weight(
        "10".parse().unwrap(),
        until,
        Author::new("ada", Timestamp::now()),
        Operation::Weight,
    );
    fixture.deployed = fixture.record.state.generation;
    let at = i64::try_from(until.unwrap().at_seconds).unwrap();
    fixture.pass(at - fixture.now.as_second() - 1);
    let decision = fixture.decide(EvidenceVerdict::Advance);
    assert_eq!((decision.phase, decision.action), (RolloutPhase::Suspended, RolloutAction::Wait));
}

#[test]
fn an_abort_where_a_failure_is_left_to_a_person_stops_the_canary() {
    let mut fixture = RolloutFixture::new(&format!("{NO_GATE}    onFailure: hold\n"));
    fixture.tick(EvidenceVerdict::Advance);
    let now = fixture.now;
    fixture.record.active_rollout().unwrap().abort("ada", now).unwrap();
    let read = fixture.read(EvidenceVerdict::Advance);
    fixture.carry_out(read, Killed::BeforeTheObjects);
    let decision = fixture.tick(EvidenceVerdict::Advance);
    assert_eq!(decision.action, RolloutAction::Execute(Ending::Stop), "until the objects have it");
    fixture.tick(EvidenceVerdict::Advance);
    assert_eq!(result(&fixture), Some(RolloutResult::Stopped));
}

#[test]
fn past_the_deadline_a_pause_is_ended_by_a_retry_and_a_resume_is_refused() {
    let mut fixture = RolloutFixture::new(&format!("{NO_GATE}    deadline: 1h\n"));
    fixture.tick(EvidenceVerdict::Advance);
    fixture.record.active_rollout().unwrap().pause("ada").unwrap();
    fixture.pass(3_600);
    fixture.clone().record.active_rollout().unwrap().resume(fixture.now).unwrap();
    fixture.pass(1);
    let now = fixture.now;
    let rollout = fixture.record.active_rollout().unwrap();
    let before = rollout.clone();
    let refused = rollout.resume(now).unwrap_err().to_string();
    assert_eq!(
        refused,
        "expected a rollout within its deadline of 1h, found one that would end at once: a suspension counts"
    );
    assert_eq!(*rollout, before);
    rollout.retry(now).unwrap();
    let decision = fixture.decide(EvidenceVerdict::Waiting);
    assert_eq!(decision.action, RolloutAction::EnterStep(0), "{decision:?}");
}

#[test]
fn a_rollout_that_observes_is_resumed_past_its_deadline_too() {
    let mut fixture = RolloutFixture::new(&format!("{NO_GATE}    observe: true\n    deadline: 1h\n"));
    fixture.tick(EvidenceVerdict::Advance);
    fixture.record.active_rollout().unwrap().pause("ada").unwrap();
    fixture.pass(3_601);
    let now = fixture.now;
    fixture.record.active_rollout().unwrap().resume(now).unwrap();
    let decision = fixture.decide(EvidenceVerdict::Waiting);
    assert_eq!(decision.action, RolloutAction::End(RolloutResult::Observed), "{decision:?}");
}

#[test]
fn a_retry_has_all_of_its_time_and_goes_on_though_it_was_paused() {
    let mut fixture = RolloutFixture::new(&format!("{NO_GATE}    deadline: 1h\n"));
    fixture.tick(EvidenceVerdict::Advance);
    fixture.pass(500);
    let now = fixture.now;
    let rollout = fixture.record.active_rollout().unwrap();
    rollout.pause("ada").unwrap();
    rollout.retry(now).unwrap();
    assert_eq!(rollout.suspended, None);
    fixture.pass(3_500);
    let decision = fixture.decide(EvidenceVerdict::Waiting);
    assert_eq!(decision.action, RolloutAction::EnterStep(0), "{decision:?}");
}

#[test]
fn a_rollout_of_the_next_canary_begins_with_a_generation_and_alerts_of_its_own() {
    let mut fixture = RolloutFixture::new(NO_GATE);
    let rollout = fixture.record.rollout.as_mut().unwrap();
    rollout.canary = "v1.9".to_owned();
    let mut spec = canary_release::spec::RolloutSpec::default();
    spec.plans.insert("default".to_owned(), rollout.plan.clone());
    let generation = fixture.record.state.generation;
    fixture.pass(1);
    fixture.record.start_rollout(&spec, "default", Author::new("grace", fixture.now)).unwrap();
    assert_eq!(fixture.record.state.generation, generation + 1, "else no proxy would count by user group");
    let ids: Vec<&str> =
        fixture.record.alerts.pending().iter().map(|pending| pending.alert.id.as_str()).collect();
    let [first, second] = ids[..] else { panic!("{ids:?}") };
    assert_ne!(first, second);
}
