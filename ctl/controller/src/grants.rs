//! What the owners of other namespaces allow: `ReleaseGrant` objects in those namespaces. Without one a release reaches its own
//! namespace alone, whatever the controller may write.

use canary_release::spec::{Gateway, Label, Module, Release};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// The permissions of a namespace for the releases of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    namespace: String,
    spec: GrantSpec,
}

/// `spec` of a `ReleaseGrant`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GrantSpec {
    /// The namespaces of the releases.
    from: Vec<String>,
    /// The Gateways of this namespace; none is all.
    #[serde(default)]
    gateways: Vec<String>,
    /// The hosts at these gateways: exact, `*.suffix`, or `*`.
    #[serde(default)]
    hosts: Vec<String>,
    /// Whether sidecars of this namespace may decide for these releases.
    #[serde(default)]
    sidecars: bool,
    /// Whether releases of this namespace may share a train with these.
    #[serde(default)]
    trains: bool,
    /// The URLs of modules that may run in the proxies of this namespace: each with everything that begins with it.
    #[serde(default)]
    modules: Vec<String>,
    /// Whether the signing keys of this namespace may be copied to the other namespaces of a release.
    #[serde(default)]
    keys: bool,
}

/// Something that a namespace has not granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingGrant {
    /// The namespace.
    pub namespace: String,
    /// The release's namespace.
    pub from: String,
    /// The request of the release.
    pub what: String,
}

impl fmt::Display for MissingGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, from, what } = self;
        write!(
            f,
            "expected a ReleaseGrant in namespace `{namespace}` that gives namespace `{from}` {what}, found none"
        )
    }
}

impl Grant {
    /// Reads a `ReleaseGrant`. `None` if it is none: what cannot be read grants nothing.
    pub fn of(object: &Value) -> Option<Self> {
        let namespace = object.get("metadata")?.get("namespace")?.as_str()?.to_owned();
        let spec = serde_json::from_value(object.get("spec")?.clone()).ok()?;
        Some(Self { namespace, spec })
    }

    fn is_for(&self, namespace: &str, release: &Release) -> bool {
        let from = release.name.namespace.as_str();
        self.namespace == namespace && self.spec.from.iter().any(|given| given == from)
    }

    fn covers(&self, host: &str) -> bool {
        self.spec.hosts.iter().any(|given| covers(given, host))
    }
}

/// Whether a pattern has each name of another one: `*.a.com` has `b.a.com` and `*.b.a.com`.
fn covers(given: &str, host: &str) -> bool {
    let given = given.to_ascii_lowercase();
    match given.strip_prefix('*') {
        Some("") => true,
        Some(suffix) => {
            let name = host.strip_prefix('*').unwrap_or(host);
            suffix.starts_with('.')
                && name.ends_with(suffix)
                && (host.starts_with('*') || name.len() > suffix.len())
        }
        None => given == host,
    }
}

/// Everything that a release asks of other namespaces and that these have not granted, sorted.
pub(crate) fn missing(release: &Release, grants: &[Grant]) -> Vec<MissingGrant> {
    let asked = gateways(release).chain(sidecars(release)).chain(modules(release));
    let asked = asked.chain(trains(release)).chain(keys(release));
    let is_granted = |asked: &Asked<'_>| {
        grants.iter().any(|grant| grant.is_for(asked.namespace, release) && asked.is_given_by(grant))
    };
    let from = release.name.namespace.to_string();
    let refused = asked.filter(|asked| !is_granted(asked)).map(|asked| MissingGrant {
        namespace: asked.namespace.to_owned(),
        from: from.clone(),
        what: asked.what.to_string(),
    });
    refused.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The namespaces that a release may write to.
pub(crate) fn namespaces(release: &Release) -> BTreeSet<String> {
    let own = std::iter::once(release.name.namespace.to_string());
    let asked = gateways(release).chain(sidecars(release)).map(|asked| asked.namespace.to_owned());
    own.chain(asked).collect()
}

/// Something in another namespace.
struct Asked<'r> {
    namespace: &'r str,
    what: What<'r>,
}

enum What<'r> {
    Host { gateway: &'r Gateway, host: &'r str },
    Module(&'r str),
    Sidecars,
    Train,
    Keys,
}

