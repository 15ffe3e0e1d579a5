//! The edge's decision, as an application with OpenTelemetry propagates it: a signed member of W3C baggage.
//!
//! The headers `x-canary-id` and `x-canary-cohort` are trusted inside the mesh because the edge removes those of
//! clients, natively and for every host. A member of a shared header cannot be removed natively, so it is trusted by
//! its MAC instead: no client can forge one, also while the filter is missing at the edge.

use super::Facts;
use super::clock_skew::is_ahead;
use crate::contract::{Position, Role};
use crate::request::{BAGGAGE, baggage_members, baggage_value};
use crate::seal::{Kind, Seal};

/// The longest age of a propagated decision, in seconds. Long enough for a queue between two services; an older one
/// could name a role that other pods have by then. One that was issued ahead of any believable clock would live longer, and is none.
pub const MAX_BAGGAGE_AGE_SECONDS: u64 = 3600;

/// The most members with our key that are read: the edge leaves one.
const MAX_MEMBERS: usize = 4;

/// The genuine decision that the request carries. Several that contradict each other are none.
pub(super) fn genuine_seal<'a>(facts: &Facts<'a>) -> Option<Seal<'a>> {
    let key = facts.policy.baggage.as_deref().filter(|_| facts.policy.position == Position::Mesh)?;
    facts.request.baggage?;
    let mut first: Option<Seal<'a>> = None;
    let mut looked_at = 0;
    for (name, line) in &facts.request.headers {
        for member in baggage_members(if name == BAGGAGE.as_bytes() { line } else { b"" }) {
            let text = baggage_value(member, key).filter(|_| looked_at < MAX_MEMBERS);
            looked_at += usize::from(text.is_some());
            let Some(seal) = text.and_then(|text| verify(facts, text)) else {
                continue;
            };
            let content = |seal: &Seal<'a>| (seal.version, seal.epoch, seal.identity);
            if first.as_ref().is_some_and(|first| content(first) != content(&seal)) {
                return None;
            }
            first = Some(seal);
        }
    }
    first
}

fn verify<'a>(facts: &Facts<'_>, text: &'a [u8]) -> Option<Seal<'a>> {
    let seal = facts.policy.baggage_ring.verify(Kind::Baggage, "", text)?;
    let (issued, now) = (seal.issued, facts.now());
    (!is_ahead(issued, now) && now.saturating_sub(issued) <= MAX_BAGGAGE_AGE_SECONDS).then_some(seal)
}

/// The role that a propagated decision gives a train.
pub(super) fn role_of(seal: &Seal<'_>, train: &[u8]) -> Option<Role> {
    Role::from_name(seal.version.strip_prefix(train)?.strip_prefix(b".")?)
}
