//! `generate admission-policy`: a policy by which the API server refuses an upgrade of a chart that forgot the post-renderer.
//!
//! # Source
//! [Validating Admission Policy](https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/), `v1` since
//! Kubernetes 1.30; optional field selection (`?`) in CEL since 1.29.

use super::arguments::SpecFile;
use crate::report::{self, Printer};
use crate::{Error, Outcome, module};
use canary_release::plan::VERSION_ANNOTATION;
use canary_release::rbac::record_name;
use canary_release::spec::{Mode, Release};
use clap::Args;
use placed_yaml as yaml;
use serde_json::{Value, json};

/// Print a policy for the API server that refuses a Helm upgrade without the post-renderer
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:
  canary-ctl generate admission-policy | kubectl apply -f -

Two ValidatingAdmissionPolicies with their bindings to the release's namespace,
for Kubernetes 1.30 or later. One refuses an update of a version's Deployment
that takes the version from the labels of its pods, or from its annotation. The
other reads the release's record, and refuses to delete the Deployment of a
version that has users. `docs/helm.md` says what they cannot refuse.")]
pub(super) struct AdmissionPolicy {
    /// The release: its namespace and version label.
    #[command(flatten)]
    pub(super) spec: SpecFile,
}

const API_VERSION: &str = "admissionregistration.k8s.io/v1";

/// Names the Deployment, its version before, and what to do.
const MESSAGE: &str = "'Deployment ' + oldObject.metadata.name + ' makes the pods of version ' + variables.before + ', and this update takes their \
     version from them: helm upgrade needs --post-renderer (canary-ctl twin post-render), and helm rollback \
     goes back to the revision before'";

pub(super) fn run(arguments: &AdmissionPolicy, printer: &mut Printer) -> Result<Outcome, Error> {
    let release = module::load(&arguments.spec.file)?.release;
    if release.delivery.mode == Mode::Local {
        let message = "expected a release for a cluster, found `delivery.mode: local`";
        return Err(Error::usage(message, "a local Envoy has no Deployments"));
    }
    // No part of it has a dot, so that no other release has the same name in the cluster.
    let name = format!("canary-ctl.{}.{}", release.name.namespace, release.name.name);
    let mut text = String::new();
    let deletions = format!("{name}.deletions");
    let objects = [
        policy(&name, &release),
        binding(&name, &release),
        deletion_policy(&deletions),
        with_record(binding(&deletions, &release), &release),
    ];
    for object in objects {
        text += "---\n";
        text += &yaml::block(&object).map_err(report::Error::Yaml)?;
    }
    printer.yaml(&text)?;
    Ok(Outcome::Done)
}

/// Deployments that have lost their version already may be mended in any way, and so may those of other labels.
fn policy(name: &str, release: &Release) -> Value {
    // A text of JSON is one of CEL.
    let label = json!(release.versions.label).to_string();
    let version =
        |object: &str| format!("{object}.metadata.?annotations[?'{VERSION_ANNOTATION}'].orValue('')");
    let labelled = |object: &str| format!("{object}.spec.template.metadata.?labels[?{label}].orValue('')");
    let (old, new) = (version("oldObject"), version("object"));
    let has_version = format!("{old} != '' && {} == {old}", labelled("oldObject"));
    let keeps_version = format!("{new} != '' && {} == {new}", labelled("object"));
    json!({
        "apiVersion": API_VERSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": deployments("UPDATE"),
            "matchConditions": [{"name": "has-version", "expression": has_version}],
            "variables": [{"name": "before", "expression": old}],
            "validations": [{"expression": keeps_version, "messageExpression": MESSAGE}],
        },
    })
}

fn deployments(operation: &str) -> Value {
    json!({"resourceRules": [{
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "operations": [operation],
        "resources": ["deployments"],
    }]})
}

fn binding(name: &str, release: &Release) -> Value {
    json!({
        "apiVersion": API_VERSION,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": {"matchLabels": {
                "kubernetes.io/metadata.name": release.name.namespace.as_str(),
            }}},
        },
    })
}

