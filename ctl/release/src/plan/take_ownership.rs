//! Objects with our names that another field manager has created: taken over as a whole, or not written.
//!
//! If the output of `canary-ctl generate` is installed with a chart and `canary-ctl apply` is used later, the objects
//! have our names and another owner. After an apply over them, fields that only the other owner has set would stay for
//! ever: a `trafficPolicy`, or the annotation by which a tool selects what to delete. So the owner's fields become ours
//! first, and the following apply removes those that are not desired.
//!
//! # Source
//! Kubernetes, *Server-Side Apply*, "Upgrading from client-side apply to server-side apply"; `csaupgrade` in client-go.

use crate::delivery::has_one_owner;
use crate::object::{FIELD_MANAGER, Field, Object, Owners, Stage, TOOL_MARKERS, merge};
use crate::plan::{Change, ChangeReason, Error, Plan};
use serde_json::{Map, Value, json};

/// The annotation that `kubectl apply` and Argo CD compare with their next file.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
const HELM: &str = "meta.helm.sh/release-name";
/// The annotation that keeps Helm's next upgrade from deleting an object that it no longer knows.
const KEEP: (&str, &str) = ("helm.sh/resource-policy", "keep");

/// The field managers that claim an object: those that have set a tool's label or annotation on it and, if we own
/// nothing of its specification, those that own the specification.
pub(crate) fn claimants(observed: &Value) -> Vec<String> {
    let owners = Owners::of(observed);
    let marks = TOOL_MARKERS.iter().map(|(place, name, _)| (*place, *name));
    let marks = marks.chain([("annotations", LAST_APPLIED)]);
    let mut found: Vec<&str> =
        marks.flat_map(|(place, name)| owners.having(observed, &["metadata", place, name])).collect();
    if !is_ours(observed) {
        found.extend(owners.having(observed, &["spec"]));
    }
    let mut names: Vec<String> = found.into_iter().map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

/// Whether an object is one owner's. Routes within those of others are not, nor configurations whose keys have owners.
pub(crate) fn is_whole(desired: &Object) -> bool {
    match desired.stage {
        Stage::Edits | Stage::ModuleBackup => false,
        Stage::Configuration => has_one_owner(&desired.reference.kind),
        Stage::Subsets | Stage::Routes | Stage::Runtime | Stage::Filter => true,
    }
}

/// Whether an object without a difference from the desired one has to be taken over nevertheless. True for objects that
/// change with a release's versions and weight, and for one of ours in which others have set more fields. The object
/// that places the filter may stay in a repository permanently.
pub(crate) fn needs(desired: &Object, observed: &Value, goes: &[Field]) -> bool {
    if is_ours(observed) {
        return goes.iter().any(|field| field.path.starts_with("spec."));
    }
    !matches!(desired.stage, Stage::Runtime | Stage::Filter)
}

/// Whether we own a field of its specification.
fn is_ours(observed: &Value) -> bool {
    Owners::of(observed).ours(observed).get("spec").is_some()
}

/// The desired state of an object that is taken over now: of Helm's, Helm keeps what a later chart has left out.
pub(crate) fn adopted(desired: &Object, observed: &Value) -> Object {
    keeping(desired, annotation(observed, HELM).is_some() || is_kept(observed))
}

/// The desired state of an object that may have been taken over before.
pub(crate) fn as_adopted(desired: &Object, observed: &Value) -> Object {
    keeping(desired, is_kept(observed))
}

/// Whether Helm owned it before us, also if a call was killed in between.
fn is_kept(observed: &Value) -> bool {
    let ours = Owners::of(observed).ours(observed);
    [KEEP.0, HELM].iter().any(|name| annotation(&ours, name).is_some())
}

fn annotation<'o>(object: &'o Value, name: &str) -> Option<&'o Value> {
    object.pointer("/metadata/annotations")?.get(name)
}

