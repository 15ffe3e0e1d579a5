//! Records of versions that kept queries, and how receivers are reached: they are read, and nothing of that is used.

use crate::fixture::RolloutFixture;
use canary_release::record::Record;
use serde_json::{Value, json};

const ROLLOUT: &str = "  rollout:
    plans: {default: [{weight: 10, hold: 5m}]}
    prometheus: {address: \"http://prometheus:9090\"}
    metrics: [{name: latency, query: \"latency{v='{{ version }}'}\", max: 500}]
    alerts: [{name: team, type: slack, urlFrom: {secret: {name: alerts, key: team}}, severity: info}]
";

const RECEIVERS: [&str; 2] = ["/rollout/alerts/receivers/0", "/alerts/pending/0/deliveries/1/to/receiver"];

/// The record, and the same as a version before has written it.
fn records() -> (Record, Value) {
    let record = RolloutFixture::new(ROLLOUT).record;
    let mut earlier = serde_json::from_str(&record.to_json().unwrap()).unwrap();
    set(&mut earlier, "/rollout/metrics/0", "query", json!("revenue{namespace='payments'}"));
    for receiver in RECEIVERS {
        assert_eq!(earlier.pointer(&format!("{receiver}/name")), Some(&json!("team")), "{earlier}");
        set(&mut earlier, receiver, "type", json!("slack"));
        set(&mut earlier, receiver, "urlFrom", json!({"secret": {"name": "pagerduty", "key": "url"}}));
    }
    (record, earlier)
}

fn set(record: &mut Value, place: &str, field: &str, value: Value) {
    record.pointer_mut(place).unwrap().as_object_mut().unwrap().insert(field.to_owned(), value);
}

#[test]
fn a_record_with_queries_and_places_of_urls_is_read_without_them() {
    let (record, earlier) = records();
    let read = Record::parse(&"shop/shop".parse().unwrap(), &earlier.to_string()).unwrap();
    assert_eq!(read, record);
    let json = read.to_json().unwrap();
    for text in ["revenue", "latency{", "query", "urlFrom", "slack", "pagerduty", "alerts/"] {
        assert!(!json.contains(text), "{text} is in {json}");
    }
}

#[test]
fn a_field_that_no_version_had_is_refused() {
    for place in RECEIVERS.into_iter().chain(["/rollout/metrics/0"]) {
        let (_, mut earlier) = records();
        set(&mut earlier, place, "address", json!("http://elsewhere"));
        let error = Record::parse(&"shop/shop".parse().unwrap(), &earlier.to_string()).unwrap_err();
        let text = format!("{error:?}");
        assert!(text.contains("unknown field `address`"), "{place}: {text}");
    }
}

/// A rollout that was started by a version without lost sessions goes on without them.
#[test]
fn a_rollout_without_lost_sessions_is_read_and_counts_none() {
    let record = RolloutFixture::new(ROLLOUT).record;
    let kinds = |record: &Record| {
        let rollout = record.rollout.as_ref().unwrap();
        (rollout.policy.failure_kinds(), rollout.evidence.kinds().count())
    };
    assert_eq!(kinds(&record), (3, 3), "the release has sessions with a cookie");
    let mut earlier: Value = serde_json::from_str(&record.to_json().unwrap()).unwrap();
    for place in ["/rollout/policy", "/rollout/evidence"] {
        let removed = earlier.pointer_mut(place).unwrap().as_object_mut().unwrap().remove("lostSessions");
        assert!(removed.is_some(), "{place}");
    }
    let read = Record::parse(&"shop/shop".parse().unwrap(), &earlier.to_string()).unwrap();
    assert_eq!(kinds(&read), (2, 2));
}
