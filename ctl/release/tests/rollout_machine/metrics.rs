//! Metrics of a rollout: when they are measured, and what the machine makes of what was found.

use crate::fixture::RolloutFixture;
use canary_release::analysis::MeasuredValues;
use canary_release::assessment::Assessment;
use canary_release::evidence::{EvidenceVerdict, ProxyCoverage, TrainReport};
use canary_release::prometheus::QueryError;
use canary_release::record::{Author, Operation};
use canary_release::rollout::{
    Decision, Ending, MeasurementQueries, MeasurementRequest, MeasurementResult, RolloutAction,
    RolloutObservation, RolloutPhase,
};
use canary_release::spec::{FiniteNumber, TemplateError};
use jiff::Timestamp;

const METRICS: &str = "  rollout:
    plans: {default: [{weight: 0, hold: 1m, gate: manual}, {weight: 10, hold: 5m}, {weight: 100, hold: 5m, gate: manual}]}
    prometheus: {address: \"http://prometheus:9090\"}
    metrics:
      - {name: latency, query: \"latency{v='{{ version }}'}\", max: 500, ratio: {max: 2}}
      - {name: errors, query: \"errors{v='{{ version }}'}\", interval: 2m, max: 1}
";

/// At the step of 10 %, which has just begun.
fn at_ten_percent() -> RolloutFixture {
    let mut fixture = RolloutFixture::new(METRICS);
    fixture.tick(EvidenceVerdict::Advance);
    fixture.record.active_rollout().unwrap().approve("ada").unwrap();
    fixture.run_until_weight("10%", EvidenceVerdict::Advance);
    fixture
}

fn requests(fixture: &RolloutFixture) -> Vec<MeasurementRequest> {
    fixture.record.measurement_requests(&fixture.queries, fixture.now)
}

fn names(fixture: &RolloutFixture) -> Vec<String> {
    requests(fixture).into_iter().map(|request| request.metric).collect()
}

/// All that is due is measured with these values of canary and stable; NaN is none.
fn measure(fixture: &mut RolloutFixture, canary: f64, stable: f64) {
    let value = |value| FiniteNumber::new(value).ok_or(QueryError::Empty);
    let results: Vec<MeasurementResult> = requests(fixture)
        .into_iter()
        .map(|MeasurementRequest { metric, queries }| MeasurementResult {
            metric,
            values: queries.map(|queries| MeasuredValues {
                canary: value(canary),
                stable: queries.stable.map(|_| value(stable)),
            }),
        })
        .collect();
    fixture.record.add_measurements(&results, fixture.now);
}

/// What the proxies' counters say is nothing yet; a proxy is there.
fn assess(fixture: &RolloutFixture) -> Assessment {
    fixture
        .record
        .assess_rollout(ProxyCoverage { observed: 1, of: 1 }, TrainReport::default(), fixture.now)
        .unwrap()
}

fn decide(fixture: &RolloutFixture) -> Decision {
    let seen =
        RolloutObservation { assessment: assess(fixture), ..fixture.observe(EvidenceVerdict::Waiting) };
    fixture.record.rollout.as_ref().unwrap().next(&seen, fixture.now)
}

/// Minutes pass, and all that is due is measured in each of them.
fn minutes(fixture: &mut RolloutFixture, count: usize, canary: f64, stable: f64) {
    for _ in 0..count {
        fixture.pass(60);
        measure(fixture, canary, stable);
    }
}

#[test]
fn nothing_is_measured_while_testers_alone_are_on_the_canary() {
    let mut fixture = RolloutFixture::new(METRICS);
    for _ in 0..30 {
        fixture.tick(EvidenceVerdict::Advance);
        fixture.pass(30);
        assert_eq!(fixture.record.state.weight.to_string(), "0%");
        assert_eq!(requests(&fixture), []);
    }
    fixture.record.active_rollout().unwrap().approve("ada").unwrap();
    assert!(matches!(decide(&fixture).action, RolloutAction::EnterStep(1)), "{:?}", decide(&fixture));
}

#[test]
fn a_metric_is_measured_when_its_interval_has_passed_since_the_step_began_and_since_it_was_measured() {
    let mut fixture = at_ten_percent();
    assert_eq!(names(&fixture), Vec::<String>::new());
    fixture.pass(60);
    let due = requests(&fixture);
    let [latency] = &due[..] else { panic!("{due:?}") };
    let (canary, stable) = ("latency{v='v2'}".to_owned(), Some("latency{v='v1'}".to_owned()));
    assert_eq!(latency.queries, Ok(MeasurementQueries { canary, stable }));
    measure(&mut fixture, 100.0, 100.0);
    assert_eq!(names(&fixture), Vec::<String>::new());
    fixture.pass(60);
    assert_eq!(names(&fixture), ["latency", "errors"]);
}

#[test]
fn nothing_is_measured_at_a_weight_by_hand_nor_when_the_rollout_ends() {
    let mut by_hand = at_ten_percent();
    by_hand.pass(60);
    let mut ending = by_hand.clone();
    by_hand.record.set_weight(
        "5".parse().unwrap(),
        None,
        Author::new("ada", Timestamp::now()),
        Operation::Weight,
    );
    assert_eq!(names(&by_hand), Vec::<String>::new());
    ending.record.active_rollout().unwrap().promote_now("ada").unwrap();
    assert_eq!(names(&ending), Vec::<String>::new());
}

#[test]
fn a_query_without_the_version_is_asked_once() {
    let mut fixture = RolloutFixture::new(
        &METRICS.replace("latency{v='{{ version }}'}\", max: 500, ratio: {max: 2}", "latency\", max: 500"),
    );
    fixture.tick(EvidenceVerdict::Advance);
    fixture.record.active_rollout().unwrap().approve("ada").unwrap();
    fixture.run_until_weight("10%", EvidenceVerdict::Advance);
    fixture.pass(60);
    let due = requests(&fixture);
    let [latency] = &due[..] else { panic!("{due:?}") };
    assert_eq!(latency.queries, Ok(MeasurementQueries { canary: "latency".to_owned(), stable: None }));
}

#[test]
fn a_step_goes_on_when_all_metrics_have_passed_in_it_and_not_before() {
    let mut fixture = at_ten_percent();
    let reason = "metric `latency`: not measured in this step yet";
    let waiting = |fixture: &RolloutFixture| {
        let assessment = assess(fixture);
        let texts: Vec<String> = assessment.metrics.iter().map(ToString::to_string).collect();
        (assessment.verdict, texts)
    };
    assert_eq!(waiting(&fixture).0, EvidenceVerdict::Waiting);
    assert_eq!(waiting(&fixture).1[0], reason);
    minutes(&mut fixture, 2, 0.5, 0.4);
    assert_eq!(
        waiting(&fixture).1,
        [
            "metric `latency`: passed, canary 0.5, stable 0.4",
            "metric `errors`: passed, canary 0.5, stable 0.4"
        ]
    );
    fixture.tick(EvidenceVerdict::Advance);
    fixture.run_until_weight("100%", EvidenceVerdict::Advance);
    assert_eq!(waiting(&fixture).1[0], reason, "a step needs measurements of its own");
}

#[test]
fn failures_in_a_row_are_a_rollback_that_says_what_was_expected_and_found() {
    let mut fixture = at_ten_percent();
    minutes(&mut fixture, 2, 812.0, 120.0);
    let held = decide(&fixture);
    assert_eq!((held.phase, held.action), (RolloutPhase::Held, RolloutAction::Wait));
    assert_eq!(
        held.reason,
        "metric `latency`: expected at most 500, found 812, 2 of 3 times in a row, stable 120"
    );
    minutes(&mut fixture, 1, 812.0, 120.0);
    let failed = decide(&fixture);
    assert_eq!(failed.action, RolloutAction::Decide(Ending::Rollback), "{failed:?}");
    assert_eq!(
        failed.reason,
        "metric `latency`: expected at most 500, found 812, 3 of 3 times in a row, stable 120"
    );
}

#[test]
fn a_prometheus_that_is_away_holds_the_rollout_for_hours_and_ends_it_never() {
    let mut fixture = at_ten_percent();
    for minute in 0..600 {
        minutes(&mut fixture, 1, f64::NAN, f64::NAN);
        let decision = decide(&fixture);
        assert!(
            !matches!(decision.action, RolloutAction::Decide(_) | RolloutAction::EnterStep(2)),
            "{decision:?}"
        );
        // The errors are measured every two minutes, so three in a row take six.
        if minute >= 6 {
            assert_eq!(decision.phase, RolloutPhase::Held, "minute {minute}: {decision:?}");
            assert!(decision.reason.contains("no result, 3 of 3 times in a row"), "{decision:?}");
        }
        fixture.tick(EvidenceVerdict::Hold);
    }
    minutes(&mut fixture, 2, 0.5, 0.4);
    assert_eq!(assess(&fixture).verdict, EvidenceVerdict::Waiting, "the counters of the proxies alone");
    assert!(assess(&fixture).reason.starts_with("expected 300 responses"), "{:?}", assess(&fixture));
}

#[test]
fn at_a_hundred_percent_nobody_is_left_to_compare_with_and_the_canary_alone_is_measured() {
    let mut fixture = at_ten_percent();
    fixture.run_until_weight("100%", EvidenceVerdict::Advance);
    fixture.pass(60);
    assert_eq!(requests(&fixture)[0].queries.as_ref().unwrap().stable, None);
    measure(&mut fixture, 100.0, f64::NAN);
    assert_eq!(assess(&fixture).metrics[0].to_string(), "metric `latency`: passed, canary 100");
}

#[test]
fn a_weight_that_has_expired_is_set_again_whatever_was_measured_before() {
    let mut fixture = at_ten_percent();
    minutes(&mut fixture, 1, 812.0, 120.0);
    assert_eq!(decide(&fixture).phase, RolloutPhase::Held);
    fixture.pass(3_700);
    assert_eq!(requests(&fixture), [], "nobody is on the canary");
    assert_eq!(decide(&fixture).action, RolloutAction::EnterStep(1), "{:?}", decide(&fixture));
    fixture.tick(EvidenceVerdict::Waiting);
    assert_eq!(assess(&fixture).metrics[0].measured, None);
}

#[test]
fn a_retry_forgets_what_was_measured() {
    let mut fixture = at_ten_percent();
    minutes(&mut fixture, 3, 812.0, 120.0);
    let now = fixture.now;
    fixture.record.active_rollout().unwrap().retry(now).unwrap();
    assert_eq!(assess(&fixture).verdict, EvidenceVerdict::Waiting);
}

#[test]
fn a_rollout_that_observes_measures_too_and_says_what_it_would_do() {
    let mut fixture = RolloutFixture::new(&format!("{METRICS}    observe: true\n"));
    let weight = "10".parse().unwrap();
    fixture.record.set_weight(
        weight,
        None,
        Author::new("ada", Timestamp::now()),
        canary_release::record::Operation::Apply,
    );
    fixture.deployed = fixture.record.state.generation;
    minutes(&mut fixture, 3, 812.0, 120.0);
    let decision = decide(&fixture);
    assert_eq!((decision.phase, decision.action), (RolloutPhase::Held, RolloutAction::Wait));
    assert!(
        decision.reason.starts_with("a rollout that acts would end here: metric `latency`"),
        "{decision:?}"
    );
}

#[test]
fn what_was_measured_is_read_from_the_record_as_it_was_written() {
    let mut fixture = at_ten_percent();
    minutes(&mut fixture, 2, 812.5, 0.1);
    let json = fixture.record.to_json().unwrap();
    assert_eq!(
        canary_release::record::Record::parse(&"shop/shop".parse().unwrap(), &json).unwrap(),
        fixture.record
    );
    for text in ["prometheus:9090", "latency{", "errors{"] {
        assert!(!json.contains(text), "a record says neither whom a driver asks nor what: {text} in {json}");
    }
}

/// Each minute what is due has no result, for this reason; never does that move a user.
fn assert_decides_nothing(fixture: &mut RolloutFixture, reason: &str) {
    for _ in 0..30 {
        minutes(fixture, 1, 1.0, 1.0);
        let decision = decide(fixture);
        assert!(matches!(decision.action, RolloutAction::Wait | RolloutAction::Renew), "{decision:?}");
        fixture.tick(EvidenceVerdict::Hold);
    }
    let decision = decide(fixture);
    assert_eq!(decision.phase, RolloutPhase::Held, "{decision:?}");
    assert!(decision.reason.contains(reason), "expected {reason}, found {}", decision.reason);
    assert_eq!(fixture.record.state.weight.to_string(), "10%");
}

#[test]
fn a_metric_that_the_drivers_file_does_not_have_asks_nothing_and_decides_nothing() {
    let mut fixture = at_ten_percent();
    fixture.queries.remove("latency");
    fixture.pass(60);
    let expected = Err(QueryError::NotInFile("latency".to_owned()));
    assert_eq!(requests(&fixture)[0].queries, expected);
    let reason = "metric `latency`: no result, 3 of 3 times in a row: expected metric `latency` in the driver's file, found none";
    assert_decides_nothing(&mut fixture, reason);
}

#[test]
fn a_metric_whose_values_are_about_another_time_in_the_drivers_file_decides_nothing() {
    let mut fixture = at_ten_percent();
    fixture.queries.get_mut("latency").unwrap().interval = "5m".parse().unwrap();
    let reason = "expected an interval of 1m for metric `latency` in the driver's file, as the rollout began with it, found 5m";
    assert_decides_nothing(&mut fixture, reason);
}

#[test]
fn a_version_of_an_edited_record_adds_nothing_to_a_query() {
    let mut fixture = at_ten_percent();
    let edited = "v2'} or revenue{namespace='payments";
    let json = fixture.record.to_json().unwrap();
    let json = json.replace("\"v2\"", &format!("\"{edited}\""));
    canary_release::record::Record::parse(&"shop/shop".parse().unwrap(), &json).unwrap_err();
    fixture.record = serde_json::from_str(&json).unwrap();
    fixture.pass(60);
    let expected = Err(QueryError::Template(TemplateError::Version(edited.to_owned())));
    assert_eq!(requests(&fixture)[0].queries, expected);
}
