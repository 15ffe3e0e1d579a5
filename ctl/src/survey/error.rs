//! Why no release can be made of what is there.

/// Why no release can be made of what is there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The Service is not there.
    #[error("expected Service `{service}`, found none")]
    NoService {
        /// `<namespace>/<name>`.
        service: String,
    },
    /// It has no selector.
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
        /// The labels that were looked for.
        known: String,
    },
    /// It selects by the label that tells versions apart.
    #[error("Service `{service}` selects `{label}: {version}` alone")]
    OneVersion {
        /// `<namespace>/<name>`.
        service: String,
        /// The label.
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
    /// Stable or canary cannot be told from what is there.
    #[error("which version is {role}? found {found}")]
    Ambiguous {
        /// `stable` or `the canary`.
        role: &'static str,
        /// The flag that says it.
        flag: &'static str,
        /// The versions, with how many pods each has.
        found: String,
    },
    /// Nothing that is there says it.
    #[error("nothing on the cluster says {what}")]
    Unsaid {
        /// What is missing.
        what: &'static str,
        /// The flag that says it.
        flag: &'static str,
    },
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoService { .. } => {
                "give the Service's name by `--name` and its namespace by `--namespace`".to_owned()
            }
            Self::NoSelector { .. } | Self::NoPods { .. } => "start the stable version first".to_owned(),
            Self::NoVersions { .. } => {
                "give each Deployment's pods a label `version`; the Service must not select by it".to_owned()
            }
            Self::OneVersion { label, .. } => {
                format!(
                    "take `{label}` out of its selector when the routes are there: subsets choose the version"
                )
            }
            Self::NoPort { .. } => "name the port `http`, or give it `appProtocol: http`".to_owned(),
            Self::Ambiguous { flag, .. } | Self::Unsaid { flag, .. } => format!("give `{flag}`"),
        })
    }
}
