//! Restarting the pods of a Deployment by one label of their template, under our own field manager.

use super::{Change, Error};
use crate::manifest::{RUNTIME_LABEL, keep_others};
use crate::object::{Manifest, Object, Owners, Reference};
use crate::spec::ReleaseName;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The default of Kubernetes for a Deployment without `maxUnavailable`.
const DEFAULT_MAX_UNAVAILABLE: &str = "25%";

/// The progress of a Deployment's rolling update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutStatus {
    /// The pods that there should be.
    pub replicas: u64,
    /// Those of the newest template.
    pub updated: u64,
    /// Whether all are of the newest template and available, and no other is left but pods that terminate.
    pub is_complete: bool,
    /// The reason for which Kubernetes has given it up.
    pub failure: Option<String>,
}

/// Checks that a rolling update of a Deployment leaves a ready pod at every moment.
///
/// # Errors
///
/// Where its strategy or its number of pods does not promise that, and where it is paused, which rolls out nothing.
pub fn check_rolling_update(deployment: &Value) -> Result<(), Error> {
    let refuse = |found: String| {
        Err(Error::NoRollingUpdate { deployment: Reference::of(deployment)?.to_string(), found })
    };
    let strategy = text(deployment, "/spec/strategy/type").unwrap_or("RollingUpdate");
    if strategy != "RollingUpdate" {
        return refuse(format!("`strategy.type: {strategy}`"));
    }
    if deployment.pointer("/spec/paused") == Some(&Value::Bool(true)) {
        return refuse("`paused: true`".to_owned());
    }
    let replicas = replicas(deployment);
    let unavailable = max_unavailable(deployment, replicas);
    if replicas > 0 && unavailable >= replicas {
        return refuse(format!("`maxUnavailable` {unavailable} of {replicas} replicas"));
    }
    Ok(())
}

/// The progress of a Deployment's rollout. A change that its controller has not observed yet is not complete.
pub fn rollout_status(deployment: &Value) -> RolloutStatus {
    let status = |field: &str| number(deployment, &format!("/status/{field}")).unwrap_or_default();
    let replicas = replicas(deployment);
    let is_seen =
        status("observedGeneration") >= number(deployment, "/metadata/generation").unwrap_or_default();
    let has_all =
        [status("updatedReplicas"), status("availableReplicas"), status("replicas")] == [replicas; 3];
    RolloutStatus {
        replicas,
        updated: if is_seen { status("updatedReplicas") } else { 0 },
        is_complete: is_seen && has_all,
        failure: if is_seen { failure(deployment) } else { None },
    }
}

/// The server-side apply body that gives a Deployment's pods this label value, or takes the label back.
pub fn restart_body(deployment: &Reference, label: Option<&str>) -> Value {
    let Reference { api_version, kind, namespace, name } = deployment;
    let metadata = json!({"namespace": namespace, "name": name});
    match label {
        Some(value) => json!({
            "apiVersion": api_version,
            "kind": kind,
            "metadata": metadata,
            "spec": {"template": {"metadata": {"labels": {RUNTIME_LABEL: value}}}},
        }),
        None => json!({"apiVersion": api_version, "kind": kind, "metadata": metadata}),
    }
}

/// Whether the label is in a Deployment's template and owned by us.
pub fn is_labelled_by_us(deployment: &Value) -> bool {
    let ours = Owners::of(deployment).ours(deployment);
    ours.pointer("/spec/template/metadata/labels").is_some_and(|labels| labels.get(RUNTIME_LABEL).is_some())
}

/// Whether the pods of a Deployment are among those with these labels.
pub fn makes_pods_with(deployment: &Value, labels: &BTreeMap<String, String>) -> bool {
    let template = deployment.pointer("/spec/template/metadata/labels");
    labels.iter().all(|(name, value)| {
        template.and_then(|labels| labels.get(name)).and_then(Value::as_str) == Some(value.as_str())
    })
}

/// The value that selects the pods of the next restart and no pod of before: those in `outdated` run without V8, and have
/// the label where they came from a restart that did not help.
pub fn next_label<'v>(outdated: impl IntoIterator<Item = Option<&'v str>>) -> String {
    let last = outdated.into_iter().flatten().filter_map(|value| value.parse::<u64>().ok()).max();
    last.map_or(1, |last| last.saturating_add(1)).to_string()
}

/// The change from the observed runtime object to a manifest of a release; `None` if they are the same. Labels and annotations
/// of other releases stay.
///
/// # Errors
///
/// If the manifest is no object, or the releases want another revision of Istio to read it.
pub fn runtime_change(
    manifest: &Manifest,
    release: &ReleaseName,
    observed: Option<&Value>,
) -> Result<Option<Change>, Error> {
    let Some(mut desired) = Object::of(manifest)? else { return Ok(None) };
    if let Some(observed) = observed {
        keep_others(&mut desired.body, observed, &release.to_string())?;
    }
    Ok(Change::to(&desired, observed))
}

/// The change that deletes the runtime's object; `None` if it does not exist, or is not ours.
pub fn runtime_removal(object: &Reference, observed: Option<&Value>) -> Option<Change> {
    Change::leaving(crate::object::Stage::Runtime, object, observed)
}

