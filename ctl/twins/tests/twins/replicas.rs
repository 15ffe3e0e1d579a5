//! The replicas of a version from the canary on until it is stable, and after that.

use crate::chart::{alone, beside, chart, object, objects};
use helm_twins::{Object, plan};
use serde_json::{Value, json};

/// The chart with these replicas; none leaves them out.
fn with(image: &str, replicas: Option<u32>) -> Vec<Object> {
    let mut objects = chart(image, "", "");
    let mut value = objects[1].value().clone();
    value["spec"].as_object_mut().unwrap().remove("replicas");
    if let Some(replicas) = replicas {
        value["spec"]["replicas"] = json!(replicas);
    }
    objects[1] = Object::new(value).unwrap();
    objects
}

fn replicas(objects: &[Object], name: &str) -> Value {
    object(objects, name)["spec"].get("replicas").cloned().unwrap_or_default()
}

/// The chart's, those of `--replicas`, and what the canary has then, at the end of its promotion, and as stable beside the next version.
#[test]
fn a_version_that_becomes_stable_keeps_the_replicas_that_were_asked_for() {
    for (charts, asked, canary, finished) in [
        (Some(2), None, json!(2), json!(2)),
        (Some(2), Some(1), json!(1), json!(2)),
        (Some(2), Some(6), json!(6), json!(6)),
        (None, None, json!(null), json!(null)),
        (None, Some(3), json!(3), json!(3)),
        (Some(0), Some(3), json!(3), json!(3)),
    ] {
        let case = format!("chart {charts:?}, --replicas {asked:?}");
        let mut rules = beside("v1", "v2");
        rules.replicas = asked;
        let new = with("2", charts);
        let both = objects(plan(&with("1", charts), &new, &rules));
        assert_eq!(replicas(&both, "Deployment shop-v2"), canary, "{case}: the canary");
        let again = objects(plan(&both, &new, &beside("v1", "v2")));
        assert_eq!(
            replicas(&again, "Deployment shop-v2"),
            finished,
            "{case}: rendered again without the flag"
        );
        let end = objects(plan(&both, &new, &alone("v2")));
        assert_eq!(replicas(&end, "Deployment shop-v2"), finished, "{case}: the end");
        let third = objects(plan(&end, &with("3", charts), &beside("v2", "v3")));
        assert_eq!(replicas(&third, "Deployment shop-v2"), finished, "{case}: as stable");
        let mut rules = alone("v2");
        rules.replicas = Some(4);
        let end = objects(plan(&both, &new, &rules));
        assert_eq!(replicas(&end, "Deployment shop-v2"), 4, "{case}: asked for at the end");
    }
}

/// Fewer replicas in the chart's values are meant.
#[test]
fn a_promoted_version_follows_the_chart_where_nothing_else_was_asked_for() {
    let both = objects(plan(&with("1", Some(5)), &with("2", Some(5)), &beside("v1", "v2")));
    let end = objects(plan(&both, &with("2", Some(5)), &alone("v2")));
    let fewer = objects(plan(&end, &with("2", Some(3)), &alone("v2")));
    assert_eq!(replicas(&fewer, "Deployment shop-v2"), 3);
}

#[test]
fn a_canary_that_begins_with_one_pod_or_none_is_warned_of() {
    for (charts, asked, expected) in [
        (None, None, Some("it begins with one pod")),
        (Some(0), None, Some("the canary has no pod")),
        (None, Some(3), None),
        (Some(2), None, None),
    ] {
        let mut rules = beside("v1", "v2");
        rules.replicas = asked;
        let warnings = plan(&with("1", charts), &with("2", charts), &rules).warnings;
        assert_eq!(warnings.len(), usize::from(expected.is_some()), "{charts:?}, {asked:?}: {warnings:?}");
        assert!(expected.is_none_or(|text| warnings[0].contains(text)), "{charts:?}: {warnings:?}");
    }
}
