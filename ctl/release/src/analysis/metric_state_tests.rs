use super::*;
use crate::analysis::MeasuredValues;
use crate::analysis::fixture::latency;
use crate::prometheus::QueryError;
use crate::spec::{FiniteNumber, MetricBounds};

/// At most 500, three times in a row.
fn metric() -> RolloutMetric {
    latency(MetricBounds { min: None, max: FiniteNumber::new(500.0) })
}

fn at(minute: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minute)
}

/// One measurement a minute; NaN is none.
fn measured(values: &[f64]) -> MetricReport {
    let mut state: Option<MetricState> = None;
    for (minute, value) in (0..).zip(values) {
        let canary = FiniteNumber::new(*value).ok_or(QueryError::Empty);
        let stable = Some(Ok(FiniteNumber::new(120.0).unwrap()));
        let last = metric().measure(&MeasuredValues { canary, stable });
        state = Some(MetricState::followed_by(state.as_ref(), last, at(minute)));
    }
    MetricReport { metric: metric(), measured: state }
}

fn verdict(values: &[f64]) -> Option<EvidenceVerdict> {
    let now = at(i64::try_from(values.len()).unwrap());
    measured(values).finding(now).map(|(verdict, _)| verdict)
}

const BAD: f64 = 812.0;
const GOOD: f64 = 100.0;
const NONE: f64 = f64::NAN;

#[test]
fn as_many_failed_measurements_in_a_row_as_the_file_says_roll_back_and_fewer_hold() {
    assert_eq!(verdict(&[BAD]), Some(EvidenceVerdict::Hold));
    assert_eq!(verdict(&[GOOD, BAD, BAD]), Some(EvidenceVerdict::Hold));
    assert_eq!(verdict(&[GOOD, BAD, BAD, BAD]), Some(EvidenceVerdict::Rollback));
    assert_eq!(verdict(&[BAD, BAD, GOOD, BAD, BAD]), Some(EvidenceVerdict::Hold), "not in a row");
    assert_eq!(verdict(&[BAD, BAD, GOOD]), None);
}

#[test]
fn without_a_result_it_waits_and_then_holds_and_never_rolls_back() {
    assert_eq!(verdict(&[]), Some(EvidenceVerdict::Waiting));
    assert_eq!(verdict(&[GOOD, NONE, NONE]), Some(EvidenceVerdict::Waiting));
    assert_eq!(verdict(&[NONE; 3]), Some(EvidenceVerdict::Hold));
    assert_eq!(verdict(&[NONE; 500]), Some(EvidenceVerdict::Hold));
    assert_eq!(verdict(&[BAD, BAD, NONE, BAD, BAD]), Some(EvidenceVerdict::Hold), "not in a row");
    assert_eq!(verdict(&[NONE, NONE, NONE, GOOD]), None);
}

#[test]
fn a_result_that_is_old_lets_nothing_go_on() {
    let report = measured(&[GOOD]);
    assert_eq!(report.finding(at(3)), None);
    let (verdict, reason) = report.finding(at(4)).unwrap();
    assert_eq!(verdict, EvidenceVerdict::Waiting);
    assert_eq!(reason, "metric `latency`: expected a measurement after 1970-01-01T00:00:00Z, found none");
}

#[test]
fn windows_of_measurements_do_not_overlap_whoever_measures() {
    let state = measured(&[GOOD]).measured.unwrap();
    let due = |seconds| state.is_due(Seconds::MINUTE, at(0) + SignedDuration::from_secs(seconds));
    assert!(due(60) && due(3_600) && !due(59) && !due(0));
    assert!(!due(-10), "another driver's clock is behind");
    assert!(due(-60), "the clock was set back");
}

#[test]
fn each_outcome_is_told_with_the_numbers_of_both_versions() {
    for (values, text) in [
        (vec![], "metric `latency`: not measured in this step yet"),
        (
            vec![BAD, BAD],
            "metric `latency`: expected at most 500, found 812, 2 of 3 times in a row, stable 120",
        ),
        (
            vec![NONE; 9],
            "metric `latency`: no result, 3 of 3 times in a row: the canary: expected one value, found none",
        ),
        (vec![GOOD], "metric `latency`: passed, canary 100, stable 120"),
    ] {
        assert_eq!(measured(&values).to_string(), text);
    }
}
