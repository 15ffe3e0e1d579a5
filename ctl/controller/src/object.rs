//! A `Release` object as the file that it is.

use crate::grants::namespaces;
use crate::secrets;
use canary_release::file::{self, parse};
use canary_release::record::{CARRIED_OUT_BY, CONTROLLER};
use canary_release::spec::{Mode, Module, ObjectMetadata, Release, SecretSource};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Names of labels and annotations that tools give an object to find it again. Copied to our objects they would make a GitOps tool
/// delete these as its own.
const TOOLS: [&str; 9] = [
    "argocd.argoproj.io/",
    "canary-ctl.io/",
    "config.k8s.io/",
    "fluxcd.io/",
    "helm.sh/",
    "kapp.k14s.io/",
    "kubectl.kubernetes.io/",
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
];

/// The reason for which an object cannot be carried out as it is.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// The object is no release.
    #[error("{0}")]
    Invalid(String),
    /// A secret would be read from the controller itself, whose environment and files are not the user's.
    #[error("expected a Secret as the source of a secret, found {0}: the controller's own are not read")]
    OwnSecret(String),
    /// The object names something of one machine.
    #[error("expected {expected} in an object, found {found}")]
    OneMachine {
        /// The alternative.
        expected: &'static str,
        /// The setting.
        found: String,
    },
}

/// The release of an object: the file that was applied, without what the API server and tools have added. Its objects get the
/// annotation by which a controller knows them.
///
/// # Errors
///
/// If it is no release, or names secrets or files of the machine on which the controller runs.
pub fn release_of(object: &Value) -> Result<Release, ObjectError> {
    let metadata = object.get("metadata").unwrap_or(&Value::Null);
    let given = |field: &str| metadata.get(field).cloned().unwrap_or_default();
    let document = json!({
        "apiVersion": object.get("apiVersion"),
        "kind": object.get("kind"),
        "metadata": {
            "name": given("name"),
            "namespace": given("namespace"),
            "labels": of_the_user(metadata.get("labels")),
            "annotations": of_the_user(metadata.get("annotations")),
        },
        "spec": object.get("spec"),
    });
    let document = parse(Path::new("release"), &document.to_string()).map_err(|error| invalid(&error))?;
    let mut release = document.release;
    check_machine(&release)?;
    check_uid(&release)?;
    if namespaces(&release).len() > 1 {
        // Objects of other namespaces get what their owners have granted: a label may take an object away from its istiod.
        release.metadata = ObjectMetadata::default();
    }
    release.metadata.annotations.insert(CARRIED_OUT_BY.to_owned(), CONTROLLER.to_owned());
    Ok(release)
}

/// The uid of a release that has none follows from its name, and is a part of what is signed: no other release may take it.
fn check_uid(release: &Release) -> Result<(), ObjectError> {
    let derived = Release { uid: None, ..release.clone() }.uid_or_derived();
    let is_derived =
        |uid: &&str| uid.len() == derived.len() && uid.bytes().all(|byte| byte.is_ascii_hexdigit());
    match release.uid.as_deref().filter(is_derived).filter(|uid| *uid != derived) {
        Some(uid) => {
            Err(ObjectError::Invalid(format!("expected a `spec.uid` of this release, found `{uid}`")))
        }
        None => Ok(()),
    }
}

/// Labels or annotations without those of tools.
fn of_the_user(given: Option<&Value>) -> Map<String, Value> {
    let given = given.and_then(Value::as_object).cloned().unwrap_or_default();
    let is_of_a_tool = |name: &str| TOOLS.iter().any(|tool| name.contains(tool));
    given.into_iter().filter(|(name, _)| !is_of_a_tool(name)).collect()
}

/// The faults without their places, which are those of a text that no user has seen.
fn invalid(error: &file::Error) -> ObjectError {
    let file::Error::Faulty { faults, .. } = error else { return ObjectError::Invalid(error.to_string()) };
    let messages: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
    ObjectError::Invalid(messages.join("; "))
}

/// Refuses what would be read from the controller's machine: who may write objects must not choose which of its secrets are sent where.
fn check_machine(release: &Release) -> Result<(), ObjectError> {
    let is_own = |source: &&SecretSource| matches!(source, SecretSource::Env(_) | SecretSource::File(_));
    if let Some(source) = secrets::sources(release).find(is_own) {
        return Err(ObjectError::OwnSecret(source.to_string()));
    }
    if release.delivery.mode == Mode::Local {
        return Err(ObjectError::OneMachine {
            expected: "a mode for a cluster",
            found: "`mode: local`".to_owned(),
        });
    }
    match &release.delivery.module {
        Module::File(path) => {
            let found = format!("the file {}", path.display());
            Err(ObjectError::OneMachine { expected: "`module: embedded` or a URL", found })
        }
        Module::Embedded(_) | Module::Url(_) => Ok(()),
    }
}

#[cfg(test)]
#[path = "object_tests.rs"]
mod tests;
