//! The places of a release's counters in one list: by version, and in a version by what is counted.

use assignment::contract::Role;
use assignment::policy::Release;
use assignment::{Identity, Reason};
use canary_filter::labels::{self, GroupCounter, StatusClass};

/// Slots of one version: reasons, then status classes, then the testers' status classes, then latency and the testers', then requests
/// without a response.
pub(crate) const SLOTS: usize = UNANSWERED_SLOT + 1;
pub(crate) const UNANSWERED_SLOT: usize = LATENCY_SLOT + 2;
pub(crate) const LATENCY_SLOT: usize = Reason::ALL.len() + 2 * StatusClass::ALL.len();
/// The slots of a version after those, where there are any: what is counted by user group.
const GROUP_SLOTS: usize = GroupCounter::ALL.len() * Identity::GROUPS;

/// The slots of each version of a release.
pub(crate) const fn slots_of(release: &Release) -> usize {
    if labels::has_group_counters(release) { SLOTS + GROUP_SLOTS } else { SLOTS }
}

/// The name of the counter in a slot of a release.
pub(crate) fn name_of(release: &Release, slot: usize) -> Option<String> {
    let slots = slots_of(release);
    let (version, slot) = (release.versions.get(slot / slots)?, slot % slots);
    if let Some(slot) = slot.checked_sub(SLOTS) {
        let what = GroupCounter::ALL.get(slot / Identity::GROUPS)?;
        return Some(labels::by_group(release, version, *what, slot % Identity::GROUPS));
    }
    if slot == UNANSWERED_SLOT {
        return Some(labels::unanswered(release, version));
    }
    if let Some(reason) = Reason::ALL.get(slot) {
        return Some(labels::requests(release, version, *reason));
    }
    let classes = StatusClass::ALL.len();
    let slot = slot - Reason::ALL.len();
    let class = StatusClass::ALL.get(slot % classes)?;
    Some(labels::responses(release, version, slot >= classes, *class))
}

/// Roles and reasons are looked up by their place in the list; the compiler checks what the slots rely on.
const _: () = {
    assert!(Reason::Fused as usize == Reason::ALL.len() - 1);
    assert!(StatusClass::ServerError as usize == StatusClass::ALL.len() - 1);
    assert!(Role::Draining as usize == 2);
    assert!(GroupCounter::EmptiedSessions as usize == GroupCounter::ALL.len() - 1);
};
