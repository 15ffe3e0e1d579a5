//! What a record keeps of the other releases of the train.

use crate::fixture::{PLAN, RolloutFixture};
use canary_release::alert::RolloutResult;
use canary_release::evidence::{
    EvidenceVerdict, GROUPS, GroupCounts, IntervalCounts, ProxyCoverage, TrainReport, VersionCounts,
};
use canary_release::record::{Author, Record};
use canary_release::rollout::{InnerIntervals, InnerRelease, MAX_INNER_RELEASES, RolloutEnd, RolloutVerb};
use canary_release::spec::ReleaseName;
use canary_release::state::TrainMember;
use std::collections::{BTreeMap, BTreeSet};

const ALL: ProxyCoverage = ProxyCoverage { observed: 1, of: 1 };

fn name(name: &str) -> ReleaseName {
    format!("shop/{name}").parse().unwrap()
}

fn inner(canary: &str) -> InnerRelease {
    let member = TrainMember {
        name: "autumn".to_owned(),
        is_inner: true,
        namespaces: BTreeSet::new(),
        client_errors: true,
        lost_sessions: false,
        slower_than: "1s".parse().ok(),
    };
    InnerRelease { canary: canary.to_owned(), stable: "2026.10".to_owned(), member }
}

fn observed(releases: &[(&str, Option<InnerRelease>)]) -> BTreeMap<ReleaseName, Option<InnerRelease>> {
    releases.iter().map(|(of, release)| (name(of), release.clone())).collect()
}

/// The canary responses of an API that were counted.
fn counted(record: &Record) -> Option<u64> {
    let inner = record.rollout.as_ref().unwrap().train.get(&name("api"))?;
    Some(inner.evidence.server_errors().test.counts().canary.total().responses)
}

/// A rollout that has counted 16 times 40 responses of the canary of an API.
fn counted_api() -> RolloutFixture {
    let mut fixture = RolloutFixture::new(PLAN);
    fixture.tick(EvidenceVerdict::Advance);
    assert!(fixture.record.note_train(&observed(&[("api", Some(inner("2026.11")))])));
    let intervals = InnerIntervals::from([(name("api"), crate::interval(40, 200))]);
    assert!(fixture.record.add_evidence(0, &crate::interval(1, 9), &intervals));
    assert!(!fixture.record.add_evidence(0, &crate::interval(1, 9), &intervals), "another driver was first");
    assert_eq!(counted(&fixture.record), Some(640));
    fixture
}

#[test]
fn a_record_keeps_evidence_of_each_release_and_is_read_as_it_was_written() {
    let fixture = counted_api();
    let json = fixture.record.to_json().unwrap();
    assert_eq!(Record::parse(&"shop/shop".parse().unwrap(), &json).unwrap(), fixture.record);
}

#[test]
fn a_record_from_before_there_was_such_evidence_is_read() {
    let fixture = RolloutFixture::new(PLAN);
    let mut before: serde_json::Value = serde_json::from_str(&fixture.record.to_json().unwrap()).unwrap();
    assert!(
        before["train"].is_null() && before["rollout"]["train"].is_null(),
        "a release outside a train says nothing"
    );
    before.as_object_mut().unwrap().remove("train");
    before["rollout"].as_object_mut().unwrap().remove("train");
    assert_eq!(Record::parse(&"shop/shop".parse().unwrap(), &before.to_string()).unwrap(), fixture.record);
}

#[test]
fn each_kind_of_failure_of_each_release_has_its_part_of_the_false_alarms() {
    let mut fixture = counted_api();
    let rollback_at = |record: &Record| {
        let assessment = record.assess_rollout(ALL, TrainReport::default(), fixture.now).unwrap();
        assessment.kinds.iter().map(|kind| kind.rollback_at.round()).collect::<Vec<_>>()
    };
    // 5xx, unanswered and lost sessions of the front end, and with 4xx and slow responses those of the API.
    assert_eq!(rollback_at(&fixture.record), [140.0; 7]);
    fixture.record.rollout.as_mut().unwrap().train.clear();
    assert_eq!(rollback_at(&fixture.record), [60.0; 3]);
}

