//! What the proxies of a release run, as far as this machine can know it: the file, the state and the keys.

use super::arguments::{Keys, SpecFile};
use crate::local::{Entry, Layout, State, read_own_keys};
use crate::{Error, module};
use assignment::contract::{FilterConfig, Position, ReleaseConfig};
use assignment::{Policy, Weight};
use canary_release::config::{self, KeyError, ProxySettings, SigningKeys};
use canary_release::spec::{Local, Release};
use canary_release::state::ReleaseState;
use std::collections::BTreeMap;

/// A release and what is known of it.
pub(super) struct ReleaseContext {
    pub(super) release: Release,
    /// The state of the local target; `None` before the first `generate`, and without a local target.
    entry: Option<Entry>,
    /// The keys; `None` without `--signing-keys` and without a local target that has some.
    keys: Option<SigningKeys>,
}

impl ReleaseContext {
    /// Reads the file, and the local target's state and keys if there are any. `--signing-keys` takes precedence.
    pub(super) fn read(spec: &SpecFile, keys: &Keys) -> Result<Self, Error> {
        let release = module::load(&spec.file)?.release;
        let (entry, kept) = match &release.delivery.local {
            Some(target) => known(target, &release)?,
            None => (None, None),
        };
        let keys = match &keys.keys {
            Some(path) => Some(SigningKeys::read(path).map_err(config::Error::from)?),
            None => kept,
        };
        Ok(Self { release, entry, keys })
    }

    /// Whether there are keys: without them, no pin, id or token of a client can be verified.
    pub(super) const fn has_keys(&self) -> bool {
        self.keys.is_some()
    }

    /// Refuses to go on without keys.
    pub(super) fn require_keys(&self) -> Result<&SigningKeys, Error> {
        self.keys.as_ref().ok_or_else(|| config::Error::from(KeyError::Missing).into())
    }

    /// The policy of a proxy at a position that has this release alone.
    pub(super) fn policy(&self, position: Position) -> Result<Policy, Error> {
        self.policy_at(position, None)
    }

    /// The same with another weight.
    pub(super) fn policy_at(&self, position: Position, weight: Option<Weight>) -> Result<Policy, Error> {
        let now = self.release_config(position);
        let release = ReleaseConfig { weight: weight.unwrap_or(now.weight), ..now };
        Ok(Policy::compile(&self.filter_config(position, release)?).map_err(config::Error::from)?)
    }

    /// At the edge what the local target runs, which an edited file has not changed yet.
    fn release_config(&self, position: Position) -> ReleaseConfig {
        match (&self.entry, position) {
            (Some(entry), Position::Edge) => entry.filter_config(),
            (Some(entry), Position::Mesh) => config::release_config(&self.release, &entry.state, position),
            (None, _) => {
                let state = ReleaseState::first(&self.release, self.release.uid_or_derived());
                config::release_config(&self.release, &state, position)
            }
        }
    }

    fn filter_config(&self, position: Position, release: ReleaseConfig) -> Result<FilterConfig, Error> {
        let releases = BTreeMap::from([(self.release.name.clone(), release)]);
        let keys = self.keys.clone().unwrap_or_else(SigningKeys::placeholder);
        let settings = match &self.entry {
            Some(entry) => ProxySettings { position, ..entry.envoy.settings() },
            None => ProxySettings::of(&self.release, position),
        };
        Ok(config::filter_config(&settings, &keys, releases)?)
    }
}

/// The entry and the keys of a release in the local target's directory.
fn known(target: &Local, release: &Release) -> Result<(Option<Entry>, Option<SigningKeys>), Error> {
    let layout = Layout::new(&target.directory);
    let entry = State::read(&layout)?.releases.remove(&release.name.to_string());
    Ok((entry, read_own_keys(&layout.keys())?))
}

/// Seconds since 1970-01-01 UTC.
pub(super) fn now() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default()
}
