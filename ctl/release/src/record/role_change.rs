//! Turns of a release: a promotion, a rollback, and the end of a version that drains. Each is a change of its record, from
//! which everything that is written follows.

use super::{Author, Error, Operation, Record};
use crate::spec::{Release, Seconds, Versions};
use assignment::contract::{Role, Stickiness};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// The last time that users were sent from one version to another for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RoleChange {
    /// Promotion or rollback.
    pub kind: RoleChangeKind,
    /// The version that receives no new sessions any more.
    pub from: String,
    /// The version that is stable since.
    pub to: String,
    /// The user name, as the API server authenticates it.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// The promotion of a train that it is a part of ([`TrainRound`](crate::record::TrainRound)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_round: Option<String>,
}

/// Promotion or rollback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RoleChangeKind {
    /// The canary became stable.
    Promoted,
    /// The canary, or the version that had been promoted, was taken back.
    RolledBack,
}

/// The change that a rollback reverts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RollbackTarget {
    /// This canary.
    Canary(String),
    /// The promotion of this version: the one before is stable again.
    Promotion(String),
    /// Nothing new: this version was rolled back and its sessions finish.
    Draining(String),
    /// Nothing new: it is rolled back.
    Done,
}

impl RoleChange {
    /// A promotion that is read back from the objects, which do not say when it was.
    pub(super) fn promotion_read_back(from: &str, to: &str, by: Author<'_>) -> Self {
        let [from, to, name] = [from, to, by.name].map(str::to_owned);
        Self { kind: RoleChangeKind::Promoted, from, to, by: name, at: by.at, train_round: None }
    }
}

impl Record {
    /// The version that a promotion makes stable; `None` if the last one has done it.
    ///
    /// # Errors
    ///
    /// If there is no canary and no promotion that could be continued.
    pub fn to_promote(&self) -> Result<Option<&str>, Error> {
        let canary = self.state.version_of(Role::Canary);
        if canary.is_none() && self.last_role_change(RoleChangeKind::Promoted).is_none() {
            return Err(self.no_canary());
        }
        Ok(canary)
    }

    /// Makes the canary stable, as the next generation. The previous stable version drains until the deadline: its
    /// pins, its route and its subset stay.
    pub fn promote(&mut self, deadline: Timestamp, by: Author<'_>) {
        let (Some(from), Some(to)) =
            (self.owned_version_of(Role::Stable), self.owned_version_of(Role::Canary))
        else {
            return;
        };
        let weight = self.state.weight;
        self.state = self.state.with_stable(&to);
        self.draining.insert(from.clone(), deadline);
        self.record_role_change(RoleChangeKind::Promoted, from, to, by);
        self.append_history(by, weight, Operation::Promote);
    }

    /// The change that a rollback reverts: the canary, else the last promotion while the version before it drains. A promotion
    /// that was followed by another canary is not reverted: a repeated call must not revert more than the first one. A version that the
    /// file dropped drains without a role change: its sessions can be ended.
    ///
    /// # Errors
    ///
    /// If there is nothing to revert, or the version before it was removed.
    pub fn to_roll_back(&self) -> Result<RollbackTarget, Error> {
        if let Some(canary) = self.state.version_of(Role::Canary) {
            return Ok(RollbackTarget::Canary(canary.to_owned()));
        }
        if let Some(change) = self.last_role_change(RoleChangeKind::Promoted) {
            if !self.state.is_live(&change.from) {
                return Err(Error::NoWayBack { version: change.from.clone() });
            }
            return Ok(RollbackTarget::Promotion(change.to.clone()));
        }
        let change = self.last_role_change(RoleChangeKind::RolledBack);
        let rolled_back =
            change.map(|change| change.from.clone()).filter(|version| self.state.is_live(version));
        let draining = match change {
            Some(_) => rolled_back,
            None => self.draining_versions().into_iter().next(),
        };
        match (draining, change) {
            (Some(version), _) => Ok(RollbackTarget::Draining(version)),
            (None, Some(_)) => Ok(RollbackTarget::Done),
            (None, None) => Err(self.no_canary()),
        }
    }

