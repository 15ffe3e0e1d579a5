//! How long a plan takes with the traffic that there is.

use crate::parse;

#[test]
fn the_default_plan_takes_its_holds_with_much_traffic_and_its_responses_with_little() {
    let default = parse("").unwrap();
    let seconds = |rate: f64| default.seconds_of_plan("default", rate).unwrap().round();
    // 30,000 + 6,000 + 3,000 + 1,200 + 600 requests.
    assert_eq!([seconds(1_000.0), seconds(0.1)].map(|seconds| format!("{seconds}")), ["3000", "408000"]);
    let least = default.least_requests_per_second("default").unwrap();
    assert!((0.45..0.5).contains(&least), "{least}");
    assert_eq!(default.seconds_of_plan("other", 1.0), None);
}

#[test]
fn steps_that_a_person_ends_need_no_responses_and_no_traffic_ends_holds_beyond_the_deadline() {
    let manual = parse("  rollout: {plans: {default: [{weight: 1, hold: 1m, gate: manual}]}}\n").unwrap();
    assert_eq!(manual.seconds_of_plan("default", 0.001), Some(60.0));
    let long = parse("  rollout: {deadline: 1h, plans: {default: [{weight: 1, hold: 2h}]}}\n").unwrap();
    assert_eq!(long.least_requests_per_second("default"), None);
}