fn failure(deployment: &Value) -> Option<String> {
    let conditions = deployment.pointer("/status/conditions").and_then(Value::as_array)?;
    let gave_up = |condition: &&Value| text(condition, "/reason") == Some("ProgressDeadlineExceeded");
    Some(
        text(conditions.iter().find(gave_up)?, "/message").unwrap_or("progress deadline exceeded").to_owned(),
    )
}

fn replicas(deployment: &Value) -> u64 {
    number(deployment, "/spec/replicas").unwrap_or(1)
}

/// In pods. A percentage is rounded down; two zeros count as one, as Kubernetes has it.
fn max_unavailable(deployment: &Value, replicas: u64) -> u64 {
    let of = |field: &str, default: &str, round_up: bool| {
        let path = format!("/spec/strategy/rollingUpdate/{field}");
        let found = deployment.pointer(&path).cloned().unwrap_or_else(|| json!(default));
        let Some(percent) = found.as_str() else { return found.as_u64().unwrap_or_default() };
        let percent: u64 = percent.trim_end_matches('%').parse().unwrap_or_default();
        let product = percent.saturating_mul(replicas);
        if round_up { product.div_ceil(100) } else { product / 100 }
    };
    let unavailable = of("maxUnavailable", DEFAULT_MAX_UNAVAILABLE, false);
    if unavailable == 0 && of("maxSurge", "25%", true) == 0 { 1 } else { unavailable }
}

fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer)?.as_str()
}

fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer)?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(spec: &Value) -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"namespace": "istio-ingress", "name": "gateway", "generation": 2},
            "spec": spec,
        })
    }

    #[test]
    fn a_restart_that_would_leave_no_ready_pod_is_refused_with_the_reason() {
        let rolling = |replicas: u64, unavailable: Value, surge: Value| {
            let update = json!({"maxUnavailable": unavailable, "maxSurge": surge});
            json!({"replicas": replicas, "strategy": {"type": "RollingUpdate", "rollingUpdate": update}})
        };
        for spec in [
            json!({}),
            json!({"replicas": 1}),
            json!({"replicas": 0, "strategy": {"type": "RollingUpdate"}}),
            rolling(1, json!("25%"), json!("25%")),
            rolling(3, json!(2), json!(0)),
            rolling(2, json!("99%"), json!(0)),
            rolling(2, json!(0), json!(0)),
        ] {
            let checked = check_rolling_update(&deployment(&spec));
            assert!(checked.is_ok(), "{spec}: {checked:?}");
        }
        for (spec, found) in [
            (json!({"strategy": {"type": "Recreate"}}), "found `strategy.type: Recreate`"),
            (json!({"paused": true}), "found `paused: true`"),
            (rolling(1, json!(1), json!(1)), "found `maxUnavailable` 1 of 1 replicas"),
            (rolling(2, json!("100%"), json!(1)), "found `maxUnavailable` 2 of 2 replicas"),
            (rolling(1, json!(0), json!(0)), "found `maxUnavailable` 1 of 1 replicas"),
        ] {
            let refused = check_rolling_update(&deployment(&spec)).expect_err(&spec.to_string()).to_string();
            assert!(
                refused.contains("Deployment istio-ingress/gateway") && refused.ends_with(found),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_rollout_is_complete_when_its_controller_has_seen_it_and_no_other_pod_is_left() {
        let status = |observed: u64, updated: u64, available: u64, all: u64| {
            let mut deployment = deployment(&json!({"replicas": 2}));
            deployment["status"] = json!({"observedGeneration": observed, "updatedReplicas": updated, "availableReplicas": available, "replicas": all});
            rollout_status(&deployment)
        };
        let complete = status(2, 2, 2, 2);
        assert!(complete.is_complete, "{complete:?}");
        for (why, found) in [
            ("not seen yet", status(1, 2, 2, 2)),
            ("one is of the old template", status(2, 1, 2, 3)),
            ("an old one is left", status(2, 2, 2, 3)),
            ("one is not available", status(2, 2, 1, 2)),
        ] {
            assert!(!found.is_complete, "{why}: {found:?}");
        }
        assert_eq!(status(1, 2, 2, 2).updated, 0, "of another template");
    }

    #[test]
    fn a_rollout_that_kubernetes_gives_up_says_why() {
        let mut given_up = deployment(&json!({}));
        given_up["status"] = json!({"observedGeneration": 2, "conditions": [
            {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "timed out"},
        ]});
        assert_eq!(rollout_status(&given_up).failure.as_deref(), Some("timed out"));
        given_up["status"]["observedGeneration"] = json!(1);
        assert_eq!(rollout_status(&given_up).failure, None, "that of the rollout before");
    }

    #[test]
    fn each_restart_has_a_label_that_no_pod_without_v8_has() {
        assert_eq!(next_label([None, None]), "1");
        assert_eq!(next_label([None, Some("1")]), "2", "the pod that came with it has no V8");
        assert_eq!(next_label([Some("2"), Some("1"), Some("not ours")]), "3");
    }

    #[test]
    fn the_label_is_the_one_field_that_is_written() {
        let reference = Reference::new("apps/v1", "Deployment", "istio-ingress", "gateway");
        let spec = json!({"template": {"metadata": {"labels": {"canary-ctl.io/wasm-runtime": "1"}}}});
        assert_eq!(restart_body(&reference, Some("1"))["spec"], spec);
        assert_eq!(restart_body(&reference, None).get("spec"), None);
    }
}
