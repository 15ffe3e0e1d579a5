//! What Kubernetes will read: the templates of `envoyfilter-templates/`, filled in.

mod headers;
mod redact;

pub use headers::untrusted_headers;
pub use redact::redacted;

use crate::yaml::EditError;

/// Why no manifests can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A template has not the shape that its code expects.
    #[error("cannot fill in a template")]
    Template(#[from] EditError),
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        None
    }
}
