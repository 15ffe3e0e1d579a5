//! Row 3: a session stays on the version of its pin.

use super::clock_skew::is_ahead;
use super::{Decision, Facts, PinAction, Reason};
use crate::contract::{PinConfig, Position};
use crate::policy::PinStatus;
use crate::seal::{Kind, Seal};

/// The result of the pins of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pinned<'a> {
    /// No genuine pin.
    Absent,
    /// A genuine pin of a live version.
    Live { seal: Seal<'a>, version: usize },
    /// A genuine pin past its absolute age on a request without the session cookie: decided again.
    Aged,
    /// A genuine pin of a removed version: the request is decided again and the pin replaced.
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
    match facts.release.pin_status(seal.version, seal.epoch, || facts.now()) {
        PinStatus::Gone => Pinned::Gone,
        PinStatus::Unknown => Pinned::Unknown { seal },
        PinStatus::Live(_) if facts.session.is_none() && age(facts, &seal) > pin.max_age_seconds => {
            Pinned::Aged
        }
        PinStatus::Live(version) => Pinned::Live { seal, version },
    }
}

/// The row itself, and the two kinds of doubt that end here.
pub(super) fn by_pin(facts: &Facts<'_>, pinned: &Pinned<'_>) -> Option<Decision> {
    let stable = facts.release.stable();
    match pinned {
        Pinned::Live { seal, version } => Some(Decision {
            identity: Some(seal.identity),
            pin: renewal(facts, seal),
            session_age: facts.release.session_age(seal.issued),
            ..facts.decision(*version, Reason::Pin)
        }),
        Pinned::Unknown { seal } => Some(Decision {
            identity: Some(seal.identity),
            pin: PinAction::Never,
            ..facts.decision(stable, Reason::Unknown)
        }),
        Pinned::Conflict => Some(Decision {
            identity: super::hashed::any_identity(facts),
            ..facts.decision(stable, Reason::Conflict)
        }),
        Pinned::Absent | Pinned::Aged | Pinned::Gone => None,
    }
}

/// When the response renews a live pin: past its absolute age, or past half of its idle age.
///
/// Only a session cookie makes a pin younger; without one a refreshed pin keeps its issue time, so that the absolute
/// age still ends it.
fn renewal(facts: &Facts<'_>, seal: &Seal<'_>) -> PinAction {
    let Some(pin) = facts.release.pin.as_ref().filter(|_| facts.policy.position == Position::Edge) else {
        return PinAction::Never;
    };
    match (is_due(pin, age(facts, seal)), facts.session) {
        (false, _) => PinAction::WithSession,
        (true, Some(_)) => PinAction::Now { issued: facts.now() },
        (true, None) => PinAction::Now { issued: seal.issued },
    }
}

fn is_due(pin: &PinConfig, age: u64) -> bool {
    age > pin.max_age_seconds || pin.idle_seconds.is_some_and(|idle| age > idle / 2)
}

/// The pin's age in seconds; 0 if another proxy's clock is a little ahead of ours.
///
/// A pin that is further ahead counts as past any age: otherwise it would not age until then. With the session cookie it is
/// honoured and renewed at once, so that a clock that was wrong moves no session.
fn age(facts: &Facts<'_>, seal: &Seal<'_>) -> u64 {
    let now = facts.now();
    if is_ahead(seal.issued, now) { u64::MAX } else { now.saturating_sub(seal.issued) }
}
