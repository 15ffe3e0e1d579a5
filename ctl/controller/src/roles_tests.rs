use super::*;
use canary_release::file::parse;
use canary_release::record::{Author, RollbackTarget};
use canary_release::state::ReleaseState;
use jiff::Timestamp;
use serde_json::json;
use std::path::Path;

fn release(stable: &str, canary: Option<&str>) -> Release {
    let document = json!({"apiVersion": "canary-ctl.io/v1alpha1", "kind": "Release",
        "metadata": {"name": "shop", "namespace": "shop"},
        "spec": {"versions": {"stable": stable, "canary": canary}, "hosts": ["shop.example.com"], "stickiness": "session",
            "session": {"cookie": "SID"}, "identifyBy": [{"cookie": "SID"}], "gateways": [{"name": "shop/gateway"}]}});
    parse(Path::new("release"), &document.to_string()).unwrap().release
}

fn record() -> Record {
    let first = release("v1", Some("v2"));
    Record::first(&first, ReleaseState::first(&first, "uid".to_owned()))
}

fn by() -> Author<'static> {
    Author::new("ada", Timestamp::UNIX_EPOCH)
}

/// The versions of the object, and what is applied: as the record's roles are.
fn assert_applied(record: &Record, rows: &[(&str, Option<&str>, &str, Option<&str>)]) {
    for (stable, canary, to_stable, to_canary) in rows {
        let applied = as_roles_are(release(stable, *canary), record).versions;
        let found = (applied.stable.as_str(), applied.canary.as_deref());
        assert_eq!(found, (*to_stable, *to_canary), "{stable}, {canary:?}");
    }
}

#[test]
fn without_a_role_change_an_object_is_applied_as_it_is() {
    let rows = [
        ("v1", Some("v2"), "v1", Some("v2")),
        ("v1", None, "v1", None),
        ("v1", Some("v3"), "v1", Some("v3")),
    ];
    assert_applied(&record(), &rows);
}

#[test]
fn after_a_promotion_an_object_of_before_takes_nothing_back_and_names_the_next_canary() {
    let mut promoted = record();
    promoted.promote(Timestamp::MAX, by());
    let rows = [
        ("v1", Some("v2"), "v2", None),
        ("v1", None, "v2", None),
        ("v2", None, "v2", None),
        ("v1", Some("v3"), "v2", Some("v3")),
        ("v2", Some("v3"), "v2", Some("v3")),
        ("v2", Some("v1"), "v2", Some("v1")),
    ];
    assert_applied(&promoted, &rows);
    // A new canary ends the time in which the promotion can be taken back: nothing but the roles is left of it.
    promoted.role_change = None;
    assert_applied(&promoted, &rows);
}

#[test]
fn after_a_rollback_the_version_does_not_come_back_and_its_rollback_is_not_noted() {
    let mut back = record();
    back.roll_back(&RollbackTarget::Canary("v2".to_owned()), None, by());
    let rows =
        [("v1", Some("v2"), "v1", None), ("v1", Some("v3"), "v1", Some("v3")), ("v2", None, "v1", None)];
    assert_applied(&back, &rows);
    let noted = as_roles_are(release("v1", Some("v2")), &back).versions.rolled_back;
    assert_eq!(noted.as_deref(), Some("v2"));
}
