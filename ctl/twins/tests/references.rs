//! The tables of references are complete: the API types of Kubernetes, as `k8s-openapi` declares them, are walked, and each field
//! that could name an object has to be in a table, or in a list here that says why it names nothing that is twinned.
//!
//! The types are read as source text. As a development dependency with its feature `schemars` the crate would be compiled a second time,
//! and with it everything that depends on it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use helm_twins::{OBJECT_REFERENCES, POD_REFERENCES, Reference};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest API version that the crate declares.
fn api_types() -> PathBuf {
    let metadata =
        Command::new(env!("CARGO")).args(["metadata", "--format-version=1", "--locked"]).output().unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata.get("packages").and_then(Value::as_array).unwrap();
    let package =
        packages.iter().find(|one| one.get("name").is_some_and(|name| name == "k8s-openapi")).unwrap();
    let manifest = Path::new(package.get("manifest_path").and_then(Value::as_str).unwrap());
    let source = manifest.parent().unwrap().join("src");
    let versions = std::fs::read_dir(&source).unwrap().map(|entry| entry.unwrap().path());
    versions.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("v1_")).max().unwrap()
}

/// The source of a type, by its path in the crate: `api::core::v1::PodSpec`.
fn source_of(types: &Path, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = name.split("::").collect();
    let last = parts.pop()?;
    let mut file = String::new();
    for (at, letter) in last.char_indices() {
        let next_is_lower =
            last.get(at + 1..).is_some_and(|rest| rest.starts_with(|next: char| next.is_lowercase()));
        let after_lower =
            last.get(..at).is_some_and(|before| before.ends_with(|before: char| !before.is_uppercase()));
        if at > 0 && letter.is_uppercase() && (next_is_lower || after_lower) {
            file.push('_');
        }
        file.extend(letter.to_lowercase());
    }
    std::fs::read_to_string(types.join(parts.join("/")).join(format!("{file}.rs"))).ok()
}

/// The fields of a type: name in JSON, Rust type.
fn fields(source: &str) -> Vec<(String, String)> {
    let quoted = |line: &str| -> Option<(String, String)> {
        let (name, field) = line.trim().strip_prefix('"')?.split_once("\" => Field::Key_")?;
        Some((field.trim_end_matches(',').to_owned(), name.to_owned()))
    };
    let names: BTreeMap<String, String> = source.lines().filter_map(quoted).collect();
    let declared = source.split("\nimpl ").next().unwrap().lines().filter_map(|line| {
        let (field, kind) = line.trim().strip_prefix("pub ")?.strip_suffix(',')?.split_once(": ")?;
        let field = field.strip_prefix("r#").unwrap_or(field);
        Some((names.get(field)?.clone(), kind.to_owned()))
    });
    declared.collect()
}

/// Every text field below a type whose name could be that of an object, as paths like those of the tables.
fn candidates(types: &Path, name: &str, path: &str, open: &mut Vec<String>, found: &mut BTreeSet<String>) {
    // A type within itself: JSON schemas.
    if open.iter().any(|one| one == name) {
        return;
    }
    let source = source_of(types, name).unwrap_or_default();
    open.push(name.to_owned());
    let last = name.rsplit("::").next().unwrap();
    let is_reference = ["Reference", "Selector", "Source", "Projection", "Subject", "RoleRef"]
        .iter()
        .any(|end| last.ends_with(end));
    for (field, kind) in fields(&source) {
        let brackets = if kind.contains("Vec<") { "[]" } else { "" };
        let inner =
            if path.is_empty() { format!("{field}{brackets}") } else { format!("{path}.{field}{brackets}") };
        match kind.split("crate::").nth(1) {
            Some(nested) => {
                candidates(types, nested.trim_end_matches('>'), &inner, open, found);
            }
            None if kind.contains("std::string::String")
                && !kind.contains("BTreeMap")
                && (field.ends_with("Name")
                    || field == "serviceAccount"
                    || (field == "name" && is_reference)) =>
            {
                found.insert(inner);
            }
            None => {}
        }
    }
    open.pop();
}

fn all_candidates(name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    candidates(&api_types(), name, "", &mut Vec::new(), &mut found);
    found
}

/// Fields of a pod spec that name no object of a chart.
const NO_OBJECTS: &[(&str, &str)] = &[
    ("nodeName", "a node"),
    ("schedulerName", "a scheduler"),
    ("schedulingGroup.podGroupName", "a PodGroup, which is shared"),
    ("containers[].resizePolicy[].resourceName", "cpu or memory"),
    ("containers[].targetContainerName", "a container of the pod"),
    ("volumes[].ephemeral.volumeClaimTemplate.metadata.generateName", "written by Kubernetes"),
    ("volumes[].ephemeral.volumeClaimTemplate.metadata.ownerReferences[].name", "written by Kubernetes"),
    ("volumes[].vsphereVolume.storagePolicyName", "a policy of the driver"),
    ("hostname", "a host name"),
    ("volumes[].azureDisk.diskName", "a disk of the cloud"),
    ("volumes[].gcePersistentDisk.pdName", "a disk of the cloud"),
    ("volumes[].portworxVolume.volumeID", "a volume of the driver"),
    ("volumes[].azureFile.shareName", "a share of the cloud"),
    ("volumes[].flocker.datasetName", "a dataset of the driver"),
    ("volumes[].glusterfs.endpoints", "Endpoints, which are shared"),
    ("volumes[].iscsi.initiatorName", "an initiator of the driver"),
    ("volumes[].scaleIO.volumeName", "a volume of the driver"),
    ("volumes[].storageos.volumeName", "a volume of the driver"),
    ("volumes[].projected.sources[].clusterTrustBundle.name", "a bundle of the cluster"),
    ("volumes[].projected.sources[].clusterTrustBundle.signerName", "a signer of the cluster"),
    ("volumes[].projected.sources[].podCertificate.signerName", "a signer of the cluster"),
    ("containers[].env[].valueFrom.resourceFieldRef.containerName", "a container of the pod"),
    ("containers[].env[].valueFrom.fileKeyRef.volumeName", "a volume of the pod"),
    (
        "securityContext.windowsOptions.gmsaCredentialSpecName",
        "a credential spec of Windows, which is shared",
    ),
    (
        "containers[].securityContext.windowsOptions.gmsaCredentialSpecName",
        "a credential spec of Windows, which is shared",
    ),
    ("securityContext.windowsOptions.runAsUserName", "a user of Windows"),
    ("containers[].securityContext.windowsOptions.runAsUserName", "a user of Windows"),
];