fn keeping(desired: &Object, keeps: bool) -> Object {
    let mut desired = desired.clone();
    let metadata = desired.body.get_mut("metadata").and_then(Value::as_object_mut).filter(|_| keeps);
    let all = metadata.map(|metadata| metadata.entry("annotations").or_insert_with(|| json!({})));
    if let Some(all) = all.and_then(Value::as_object_mut) {
        all.insert(KEEP.0.to_owned(), KEEP.1.into());
    }
    desired
}

/// The patch (RFC 7396) after which we own the fields of these managers. It changes no value, and has the
/// `resourceVersion` from which it was computed.
pub(crate) fn claim(observed: &Value, from: &[String]) -> Value {
    let (mut others, mut fields) = (Vec::new(), json!({}));
    let entries = observed.pointer("/metadata/managedFields").and_then(Value::as_array);
    for entry in entries.into_iter().flatten() {
        let manager = entry.get("manager").and_then(Value::as_str).unwrap_or_default();
        let moves = manager == FIELD_MANAGER || from.iter().any(|name| name == manager);
        if moves && entry.get("subresource").is_none() {
            merge(&mut fields, entry.get("fieldsV1").map(part).unwrap_or_default());
        } else {
            others.push(entry.clone());
        }
    }
    others.push(json!({
        "manager": FIELD_MANAGER,
        "operation": "Apply",
        "apiVersion": observed.get("apiVersion").cloned().unwrap_or_default(),
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }));
    json!({"metadata": {
        "resourceVersion": observed.pointer("/metadata/resourceVersion").cloned().unwrap_or_default(),
        "managedFields": others,
    }})
}

/// The part of a set of fields that an apply may set or remove. Owner references and finalizers are excluded: other
/// controllers depend on them.
fn part(fields: &Value) -> Value {
    let mut part = Map::new();
    for (path, names) in [("", &["f:spec"][..]), ("f:metadata", &["f:labels", "f:annotations"])] {
        let from = if path.is_empty() { Some(fields) } else { fields.get(path) };
        let found = names.iter().filter_map(|name| Some(((*name).to_owned(), from?.get(*name)?.clone())));
        let found: Map<String, Value> = found.collect();
        if path.is_empty() {
            part.extend(found);
        } else if !found.is_empty() {
            part.insert(path.to_owned(), found.into());
        }
    }
    part.into()
}

/// Refuses, before the first write, to take over objects of other owners unless it is requested.
///
/// # Errors
///
/// If an object has another owner, and `force_conflicts` is not set.
pub fn check_claims(plan: &Plan, force_conflicts: bool) -> Result<(), Error> {
    plan.changes.iter().try_for_each(|change| change.check_claim(force_conflicts))
}

impl Change {
    /// The same for one object.
    ///
    /// # Errors
    ///
    /// As [`check_claims`].
    pub fn check_claim(&self, force_conflicts: bool) -> Result<(), Error> {
        match &self.why {
            ChangeReason::Adopted { from } if !force_conflicts => {
                Err(Error::Claimed { object: self.object.to_string(), owner: from.join(", ") })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Reference;

    fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "networking.istio.io/v1", "fieldsType": "FieldsV1", "fieldsV1": fields})
    }

    /// A rule that Helm has made: with a policy, its marks, and a label of its chart.
    fn helms() -> Value {
        let fields = json!({
            "f:metadata": {
                "f:annotations": {".": {}, "f:meta.helm.sh/release-name": {}},
                "f:labels": {".": {}, "f:app.kubernetes.io/managed-by": {}, "f:chart": {}},
                "f:ownerReferences": {},
            },
            "f:spec": {".": {}, "f:host": {}, "f:subsets": {}, "f:trafficPolicy": {".": {}, "f:tls": {}}},
        });
        json!({
            "apiVersion": "networking.istio.io/v1",
            "kind": "DestinationRule",
            "metadata": {
                "name": "shop-canary",
                "namespace": "shop",
                "resourceVersion": "7",
                "annotations": {"meta.helm.sh/release-name": "shop"},
                "labels": {"app.kubernetes.io/managed-by": "Helm", "chart": "shop-1"},
                "managedFields": [entry("helm", "Update", &fields)],
            },
            "spec": {"host": "shop", "subsets": [{"name": "v1"}], "trafficPolicy": {"tls": {"mode": "SIMPLE"}}},
        })
    }

