//! What Kubernetes will read: the templates of `envoyfilter-templates/`, filled in.
//!
//! ```text
//! group              releases that share a proxy               releases        -> groups
//! destination_rule   a subset for each version                 release         -> document
//! virtual_service    header routes, then stable                release         -> documents
//! proxy_config       module and configuration                  group           -> document
//! filter             the filter's place, early header mutation group           -> document
//! ```
//!
//! In this order they are printed, which is the order in which they may be applied: no route names a subset before it
//! is there, and no filter names a version before its route is.

mod destination_rule;
mod filter;
mod group;
mod headers;
mod proxy_config;
mod redact;
mod virtual_service;

pub use headers::untrusted_headers;
pub use redact::redacted;

use crate::config::{self, KeyRing};
use crate::spec::{Release, Routes};
use crate::yaml::EditError;

/// Why no manifests can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A template has not the shape that its code expects.
    #[error("cannot fill in a template")]
    Template(#[from] EditError),
    /// No configuration of the filter can be made.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// An object that the API server would refuse.
    #[error("expected at most {MAX_OBJECT} bytes in `{object}`, found {found}")]
    TooLarge {
        /// The object's name.
        object: String,
        /// Its size in bytes.
        found: usize,
    },
}

/// The largest object, in bytes. etcd takes 1.5 MB, as JSON, with the API server's own fields in it.
const MAX_OBJECT: usize = 1_000_000;

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Template(_) => None,
            Self::Config(error) => error.hint(),
            Self::TooLarge { .. } => Some(
                "spread the releases over several gateways, or use `delivery.mode: trafficextension`"
                    .to_owned(),
            ),
        }
    }
}

/// How manifests are to be made.
#[derive(Clone, Copy, Debug)]
pub struct Options<'k> {
    /// What signs and verifies.
    pub keys: &'k KeyRing,
    /// Whether keys are shown as what they are or redacted.
    pub show_keys: bool,
    /// What the proxies report back.
    pub generation: u64,
}

/// All objects of some releases, as a stream of YAML documents.
///
/// Fails where releases that share a proxy disagree about it, where the filter would refuse its configuration, and
/// where an object becomes too large.
pub fn documents(releases: &[Release], options: Options<'_>) -> Result<String, Error> {
    let mut documents = Vec::new();
    for release in releases {
        documents.push(destination_rule::document(release)?);
        match release.routes {
            Routes::Own => documents.extend(virtual_service::documents(release)?),
            Routes::External => documents.push(virtual_service::for_a_chart(release)?),
        }
    }
    for group in group::groups(releases)? {
        let config = proxy_config::document(&group, options)?;
        if config.len() > MAX_OBJECT {
            return Err(Error::TooLarge { object: group.config_name(), found: config.len() });
        }
        documents.push(config);
        documents.push(filter::document(&group)?);
    }
    Ok(documents.iter().flat_map(|document| ["---\n", document]).collect())
}
