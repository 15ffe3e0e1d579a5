//! Row 2: a tester overrides the version.

use super::clock_skew::is_ahead;
use super::{Decision, Facts, PinAction, Reason};
use crate::contract::{OverrideMode, Position, Role};
use crate::policy::PinStatus;
use crate::seal::{Kind, Seal};

/// The longest life of a token: 7 days, in seconds. A token with a longer life does not verify, even with a valid
/// signature.
pub const MAX_TOKEN_LIFE_SECONDS: u64 = 7 * 24 * 3600;

pub(super) fn by_override(facts: &Facts<'_>) -> Option<Decision> {
    match facts.release.override_mode {
        OverrideMode::Off => None,
        OverrideMode::Open => by_name(facts),
        OverrideMode::Token => by_token(facts),
    }
}

/// `x-canary-override: canary | stable | <version>`, accepted without a signature because the release declares its
/// network as trusted.
fn by_name(facts: &Facts<'_>) -> Option<Decision> {
    let asked = facts.request.overrides?;
    let version = match Role::from_name(asked) {
        Some(Role::Stable) => Some(facts.release.stable()),
        Some(Role::Canary) => facts.release.canary(|| facts.now()),
        Some(Role::Draining) | None => facts.release.live(asked, || facts.now()),
    }?;
    Some(overridden(facts, version))
}

/// A signed token by header, then cookie, then query parameter. The first that is valid counts; cookies that contradict
/// each other send the tester to stable, as pins do.
fn by_token(facts: &Facts<'_>) -> Option<Decision> {
    let token = facts.release.token.as_ref()?;
    if let Some((version, _)) = facts.request.token.and_then(|text| valid(facts, text)) {
        return Some(overridden(facts, version));
    }
    let mut versions = facts.tokens.iter().filter_map(|text| valid(facts, text)).map(|(version, _)| version);
    if let Some(version) = versions.next() {
        let agreed = versions.all(|other| other == version);
        return Some(if agreed { overridden(facts, version) } else { contradicted(facts) });
    }
    let text = facts.request.query(&token.query)?;
    let (version, expires) = valid(facts, text)?;
    // What verifies is ASCII: we have written it.
    let text = std::str::from_utf8(text).ok()?.to_owned();
    Some(Decision { token: Some((text, expires)), ..overridden(facts, version) })
}

/// The live version that a token names, and the token's last second.
fn valid(facts: &Facts<'_>, text: &[u8]) -> Option<(usize, u64)> {
    let seal = facts.policy.ring.verify(Kind::Token, &facts.release.uid, text)?;
    let expires = in_time(facts, &seal)?;
    match facts.release.pin_status(seal.version, seal.epoch, || facts.now()) {
        PinStatus::Live(version) => Some((version, expires)),
        PinStatus::Gone | PinStatus::Unknown => None,
    }
}

fn in_time(facts: &Facts<'_>, seal: &Seal<'_>) -> Option<u64> {
    let expires = seal.expires?;
    let now = facts.now();
    // What is issued in time and lives no longer than a token may ends in time too.
    let short_lived = expires.checked_sub(seal.issued).is_some_and(|life| life <= MAX_TOKEN_LIFE_SECONDS);
    let revoked = facts.release.token.as_ref().is_none_or(|token| seal.issued < token.not_before_seconds);
    (short_lived && !is_ahead(seal.issued, now) && !revoked && now < expires).then_some(expires)
}

/// Never pinned: the tester's visit must leave nothing behind. The tester keeps an identity, so that with pod affinity
/// they keep a pod.
fn overridden(facts: &Facts<'_>, version: usize) -> Decision {
    let identity = match facts.policy.position {
        Position::Edge if facts.release.writes_identity() => super::hashed::any_identity(facts),
        _ => None,
    };
    Decision { identity, pin: PinAction::Never, ..facts.decision(version, Reason::Override) }
}

fn contradicted(facts: &Facts<'_>) -> Decision {
    Decision { reason: Reason::Conflict, ..overridden(facts, facts.release.stable()) }
}
