//! The versions of an object as they are by now: a promotion and a rollback change roles in the record and nothing in Git.

use assignment::contract::Role;
use canary_release::record::{Record, RoleChangeKind};
use canary_release::spec::Release;

/// The release with the roles that its versions have by now, where the object names those from before. Everything else of it is applied as it
/// is, so that an edit and a repair need no new version.
pub fn as_roles_are(mut release: Release, record: &Record) -> Release {
    let versions = &mut release.versions;
    if let Some(change) =
        record.role_change.as_ref().filter(|change| change.kind == RoleChangeKind::RolledBack)
        && (versions.stable == change.from || versions.canary.as_ref() == Some(&change.from))
    {
        versions.stable.clone_from(&change.to);
        versions.canary = None;
        versions.rolled_back = Some(change.from.clone());
        return release;
    }
    let state = &record.state;
    let Some(stable) = state.version_of(Role::Stable) else { return release };
    let is_old = state.has_gone(&versions.stable) || record.draining_versions().contains(&versions.stable);
    if versions.stable != stable && (is_old || versions.canary.as_deref() == Some(stable)) {
        stable.clone_into(&mut versions.stable);
    }
    let canary = versions.canary.take();
    versions.canary = canary.filter(|canary| *canary != versions.stable);
    release
}

#[cfg(test)]
#[path = "roles_tests.rs"]
mod tests;
