//! The Service and the workload behind it.

use super::{Check, CheckContext, Refusals};
use crate::deployed::{selected, service};
use crate::reference::references;
use crate::{Object, Phase, Rules};

/// The Deployment behind the released Service.
pub(crate) fn released_deployment<'o>(
    objects: &'o [Object],
    rules: &Rules,
    refusals: &mut Refusals<'_>,
) -> Option<&'o Object> {
    let Some(service) = service(objects, rules) else {
        let message = format!(
            "expected the Service in the new render, in namespace {}, found these: [{}]",
            rules.namespace,
            services(objects, rules).join(", ")
        );
        refusals.add(Check::ServiceExists, &format!("Service {}", rules.service), message);
        return None;
    };
    let workloads = selected(objects, service, rules);
    match workloads.as_slice() {
        [one] if one.kind() == "Deployment" => {
            let Some(other) = objects.iter().find(|object| makes_pods_of(object, one)) else {
                return Some(*one);
            };
            let message = format!(
                "expected one Deployment behind it, found {other}, which makes the pods in its place"
            );
            refusals.add(Check::OneDeployment, service, message);
            None
        }
        [] => {
            let message = "expected one Deployment behind it, found none: its pods are made by an operator, or \
                           the chart does not select them by labels";
            refusals.add(Check::OneDeployment, service, message);
            None
        }
        several => {
            let found: Vec<_> = several.iter().map(ToString::to_string).collect();
            let message = format!("expected one Deployment behind it, found {}", found.join(", "));
            refusals.add(Check::OneDeployment, service, message);
            None
        }
    }
}

/// The Services of a render, those of other namespaces with them.
fn services(objects: &[Object], rules: &Rules) -> Vec<String> {
    let named = |object: &Object| {
        let namespace = object.text("/metadata/namespace");
        let other = if object.is_in(&rules.namespace) { String::new() } else { format!("{namespace}/") };
        format!("{other}{}", object.name())
    };
    objects.iter().filter(|one| one.kind() == "Service").map(named).collect()
}

/// Whether another tool for canaries takes a Deployment's template and makes its pods: Argo Rollouts by `workloadRef`, Flagger by `targetRef`.
fn makes_pods_of(object: &Object, deployment: &Object) -> bool {
    let group = object.text("/apiVersion").split_once('/').map_or("", |(group, _)| group);
    [("argoproj.io", "Rollout"), ("flagger.app", "Canary")].contains(&(group, object.kind()))
        && references(object).contains(&("Deployment".to_owned(), deployment.chart_name().to_owned()))
}

pub(super) fn check(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    let CheckContext { deployed, candidate, deployment, rules, .. } = context;
    match (service(deployed.stable.iter().copied(), rules), service(*candidate, rules)) {
        (Some(stable), Some(candidate)) => {
            for field in ["ports", "selector"] {
                let value =
                    |object: &Object| object.value().get("spec").and_then(|spec| spec.get(field)).cloned();
                if value(stable) != value(candidate) {
                    let message =
                        format!("expected the same `spec.{field}` in both versions, found a change");
                    refusals.add(Check::ServiceUnchanged, stable, message);
                }
            }
        }
        _ => refusals.add(
            Check::ServiceExists,
            &format!("Service {}", rules.service),
            "expected the Service among the deployed objects, found none",
        ),
    }
    if deployed.counterpart(deployment).is_none() {
        refusals.add(Check::StableExists, *deployment, "expected it among the deployed objects, found none");
    } else if !context.names.is_twin(deployment) {
        let message = "expected a difference between the versions, found none in the Deployment, nor in the \
                       ConfigMaps and Secrets that it names";
        refusals.add(Check::SomethingDiffers, *deployment, message);
    }
    check_versions(context, refusals);
}

/// A third version's pods would be behind the Service without a role.
fn check_versions(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    let Phase::Beside { stable, candidate } = &context.rules.phase else { return };
    let versions: Vec<_> = context
        .deployed
        .all
        .iter()
        .filter(|object| {
            object.kind() == "Deployment" && context.deployed.is_same(object, context.deployment)
        })
        .collect();
    let stable_is_twin = context.deployed.has_twins_of(stable);
    for object in versions {
        let message = match object.annotation(crate::VERSION) {
            Some(version) if version == stable || version == candidate => continue,
            Some(version) => {
                format!(
                    "expected {stable} and {candidate}, found {version} too: its promotion is not finished"
                )
            }
            None if stable_is_twin => {
                format!("expected {stable} and {candidate}, found the one before {stable} too")
            }
            None => continue,
        };
        refusals.add(Check::TwoVersions, object, message);
    }
}
