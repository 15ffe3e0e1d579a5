//! Why there is no plan.

use crate::manifest;

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A manifest is no object.
    #[error("expected a Kubernetes object, found one without `{field}`")]
    NoObject {
        /// What is missing, as a JSON pointer.
        field: &'static str,
    },
    /// A manifest is no YAML.
    #[error("expected a manifest as YAML: {0}")]
    NoYaml(String),
    /// What is kept between two calls has another shape.
    #[error("expected what canary-ctl keeps of a release, as JSON of format {}", super::record::FORMAT)]
    NoRecord(#[source] serde_json::Error),
    /// The object that carries the weight does not know the release.
    #[error("expected release `{release}` in {object}, found {found}")]
    NotCarried {
        /// The release.
        release: String,
        /// The object, as it is called.
        object: String,
        /// What is there instead.
        found: &'static str,
    },
    /// A configuration cannot be read or made.
    #[error(transparent)]
    Manifest(#[from] manifest::Error),
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoRecord(_) => Some("a newer canary-ctl may have written it: use that one".to_owned()),
            Self::NotCarried { .. } => Some("`canary-ctl apply` puts it there".to_owned()),
            Self::Manifest(error) => error.hint(),
            Self::NoObject { .. } | Self::NoYaml(_) => None,
        }
    }
}
