//! `generate admission-policy`: a policy by which the API server refuses an upgrade of a chart that forgot the post-renderer.
//!
//! # Source
//! [Validating Admission Policy](https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/), `v1` since
//! Kubernetes 1.30; optional field selection (`?`) in CEL since 1.29.

use super::arguments::SpecFile;
use crate::report::{self, Printer};
use crate::{Error, Outcome, module};
use canary_release::plan::VERSION_ANNOTATION;
use canary_release::spec::{Mode, Release};
use canary_release::yaml;
use clap::Args;
use serde_json::{Value, json};

/// Print a policy for the API server that refuses a Helm upgrade without the post-renderer
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:
  canary-ctl generate admission-policy | kubectl apply -f -

A ValidatingAdmissionPolicy and its binding to the release's namespace, for Kubernetes 1.30 or later.
It refuses an update of a version's Deployment that takes the version from the labels of its pods, or
from its annotation. `docs/helm.md` says what it cannot refuse.")]
pub(super) struct AdmissionPolicy {
    /// The release: its namespace and version label.
    #[command(flatten)]
    pub(super) spec: SpecFile,
}

const API_VERSION: &str = "admissionregistration.k8s.io/v1";

/// What is said of the Deployment, its version before, and what to do.
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
    for object in [policy(&name, &release), binding(&name, &release)] {
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
            "matchConstraints": {"resourceRules": [{
                "apiGroups": ["apps"],
                "apiVersions": ["v1"],
                "operations": ["UPDATE"],
                "resources": ["deployments"],
            }]},
            "matchConditions": [{"name": "has-version", "expression": has_version}],
            "variables": [{"name": "before", "expression": old}],
            "validations": [{"expression": keeps_version, "messageExpression": MESSAGE}],
        },
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use canary_release::file::load;
    use std::path::Path;

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
