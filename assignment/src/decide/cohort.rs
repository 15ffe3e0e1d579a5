//! Row 4: inside the mesh the edge's decision for the train is followed.

use super::baggage::{self, genuine_seal};
use super::{Decision, Facts, Reason};
use crate::Identity;
use crate::contract::{Position, Role};

/// The mark of a tester's request in the cohort header: counted apart, like at the edge.
pub const OVERRIDE_MARK: &[u8] = b"override";

pub(super) fn by_cohort(facts: &Facts<'_>) -> Option<Decision> {
    if facts.policy.position != Position::Mesh {
        return None;
    }
    let train = facts.release.train.as_deref()?.as_bytes();
    let ((role, is_override), identity) = by_header(facts, train).or_else(|| by_baggage(facts, train))?;
    let version = facts.release.live_role(role, || facts.now())?;
    let reason = if is_override { Reason::Override } else { Reason::Cohort };
    Some(Decision { identity, ..facts.decision(version, reason) })
}

/// A role, whether it is a tester's override, and the user's identity.
type ReceivedCohort = ((Role, bool), Option<Identity>);

fn by_header(facts: &Facts<'_>, train: &[u8]) -> Option<ReceivedCohort> {
    let cohort = cohort_of(facts.request.cohort?, train)?;
    Some((cohort, facts.request.identity.and_then(Identity::from_hex)))
}

/// The second carrier: if the header was not forwarded, an application may have propagated the baggage.
fn by_baggage(facts: &Facts<'_>, train: &[u8]) -> Option<ReceivedCohort> {
    let seal = genuine_seal(facts)?;
    Some((baggage::cohort_of(&seal, train)?, Some(seal.identity)))
}

/// The role of a train in `<train>=<role>[;override], …`, and whether it is a tester's override.
fn cohort_of(header: &[u8], train: &[u8]) -> Option<(Role, bool)> {
    header.split(|byte| *byte == b',').find_map(|member| {
        let member = member.trim_ascii().strip_prefix(train)?.strip_prefix(b"=")?;
        let mut parts = member.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let role = Role::from_name(parts.next()?)?;
        Some((role, parts.any(|part| part == OVERRIDE_MARK)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_is_found_among_others_by_its_whole_name() {
        let header = b"autumn=stable, autumn-two=canary ;override,spring=draining";
        assert_eq!(cohort_of(header, b"autumn"), Some((Role::Stable, false)));
        assert_eq!(cohort_of(header, b"autumn-two"), Some((Role::Canary, true)));
        assert_eq!(cohort_of(header, b"spring"), Some((Role::Draining, false)));
        assert_eq!(cohort_of(header, b"autumn-"), None);
        assert_eq!(cohort_of(b"autumn=v2", b"autumn"), None);
    }
}
