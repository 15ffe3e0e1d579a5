//! A release together with what it is now: everything that its objects follow from.

use crate::config::Standing;
use crate::spec::{Release, Routes};
use assignment::contract::Role;
use std::collections::BTreeSet;

/// A release and what it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'r> {
    /// What its file says.
    pub release: &'r Release,
    /// What it is: roles, weight, generation.
    pub standing: Standing,
    /// Versions that are no longer live and whose routes and subsets stay until every proxy ignores their pins.
    pub leaving: Vec<String>,
    /// Who writes the routes.
    pub routes: Routes,
}

impl<'r> Member<'r> {
    /// A release that nobody has seen yet, at a generation. Without a uid in the file it gets one that follows from its
    /// name: two calls have to make the same objects.
    pub fn first(release: &'r Release, generation: u64) -> Self {
        let standing = Standing { generation, ..Standing::first(release, release.uid_or_derived()) };
        Self { release, standing, leaving: Vec::new(), routes: release.routes.unwrap_or_default() }
    }

    /// The versions that have a subset and a route, the live ones and those that leave: by name, so that a change of roles
    /// changes nothing here.
    pub(super) fn routed(&self) -> impl Iterator<Item = &str> {
        let live = self.standing.versions.iter().map(|version| version.name.as_str());
        let all: BTreeSet<&str> = live.chain(self.leaving.iter().map(String::as_str)).collect();
        all.into_iter()
    }

    /// Where everyone is on doubt.
    pub(super) fn stable(&self) -> &str {
        self.standing.version_of(Role::Stable).unwrap_or(&self.release.versions.stable)
    }
}
