//! `state.json`: what every release of a local Envoy is now. All of Envoy's files follow from it and from the keys.

use super::{Error, Layout, files};
use crate::config::{History, ProxySettings, Standing};
use crate::spec::{Local, Module, Release};
use assignment::Weight;
use assignment::contract::{PodAffinity, Position, ReleaseConfig, Role, UntilAction};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The shape of `state.json` that this tool writes.
const FORMAT: u32 = 1;

/// Everything that is known about the releases of one directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct State {
    format: u32,
    /// The releases, by `<namespace>/<name>`.
    pub releases: BTreeMap<String, Entry>,
}

/// One release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entry {
    /// Weight, versions, epochs, generation.
    pub standing: Standing,
    /// The rest of its configuration, as its file had it at the last `generate`.
    pub config: ReleaseConfig,
    /// Where its requests go.
    pub upstream: Upstream,
    /// The Envoy that it asks for.
    pub envoy: Envoy,
    /// The largest raise without being asked twice.
    pub max_step: Weight,
    /// What happens when a weight expires.
    pub until_action: UntilAction,
    /// The last changes, the oldest first.
    pub history: History,
}

/// Where a release's requests go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Upstream {
    /// The processes of each version that is live.
    pub endpoints: BTreeMap<String, Vec<SocketAddr>>,
    /// By what a user stays on a process.
    pub affinity: PodAffinity,
}

/// The Envoy that a release asks for; releases of one directory share one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Envoy {
    /// Where users come in.
    pub listen: SocketAddr,
    /// Its admin interface.
    pub admin: SocketAddr,
    /// The filter's module, a path that does not depend on a working directory.
    pub module: PathBuf,
    /// The minted id's cookie.
    pub id_cookie: assignment::contract::CookieConfig,
    /// The debug response header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug_header: Option<String>,
    /// Whether filter state is written.
    #[serde(default)]
    pub filter_state: bool,
}

impl Default for State {
    fn default() -> Self {
        Self { format: FORMAT, releases: BTreeMap::new() }
    }
}

impl State {
    /// Reads the state of a directory; empty where there is none yet. Fails on a file of another shape.
    pub fn read(layout: &Layout) -> Result<Self, Error> {
        let path = layout.state();
        let Some(text) = files::read_if_there(&path)? else { return Ok(Self::default()) };
        serde_json::from_str(&text).map_err(|source| Error::Malformed {
            what: "the state as JSON",
            path,
            source,
        })
    }

    /// Replaces the state of a directory.
    pub(super) fn write(&self, layout: &Layout) -> Result<(), Error> {
        let path = layout.state();
        let text = serde_json::to_string_pretty(self).map_err(|source| Error::Malformed {
            what: "a state that JSON can hold",
            path: path.clone(),
            source,
        })?;
        files::replace(&path, &(text + "\n"))
    }

    /// A release by name. Fails with the known ones where there is none.
    pub fn release(&self, layout: &Layout, name: &str) -> Result<&Entry, Error> {
        self.releases.get(name).ok_or_else(|| Error::UnknownRelease {
            release: name.to_owned(),
            directory: layout.directory().to_owned(),
            known: self.releases.keys().cloned().collect(),
        })
    }

    /// What the proxy has once. Fails where the releases disagree.
    pub fn envoy(&self) -> Result<Option<&Envoy>, Error> {
        let mut entries = self.releases.iter();
        let Some((_, first)) = entries.next() else { return Ok(None) };
        for (other, entry) in entries {
            if let Some(what) = first.envoy.difference(&entry.envoy) {
                return Err(Error::OtherEnvoy { other: other.clone(), what });
            }
        }
        Ok(Some(&first.envoy))
    }
}

