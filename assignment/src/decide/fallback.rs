//! Rows 7 and 8: a user without a key.

use super::hashed::{drawn_identity, is_pinned_at_once};
use super::{Decision, Facts, PinAction, Reason};
use crate::Identity;
use crate::contract::{Fallback, MintPolicy, Position};

/// Row 7: draw an id, decide by its bucket now, and write it with this response.
pub(super) fn by_minting(facts: &Facts<'_>) -> Option<Decision> {
    if !can_mint(facts) {
        return None;
    }
    let identity = Identity::from_random(facts.context.random()?);
    let decision = facts.by_bucket(identity, Reason::Minted);
    let pin = match decision.pin {
        PinAction::WithSession if is_pinned_at_once(facts) => PinAction::Now { issued: facts.now() },
        plan => plan,
    };
    Some(Decision { pin, mints: true, ..decision })
}

fn can_mint(facts: &Facts<'_>) -> bool {
    let wanted = match facts.release.mint {
        MintPolicy::Never => false,
        MintPolicy::Always => true,
        MintPolicy::Navigation => facts.request.is_navigation(),
    };
    wanted
        && facts.policy.position == Position::Edge
        && facts.policy.ring.can_sign()
        && facts.request.may_keep_cookies()
}

/// Row 8: stable, or the bucket of the client's address if the release configures it.
pub(super) fn by_fallback(facts: &Facts<'_>) -> Decision {
    let address = match facts.release.fallback {
        Fallback::Stable => None,
        Fallback::ClientAddress => facts.context.client_address().filter(|address| !address.is_empty()),
    };
    if let Some(address) = address {
        return facts.by_bucket(facts.policy.identity_of(facts.release, &address), Reason::Fallback);
    }
    let decision = facts.decision(facts.release.stable(), Reason::Fallback);
    Decision { identity: drawn_identity(facts), ..decision }
}