#[test]
fn evidence_about_versions_that_have_other_roles_by_now_is_forgotten_and_what_cannot_be_read_is_not() {
    let mut fixture = counted_api();
    assert!(!fixture.record.note_train(&observed(&[("api", Some(inner("2026.11")))])));
    assert!(!fixture.record.note_train(&observed(&[])), "its record could not be read");
    assert_eq!(counted(&fixture.record), Some(640));
    let mut without = fixture.clone();
    assert!(without.record.note_train(&observed(&[("api", None)])));
    assert_eq!(counted(&without.record), None, "it has no canary any more");
    let mut other_stable = fixture.clone();
    let release = InnerRelease { stable: "2026.09".to_owned(), ..inner("2026.11") };
    assert!(other_stable.record.note_train(&observed(&[("api", Some(release))])));
    assert_eq!(counted(&other_stable.record), Some(0), "compared with another stable version");
    assert!(fixture.record.note_train(&observed(&[("api", Some(inner("2026.12")))])));
    assert_eq!(counted(&fixture.record), Some(0), "of another canary");
}

#[test]
fn the_release_in_front_observes_its_train_while_it_rolls_out_and_no_other_does() {
    let mut fixture = counted_api();
    let member = |is_inner| Some(Box::new(TrainMember { is_inner, ..inner("2026.11").member }));
    assert_eq!(fixture.record.observed_train(), None, "outside a train");
    fixture.record.train = member(true);
    assert_eq!(fixture.record.observed_train(), None, "inside it");
    fixture.record.train = member(false);
    assert_eq!(fixture.record.observed_train().map(|member| member.name.as_str()), Some("autumn"));
    let now = fixture.now;
    let rollout = fixture.record.rollout.as_mut().unwrap();
    rollout.ended = Some(RolloutEnd { result: RolloutResult::Stopped, reason: String::new(), at: now });
    let ended = fixture.record.clone();
    assert_eq!(ended.observed_train(), None);
    assert!(!fixture.record.note_train(&observed(&[("web", Some(inner("2026.11")))])), "it has ended");
    assert!(!fixture.record.add_evidence(1, &crate::interval(1, 9), &InnerIntervals::new()), "it has ended");
    assert_eq!(fixture.record, ended);
}

#[test]
fn alerts_count_inner_releases_where_something_speaks_against_them_and_a_bounded_number() {
    let told = |fixture: &mut RolloutFixture| {
        let now = fixture.now;
        fixture.record.change_rollout(RolloutVerb::Pause, Author::new("ada", now)).unwrap();
        let last = fixture.record.alerts.pending().last().unwrap();
        last.alert.counts.iter().filter(|counts| counts.release.is_some()).count()
    };
    assert_eq!(told(&mut counted_api()), 0);
    let mut failing = counted_api();
    let names: Vec<String> = (0..7).map(|number| format!("api-{number}")).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), Some(inner("2026.11")))).collect();
    assert!(failing.record.note_train(&observed(&many)));
    let counts = |each, failed| GroupCounts::new([each; GROUPS], [failed; GROUPS]);
    let server_errors = VersionCounts { canary: counts(40, 20), stable: counts(200, 0) };
    let interval = IntervalCounts { server_errors, ..IntervalCounts::default() };
    let all = names.iter().map(|of| (name(of), interval.clone())).collect();
    for _ in 0..12 {
        let known = failing.record.rollout.as_ref().unwrap().evidence.intervals;
        assert!(failing.record.add_evidence(known, &crate::interval(1, 9), &all));
    }
    assert_eq!(told(&mut failing), 4, "seven fail");
}

#[test]
fn a_retry_forgets_the_evidence_of_all_releases() {
    let mut fixture = counted_api();
    let now = fixture.now;
    fixture.record.active_rollout().unwrap().retry(now).unwrap();
    assert_eq!(counted(&fixture.record), Some(0));
}

/// `ConfigMap`s have 1 MiB at most.
#[test]
fn a_record_keeps_evidence_of_a_bounded_number_of_releases() {
    let mut fixture = counted_api();
    let names: Vec<String> = (0..20).map(|number| format!("api-{number:02}")).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), Some(inner("2026.11")))).collect();
    assert!(fixture.record.note_train(&observed(&many)));
    let train = &fixture.record.rollout.as_ref().unwrap().train;
    assert_eq!(train.len(), MAX_INNER_RELEASES);
    assert!(train.contains_key(&name("api")), "the one that was there stays");
    let all: InnerIntervals =
        train.keys().map(|name| (name.clone(), crate::interval(123_456, 1_234_567))).collect();
    let before = fixture.record.to_json().unwrap().len();
    for known in 1..100 {
        assert!(fixture.record.add_evidence(known, &crate::interval(1, 9), &all));
    }
    let size = fixture.record.to_json().unwrap().len();
    println!("{before} bytes before, {size} bytes with four kinds of {MAX_INNER_RELEASES} releases");
    assert!(size < 500_000, "{size} bytes");
    assert!(!fixture.record.add_evidence(1, &IntervalCounts::default(), &all));
}