/// One entry for containers stands for all three lists of them.
fn is_listed(path: &str, listed: &[&str]) -> bool {
    let containers =
        path.replace("initContainers[]", "containers[]").replace("ephemeralContainers[]", "containers[]");
    let volumes = containers
        .replace("volumes[].downwardAPI.items[].", "containers[].env[].valueFrom.")
        .replace("volumes[].projected.sources[].downwardAPI.items[].", "containers[].env[].valueFrom.");
    listed.contains(&path) || listed.contains(&containers.as_str()) || listed.contains(&volumes.as_str())
}

fn paths(references: &[Reference]) -> Vec<&'static str> {
    references.iter().map(|one| one.path).collect()
}

#[test]
fn every_field_of_a_pod_spec_that_could_name_an_object_is_in_a_list() {
    let found = all_candidates("api::core::v1::PodSpec");
    assert!(found.len() > 50, "the types are read: {found:?}");
    let mut listed = paths(POD_REFERENCES);
    listed.extend(NO_OBJECTS.iter().map(|(path, _)| *path));
    let missing: Vec<_> = found.iter().filter(|path| !is_listed(path, &listed)).collect();
    assert!(missing.is_empty(), "in no list: {missing:#?}");
    let table: Vec<_> = paths(POD_REFERENCES).into_iter().filter(|path| !found.contains(*path)).collect();
    assert!(table.is_empty(), "in the table, and no field of Kubernetes: {table:#?}");
}

/// What other kinds name that is never twinned.
const SHARED_KINDS: &[(&str, &str)] = &[
    ("spec.defaultBackend.service.name", "a Service"),
    ("spec.rules[].http.paths[].backend.service.name", "a Service"),
    ("spec.ingressClassName", "a class"),
    ("spec.metrics[].containerResource.name", "cpu or memory"),
    ("spec.metrics[].resource.name", "cpu or memory"),
    ("spec.externalName", "a host"),
    ("roleRef.name", "a role"),
    ("subjects[].name", "a user or a service account"),
    ("spec.storageClassName", "a class"),
    ("spec.volumeAttributesClassName", "a class"),
    ("spec.volumeName", "a volume"),
    ("spec.dataSource.name", "a claim or a snapshot"),
    ("spec.dataSourceRef.name", "a claim or a snapshot"),
    ("spec.serviceName", "a Service"),
];

#[test]
fn every_field_of_other_kinds_that_could_name_an_object_is_in_a_list() {
    for (kind, name) in [
        ("HorizontalPodAutoscaler", "api::autoscaling::v2::HorizontalPodAutoscaler"),
        ("Ingress", "api::networking::v1::Ingress"),
        ("NetworkPolicy", "api::networking::v1::NetworkPolicy"),
        ("PersistentVolumeClaim", "api::core::v1::PersistentVolumeClaim"),
        ("PodDisruptionBudget", "api::policy::v1::PodDisruptionBudget"),
        ("RoleBinding", "api::rbac::v1::RoleBinding"),
        ("Service", "api::core::v1::Service"),
        ("ServiceAccount", "api::core::v1::ServiceAccount"),
    ] {
        let mut listed: Vec<&str> = SHARED_KINDS.iter().map(|(path, _)| *path).collect();
        listed.extend(
            OBJECT_REFERENCES.iter().filter(|(one, _)| *one == kind).flat_map(|(_, list)| paths(list)),
        );
        let found = all_candidates(name);
        // The state of an object, and its owners, are written by Kubernetes.
        let is_chart = |path: &&String| !path.starts_with("status") && !path.starts_with("metadata");
        let missing: Vec<_> =
            found.iter().filter(is_chart).filter(|path| !is_listed(path, &listed)).collect();
        assert!(missing.is_empty(), "{kind}: in no list: {missing:#?}");
    }
    let mut found = all_candidates("api::autoscaling::v2::HorizontalPodAutoscaler");
    found.extend(all_candidates("api::networking::v1::Ingress"));
    found.extend(all_candidates("api::core::v1::ServiceAccount"));
    for (kind, list) in OBJECT_REFERENCES
        .iter()
        .filter(|(kind, _)| ["HorizontalPodAutoscaler", "Ingress", "ServiceAccount"].contains(kind))
    {
        let unknown: Vec<_> = paths(list).into_iter().filter(|path| !found.contains(*path)).collect();
        assert!(unknown.is_empty(), "{kind}: in the table, and no field of Kubernetes: {unknown:#?}");
    }
}
