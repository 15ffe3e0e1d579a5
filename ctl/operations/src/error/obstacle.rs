//! What is between here and the API server.

use super::Error;
use std::error::Error as StdError;

/// An obstacle between requests and the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A proxy, which is not there or refuses.
    Proxy,
    /// The certificate of the API server, or of a proxy, is not valid here.
    Certificate,
    /// The API server expects another scheme: one side speaks TLS, the other does not.
    Scheme,
    /// There are no new credentials.
    Credentials,
}

/// The way through a proxy failed.
#[derive(Debug, thiserror::Error)]
#[error("no connection by the proxy {proxy}")]
pub(crate) struct ProxyError {
    pub(crate) proxy: String,
    pub(crate) source: tower::BoxError,
}

impl Error {
    /// The obstacle, if it is known.
    pub fn obstacle(&self) -> Option<Obstacle> {
        let (Self::Unreachable { source, .. } | Self::Unanswered { source, .. }) = self else { return None };
        source.causes().find_map(obstacle)
    }
}

fn obstacle(error: &(dyn StdError + 'static)) -> Option<Obstacle> {
    if error.is::<ProxyError>() {
        return Some(Obstacle::Proxy);
    }
    if error.is::<super::CredentialError>() {
        return Some(Obstacle::Credentials);
    }
    match error.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidCertificate(_) => Some(Obstacle::Certificate),
        rustls::Error::InvalidMessage(_) => Some(Obstacle::Scheme),
        _ => None,
    }
}
