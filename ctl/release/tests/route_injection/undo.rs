//! Theirs again, whatever they have made of it meanwhile.

use crate::kit::{
    applied, demanding, edited, given_back, observed, owner, reapplied, record, targets, theirs, to,
};
use canary_release::object::restore_ownership;
use canary_release::plan::{Action, ChangeReason, edits, removal, reroute};
use canary_release::record::{Author, ends_after};
use canary_release::routing::is_lost;
use jiff::Timestamp;
use serde_json::json;

#[test]
fn what_is_given_back_is_what_was_there_and_its_owners_again() {
    for manager in [("kubectl-client-side-apply", "Update"), ("kubectl", "Apply")] {
        let mut before = theirs(&json!([demanding(), {"route": to("shop")}]));
        before["metadata"]["managedFields"] =
            json!([owner(manager.0, manager.1, &["hosts", "gateways", "http"])]);
        let record = record();
        let edited = edited(&before, &record);
        assert_ne!(edited, before);
        assert_eq!(given_back(&edited, &record), before);
    }
}

#[test]
fn an_owner_who_had_nothing_but_the_routes_has_them_again() {
    let mut before = theirs(&json!([{"route": to("shop")}]));
    let entries = json!([
        owner("kubectl-create", "Update", &["hosts", "gateways"]),
        owner("kubectl-edit", "Update", &["http"])
    ]);
    before["metadata"]["managedFields"] = entries;
    let record = record();
    let mut edited = edited(&before, &record);
    // The API server forgets entries without a field.
    edited["metadata"]["managedFields"].as_array_mut().unwrap().remove(1);
    let after = given_back(&edited, &record);
    let entries = after["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!(
        (&entries[1]["manager"], &entries[1]["fieldsV1"]),
        (&json!("kubectl-edit"), &json!({"f:spec": {"f:http": {}}}))
    );
}

#[test]
fn a_second_edit_changes_nothing() {
    let record = record();
    let edited = edited(&theirs(&json!([demanding(), {"route": to("shop")}])), &record);
    assert_eq!(reroute("shop/shop", &record, &observed(&edited)).unwrap().changes, []);
}

#[test]
fn after_a_promotion_the_default_is_another_and_the_way_back_the_same() {
    let mut record = record();
    let explicit =
        json!([{"route": [{"destination": {"host": "shop", "subset": "v1"}}]}, {"route": to("shop")}]);
    let before = theirs(&explicit);
    let seen = edited(&before, &record);
    record.promote(ends_after(Timestamp::now(), None), Author::new("ada", Timestamp::now()));
    let plan = reroute("shop/shop", &record, &observed(&seen)).unwrap();
    let seen = applied(&seen, &plan.changes[0].body);
    let defaults: Vec<_> = [2, 5]
        .map(|at| seen["spec"]["http"][at]["route"][0]["destination"]["subset"].as_str().unwrap())
        .into();
    assert_eq!(defaults, ["v2", "v2"]);
    record.finish(&["v1".to_owned()], Author::new("ada", Timestamp::now()));
    record.leaving.clear();
    let plan = reroute("shop/shop", &record, &observed(&seen)).unwrap();
    let seen = applied(&seen, &plan.changes[0].body);
    assert_eq!(seen["spec"]["http"].as_array().unwrap().len(), 4, "one version, one route each");
    assert_eq!(given_back(&seen, &record), before);
}

/// A later edit that keeps our routes: what they changed is what counts.
#[test]
fn what_the_owner_changes_between_our_routes_is_merged_and_kept() {
    let record = record();
    let mut seen = edited(&theirs(&json!([demanding(), {"route": to("shop")}])), &record);
    seen["spec"]["http"][2]["timeout"] = json!("9s");
    seen["spec"]["http"]
        .as_array_mut()
        .unwrap()
        .insert(3, json!({"match": [{"uri": {"prefix": "/new"}}], "route": to("shop")}));
    assert!(is_lost(&seen, &targets(&record), "v2"), "a route of theirs without ours");
    let plan = reroute("shop/shop", &record, &observed(&seen)).unwrap();
    let merged = applied(&seen, &plan.changes[0].body);
    assert_eq!(merged["spec"]["http"].as_array().unwrap().len(), 9);
    assert_eq!(merged["spec"]["http"][0]["timeout"], "9s");
    let mut now = demanding();
    now["timeout"] = json!("9s");
    let expected = theirs(
        &json!([now, {"match": [{"uri": {"prefix": "/new"}}], "route": to("shop")}, {"route": to("shop")}]),
    );
    assert_eq!(given_back(&merged, &record), expected);
}

#[test]
fn routes_that_were_lost_are_put_back_into_what_is_there_now() {
    let record = record();
    let seen = edited(&theirs(&json!([{"route": to("shop")}])), &record);
    let now = json!([{"timeout": "5s", "route": to("shop")}]);
    let seen = reapplied(&seen, &now, "kubectl-client-side-apply");
    assert!(is_lost(&seen, &targets(&record), "v2"), "{seen}");
    let plan = reroute("shop/shop", &record, &observed(&seen)).unwrap();
    let [change] = plan.changes.as_slice() else { panic!("{plan:?}") };
    assert_eq!(change.why, ChangeReason::Repair { by: vec!["kubectl-client-side-apply".to_owned()] });
    let repaired = applied(&seen, &change.body);
    assert_eq!(repaired["spec"]["http"][0]["timeout"], "5s");
    let after = given_back(&repaired, &record);
    assert_eq!(after["spec"]["http"], now);
    assert!(!after.to_string().contains("canary-ctl"), "{after}");

    let uninstalled = given_back(&seen, &record);
    assert_eq!(uninstalled["spec"]["http"], now, "what is theirs already is not written");
}

/// Two releases in one object are injected and removed independently.
#[test]
fn what_another_release_has_in_the_list_stays() {
    let shop = record();
    let mut blog = record();
    blog.service.name = "blog".to_owned();
    let before = theirs(
        &json!([{"match": [{"uri": {"prefix": "/blog"}}], "route": to("blog")}, {"route": to("shop")}]),
    );
    let first = edited(&before, &shop);
    let both = applied(
        &first,
        &edits(&blog.route_targets("shop/blog"), std::slice::from_ref(&first)).unwrap()[0].body,
    );
    assert_eq!(both["spec"]["http"].as_array().unwrap().len(), 6);
    let plan = removal(&targets(&shop), &observed(&both), &shop.objects).unwrap();
    assert_eq!(plan.changes[0].action, Action::Update, "the other one is still there");
    let one = applied(&both, &plan.changes[0].body);
    assert_eq!(removal(&targets(&shop), &observed(&one), &shop.objects).unwrap().changes, []);
    let plan = removal(&blog.route_targets("shop/blog"), &observed(&one), &blog.objects).unwrap();
    let last = applied(&one, &plan.changes[0].body);
    assert_eq!(last["spec"], before["spec"]);
    assert_eq!(restore_ownership(&last)["metadata"]["managedFields"], before["metadata"]["managedFields"]);
}
