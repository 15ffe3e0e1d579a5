//! Where a shop finds its catalog, and what it passes on to it.

use std::net::SocketAddr;

use ::http::Uri;
use ::http::uri::Scheme;

use super::carrier::Propagate;

/// A catalog to ask.
#[derive(Debug, Clone)]
pub struct CatalogAt {
    pub(super) origin: Uri,
    pub(super) address: Option<SocketAddr>,
    pub(super) propagate: Propagate,
}

/// What is no place for a catalog.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("catalog: expected http://HOST:PORT without a path, found {found:?}")]
pub struct CatalogAtError {
    found: String,
}

impl CatalogAt {
    /// The catalog at `http://HOST:PORT`. The shop connects to the resolved address and passes on `x-canary-id` and
    /// `x-canary-cohort`.
    ///
    /// # Errors
    /// If `url` has another form. Whether the catalog responds is not checked before the first request.
    pub fn new(url: &str) -> Result<Self, CatalogAtError> {
        let refused = || CatalogAtError { found: url.to_owned() };
        let origin: Uri = url.parse().map_err(|_| refused())?;
        let bare = matches!(origin.path(), "" | "/") && origin.query().is_none();
        if origin.scheme() != Some(&Scheme::HTTP) || !bare {
            return Err(refused());
        }
        Ok(Self { origin, address: None, propagate: Propagate::default() })
    }

    /// The same catalog, reached at `address` (a sidecar's listener, for example); its name is only sent as the host.
    #[must_use]
    pub fn with_address(mut self, address: SocketAddr) -> Self {
        self.address = Some(address);
        self
    }

    /// The same catalog, to which other headers are passed on.
    #[must_use]
    pub fn with_propagate(mut self, propagate: Propagate) -> Self {
        self.propagate = propagate;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalog_is_at_a_plain_origin() {
        for good in ["http://catalog", "http://catalog.shop.svc.cluster.local:9000/", "http://[::1]:9000"] {
            assert!(CatalogAt::new(good).is_ok(), "{good}");
        }
        for bad in ["catalog:9000", "https://catalog", "http://catalog/goods", "http://catalog?a", ""] {
            assert!(CatalogAt::new(bad).is_err(), "{bad}");
        }
    }
}
