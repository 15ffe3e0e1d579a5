//! Why no release can be derived from the cluster's objects.

use assignment::contract::Role;

/// The reason for which no release can be derived from the cluster's objects.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("expected Service `{service}`, found none")]
    NoService {
        /// `<namespace>/<name>`.
        service: String,
    },
    #[error("Service `{service}` selects no pods: it has no selector")]
    NoSelector {
        /// `<namespace>/<name>`.
        service: String,
    },
    /// Its selector selects nothing.
    #[error("Service `{service}` has no pods that could say which versions there are")]
    NoPods {
        /// `<namespace>/<name>`.
        service: String,
    },
    /// Its pods do not name their version.
    #[error("the pods of Service `{service}` have no label `{known}`")]
    NoVersions {
        /// `<namespace>/<name>`.
        service: String,
        /// The labels that were searched.
        known: String,
    },
    #[error("Service `{service}` selects `{label}: {version}` alone")]
    OneVersion {
        /// `<namespace>/<name>`.
        service: String,
        label: String,
        /// The version that it selects.
        version: String,
    },
    /// No port speaks HTTP.
    #[error("Service `{service}` has no port for HTTP")]
    NoPort {
        /// `<namespace>/<name>`.
        service: String,
    },
    /// Stable or canary cannot be derived from the existing pods.
    #[error("which version is {}? found {found}", named(*role))]
    Ambiguous {
        /// Stable or canary.
        role: Role,
        /// The versions, with how many pods each has.
        found: String,
    },
}

const fn named(role: Role) -> &'static str {
    match role {
        Role::Canary => "the canary",
        other => other.as_str(),
    }
}
