//! Why a registry did not do what it was asked.

use super::credential::CredentialError;
use crate::http::{RedirectError, TlsError};
use crate::module::ImageError;
use canary_release::redaction::Redaction;

/// Why a registry, or a server of a file, did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The address is none.
    #[error("expected an address of HTTP, found `{0}`")]
    Url(String),
    /// The address has a user or a password, which would be printed.
    #[error("expected an address without a user, found one with")]
    UserInUrl,
    /// The system's certificates cannot be read, or TLS cannot be set up.
    #[error("cannot set up TLS")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No whole response.
    #[error("no whole response from {url}")]
    NoResponse {
        /// The requested URL.
        url: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another status than those that the specification has for success.
    #[error("{method} {url}: expected {expected}, found {status}{said}")]
    Status {
        /// The method.
        method: String,
        /// The requested URL, without its query.
        url: String,
        /// What success would be.
        expected: &'static str,
        /// What came.
        status: u16,
        /// What the registry said about it, after a colon.
        said: String,
    },
    /// The registry asks for credentials, and there are none.
    #[error("{server} asks for credentials, found none{said}")]
    NoCredential {
        /// The registry.
        server: String,
        /// What the registry said, after a colon.
        said: String,
    },
    /// The registry refuses the credentials, or their owner has not the right.
    #[error("{server} refuses the credentials ({status}){said}")]
    Refused {
        /// The registry, or its token server.
        server: String,
        /// 401 or 403.
        status: u16,
        /// What it said, after a colon.
        said: String,
    },
    /// It asks in a way that is not known, or for what is not there.
    #[error("{server} asks for authentication by `{found}`, expected {expected}")]
    Challenge {
        /// The registry.
        server: String,
        /// What it asks for.
        found: String,
        /// What would be possible.
        expected: &'static str,
    },
    /// A password would go to another host without TLS.
    #[error("expected a server of tokens with TLS, found `{0}`: a password is sent to no other host without")]
    PlainTokens(String),
    /// An upload would go to another host.
    #[error("expected an upload to {expected}, found {found}: credentials are sent to no other host")]
    OtherHost {
        /// The registry.
        expected: String,
        /// Where it should go.
        found: String,
    },
    /// What came is not what was named.
    #[error("{what}: expected {expected}, found {found}")]
    Content {
        /// What was read.
        what: String,
        /// What it is by its name: a digest, a size.
        expected: String,
        /// What came.
        found: String,
    },
    /// There is no such image.
    #[error("expected an image at {0}, found none")]
    NoImage(String),
    /// The image is none of a module.
    #[error("{place}: {source}")]
    Image {
        /// Where.
        place: String,
        /// Why.
        source: ImageError,
    },
    /// A redirect that is not followed.
    #[error(transparent)]
    Redirect(#[from] RedirectError),
    /// Credentials cannot be read.
    #[error(transparent)]
    Credential(#[from] CredentialError),
}

impl RegistryError {
    /// The same error without the secrets that a server may have repeated in its body or a header.
    #[must_use]
    pub(super) fn redacted(mut self, secrets: &Redaction) -> Self {
        let texts: Vec<&mut String> = match &mut self {
            Self::Url(text)
            | Self::PlainTokens(text)
            | Self::Redirect(RedirectError::NoAddress(text) | RedirectError::Plain(text)) => vec![text],
            Self::NoResponse { url, .. } => vec![url],
            Self::Status { url, said, .. } => vec![url, said],
            Self::NoCredential { said, .. } | Self::Refused { said, .. } => vec![said],
            Self::Challenge { found, .. } | Self::OtherHost { found, .. } => vec![found],
            Self::Content { what, expected, found } => vec![what, expected, found],
            Self::UserInUrl
            | Self::Tls(_)
            | Self::NoImage(_)
            | Self::Image { .. }
            | Self::Redirect(RedirectError::TooMany)
            | Self::Credential(_) => Vec::new(),
        };
        for text in texts {
            *text = secrets.redact(text);
        }
        self
    }

    /// A hint: what the user can change.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoCredential { .. } | Self::Challenge { .. } => {
                Some("`docker login HOST`, or give `--username NAME` and the password on stdin")
            }
            Self::Refused { .. } => Some("is the login still valid, and may it write to this repository?"),
            Self::NoResponse { .. } => Some(
                "is the address right? A registry without TLS needs `--plain-http`, unless it is on this machine",
            ),
            Self::OtherHost { .. } | Self::PlainTokens(_) | Self::Redirect(RedirectError::Plain(_)) => Some(
                "behind a proxy with TLS a registry needs `X-Forwarded-Proto` and the `Host` that clients use",
            ),
            Self::Tls(_) => Some("install the system's CA certificates, or set SSL_CERT_FILE"),
            Self::Image { source: ImageError::Layers { .. }, .. } => Some(
                "images with an archive (`plugin.wasm` in a tar.gz) are not read; `canary-ctl module push` writes the other form",
            ),
            Self::NoImage(_) => Some("`canary-ctl module push` writes one"),
            Self::Credential(CredentialError::Helper { .. }) => {
                Some("give `--username NAME` and the password on stdin instead")
            }
            _ => None,
        }
    }
}

impl From<TlsError> for RegistryError {
    fn from(error: TlsError) -> Self {
        Self::Tls(error.into())
    }
}
