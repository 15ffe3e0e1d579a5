//! Row 2: a tester asks for a version.

use super::{Decision, Facts, PinPlan, Reason};
use crate::contract::{OverrideMode, Position, Role};
use crate::policy::Standing;
use crate::seal::{Kind, Seal};

/// The longest life of a token: 7 days, in seconds. A longer one does not verify, whoever signed it.
pub const MAX_TOKEN_LIFE_SECONDS: u64 = 7 * 24 * 3600;

pub(super) fn by_override(facts: &Facts<'_>) -> Option<Decision> {
    match facts.release.override_mode {
        OverrideMode::Off => None,
        OverrideMode::Open => by_name(facts),
        OverrideMode::Token => by_token(facts),
    }
}

/// `x-canary-override: canary | stable | <version>`, believed because the operator said that the network is trusted.
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
    match facts.release.standing(seal.version, seal.epoch, || facts.now()) {
        Standing::Live(version) => Some((version, expires)),
        Standing::Gone | Standing::Unknown => None,
    }
}

fn in_time(facts: &Facts<'_>, seal: &Seal<'_>) -> Option<u64> {
    let expires = seal.expires?;
    let short_lived = expires.saturating_sub(seal.issued) <= MAX_TOKEN_LIFE_SECONDS;
    let revoked = facts.release.token.as_ref().is_none_or(|token| seal.issued < token.not_before_seconds);
    (short_lived && !revoked && facts.now() < expires).then_some(expires)
}

/// Never pinned: the tester's visit must leave nothing behind. The tester keeps an identity, so that with pod affinity
/// they keep a pod.
fn overridden(facts: &Facts<'_>, version: usize) -> Decision {
    let identity = match facts.policy.position {
        Position::Edge if facts.release.writes_identity() => super::hashed::any_identity(facts),
        _ => None,
    };
    Decision { identity, pin: PinPlan::Never, ..facts.decision(version, Reason::Override) }
}

fn contradicted(facts: &Facts<'_>) -> Decision {
    Decision { reason: Reason::Conflict, ..overridden(facts, facts.release.stable()) }
}