    fn desired(subset: &str) -> Object {
        let reference = Reference::new("networking.istio.io/v1", "DestinationRule", "shop", "shop-canary");
        let body = json!({
            "apiVersion": "networking.istio.io/v1",
            "kind": "DestinationRule",
            "metadata": {"name": "shop-canary", "namespace": "shop"},
            "spec": {"host": "shop", "subsets": [{"name": subset}]},
        });
        Object { reference, stage: Stage::Subsets, body }
    }

    #[test]
    fn of_what_is_as_it_should_be_only_what_changes_with_a_release_has_to_be_ours() {
        let change = Change::to(&desired("v1"), Some(&helms())).unwrap();
        assert_eq!(change.why, ChangeReason::Adopted { from: vec!["helm".to_owned()] });
        assert_eq!(Change::to(&Object { stage: Stage::Filter, ..desired("v1") }, Some(&helms())), None);
        let edits = Object { stage: Stage::Edits, ..desired("v1") };
        assert_eq!(Change::to(&edits, Some(&helms())), None);
    }

    #[test]
    fn what_only_its_owner_has_set_goes_with_the_object() {
        let change = Change::to(&desired("v2"), Some(&helms())).unwrap();
        assert_eq!(change.why, ChangeReason::Adopted { from: vec!["helm".to_owned()] });
        let goes = change.fields.iter().filter(|field| field.to.is_none()).map(|field| field.path.as_str());
        assert_eq!(
            goes.collect::<Vec<_>>(),
            ["metadata.annotations.meta.helm.sh/release-name", "metadata.labels", "spec.trafficPolicy"]
        );
        assert_eq!(change.body.pointer("/metadata/annotations/helm.sh~1resource-policy").unwrap(), "keep");
        let error = change.check_claim(false).unwrap_err().to_string();
        assert!(error.contains("belongs to helm"), "{error}");
        change.check_claim(true).unwrap();
    }

    #[test]
    fn fields_of_the_former_owner_become_ours_without_its_owner_references() {
        let patch = claim(&helms(), &["helm".to_owned()]);
        let [ours] = patch["metadata"]["managedFields"].as_array().unwrap().as_slice() else {
            panic!("{patch}")
        };
        assert_eq!((&ours["manager"], &ours["operation"]), (&json!("canary-ctl"), &json!("Apply")));
        assert_eq!(ours["fieldsV1"]["f:spec"]["f:trafficPolicy"], json!({".": {}, "f:tls": {}}));
        assert_eq!(ours["fieldsV1"]["f:metadata"].get("f:ownerReferences"), None);
        assert_eq!(patch["metadata"]["resourceVersion"], "7");
    }

    #[test]
    fn a_hand_in_an_object_of_ours_claims_nothing_of_it() {
        let ours = json!({"f:spec": {"f:host": {}, "f:subsets": {}}});
        let hand = json!({"f:spec": {"f:trafficPolicy": {"f:tls": {}}}});
        let mut body = helms();
        body["metadata"]["managedFields"] =
            json!([entry("canary-ctl", "Apply", &ours), entry("kubectl-edit", "Update", &hand)]);
        assert_eq!(claimants(&body), [] as [&str; 0]);
        assert_eq!(Change::to(&desired("v1"), Some(&body)), None);
    }

    #[test]
    fn a_later_field_of_another_manager_in_our_object_is_found() {
        let mut body = helms();
        let ours = entry("canary-ctl", "Apply", &json!({"f:spec": {"f:host": {}, "f:subsets": {}}}));
        body["metadata"]["managedFields"].as_array_mut().unwrap().push(ours);
        let change = Change::to(&desired("v1"), Some(&body)).unwrap();
        assert_eq!(change.why, ChangeReason::Adopted { from: vec!["helm".to_owned()] });
        // Its marks alone are no reason to fight.
        body["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"] = json!({"f:host": {}});
        assert_eq!(Change::to(&desired("v1"), Some(&body)), None);
    }
}
