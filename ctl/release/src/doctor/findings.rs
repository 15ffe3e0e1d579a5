//! Everything that is wrong with a release and its cluster, as it was examined.

use super::control_plane::{is_supported, is_too_old};
use super::finding::count_of;
use super::{
    ClusterFinding, ControlPlane, Examination, Istiod, KeyState, ProxyExamination, ServiceExamination,
};
use crate::destination_rule::ROOT_NAMESPACE;
use crate::format::none_ready;
use crate::preflight::{
    Alternative, CheckFailed, PreflightCheck, ProxyRuntime, check_service_port, check_wasm_runtime,
    exposure_failures,
};
use crate::rbac::Right;
use crate::spec::{Module, Release};
use crate::status::{EmbeddedAtScale, ReadyPods};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that was found, the worst first.
pub fn findings(release: &Release, examination: &Examination) -> Vec<ClusterFinding> {
    let mut found = Vec::new();
    if let Some(service) = &examination.service {
        found.extend(service_findings(release, service));
    }
    if let Some(exposure) = &examination.exposure {
        found.extend(exposure_failures(release, exposure).into_iter().map(ClusterFinding::CheckFails));
    }
    for failed in &examination.failed_checks {
        let failed = ClusterFinding::CheckFails(failed.clone());
        if !found.contains(&failed) {
            found.push(failed);
        }
    }
    found.extend(of_callers(release, examination));
    found.extend(examination.unreached.iter().cloned());
    if let Some(missing) = &examination.missing_rights {
        found.extend(of_rights(missing));
    }
    for refusal in examination.refusals.iter().flatten() {
        found.push(ClusterFinding::Refused { message: refusal.message.clone() });
    }
    if let Some(proxies) = &examination.proxies {
        found.extend(of_proxies(proxies, examination.brings_wasm));
        found.extend(of_module(&release.delivery.module, proxies.len()));
    }
    found.extend(of_versions(examination));
    if let (Some(KeyState::Missing { namespaces }), true) =
        (&examination.keys, examination.is_installed == Some(true))
    {
        found.push(ClusterFinding::NoKeys { namespaces: namespaces.clone() });
    }
    if let Some(message) = &examination.wrong_cookie {
        found.push(ClusterFinding::WrongCookie { message: message.clone() });
    }
    if !examination.without_record.is_empty() {
        found.push(ClusterFinding::WithoutRecord { releases: examination.without_record.clone() });
    }
    if !examination.remote_clusters.is_empty() {
        found.push(ClusterFinding::RemoteClusters { names: examination.remote_clusters.clone() });
    }
    if examination.is_installed == Some(false) {
        found.push(ClusterFinding::NotInstalled);
    }
    found.sort_by_key(ClusterFinding::severity);
    found
}

/// The findings about a release's Service and its pods.
pub fn service_findings(release: &Release, service: &ServiceExamination) -> Vec<ClusterFinding> {
    let name = release.service.name.to_string();
    let Some(ports) = &service.ports else {
        return vec![ClusterFinding::NoService { namespace: release.name.namespace.to_string(), name }];
    };
    let mut found = Vec::new();
    found.extend(check_service_port(&release.service, ports, &[]).err().map(ClusterFinding::CheckFails));
    let stable = &release.versions.stable;
    if service.stable.ready == 0 {
        let message =
            format!("version `{stable}` has {} behind Service `{name}`", none_ready(service.stable.all));
        let alternative = Alternative::StartPods { version: stable.clone() };
        found.push(ClusterFinding::CheckFails(CheckFailed {
            check: PreflightCheck::NoReadyPods,
            message,
            alternative,
        }));
    }
    if let Some(canary) = &release.versions.canary {
        let missing = service.missing_targets.iter().map(|target| target.missing(&name, canary));
        found.extend(missing.map(|message| ClusterFinding::MissingTarget { message }));
    }
    if service.unlabelled > 0 {
        let (label, count) = (release.versions.label.clone(), service.unlabelled);
        found.push(ClusterFinding::Unlabelled { service: name, label, count });
    }
    if let Some(narrow) = &service.narrow {
        found.push(ClusterFinding::NarrowSelector(narrow.clone()));
    } else if let (Some(version), Some(ReadyPods { ready: 0, .. })) =
        (&release.versions.canary, service.canary)
    {
        found.push(ClusterFinding::CanaryNotStarted { version: version.clone() });
    }
    found
}