/// The refusal to delete a Deployment.
const DELETION_MESSAGE: &str = "'Deployment ' + oldObject.metadata.name + ' makes the pods of version ' + variables.version + ', which has users by the \
     record of the release: helm upgrade needs --post-renderer (canary-ctl twin post-render), helm rollback to a revision without it \
     comes after canary-ctl rollback, and helm uninstall after canary-ctl uninstall'";

/// The live versions of a record, its only list of that name before its history: `serde_json` writes `state` first.
const VERSIONS: &str = r#"params.data['release.json'].split('"versions": [')[1].split(']')[0]"#;

/// A version that is stable or drains has users; a canary has, if its weight is not 0. `promote --finish` and `rollback` take a version out of the record
/// before Helm deletes its Deployment. Controllers of Kubernetes delete what belongs to a namespace that goes.
fn deletion_policy(name: &str) -> Value {
    let version = format!("oldObject.metadata.?annotations[?'{VERSION_ANNOTATION}'].orValue('')");
    let is_canary = r#"variables.live.matches('"name": "' + variables.version + '",\\s*"role": "canary"')"#;
    let is_listed = r#"variables.live.contains('"name": "' + variables.version + '"')"#;
    let no_weight = r#"params.data['release.json'].split('"versions": [')[0].contains('"weight": 0,')"#;
    json!({
        "apiVersion": API_VERSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "matchConstraints": deployments("DELETE"),
            "matchConditions": [
                {"name": "has-version", "expression": format!("{version} != ''")},
                {"name": "is-no-controller", "expression": "!request.userInfo.username.startsWith('system:serviceaccount:kube-system:')"},
            ],
            "variables": [
                {"name": "version", "expression": version},
                {"name": "live", "expression": VERSIONS},
            ],
            "validations": [{
                "expression": format!("!{is_listed} || ({is_canary} && {no_weight})"),
                "messageExpression": DELETION_MESSAGE,
            }],
        },
    })
}

/// A binding whose parameter is the record of the release; without one nothing is refused.
fn with_record(mut binding: Value, release: &Release) -> Value {
    let record = json!({
        "name": record_name(&release.name),
        "namespace": release.name.namespace.as_str(),
        "parameterNotFoundAction": "Allow",
    });
    if let Some(Value::Object(spec)) = binding.get_mut("spec") {
        spec.insert("paramRef".to_owned(), record);
    }
    binding
}

#[cfg(test)]
mod tests {
    use super::*;
    use canary_release::file::load;
    use canary_release::record::Record;
    use canary_release::state::ReleaseState;
    use std::path::Path;

    /// The expressions read the text of a record: what they look for is there in each of its states.
    #[test]
    fn the_expressions_find_the_versions_of_a_record() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/session-cookie/canary.yaml");
        let release = load(&path).unwrap().release;
        let record = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
        let text = record.to_json().unwrap();
        let (head, rest) = text.split_once("\"versions\": [").unwrap();
        let live = rest.split(']').next().unwrap();
        assert!(head.contains("\"weight\": 0,"), "{head}");
        for version in &record.state.versions {
            assert!(live.contains(&format!("\"name\": \"{}\"", version.name)), "{live}");
        }
        assert_eq!(live.matches("\"name\": ").count(), record.state.versions.len(), "{live}");
        let after_name = live.split("\"name\": \"v2\",").nth(1).unwrap();
        assert!(after_name.trim_start().starts_with("\"role\": \"canary\""), "{live}");
    }

    #[test]
    fn a_label_of_any_text_is_one_text_of_the_expressions() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/session-cookie/canary.yaml");
        let mut release = load(&path).unwrap().release;
        "x'] == '' || [\"".clone_into(&mut release.versions.label);
        let policy = policy("name", &release);
        let expression = policy.pointer("/spec/validations/0/expression").and_then(Value::as_str).unwrap();
        let expected = r#"object.spec.template.metadata.?labels[?"x'] == '' || [\""].orValue('')"#;
        assert!(expression.contains(expected), "expected {expected} in {expression}");
    }
}
