//! Row 4: inside the mesh the edge's decision for the train is followed.

use super::baggage::{self, genuine_seal};
use super::{Decision, Facts, Reason};
use crate::contract::{Position, Role};
use crate::policy::SessionAge;
use crate::{CohortMark, Identity};

pub(super) fn by_cohort(facts: &Facts<'_>) -> Option<Decision> {
    if facts.policy.position != Position::Mesh {
        return None;
    }
    let train = facts.release.train.as_deref()?.as_bytes();
    let (cohort, identity) = by_header(facts, train).or_else(|| by_baggage(facts, train))?;
    let version = facts.release.live_role(cohort.role, || facts.now())?;
    let reason = if cohort.is_override { Reason::Override } else { Reason::Cohort };
    let session_age = if cohort.is_new { SessionAge::New } else { SessionAge::Older };
    Some(Decision { identity, session_age, ..facts.decision(version, reason) })
}

/// The edge's decision for one train.
#[derive(Debug, PartialEq, Eq)]
struct Cohort {
    role: Role,
    /// Whether it has [`CohortMark::Override`].
    is_override: bool,
    /// Whether it has [`CohortMark::New`]. An edge that is older than the mark writes none.
    is_new: bool,
}

fn by_header(facts: &Facts<'_>, train: &[u8]) -> Option<(Cohort, Option<Identity>)> {
    let cohort = cohort_of(facts.request.cohort?, train)?;
    Some((cohort, facts.request.identity.and_then(Identity::from_hex)))
}

/// The second carrier: if the header was not forwarded, an application may have propagated the baggage.
fn by_baggage(facts: &Facts<'_>, train: &[u8]) -> Option<(Cohort, Option<Identity>)> {
    let seal = genuine_seal(facts)?;
    let has = |mark: CohortMark| seal.epoch == mark.number();
    let (is_override, is_new) = (has(CohortMark::Override), has(CohortMark::New));
    Some((Cohort { role: baggage::role_of(&seal, train)?, is_override, is_new }, Some(seal.identity)))
}

/// The cohort of a train in `<train>=<role>[;override][;new], …`.
fn cohort_of(header: &[u8], train: &[u8]) -> Option<Cohort> {
    header.split(|byte| *byte == b',').find_map(|member| {
        let member = member.trim_ascii().strip_prefix(train)?.strip_prefix(b"=")?;
        let mut parts = member.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let role = Role::from_name(parts.next()?)?;
        let mut cohort = Cohort { role, is_override: false, is_new: false };
        for mark in parts {
            cohort.is_override |= mark == CohortMark::Override.as_bytes();
            cohort.is_new |= mark == CohortMark::New.as_bytes();
        }
        Some(cohort)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_is_found_among_others_by_its_whole_name() {
        let header = b"autumn=stable, autumn-two=canary ;override,spring=draining";
        let of = |train| cohort_of(header, train).map(|cohort| (cohort.role, cohort.is_override));
        assert_eq!(of(b"autumn"), Some((Role::Stable, false)));
        assert_eq!(of(b"autumn-two"), Some((Role::Canary, true)));
        assert_eq!(of(b"spring"), Some((Role::Draining, false)));
        assert_eq!(of(b"autumn-"), None);
        assert_eq!(cohort_of(b"autumn=v2", b"autumn"), None);
    }

    #[test]
    fn marks_are_read_in_any_order_and_unknown_ones_are_ignored() {
        for (header, is_override, is_new) in [
            (&b"autumn=canary"[..], false, false),
            (b"autumn=canary;new", false, true),
            (b"autumn=canary; new ;override", true, true),
            (b"autumn=canary;newer;of-a-later-version", false, false),
            (b"spring=canary;new,autumn=canary", false, false),
        ] {
            let expected = Cohort { role: Role::Canary, is_override, is_new };
            assert_eq!(cohort_of(header, b"autumn"), Some(expected), "{}", header.escape_ascii());
        }
    }
}
