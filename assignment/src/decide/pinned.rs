//! Row 3: a session stays where its pin says.

use super::{Decision, Facts, PinPlan, Reason};
use crate::contract::{PinConfig, Position};
use crate::policy::Standing;
use crate::seal::{Kind, Seal};

/// What the pins of a request come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pinned<'a> {
    /// No genuine pin.
    Absent,
    /// A genuine pin of a live version.
    Live { seal: Seal<'a>, version: usize },
    /// A genuine pin past its absolute age on a request without the session cookie: decided anew.
    Aged,
    /// A genuine pin of a version that is gone: decided anew, and replaced.
    Gone,
    /// A genuine pin of a version that this proxy does not know: stable, and not overwritten.
    Unknown { seal: Seal<'a> },
    /// Several genuine pins that contradict each other.
    Conflict,
}

/// Reads the pins; only releases with `stickiness: session` have any.
pub(super) fn read<'a>(facts: &Facts<'a>) -> Pinned<'a> {
    let Some(pin) = facts.release.pin.as_ref().filter(|_| facts.is_session()) else {
        return Pinned::Absent;
    };
    let mut genuine = facts.pins.iter().filter_map(|text| facts.verify(Kind::Pin, &facts.release.uid, text));
    let Some(seal) = genuine.next() else {
        return Pinned::Absent;
    };
    let content = |seal: &Seal<'a>| (seal.version, seal.epoch, seal.identity);
    if genuine.any(|other| content(&other) != content(&seal)) {
        return Pinned::Conflict;
    }
    match facts.release.standing(seal.version, seal.epoch, || facts.now()) {
        Standing::Gone => Pinned::Gone,
        Standing::Unknown => Pinned::Unknown { seal },
        Standing::Live(_) if facts.session.is_none() && age(facts, &seal) > pin.max_age_seconds => {
            Pinned::Aged
        }
        Standing::Live(version) => Pinned::Live { seal, version },
    }
}

/// The row itself, and the two kinds of doubt that end here.
pub(super) fn by_pin(facts: &Facts<'_>, pinned: &Pinned<'_>) -> Option<Decision> {
    let stable = facts.release.stable();
    match pinned {
        Pinned::Live { seal, version } => Some(Decision {
            identity: Some(seal.identity),
            pin: renewal(facts, seal),
            ..facts.decision(*version, Reason::Pin)
        }),
        Pinned::Unknown { seal } => Some(Decision {
            identity: Some(seal.identity),
            pin: PinPlan::Never,
            ..facts.decision(stable, Reason::Unknown)
        }),
        Pinned::Conflict => Some(Decision {
            identity: super::hashed::any_identity(facts),
            ..facts.decision(stable, Reason::Conflict)
        }),
        Pinned::Absent | Pinned::Aged | Pinned::Gone => None,
    }
}

/// When the answer renews a live pin: past its absolute age, or past half of its idle age.
///
/// Only a session cookie makes a pin younger; without one a refreshed pin keeps its issue time, so that the absolute
/// age still ends it.
fn renewal(facts: &Facts<'_>, seal: &Seal<'_>) -> PinPlan {
    let Some(pin) = facts.release.pin.as_ref().filter(|_| facts.policy.position == Position::Edge) else {
        return PinPlan::Never;
    };
    match (is_due(pin, age(facts, seal)), facts.session) {
        (false, _) => PinPlan::WithSession,
        (true, Some(_)) => PinPlan::Now { issued: facts.now() },
        (true, None) => PinPlan::Now { issued: seal.issued },
    }
}

fn is_due(pin: &PinConfig, age: u64) -> bool {
    age > pin.max_age_seconds || pin.idle_seconds.is_some_and(|idle| age > idle / 2)
}

/// The pin's age in seconds; 0 where another proxy's clock is ahead of ours.
fn age(facts: &Facts<'_>, seal: &Seal<'_>) -> u64 {
    facts.now().saturating_sub(seal.issued)
}