impl Entry {
    /// A release as its file has it now, after what it was before. A first one gets a uid and the file's weight.
    pub fn of(release: &Release, local: &Local, before: Option<&Self>) -> Result<Self, crate::config::Error> {
        let still_runs =
            |version: &str| local.endpoints.get(version).is_some_and(|endpoints| !endpoints.is_empty());
        let standing = if let Some(before) = before {
            before.standing.revised(release, still_runs)
        } else {
            let uid = release.uid.clone().map_or_else(crate::config::new_uid, Ok)?;
            let installed_at_seconds = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
            Standing { installed_at_seconds, ..Standing::first(release, uid) }
        };
        let mut config = crate::config::release_config(release, &standing, Position::Edge);
        keep_revocation(&mut config, before);
        let live = |version: &str| standing.versions.iter().any(|live| live.name == version);
        let endpoints = local.endpoints.iter().filter(|(version, _)| live(version));
        Ok(Self {
            upstream: Upstream {
                endpoints: endpoints.map(|(version, at)| (version.clone(), at.clone())).collect(),
                affinity: release.pod_affinity,
            },
            envoy: Envoy::of(release, local),
            max_step: release.max_step,
            until_action: release.until_action,
            history: before.map(|before| before.history.clone()).unwrap_or_default(),
            standing,
            config,
        })
    }

    /// The configuration with the standing as it is now.
    pub fn filter_config(&self) -> ReleaseConfig {
        let Standing { uid, generation, weight, until, versions, gone, .. } = self.standing.clone();
        ReleaseConfig { uid, generation, weight, until, versions, gone, ..self.config.clone() }
    }

    /// The stable version.
    pub fn stable(&self) -> &str {
        self.standing.version_of(Role::Stable).unwrap_or_default()
    }
}

/// A revocation is for ever: a file that does not know of it gives no token back.
fn keep_revocation(config: &mut ReleaseConfig, before: Option<&Entry>) {
    let revoked = before.and_then(|before| before.config.overrides.token.as_ref());
    if let (Some(token), Some(revoked)) = (config.overrides.token.as_mut(), revoked) {
        token.not_before_seconds = token.not_before_seconds.max(revoked.not_before_seconds);
    }
}

impl Envoy {
    fn of(release: &Release, local: &Local) -> Self {
        let settings = ProxySettings::of(release, Position::Edge);
        let module = match &release.delivery.module {
            Module::File(path) => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
            Module::Url(url) => PathBuf::from(url),
        };
        Self {
            listen: local.listen,
            admin: local.admin,
            module,
            id_cookie: settings.id_cookie,
            debug_header: settings.debug_header,
            filter_state: settings.filter_state,
        }
    }

    /// What the filter has once in this proxy.
    pub fn settings(&self) -> ProxySettings {
        ProxySettings {
            position: Position::Edge,
            id_cookie: self.id_cookie.clone(),
            debug_header: self.debug_header.clone(),
            filter_state: self.filter_state,
        }
    }

    fn difference(&self, other: &Self) -> Option<&'static str> {
        match () {
            () if self.listen != other.listen => Some("delivery.local.listen"),
            () if self.admin != other.admin => Some("delivery.local.admin"),
            () if self.module != other.module => Some("delivery.module"),
            () if self.id_cookie != other.id_cookie => Some("cookies"),
            () if self.debug_header != other.debug_header => Some("delivery.debugHeader"),
            () if self.filter_state != other.filter_state => Some("delivery.filterState"),
            () => None,
        }
    }
}

impl Entry {
    /// Adds a change to the history.
    pub(super) fn note(&mut self, from: Weight, why: &str) {
        let by = std::env::var("USER").unwrap_or_else(|_| "unknown".to_owned());
        self.history.note(&self.standing, &by, from, why);
    }

    /// Gives the canary another share, as the next generation. `why` is the verb that does it.
    pub fn set_weight(&mut self, weight: Weight, until: Option<assignment::contract::Until>, why: &str) {
        let from = self.standing.weight;
        self.standing.weight = weight;
        self.standing.until = until;
        self.standing.generation += 1;
        self.note(from, why);
    }
}
