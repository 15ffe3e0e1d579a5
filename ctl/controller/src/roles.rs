//! The versions of an object as they are by now: a promotion and a rollback change roles in the record and nothing in Git.

use canary_release::record::{Record, RoleChangeKind};
use canary_release::spec::Release;

/// The release with the roles that its versions have since the last promotion or rollback, where the object names those from before.
/// Everything else of it is applied as it is, so that an edit and a repair need no new version.
pub fn as_roles_are(mut release: Release, record: &Record) -> Release {
    let Some(change) = &record.role_change else { return release };
    let versions = &mut release.versions;
    let is_canary = |version: &str| versions.canary.as_deref() == Some(version);
    let (names_from, names_to) = (is_canary(&change.from), is_canary(&change.to));
    let is_before = versions.stable == change.from;
    match change.kind {
        RoleChangeKind::Promoted if is_before => {
            versions.stable.clone_from(&change.to);
            versions.canary = versions.canary.take().filter(|_| !names_to);
        }
        RoleChangeKind::RolledBack if is_before || names_from => {
            versions.stable.clone_from(&change.to);
            versions.canary = None;
            versions.rolled_back = Some(change.from.clone());
        }
        RoleChangeKind::Promoted | RoleChangeKind::RolledBack => {}
    }
    release
}
