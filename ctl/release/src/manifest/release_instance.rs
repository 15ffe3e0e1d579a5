//! A release together with what it is now: everything that its objects follow from.

use crate::spec::{Release, Routes};
use crate::state::ReleaseState;
use assignment::contract::Role;
use std::collections::BTreeSet;

/// A release and what it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseInstance<'r> {
    /// The specification.
    pub release: &'r Release,
    /// The state: roles, weight, generation.
    pub state: ReleaseState,
    /// Versions that are no longer live and whose routes and subsets stay until every proxy ignores their pins.
    pub leaving: Vec<String>,
    /// The writer of the routes.
    pub routes: Routes,
}

impl<'r> ReleaseInstance<'r> {
    /// A new release, at a generation. Without a uid in the file the uid is derived from the name, so that two calls
    /// create the same objects.
    pub fn first(release: &'r Release, generation: u64) -> Self {
        let state = ReleaseState { generation, ..ReleaseState::first(release, release.uid_or_derived()) };
        Self { release, state, leaving: Vec::new(), routes: release.routes.unwrap_or_default() }
    }

    /// The versions that have a subset and a route, the live ones and those that leave: by name, so that a change of roles
    /// changes nothing here.
    pub(super) fn routed(&self) -> impl Iterator<Item = &str> {
        let live = self.state.versions.iter().map(|version| version.name.as_str());
        let all: BTreeSet<&str> = live.chain(self.leaving.iter().map(String::as_str)).collect();
        all.into_iter()
    }

    /// The stable version: the default for undecided requests.
    pub(super) fn stable(&self) -> &str {
        self.state.version_of(Role::Stable).unwrap_or(&self.release.versions.stable)
    }
}
