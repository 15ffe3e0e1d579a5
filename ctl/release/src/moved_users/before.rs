//! The users of a release as they are before an edit, and who of them is elsewhere after it.

use super::user::{Page, Pages, User};
use super::{Destination, Edit, MovedUsers};
use assignment::contract::{ContractError, FilterConfig, ReleaseConfig, Role, SessionAffinity};
use assignment::{Identity, Policy};
use std::collections::BTreeMap;

/// Simulated users: so many that a version with one in a hundred of them has some.
const USERS: u32 = 480;

/// The users, and the configuration that they live with.
pub(super) struct Before {
    pages: Pages,
    policy: Policy,
    stable: String,
    users: Vec<User>,
}

/// The response to a user for a page.
#[derive(PartialEq, Eq)]
struct Visited {
    version: String,
    /// The key by which the pods of the subset are hashed, if they are.
    pod_key: Option<Identity>,
}

impl Before {
    pub(super) fn of(
        edit: Edit<'_>,
        deployed: &ReleaseConfig,
        edited: Option<&ReleaseConfig>,
    ) -> Result<Self, ContractError> {
        let alone = |release: ReleaseConfig| {
            let releases = BTreeMap::from([(edit.release.to_owned(), release)]);
            Policy::compile(&FilterConfig { releases, ..edit.deployed.clone() })
        };
        let pages = Pages::of(deployed, edited);
        let has_canary = deployed.versions.iter().any(|version| version.role == Role::Canary);
        // Without a canary the users of before are on a version that drains.
        let weight = if has_canary { edit.peak.max(deployed.weight) } else { deployed.weight };
        let past = alone(ReleaseConfig { weight, until: None, ..deployed.clone() })?;
        let of_role = |role| deployed.versions.iter().filter(move |version| version.role == role);
        let draining: Vec<_> = of_role(Role::Draining).collect();
        let users = (0..USERS).map(|number| {
            let mut user = User::new(number, edit.now);
            user.begin_session(&past, &pages);
            // Of some the session is older than a role change.
            if let Some(version) = draining.get(user.kind() / 2 % (draining.len() + 2)) {
                user.pin_to(&past, version);
            }
            user
        });
        let users = users.collect();
        let stable = of_role(Role::Stable).next().map(|version| version.name.clone()).unwrap_or_default();
        Ok(Self { policy: alone(deployed.clone())?, pages, stable, users })
    }

    /// The users who are elsewhere by this policy, because of these fields.
    pub(super) fn moved(&self, after: &Policy, fields: &[&'static str]) -> Vec<MovedUsers> {
        let mut counts: BTreeMap<String, (u32, BTreeMap<Destination, u32>)> = BTreeMap::new();
        for user in &self.users {
            let both = |page: Page| (self.visit(&self.policy, user, &page), self.visit(after, user, &page));
            let visits: Vec<(Visited, Visited)> = self.pages.of_user(user).map(both).collect();
            let Some((first, _)) = visits.first() else { continue };
            let (all, moved) = counts.entry(first.version.clone()).or_default();
            *all += 1;
            let destination = if visits.iter().any(|(was, is)| was.version != is.version) {
                Destination::Version
            } else if visits.iter().any(|(was, is)| was != is) {
                Destination::Pod
            } else {
                continue;
            };
            *moved.entry(destination).or_default() += 1;
        }
        let users = |(version, (all, moved)): (String, (u32, BTreeMap<Destination, u32>))| {
            moved.into_iter().map(move |(to, count)| MovedUsers {
                version: version.clone(),
                percent: (100 * count / all).max(1),
                to,
                fields: fields.to_vec(),
            })
        };
        counts.into_iter().flat_map(users).collect()
    }

    /// The default route leads to stable if no release decides.
    fn visit(&self, policy: &Policy, user: &User, page: &Page) -> Visited {
        let decided = user.visit(policy, page).and_then(|decision| {
            let release = policy.release(decision.release)?;
            let version = release.versions.get(decision.version)?.name.clone();
            let is_hashed = release.session_affinity == SessionAffinity::Identity;
            Some(Visited { version, pod_key: decision.identity.filter(|_| is_hashed) })
        });
        decided.unwrap_or_else(|| Visited { version: self.stable.clone(), pod_key: None })
    }
}