    /// Whether the last role change is a rollback.
    pub fn is_rolled_back(&self) -> bool {
        self.last_role_change(RoleChangeKind::RolledBack).is_some()
    }

    /// The error where an operation needs a canary, with the place of those who were its users.
    pub fn no_canary(&self) -> Error {
        let promoted = self.last_role_change(RoleChangeKind::Promoted).map(|change| change.to.clone());
        Error::NoCanary { last: self.last(), promoted, draining: self.draining_versions() }
    }

    /// Takes back what [`Record::to_roll_back`] has found, as the next generation. With a deadline sessions finish on the
    /// version that is taken back; without one they are on stable with their next request.
    pub fn roll_back(&mut self, back: &RollbackTarget, deadline: Option<Timestamp>, by: Author<'_>) {
        let (RollbackTarget::Canary(from) | RollbackTarget::Promotion(from) | RollbackTarget::Draining(from)) =
            back
        else {
            return;
        };
        let weight = self.state.weight;
        let before = match back {
            RollbackTarget::Promotion(_) => {
                self.last_role_change(RoleChangeKind::Promoted).map(|change| change.from.clone())
            }
            _ => None,
        };
        let ends = self.ended_by(back, from, deadline);
        self.state = self.state.with_roles(|version| match version.role {
            _ if ends.contains(&version.name) => None,
            _ if version.name == *from => Some(Role::Draining),
            _ if Some(&version.name) == before.as_ref() => Some(Role::Stable),
            role => Some(role),
        });
        self.draining.extend(deadline.map(|deadline| (from.clone(), deadline)));
        self.keep_deadlines();
        self.leaving.retain(|version| version != from && !ends.contains(version));
        self.leaving.extend(ends);
        let to = self.owned_version_of(Role::Stable).unwrap_or_default();
        self.record_role_change(RoleChangeKind::RolledBack, from.clone(), to, by);
        self.append_history(by, weight, Operation::Rollback);
    }

    /// The versions whose sessions a rollback ends: every one that drains, where it ends a drain.
    fn ended_by(&self, back: &RollbackTarget, from: &str, deadline: Option<Timestamp>) -> Vec<String> {
        match (deadline, back) {
            (Some(_), _) => Vec::new(),
            (None, RollbackTarget::Draining(_)) => self.draining_versions(),
            (None, _) => vec![from.to_owned()],
        }
    }

    /// The versions that drain, from whatever operation.
    pub fn draining_versions(&self) -> Vec<String> {
        let drains = |version: &&assignment::contract::VersionConfig| version.role == Role::Draining;
        self.state.versions.iter().filter(drains).map(|version| version.name.clone()).collect()
    }

    /// Whether the deadline of a version that drains is over. A version without one is not waited for.
    pub fn is_overdue(&self, version: &str, now: Timestamp) -> bool {
        self.draining.get(version).is_none_or(|deadline| *deadline <= now)
    }

    /// Ends these versions, as the next generation: their sessions are on stable with their next request.
    pub fn finish(&mut self, versions: &[String], by: Author<'_>) {
        let weight = self.state.weight;
        self.state = self.state.without(versions);
        self.leaving.retain(|version| !versions.contains(version));
        self.leaving.extend_from_slice(versions);
        self.keep_deadlines();
        self.append_history(by, weight, Operation::Finish);
    }

