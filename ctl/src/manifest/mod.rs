//! What Kubernetes will read: the templates of `envoyfilter-templates/`, filled in.
//!
//! ```text
//! group              releases that share a proxy               releases        -> groups
//! destination_rule   a subset for each version                 release         -> document
//! virtual_service    header routes, then stable                release         -> documents
//! proxy_config       module and configuration                  group           -> document
//! runtime            V8, before the workers of a proxy start   group           -> document
//! filter             the filter's place, early header mutation group           -> document
//! ```
//!
//! In this order they are printed, which is the order in which they may be applied: no route names a subset before it
//! is there, and no filter names a version before its route is. `member` is what goes in, a release and what it is now;
//! `held` reads a configuration back from an object, `code` the module.

mod code;
mod destination_rule;
mod filter;
mod group;
mod headers;
mod held;
mod member;
mod proxy_config;
mod redact;
mod runtime;
mod virtual_service;

pub use code::Code;
pub use headers::untrusted_headers;
pub use held::{held_configuration, with_configuration};
pub use member::Member;
pub(crate) use redact::REDACTED;
pub use redact::redacted;
pub use runtime::{RUNTIME_LABEL, Runtime, runtimes};

use crate::config::{self, KeyRing};
use crate::spec::Routes;
use crate::yaml::EditError;
use assignment::FilterConfig;
use std::collections::BTreeMap;

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
    /// The configurations that the proxies hold already, by [`Place`]: what other releases have there is kept.
    pub held: &'k BTreeMap<Place, FilterConfig>,
}

/// Namespace and name of an object that holds a configuration.
pub type Place = (String, String);

/// What an object is for, in the order in which objects may come to proxies that have the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// The pods of each version, by name.
    Subsets,
    /// The way to each version.
    Routes,
    /// The same within an object of somebody else.
    Edits,
    /// What the filter knows: the only object that a weight changes.
    Configuration,
    /// V8 in the proxies, before their workers start.
    Runtime,
    /// The filter's place in the proxies.
    Filter,
}

impl Stage {
    /// Whether it leads to a version.
    pub fn is_way(self) -> bool {
        matches!(self, Self::Routes | Self::Edits)
    }
}

/// One object as text, its comments included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// What it is for.
    pub stage: Stage,
    /// A YAML document. One of comments alone is for a person, and no object.
    pub text: String,
}

/// All objects of some releases, in the order of their stages.
///
/// Fails where releases that share a proxy disagree about it, where the filter would refuse its configuration, and
/// where an object becomes too large.
pub fn manifests(members: &[Member<'_>], options: Options<'_>) -> Result<Vec<Manifest>, Error> {
    let mut all = Vec::new();
    let mut add = |stage, text| all.push(Manifest { stage, text });
    for member in members {
        add(Stage::Subsets, destination_rule::document(member)?);
        match member.routes {
            Routes::Own => {
                virtual_service::documents(member)?.into_iter().for_each(|text| add(Stage::Routes, text));
            }
            // What is edited is found on the cluster.
            Routes::Edit => add(Stage::Routes, virtual_service::inside(member)?),
            Routes::External => add(Stage::Routes, virtual_service::for_a_chart(member)?),
        }
    }
    for group in group::groups(members)? {
        let config = proxy_config::document(&group, options)?;
        if config.len() > MAX_OBJECT {
            return Err(Error::TooLarge { object: group.config_name(), found: config.len() });
        }
        add(Stage::Configuration, config);
        let runtime = runtime::Runtime::of(&group).manifest(None)?;
        add(runtime.stage, runtime.text);
        add(Stage::Filter, filter::document(&group)?);
    }
    Ok(all)
}

/// All objects of some releases, as a stream of YAML documents. Fails as [`manifests`] does.
pub fn documents(members: &[Member<'_>], options: Options<'_>) -> Result<String, Error> {
    Ok(manifests(members, options)?.iter().flat_map(|manifest| ["---\n", &manifest.text]).collect())
}

/// Where the configurations of a release are, for reading what is there before anything is made.
pub fn places(member: &Member<'_>) -> Result<Vec<Place>, Error> {
    Ok(group::groups(std::slice::from_ref(member))?.iter().map(group::Group::place).collect())
}
