//! Emergencies: what ends them where the API server is silent, and the command that stops a canary without this tool.

use super::arguments::ClusterAccess;
use crate::Error;
use crate::hint::ShellCommand;
use assignment::contract::Role;
use canary_operations::Error as Operation;
use canary_release::file::Document;
use canary_release::record::Record;
use canary_release::spec::{ReleaseName, version_subset};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::time::Duration;

/// The versions of a release: its version label, the value of stable, and all values that have a subset.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Versions {
    label: String,
    stable: String,
    all: Vec<String>,
}

/// An emergency that is going on, with what is known of its release.
pub(super) struct Emergency<'a> {
    access: &'a ClusterAccess,
    release: Option<&'a ReleaseName>,
    versions: RefCell<Option<Versions>>,
}

impl<'a> Emergency<'a> {
    /// Begins with what the command line and the file say.
    pub(super) fn new(
        access: &'a ClusterAccess,
        release: Option<&'a ReleaseName>,
        document: Option<&Document>,
    ) -> Self {
        let versions = document.map(|document| {
            let versions = &document.release.versions;
            let all = std::iter::once(&versions.stable).chain(&versions.canary).cloned().collect();
            Versions { label: versions.label.clone(), stable: versions.stable.clone(), all }
        });
        Self { access, release, versions: RefCell::new(versions) }
    }

    /// Adds what the record says: it is newer than the file.
    pub(super) fn learn(&self, record: &Record) {
        let Some(stable) = record.state.version_of(Role::Stable) else { return };
        let live = record.state.versions.iter().map(|version| version.name.clone());
        let all = live.chain(record.leaving.iter().cloned()).collect();
        let label = record.service.label.clone();
        self.versions.replace(Some(Versions { label, stable: stable.to_owned(), all }));
    }

    /// Runs it as [`limited`]. Where the API server does not respond, or denies a request, the error names the command that stops the canary without this tool.
    pub(super) async fn run<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        limited(self.access, work).await.map_err(|error| {
            let is_denied = matches!(&error, Error::Cluster(denied) if is_stopped(denied));
            if !is_denied && !matches!(error, Error::Silent { .. }) {
                return error;
            }
            let release = in_train(&error).or_else(|| self.release.cloned());
            Error::Emergency { break_glass: self.break_glass(release.as_ref()), source: Box::new(error) }
        })
    }

    /// `kubectl patch` of the DestinationRule: every subset gets the pods of stable.
    fn break_glass(&self, release: Option<&ReleaseName>) -> String {
        let mut command = ShellCommand::new("kubectl");
        if let Some(context) = &self.access.connection.context {
            command = command.words("--context").quoted(context, "CONTEXT");
        }
        let (namespace, rule) = match release {
            Some(release) => (release.namespace.to_string(), format!("{}-canary", release.name)),
            None => (String::new(), String::new()),
        };
        let patch = self.versions.borrow().as_ref().map_or_else(
            || patch("version", "STABLE", ["STABLE", "CANARY"].map(str::to_owned)),
            |Versions { label, stable, all }| patch(label, stable, all.iter().map(|one| version_subset(one))),
        );
        command
            .words("-n")
            .name(&namespace, "NAMESPACE")
            .words("patch destinationrule")
            .name(&rule, "NAME-canary")
            .words("--type merge -p")
            .quoted(&patch.to_string(), "PATCH")
            .to_string()
    }
}

/// Whether the API server has stopped an emergency.
fn is_stopped(error: &Operation) -> bool {
    match error {
        Operation::InTrain { source, .. } => is_stopped(source),
        Operation::Unreachable { .. }
        | Operation::Unanswered { .. }
        | Operation::Unable { .. }
        | Operation::Forbidden { .. }
        | Operation::Refused { .. }
        | Operation::RecordAhead { .. } => true,
        _ => false,
    }
}

/// The release of a train at which an emergency stopped.
fn in_train(error: &Error) -> Option<ReleaseName> {
    match error {
        Error::Cluster(Operation::InTrain { release, .. }) => release.parse().ok(),
        _ => None,
    }
}

/// Every subset with the pods of stable.
fn patch(label: &str, stable: &str, subsets: impl IntoIterator<Item = String>) -> Value {
    let subset = |name: String| json!({"name": name, "labels": {label: stable}});
    json!({"spec": {"subsets": subsets.into_iter().map(subset).collect::<Vec<_>>()}})
}

/// Runs work to its end, and no longer than the API server is silent for `--request-timeout`.
pub(super) async fn limited<T>(
    access: &ClusterAccess,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let limit = Duration::from_secs(access.connection.request_timeout.get());
    tokio::select! {
        biased;
        result = work => result,
        () = access.connection.silence.lasts(limit) => Err(Error::Silent { limit, is_read: false }),
    }
}

/// The same for a command that writes nothing.
pub(super) async fn limited_read<T>(
    access: &ClusterAccess,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    limited(access, work).await.map_err(|error| match error {
        Error::Silent { limit, .. } => Error::Silent { limit, is_read: true },
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use canary_operations::Error::{Forbidden, InTrain, LostLease, NotApplied, RecordAhead, Refused, Unable};

    #[test]
    fn whatever_the_api_server_denies_in_an_emergency_is_answered_with_a_command() {
        let text = || "shop/shop".to_owned();
        let denials = [
            || Forbidden {
                verb: "patch",
                resource: String::new(),
                group: String::new(),
                namespace: String::new(),
            },
            || Refused { verb: "patch", object: String::new(), code: 403, message: String::new() },
            || Unable { verb: "patch", object: String::new(), code: 500, message: String::new() },
        ];
        let train: ReleaseName = text().parse().unwrap();
        for denial in denials {
            let ahead = || RecordAhead { release: text(), last: text(), source: Box::new(denial()) };
            for (error, release) in [
                (denial(), None),
                (ahead(), None),
                (InTrain { release: text(), source: Box::new(denial()) }, Some(train.clone())),
                (InTrain { release: text(), source: Box::new(ahead()) }, Some(train.clone())),
            ] {
                let message = error.to_string();
                assert!(is_stopped(&error), "{message}");
                assert_eq!(in_train(&Error::Cluster(error)), release, "{message}");
            }
        }
        for other in [NotApplied, LostLease { lease: text() }] {
            assert!(!is_stopped(&other), "{other}");
        }
    }
}
