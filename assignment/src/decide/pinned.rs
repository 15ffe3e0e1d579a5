//! Row 3: a session stays on the version of its pin.

use super::clock_skew::is_ahead;
use super::facts::Candidates;
use super::{Decision, Facts, HostPin, PinAction, Reason};
use crate::Identity;
use crate::contract::{PinConfig, Position};
use crate::policy::PinStatus;
use crate::request::{SessionHash, session_hash, split_session_pin};
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

/// The pins of a request, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pins<'a> {
    pub(super) pinned: Pinned<'a>,
    pub(super) host_pin: HostPin,
}

/// The pins that count: those of one session, those of none, or all.
#[derive(Clone, Copy)]
enum Whose {
    Session(SessionHash),
    NoSession,
    Any,
}

/// The pins of one cookie name: none that is genuine, one content (the youngest seal), or several that contradict each other.
enum Genuine<'a> {
    Nothing,
    One(Seal<'a>),
    Conflict,
}

/// Reads the pins; only releases with `stickiness: session` have any.
///
/// The pin of the request's session counts. Where it has none, a pin of the host counts that belongs to no session: such a session
/// was not seen to begin. A request without a session follows any pin, first those beside a session cookie.
pub(super) fn read<'a>(facts: &Facts<'a>) -> Pins<'a> {
    if !facts.is_session() || (facts.pins.is_empty() && facts.session_pins.is_empty()) {
        return Pins { pinned: Pinned::Absent, host_pin: HostPin::Absent };
    }
    let owner = facts.pins.iter().find_map(|pin| split_session_pin(pin).0);
    let session =
        facts.session.filter(|_| owner.is_some() || !facts.session_pins.is_empty()).map(session_hash);
    let own = match session {
        Some(session) => Whose::Session(session),
        None if facts.session.is_some() => Whose::NoSession,
        None => Whose::Any,
    };
    let mut pinned = judge(facts, &facts.session_pins, own);
    if pinned == Pinned::Absent
        && !facts.session_pins.is_empty()
        && let Some(session) = session_by_another_cookie(facts)
    {
        pinned = judge(facts, &facts.session_pins, Whose::Session(session));
    }
    let of_host = [own, Whose::NoSession];
    for whose in of_host.into_iter().take(if session.is_some() { 2 } else { 1 }) {
        if matches!(pinned, Pinned::Absent | Pinned::Aged | Pinned::Gone) {
            let of_host = judge(facts, &facts.pins, whose);
            if let (Whose::NoSession, Pinned::Live { .. }) = (whose, of_host) {
                return Pins { pinned: of_host, host_pin: HostPin::Unclaimed };
            }
            pinned = if of_host == Pinned::Absent { pinned } else { of_host };
        }
    }
    let host_pin = match owner {
        Some(owner) if session.as_ref() == Some(owner) => HostPin::OfSession,
        Some(_) => HostPin::OfAnotherSession,
        None if facts.pins.is_empty() => HostPin::Absent,
        None => unclaimed(facts, &pinned),
    };
    Pins { pinned, host_pin }
}

/// The session that a pin belongs to where another cookie than the session cookie has its value: a part of a split session, or the
/// session cookie by an earlier name in the release's file.
#[cold]
fn session_by_another_cookie(facts: &Facts<'_>) -> Option<SessionHash> {
    facts.session?;
    let name = facts.release.session_cookie.as_deref().unwrap_or_default().as_bytes();
    let others = facts.request.cookies().iter().filter(|(found, _)| *found != name);
    let mut sessions = others.map(|(_, value)| session_hash(value));
    sessions.find(|session| facts.session_pins.iter().any(|pin| split_session_pin(pin).0 == Some(session)))
}

fn genuine<'a>(facts: &Facts<'a>, pins: &Candidates<'a>, whose: Whose) -> Genuine<'a> {
    let mut found = Genuine::Nothing;
    for pin in pins.iter() {
        let (session, text) = split_session_pin(pin);
        let counts = match whose {
            Whose::Session(own) => session == Some(&own),
            Whose::NoSession => session.is_none(),
            Whose::Any => true,
        };
        let Some(seal) = counts.then(|| facts.verify(Kind::Pin, &facts.release.uid, text)).flatten() else {
            continue;
        };
        found = match found {
            Genuine::One(other) if content(&other) != content(&seal) => return Genuine::Conflict,
            Genuine::One(other) if other.issued > seal.issued => Genuine::One(other),
            _ => Genuine::One(seal),
        };
    }
    found
}

fn content<'a>(seal: &Seal<'a>) -> (&'a [u8], u32, Identity) {
    (seal.version, seal.epoch, seal.identity)
}

fn judge<'a>(facts: &Facts<'a>, pins: &Candidates<'a>, whose: Whose) -> Pinned<'a> {
    let seal = match genuine(facts, pins, whose) {
        Genuine::Nothing => return Pinned::Absent,
        Genuine::Conflict => return Pinned::Conflict,
        Genuine::One(seal) => seal,
    };
    let max_age = facts.release.pin.as_ref().map_or(0, |pin| pin.max_age_seconds);
    match facts.release.pin_status(seal.version, seal.epoch, || facts.now()) {
        PinStatus::Gone => Pinned::Gone,
        PinStatus::Unknown => Pinned::Unknown { seal },
        PinStatus::Live(_) if facts.session.is_none() && age(facts, &seal) > max_age => Pinned::Aged,
        PinStatus::Live(version) => Pinned::Live { seal, version },
    }
}

/// The state of the host's pin that belongs to no session, beside the pin that decides.
fn unclaimed(facts: &Facts<'_>, pinned: &Pinned<'_>) -> HostPin {
    let Genuine::One(host) = genuine(facts, &facts.pins, Whose::NoSession) else {
        // The next session settles a conflict.
        return HostPin::Absent;
    };
    match facts.release.pin_status(host.version, host.epoch, || facts.now()) {
        PinStatus::Gone => HostPin::Absent,
        _ if matches!(pinned, Pinned::Live { seal, .. } if content(seal) == content(&host)) => {
            HostPin::Unclaimed
        }
        PinStatus::Live(_) | PinStatus::Unknown => HostPin::OfOthers,
    }
}

/// The row itself, and the two kinds of doubt that end here.
pub(super) fn by_pin(facts: &Facts<'_>, pins: &Pins<'_>) -> Option<Decision> {
    let stable = facts.release.stable();
    match &pins.pinned {
        Pinned::Live { seal, version } => Some(Decision {
            identity: Some(seal.identity),
            pin: renewal(facts, pins.host_pin, seal),
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

/// When the response renews a pin of the host that belongs to no session: past its absolute age, or past half of its idle age. A pin
/// beside a session cookie lives as long as that.
///
/// Only a session cookie makes a pin younger; without one a refreshed pin keeps its issue time, so that the absolute
/// age still ends it.
fn renewal(facts: &Facts<'_>, host_pin: HostPin, seal: &Seal<'_>) -> PinAction {
    let Some(pin) = facts.release.pin.as_ref().filter(|_| facts.policy.position == Position::Edge) else {
        return PinAction::Never;
    };
    match (host_pin == HostPin::Unclaimed && is_due(pin, age(facts, seal)), facts.session) {
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