/// Findings that `apply` does not refuse: the others are found already.
fn of_callers(release: &Release, examination: &Examination) -> Vec<ClusterFinding> {
    let is_refused = |wanted: &dyn Fn(&Alternative) -> bool| {
        examination.failed_checks.iter().any(|failed| wanted(&failed.alternative))
    };
    let named = examination.unrouted.iter().filter(|calls| {
        !is_refused(
            &|found| matches!(found, Alternative::CoverCalls { calls: refused } if **refused == **calls),
        )
    });
    // One refusal of a check is enough: `apply` would refuse the others of it next.
    let named = named.map(|calls| match calls.failure(release, examination.routes) {
        Some(failed) => ClusterFinding::CheckFails(failed),
        None => ClusterFinding::UnroutedCalls(calls.clone()),
    });
    let canary = examination.service.as_ref().and_then(|service| service.canary);
    let reaches_canary = canary.is_some_and(|pods| pods.ready > 0);
    let gaps = examination.gaps.iter().filter(|gap| {
        !is_refused(&|found| matches!(found, Alternative::CloseGap { gap: refused } if **refused == **gap))
    });
    let gaps = gaps.map(|gap| ClusterFinding::Bypass { gap: gap.clone(), reaches_canary });
    named.chain(gaps).collect()
}

/// Without the right to see mesh-wide rules everything else works.
fn of_rights(missing: &[Right]) -> Vec<ClusterFinding> {
    let is_of_root = |right: &&Right| {
        right.namespace == ROOT_NAMESPACE
            && matches!(right.resource.as_str(), "destinationrules" | "sidecars")
    };
    let (root, missing): (Vec<&Right>, Vec<&Right>) = missing.iter().partition(is_of_root);
    let mut found = Vec::new();
    if !missing.is_empty() {
        found.push(ClusterFinding::MissingRights { missing: missing.into_iter().cloned().collect() });
    }
    if !root.is_empty() {
        found.push(ClusterFinding::RootNotSeen);
    }
    found
}

fn of_proxies(proxies: &[ProxyExamination], brings_wasm: bool) -> Vec<ClusterFinding> {
    let silent = |proxy: &ProxyExamination| {
        let fault = proxy.fault.clone()?;
        Some(ClusterFinding::Silent { proxy: proxy.clone(), fault })
    };
    let mut found: Vec<ClusterFinding> = proxies.iter().filter_map(silent).collect();
    let runtimes: Vec<ProxyRuntime> = proxies
        .iter()
        .map(|proxy| ProxyRuntime {
            namespace: proxy.namespace.clone(),
            pod: proxy.pod.clone(),
            runtime: proxy.wasm_runtime,
        })
        .collect();
    if brings_wasm {
        found.extend(check_wasm_runtime(&runtimes, &[]).err().map(ClusterFinding::CheckFails));
    }
    let versions: BTreeSet<&String> = proxies.iter().filter_map(|proxy| proxy.istio.as_ref()).collect();
    if versions.len() > 1 {
        found.push(ClusterFinding::MixedVersions { versions: versions.into_iter().cloned().collect() });
    }
    found
}

fn of_module(module: &Module, proxies: usize) -> Option<ClusterFinding> {
    let Module::Embedded(Some(module)) = module else { return None };
    EmbeddedAtScale::observed(Some(module.digest()), proxies).map(ClusterFinding::EmbeddedAtScale)
}

/// The versions of istiods and proxies, compared with the supported ones.
fn of_versions(examination: &Examination) -> Vec<ClusterFinding> {
    let istiods: &[Istiod] = match &examination.control_plane {
        Some(ControlPlane::Istiods(istiods)) => istiods,
        _ => &[],
    };
    let old = |istiod: &Istiod| {
        let version = istiod.version.clone().filter(|version| is_too_old(version))?;
        Some(ClusterFinding::OldIstio { who: format!("istiod {} runs", istiod.pod), version })
    };
    let mut found: Vec<ClusterFinding> = istiods.iter().filter_map(old).collect();
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for version in examination.proxies.iter().flatten().filter_map(|proxy| proxy.istio.as_ref()) {
        *counts.entry(version).or_default() += 1;
    }
    for (version, count) in counts {
        let version = version.clone();
        if is_too_old(&version) {
            found.push(ClusterFinding::OldIstio { who: count_of(count), version: version.clone() });
        }
        if !is_supported(&version, istiods) {
            let istiods = istiods.iter().filter_map(|istiod| istiod.version.clone()).collect();
            found.push(ClusterFinding::UnsupportedProxies { count, version, istiods });
        }
    }
    found
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
