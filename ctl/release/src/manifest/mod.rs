//! The Kubernetes manifests: the templates of `envoyfilter-templates/`, filled in.
//!
//! ```text
//! proxy_group        releases that share a proxy               releases        -> groups
//! destination_rule   a subset for each version                 release         -> document
//! virtual_service    header routes, then stable                release         -> documents
//! http_route         the same for the Gateway API, only printed  release        -> documents
//! proxy_config       module and configuration                  group           -> document
//! runtime            V8, before the workers of a proxy start   group           -> document
//! filter             the filter's place, early header mutation group           -> document
//! object_metadata    labels and annotations of all of these    document           -> document
//! ```
//!
//! They are printed in this order, which is the order in which they may be applied: no route names a subset before it
//! exists, and no filter names a version before its route exists. `release_instance` is the input, a release and its
//! state; `delivery` knows the kinds of objects that contain the configuration.

mod destination_rule;
mod filter;
mod headers;
mod http_route;
mod object_metadata;
mod proxy_config;
mod proxy_group;
mod redact;
mod release_instance;
mod runtime;
mod virtual_service;

use crate::object::{Manifest, NamespacedName, Stage};
pub use destination_rule::hashes_on_identity;
pub use headers::untrusted_headers;
pub use http_route::http_routes;
pub use object_metadata::SharedMetadata;
pub(crate) use object_metadata::{keep_others, without_release};
pub use redact::redacted;
pub use release_instance::ReleaseInstance;
pub use runtime::{RUNTIME_LABEL, Runtime, runtimes};
pub use virtual_service::route_bindings;

use crate::config::{self, SigningKeys};
use crate::spec::{Module, Routes};
use assignment::FilterConfig;
use object_metadata::with_metadata;
use placed_yaml::EditError;
use std::collections::BTreeMap;

/// The reason for which no manifests can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A template has not the shape that its code expects.
    #[error("cannot fill in a template")]
    Template(#[from] EditError),
    /// No configuration of the filter can be made.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The release embeds its module, and there is none to embed.
    #[error("expected a module to embed, found none: this tool was built without one")]
    NoModule,
    /// An object that the API server would refuse.
    #[error("expected at most {MAX_OBJECT} bytes in `{object}`, found {found}{}", with_module(*module))]
    TooLarge {
        /// The object's name.
        object: String,
        /// Its size in bytes.
        found: usize,
        /// The number of those that are the embedded module; 0 without one.
        module: usize,
    },
}

/// The largest object, in bytes of JSON. etcd takes 1.5 MB, with the API server's own fields in it: 1,517 kB were taken,
/// 1,600 kB refused.
pub const MAX_OBJECT: usize = 1_400_000;

fn with_module(bytes: usize) -> String {
    if bytes == 0 { String::new() } else { format!(", {bytes} of them the embedded module") }
}

/// The options of manifests.
#[derive(Clone, Copy, Debug)]
pub struct Options<'k> {
    /// The keys that sign and verify.
    pub keys: &'k SigningKeys,
    /// Whether keys and the bytes of an embedded module are written; otherwise what stands for them, to be shown.
    pub show_keys: bool,
    /// The configurations that the proxies hold already, by [`NamespacedName`]: what other releases have there is kept.
    pub held: &'k BTreeMap<NamespacedName, FilterConfig>,
    /// The names under which existing filters ask for their configurations, by the [`NamespacedName`] of these.
    pub resource_names: &'k BTreeMap<NamespacedName, String>,
}

/// All objects of some releases, in the order of their stages.
///
/// # Errors
///
/// If releases that share a proxy disagree about it, if the filter would refuse its configuration, or an object becomes
/// too large.
pub fn manifests(members: &[ReleaseInstance<'_>], options: Options<'_>) -> Result<Vec<Manifest>, Error> {
    let mut all = Vec::new();
    let mut add = |stage, text| all.push(Manifest { stage, text });
    for member in members {
        let own = |text| with_metadata(text, &member.release.metadata);
        if member.routes != Routes::GatewayApi {
            add(Stage::Subsets, own(destination_rule::document(member)?)?);
        }
        match member.routes {
            Routes::Managed => {
                for text in virtual_service::documents(member)? {
                    add(Stage::Routes, own(text)?);
                }
            }
            // They follow from the routes of others on the cluster.
            Routes::GatewayApi => {}
            // What is edited is found on the cluster.
            Routes::Inject => add(Stage::Routes, own(virtual_service::inside(member)?)?),
            Routes::External => add(Stage::Routes, virtual_service::for_a_chart(member)?),
        }
    }
    for group in proxy_group::groups(members)? {
        let config = group.metadata.written(proxy_config::document(&group, options)?)?;
        check_size(&group, &config)?;
        add(Stage::Configuration, config);
        let runtime = runtime::Runtime::of(&group).manifest(None)?;
        add(runtime.stage, runtime.text);
        add(Stage::Filter, group.metadata.written(filter::document(&group, options)?)?);
    }
    Ok(all)
}

/// The configuration of an `EnvoyFilter` is a text of JSON, in which JSON escapes each quote.
fn check_size(group: &proxy_group::ProxyGroup<'_>, config: &str) -> Result<(), Error> {
    let found = config.len() + config.matches('"').count();
    if found <= MAX_OBJECT {
        return Ok(());
    }
    let module = match &group.delivery.module {
        Module::Embedded(Some(module)) => module.base64().len(),
        _ => 0,
    };
    Err(Error::TooLarge { object: group.config_name(), found, module })
}

/// All objects of some releases, as a stream of YAML documents.
///
/// # Errors
///
/// As [`manifests`].
pub fn documents(members: &[ReleaseInstance<'_>], options: Options<'_>) -> Result<String, Error> {
    Ok(manifests(members, options)?.iter().flat_map(|manifest| ["---\n", &manifest.text]).collect())
}

/// The places of a release's configurations, for reading the existing ones first.
///
/// # Errors
///
/// If releases of one proxy disagree about the delivery, which a single one cannot.
pub fn places(member: &ReleaseInstance<'_>) -> Result<Vec<NamespacedName>, Error> {
    Ok(proxy_group::groups(std::slice::from_ref(member))?
        .iter()
        .map(proxy_group::ProxyGroup::place)
        .collect())
}