impl Asked<'_> {
    fn is_given_by(&self, grant: &Grant) -> bool {
        match self.what {
            What::Host { gateway, host } => {
                let is_given = |given: &String| {
                    gateway.name.namespace.as_str() == grant.namespace && gateway.name.name.as_str() == given
                };
                let gateways = &grant.spec.gateways;
                // Without labels the filter would reach each proxy of the namespace.
                !gateway.pods.labels.is_empty()
                    && (gateways.is_empty() || gateways.iter().any(is_given))
                    && grant.covers(host)
            }
            What::Module(url) => {
                let begins = |given: &&String| !given.is_empty() && url.starts_with(given.as_str());
                grant.spec.modules.iter().any(|given| begins(&given))
            }
            What::Sidecars => grant.spec.sidecars,
            What::Train => grant.spec.trains,
            What::Keys => grant.spec.keys,
        }
    }
}

impl fmt::Display for What<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host { gateway, host } if gateway.pods.labels.is_empty() => {
                write!(f, "host `{host}` at all pods: gateway `{}` needs a `selector`", gateway.name.name)
            }
            Self::Host { gateway, host } => write!(f, "host `{host}` at gateway `{}`", gateway.name.name),
            Self::Module(url) => write!(f, "module `{url}` (`modules`)"),
            Self::Sidecars => f.write_str("its sidecars (`sidecars: true`)"),
            Self::Train => f.write_str("a common train (`trains: true`)"),
            Self::Keys => f.write_str("its signing keys (`keys: true`)"),
        }
    }
}

fn gateways(release: &Release) -> impl Iterator<Item = Asked<'_>> {
    let own = release.name.namespace.as_str();
    let of_gateway = move |gateway: &Gateway| {
        let places = [gateway.name.namespace.as_str().to_owned(), gateway.pods.namespace.as_str().to_owned()];
        places.into_iter().any(|place| place != own)
    };
    release.gateways.iter().filter(move |gateway| of_gateway(gateway)).flat_map(move |gateway| {
        let places = [gateway.name.namespace.as_str(), gateway.pods.namespace.as_str()];
        let foreign = places.into_iter().filter(move |place| *place != own);
        foreign.flat_map(move |namespace| {
            release.hosts.iter().map(move |host| {
                let what = What::Host { gateway, host };
                Asked { namespace, what }
            })
        })
    })
}

fn sidecars(release: &Release) -> impl Iterator<Item = Asked<'_>> {
    let own = release.name.namespace.as_str();
    let foreign =
        release.sidecars.iter().map(|pods| pods.namespace.as_str()).filter(move |place| *place != own);
    foreign.map(|namespace| Asked { namespace, what: What::Sidecars })
}

/// A module from elsewhere sees every request of the proxies that run it. The one that this tool carries is ours.
fn modules(release: &Release) -> impl Iterator<Item = Asked<'_>> {
    let url = match &release.delivery.module {
        Module::Url(url) => Some(url.as_str()),
        Module::Embedded(_) | Module::File(_) => None,
    };
    let places = gateways(release).chain(sidecars(release)).map(|asked| asked.namespace);
    let places: BTreeSet<&str> = places.collect();
    url.into_iter().flat_map(move |url| {
        places.clone().into_iter().map(move |namespace| Asked { namespace, what: What::Module(url) })
    })
}

fn trains(release: &Release) -> impl Iterator<Item = Asked<'_>> {
    let own = release.name.namespace.as_str();
    let foreign = release.train_namespaces.iter().map(Label::as_str).filter(move |place| *place != own);
    foreign.map(|namespace| Asked { namespace, what: What::Train })
}

/// A release whose proxies run in several namespaces has the same keys in each.
fn keys(release: &Release) -> impl Iterator<Item = Asked<'_>> {
    let own = release.name.namespace.as_str();
    let gateways = release.gateways.iter().map(|gateway| gateway.pods.namespace.as_str());
    let places: BTreeSet<&str> =
        gateways.chain(release.sidecars.iter().map(|pods| pods.namespace.as_str())).collect();
    let is_shared = places.len() > 1;
    let foreign = places.into_iter().filter(move |place| is_shared && *place != own);
    foreign.map(|namespace| Asked { namespace, what: What::Keys })
}

#[cfg(test)]
#[path = "grants_tests.rs"]
mod tests;
