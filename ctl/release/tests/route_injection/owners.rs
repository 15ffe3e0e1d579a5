//! Whose an object is, and what follows from it.

use crate::kit::{edited, observed, owner, reapplied, record, targets, theirs, to};
use canary_release::plan::{Error, Plan, check_edits, default_routes, edits, install, owning_tool, reroute};
use canary_release::spec::Routes;
use serde_json::{Value, json};

#[test]
fn what_a_tool_owns_is_not_edited_without_asking_nor_again_when_it_has_written_it() {
    let record = record();
    let mut helms = theirs(&json!([{"route": to("shop")}]));
    helms["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "Helm"});
    let judged = |seen: &Value, take_ownership| {
        let objects = edits(&targets(&record), std::slice::from_ref(seen)).unwrap();
        let plan = install(&targets(&record), &objects, &observed(seen), &[]).unwrap();
        check_edits(&plan, &observed(seen), take_ownership)
    };
    let refused = judged(&helms, false).unwrap_err();
    assert_eq!(refused.to_string(), "cannot edit VirtualService shop/by-hand: it belongs to Helm");
    judged(&helms, true).unwrap();
    let seen = edited(&helms, &record);
    judged(&seen, false).unwrap();
    let upgraded = reapplied(&seen, &json!([{"timeout": "5s", "route": to("shop")}]), "helm");
    let refused = judged(&upgraded, false);
    assert!(matches!(refused, Err(Error::NotOurs { .. })), "{refused:?}");
    let rerouted: Result<Plan, Error> = reroute("shop/shop", &record, &observed(&upgraded));
    assert!(matches!(rerouted, Err(Error::NotOurs { .. })), "{rerouted:?}");
}

#[test]
fn whose_an_object_is_follows_from_its_marks_and_managers() {
    let plain = theirs(&json!([]));
    assert_eq!(owning_tool(&plain), None);
    let marked = |place: &str, name: &str| {
        let mut object = plain.clone();
        object["metadata"][place] = json!({name: "x"});
        owning_tool(&object)
    };
    assert_eq!(marked("annotations", "argocd.argoproj.io/tracking-id").as_deref(), Some("Argo CD"));
    assert_eq!(marked("labels", "kustomize.toolkit.fluxcd.io/name").as_deref(), Some("Flux"));
    assert_eq!(marked("annotations", "meta.helm.sh/release-name").as_deref(), Some("Helm"));
    let mut managed = plain;
    managed["metadata"]["managedFields"] = json!([owner("argocd-controller", "Apply", &["http"])]);
    assert_eq!(owning_tool(&managed).as_deref(), Some("argocd-controller"));
    let parts =
        [owner("flagger", "Update", &["hosts", "gateways"]), owner("kubectl", "Apply", &["hosts", "http"])];
    managed["metadata"]["managedFields"] = json!(parts);
    assert_eq!(owning_tool(&managed), None, "the routes are kubectl's");
}

#[test]
fn who_writes_the_routes_is_decided_by_who_owns_the_way_to_the_service() {
    let chosen = |objects: &[Value]| default_routes(&targets(&record()), objects);
    let elsewhere = theirs(&json!([{"route": to("blog")}]));
    assert_eq!(chosen(&[elsewhere]).unwrap(), (Routes::Managed, None));
    let by_hand = theirs(&json!([{"route": to("shop")}]));
    let Err(Error::Undecided { object }) = chosen(std::slice::from_ref(&by_hand)) else { panic!() };
    assert_eq!(object, "VirtualService shop/by-hand");
    let mut helms = by_hand.clone();
    helms["metadata"]["annotations"] = json!({"meta.helm.sh/release-name": "shop"});
    let why = "routes: external, because Helm owns VirtualService shop/by-hand";
    assert_eq!(chosen(&[by_hand, helms]).unwrap(), (Routes::External, Some(why.to_owned())));
}
