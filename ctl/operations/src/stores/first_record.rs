//! The record of a release that is not installed.

use canary_release::record::Record;
use canary_release::spec::Release;
use canary_release::state::ReleaseState;

/// The record of a release that is not there yet, with the uid that `generate` and `token` derive without a cluster: what
/// they have signed is valid here.
pub(crate) fn first_record(release: &Release) -> Record {
    let installed_at_seconds = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
    let state =
        ReleaseState { installed_at_seconds, ..ReleaseState::first(release, release.uid_or_derived()) };
    Record::first(release, state)
}
