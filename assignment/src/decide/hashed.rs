//! Rows 5 and 6: a session older than the filter, and a user with a key.

use super::baggage::genuine_seal;
use super::{Decision, Facts, HostPin, KeyOrigin, PinAction, Reason};
use crate::Identity;
use crate::contract::{KeySource, Position};
use crate::policy::SessionAge;
use crate::seal::Kind;

/// The result of the minted ids of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MintedId {
    /// No genuine one.
    Absent,
    /// A genuine one, and all others agree; issued at this second, the earliest if there are several.
    One { identity: Identity, issued: u64 },
    /// Genuine ones that contradict each other.
    Conflict,
}

/// Reads the minted ids.
pub(super) fn minted_id(facts: &Facts<'_>) -> MintedId {
    let mut genuine = facts.ids.iter().filter_map(|text| facts.verify(Kind::Id, "", text));
    let Some(first) = genuine.next() else {
        return MintedId::Absent;
    };
    let mut issued = first.issued;
    for other in genuine {
        if other.identity != first.identity {
            return MintedId::Conflict;
        }
        issued = issued.min(other.issued);
    }
    MintedId::One { identity: first.identity, issued }
}

/// Row 5: a session cookie without a pin or a minted id means that the session is older than the filter. It stays on
/// the version that was stable then, and is pinned to it. (An id issued before this release was installed does not rule
/// this out: ids are per host, and another release may have minted it. Nor does one with which a session on another path was opened.) After some time no session that has been silent since then
/// lives any more, and a session cookie without a pin comes from an application outside the release: adoption ends.
pub(super) fn by_adoption(facts: &Facts<'_>, minted: MintedId, host_pin: HostPin) -> Option<Decision> {
    let adopt = facts.release.adopt.as_deref().filter(|_| facts.is_session())?;
    let session = facts.session?;
    let end = facts.release.adopt_until_seconds;
    if end != 0 && facts.now() >= end {
        return None;
    }
    let identity = match minted {
        MintedId::Absent => facts.policy.identity_of(facts.release, session),
        MintedId::One { identity, issued }
            if issued < facts.release.installed_at_seconds || host_pin == HostPin::OfAnotherSession =>
        {
            identity
        }
        MintedId::One { .. } | MintedId::Conflict => return None,
    };
    let live = facts.release.live(adopt.as_bytes(), || facts.now());
    let plan = match facts.policy.position {
        Position::Edge => PinAction::Now { issued: facts.now() },
        Position::Mesh => PinAction::Never,
    };
    Some(Decision {
        identity: Some(identity),
        pin: plan,
        session_age: SessionAge::Older,
        ..facts.decision(live.unwrap_or(facts.release.stable()), Reason::Adopted)
    })
}

/// Row 6: the bucket of the first present key decides. If that is one of several minted ids that differ, the user is on
/// stable: minting again would add a third id and assign the user again with the next page.
pub(super) fn by_key(facts: &Facts<'_>, minted: MintedId) -> Option<Decision> {
    let (identity, origin) = match find_key(facts, minted) {
        Found::Key(identity, origin) => (identity, origin),
        Found::Nothing => return None,
        Found::Conflict => {
            let decision = facts.decision(facts.release.stable(), Reason::Conflict);
            return Some(Decision { identity: drawn_identity(facts), ..decision });
        }
    };
    let decision = Decision { key: Some(origin), ..facts.by_bucket(identity, Reason::Hash) };
    let pin = match decision.pin {
        PinAction::WithSession if is_pinned_at_once(facts) => PinAction::Now { issued: facts.now() },
        plan => plan,
    };
    Some(Decision { pin, ..decision })
}

/// Whether a session that is decided by its bucket is pinned without waiting for a response that sets its cookie: the
/// release names no session cookie, or the session exists already (it began at another release of the host, or its old
/// pin is no longer valid) and the next weight change must not move it.
pub(super) fn is_pinned_at_once(facts: &Facts<'_>) -> bool {
    facts.release.session_cookie.is_none() || facts.session.is_some()
}

/// The result of the release's list of keys.
enum Found {
    Key(Identity, KeyOrigin),
    Nothing,
    Conflict,
}

/// The user's identity by the release's list of keys. The minted id is tried directly before the first cookie key, so
/// that a user is not assigned again when the application opens a session.
fn find_key(facts: &Facts<'_>, minted: MintedId) -> Found {
    for (index, source) in facts.release.identify_by.iter().enumerate() {
        if matches!(source, KeySource::Cookie(_)) && minted != MintedId::Absent {
            break;
        }
        if let Some(identity) = identity_by(facts, source) {
            return Found::Key(identity, KeyOrigin::Key(index));
        }
    }
    match minted {
        MintedId::Absent => Found::Nothing,
        MintedId::One { identity, .. } => Found::Key(identity, KeyOrigin::MintedId),
        MintedId::Conflict => Found::Conflict,
    }
}

/// The identity that one source gives. An empty value is none.
fn identity_by(facts: &Facts<'_>, source: &KeySource) -> Option<Identity> {
    let (policy, request, release) = (facts.policy, facts.request, facts.release);
    let of_key = |key: &[u8]| (!key.is_empty()).then(|| policy.identity_of(release, key));
    match source {
        KeySource::Cookie(name) if release.session_cookie.as_deref() == Some(name) => of_key(facts.session?),
        KeySource::Cookie(name) => of_key(request.cookies().get(name)?),
        KeySource::Header(name) => of_key(request.header(name)?),
        KeySource::Query(name) => of_key(request.query(name)?),
        KeySource::Jwt { claim, payload } => of_key(&facts.context.jwt_claim(payload, claim)?),
        KeySource::ClientAddress {} => of_key(&facts.context.client_address()?),
        KeySource::Identity {} if policy.position == Position::Mesh => {
            let received = request.identity.and_then(Identity::from_hex);
            received.or_else(|| genuine_seal(facts).map(|seal| seal.identity))
        }
        KeySource::Identity {} => None,
    }
}

/// Some identity for a row that does not need one itself but must write one (pod affinity) or may have to pin one:
/// the user's own where there is a key, else one drawn for this request.
pub(super) fn any_identity(facts: &Facts<'_>) -> Option<Identity> {
    match find_key(facts, minted_id(facts)) {
        Found::Key(identity, _) => Some(identity),
        Found::Nothing | Found::Conflict => drawn_identity(facts),
    }
}

/// An identity drawn for this request, where the response may have to pin one or the next hop needs one.
pub(super) fn drawn_identity(facts: &Facts<'_>) -> Option<Identity> {
    let at_edge = facts.policy.position == Position::Edge;
    let needed = at_edge && (facts.is_session() || facts.release.writes_identity());
    if needed { facts.context.random().map(Identity::from_random) } else { None }
}
