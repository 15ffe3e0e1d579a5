//! `state.json`: what every release of a local Envoy is now. All of Envoy's files follow from it and from the keys.

use super::{Error, Layout, files};
use assignment::Weight;
use assignment::contract::{ExpiryAction, Position, ReleaseConfig, Role, SessionAffinity};
use canary_release::config::ProxySettings;
use canary_release::record::{Author, History, Operation};
use canary_release::spec::{Local, Module, Release};
use canary_release::state::ReleaseState;
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
    /// The highest generation of a release that was taken out: a running Envoy still reports it, so one that comes under the
    /// same name begins above it.
    #[serde(default, skip_serializing_if = "is_zero")]
    removed_generation: u64,
    /// The releases, by `<namespace>/<name>`.
    pub releases: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entry {
    /// Weight, versions, epochs, generation.
    pub state: ReleaseState,
    /// The rest of its configuration, as its file had it at the last `generate`.
    pub config: ReleaseConfig,
    /// The destination of its requests.
    pub upstream: Upstream,
    /// The Envoy settings of the release.
    pub envoy: Envoy,
    /// The largest raise without being asked twice.
    pub max_step: Weight,
    /// The action when a weight expires.
    pub on_expiry: ExpiryAction,
    /// The last changes, the oldest first.
    pub history: History,
}

/// The destination of a release's requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Upstream {
    /// The processes of each version that is live.
    pub endpoints: BTreeMap<String, Vec<SocketAddr>>,
    /// By what a user stays on a process.
    pub affinity: SessionAffinity,
}

/// The Envoy settings of a release; releases of one directory share one Envoy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Envoy {
    /// The address on which Envoy listens for users.
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
        Self { format: FORMAT, removed_generation: 0, releases: BTreeMap::new() }
    }
}

impl State {
    /// Reads the state of a directory; empty if there is none yet.
    ///
    /// # Errors
    ///
    /// If the file has another shape.
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

    /// A release by name.
    ///
    /// # Errors
    ///
    /// If there is none; the error lists the known ones.
    pub fn release(&self, layout: &Layout, name: &str) -> Result<&Entry, Error> {
        self.releases.get(name).ok_or_else(|| Error::UnknownRelease {
            release: name.to_owned(),
            directory: layout.directory().to_owned(),
            known: self.releases.keys().cloned().collect(),
        })
    }

    /// Takes a release out; does nothing if there is none of this name.
    pub(super) fn remove(&mut self, name: &str) {
        if let Some(removed) = self.releases.remove(name) {
            self.removed_generation = self.removed_generation.max(removed.state.generation);
        }
    }

    /// The generation that a new release begins with.
    pub(super) const fn first_generation(&self) -> u64 {
        self.removed_generation + 1
    }

    /// The Envoy settings that all releases share.
    ///
    /// # Errors
    ///
    /// If the releases disagree.
    pub fn envoy(&self) -> Result<Option<&Envoy>, Error> {
        let Some((name, first)) = self.releases.iter().next() else { return Ok(None) };
        self.check_shared(name)?;
        Ok(Some(&first.envoy))
    }

    /// Whether every other release has the Envoy settings of this one. The error names one that has not.
    pub(super) fn check_shared(&self, name: &str) -> Result<(), Error> {
        let Some(own) = self.releases.get(name) else { return Ok(()) };
        for (other, entry) in &self.releases {
            if let Some(what) = own.envoy.difference(&entry.envoy) {
                return Err(Error::OtherEnvoy { other: other.clone(), what });
            }
        }
        Ok(())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Entry {
    /// A release as its file has it now, after what it was before. A first one gets a uid and the file's weight.
    ///
    /// # Errors
    ///
    /// If the system has no randomness for the uid of a first release.
    pub fn of(
        release: &Release,
        local: &Local,
        before: Option<&Self>,
    ) -> Result<Self, canary_release::config::Error> {
        let still_runs =
            |version: &str| local.endpoints.get(version).is_some_and(|endpoints| !endpoints.is_empty());
        let state = if let Some(before) = before {
            before.state.revised(release, still_runs)
        } else {
            let uid = release.uid.clone().map_or_else(canary_release::state::new_uid, Ok)?;
            let installed_at_seconds = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
            ReleaseState { installed_at_seconds, ..ReleaseState::first(release, uid) }
        };
        let mut config = canary_release::config::release_config(release, &state, Position::Edge);
        keep_revocation(&mut config, before);
        let live = |version: &str| state.versions.iter().any(|live| live.name == version);
        let endpoints = local.endpoints.iter().filter(|(version, _)| live(version));
        Ok(Self {
            upstream: Upstream {
                endpoints: endpoints.map(|(version, at)| (version.clone(), at.clone())).collect(),
                affinity: release.session_affinity,
            },
            envoy: Envoy::of(release, local),
            max_step: release.max_step,
            on_expiry: release.on_expiry,
            history: before.map(|before| before.history.clone()).unwrap_or_default(),
            state,
            config,
        })
    }

    /// The configuration with the state as it is now.
    pub fn filter_config(&self) -> ReleaseConfig {
        let ReleaseState { uid, generation, weight, until, versions, gone, .. } = self.state.clone();
        ReleaseConfig { uid, generation, weight, until, versions, gone, ..self.config.clone() }
    }

    /// The stable version.
    pub fn stable(&self) -> &str {
        self.state.version_of(Role::Stable).unwrap_or_default()
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
            Module::Embedded(_) => {
                let path = Layout::new(&local.directory).module();
                std::path::absolute(&path).unwrap_or(path)
            }
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

    /// The settings that the filter has once in this proxy.
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

/// The user of this process, as the operating system names them; `uid 1000` where it has no name.
fn operator() -> String {
    let uid = nix::unistd::getuid();
    let user = nix::unistd::User::from_uid(uid).ok().flatten();
    user.map_or_else(|| format!("uid {uid}"), |user| user.name)
}

impl Entry {
    /// Adds a change to the history.
    pub(super) fn append_history(&mut self, from: Weight, operation: Operation) {
        let by = operator();
        self.history.append(&self.state, Author::new(&by, jiff::Timestamp::now()), from, operation);
    }

    /// Gives the canary another share, as the next generation.
    pub fn set_weight(
        &mut self,
        weight: Weight,
        until: Option<assignment::contract::Until>,
        operation: Operation,
    ) {
        let from = self.state.weight;
        self.state.weight = weight;
        self.state.until = until;
        self.state.generation += 1;
        self.append_history(from, operation);
    }
}
