//! Why a request is not answered as asked, and with which status.

use ::http::StatusCode;
use ::http::header::InvalidHeaderValue;

/// The longest request body that is read (and thrown away).
pub(crate) const MAX_BODY: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("no page here: expected an endpoint that the shop's README lists, found {path:?}")]
    NotFound { path: String },
    #[error("method: expected {allowed}, found {found}")]
    Method { allowed: &'static str, found: String },
    #[error("{place}: expected {expected}, found {found:?}")]
    Value { place: &'static str, expected: &'static str, found: String },
    #[error("request body: expected one of at most {MAX_BODY} bytes that arrives whole, found {found}")]
    Body { found: String },
    #[error("websocket: expected the request of a handshake (RFC 6455, section 4.1), found none")]
    NoHandshake,
    #[error("set-cookie: expected no control characters, found some")]
    Header(#[from] InvalidHeaderValue),
    #[error("session id: expected random bytes from the system, found an error: {0}")]
    Randomness(#[from] getrandom::Error),
    #[error("readiness: expected a pod that stays, found one that was told to stop")]
    Leaving,
    #[error("page: expected one that works, found one of those that fail (--fail-percent, --fail-user)")]
    Broken,
    #[error("no catalog here: expected a shop started with --catalog, found one without")]
    NoCatalog,
    #[error("catalog: {0}")]
    Catalog(String),
    #[error("response: expected to write it as JSON, found an error: {0}")]
    Json(#[from] serde_json::Error),
}

impl Refusal {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::NotFound { .. } | Self::NoCatalog => StatusCode::NOT_FOUND,
            Self::Method { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::Value { .. } | Self::Header(_) => StatusCode::BAD_REQUEST,
            Self::Body { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NoHandshake => StatusCode::UPGRADE_REQUIRED,
            Self::Catalog(_) => StatusCode::BAD_GATEWAY,
            Self::Leaving => StatusCode::SERVICE_UNAVAILABLE,
            Self::Randomness(_) | Self::Json(_) | Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}