    /// Refuses a file that is older than a promotion or a rollback. Such a file would silently undo it: in a pipeline
    /// that applies on every commit, the next unrelated commit would move every user.
    ///
    /// A file that matches the current state is accepted, and one that names another canary. With
    /// `allow_rolled_back`, a version that was rolled back may return.
    ///
    /// # Errors
    ///
    /// If the file is older.
    pub fn accept(&self, release: &Release, allow_rolled_back: bool) -> Result<(), Error> {
        let versions = &release.versions;
        let stable = self.state.version_of(Role::Stable).unwrap_or_default();
        let drains = self.draining_versions().contains(&versions.stable);
        if versions.stable != stable && (drains || self.state.has_gone(&versions.stable)) {
            return Err(Error::OldStable {
                named: versions.stable.clone(),
                stable: stable.to_owned(),
                turn: self.role_change.clone().map(Box::new),
            });
        }
        let rolled_back = self.last_role_change(RoleChangeKind::RolledBack).filter(|_| !allow_rolled_back);
        match rolled_back.filter(|change| versions.canary.as_ref() == Some(&change.from)) {
            Some(change) => Err(Error::OldCanary { turn: Box::new(change.clone()) }),
            None => Ok(()),
        }
    }

    /// Keeps deadline and turn true after the file was followed: a version that has left the file drains as long as its
    /// pins may live, a new canary ends the time in which the last promotion can be taken back, and a file that no longer
    /// names a version that was rolled back has taken note of it.
    pub(crate) fn reconcile_roles(
        &mut self,
        release: &Release,
        before: &[Option<String>; 2],
        by: Author<'_>,
    ) {
        let deadline = ends_after(by.at, drains_for(release.stickiness, release.session.max_age));
        self.keep_deadlines();
        for version in self.draining_versions() {
            self.draining.entry(version).or_insert(deadline);
        }
        let now = [self.owned_version_of(Role::Stable), self.owned_version_of(Role::Canary)];
        if let ([Some(to), None], [Some(from), Some(promoted)]) = (&now, before)
            && to == promoted
        {
            self.record_role_change(RoleChangeKind::Promoted, from.clone(), to.clone(), by);
        }
        let is_noted = self.last_role_change(RoleChangeKind::RolledBack).is_some_and(|change| {
            let Versions { stable, rolled_back, .. } = &release.versions;
            change.to == *stable && rolled_back.as_ref() != Some(&change.from)
        });
        if self.state.version_of(Role::Canary).is_some() || is_noted {
            self.role_change = None;
        }
    }

    /// Only versions that drain have a deadline.
    fn keep_deadlines(&mut self) {
        let drains = self.draining_versions();
        self.draining.retain(|version, _| drains.contains(version));
    }

    fn record_role_change(&mut self, kind: RoleChangeKind, from: String, to: String, by: Author<'_>) {
        // What the file began with was for another state of things.
        self.initial_weight = None;
        self.stable_pods = None;
        self.role_change =
            Some(RoleChange { kind, from, to, by: by.name.to_owned(), at: by.at, train_round: None });
    }

    fn last_role_change(&self, kind: RoleChangeKind) -> Option<&RoleChange> {
        self.role_change.as_ref().filter(|change| change.kind == kind)
    }

    fn owned_version_of(&self, role: Role) -> Option<String> {
        self.state.version_of(role).map(str::to_owned)
    }
}

/// The default drain time of a version: the maximum age of its pins; `None` without sessions, because then no user
/// stays on it.
pub fn drains_for(stickiness: Stickiness, max_age: Seconds) -> Option<Seconds> {
    (stickiness == Stickiness::Session).then_some(max_age)
}

/// The moment so long after `now`; `now` without a duration.
pub fn ends_after(now: Timestamp, duration: Option<Seconds>) -> Timestamp {
    let seconds = duration.map_or(0, |duration| i64::try_from(duration.get()).unwrap_or(i64::MAX));
    let end = now.saturating_add(SignedDuration::from_secs(seconds));
    end.unwrap_or(Timestamp::MAX)
}

impl std::fmt::Display for RoleChange {
    /// `alice promoted v2 at 2026-11-21T14:00:00Z`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, from, to, by, at, .. } = self;
        let at = at.strftime("%Y-%m-%dT%H:%M:%SZ");
        match kind {
            RoleChangeKind::Promoted => write!(f, "{by} promoted `{to}` at {at}"),
            RoleChangeKind::RolledBack => write!(f, "{by} rolled `{from}` back at {at}"),
        }
    }
}
