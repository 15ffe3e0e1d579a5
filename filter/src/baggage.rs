//! The edge's decision as a member of W3C baggage: the second carrier, for applications that forward baggage unchanged.
//!
//! Members that clients sent with our key are removed from every line; other members keep their bytes. If something
//! changes, several lines become one: many readers read only the first.
//!
//! # Source
//! W3C Baggage §3.2 and §3.3 (several headers may be combined into one by commas).

use crate::edit::HeaderEdits;
use crate::labels;
use assignment::policy::Release;
use assignment::request::{BAGGAGE, baggage_members, baggage_value};
use assignment::seal::Seal;
use assignment::{Decision, Policy, Request};

/// Writes our baggage member, and removes what the client sent under our key.
pub(crate) fn propagate(
    policy: &Policy,
    ours: Option<&str>,
    request: &Request<'_>,
    edits: &mut impl HeaderEdits,
) {
    let Some(key) = &policy.baggage else {
        return;
    };
    let mut line = Vec::new();
    let is_forged = copy_but(key, request, &mut line);
    if let Some(ours) = ours {
        push(&mut line, &[key.as_bytes(), b"=", ours.as_bytes()]);
    }
    match (request.baggage, is_forged || ours.is_some()) {
        (_, false) => {}
        (None, true) => edits.add(BAGGAGE, &line),
        (Some(_), true) if line.is_empty() => edits.remove(BAGGAGE.as_bytes()),
        (Some(_), true) => edits.set(BAGGAGE, &line),
    }
}

/// The value of our member; `None` for a release outside a train, whose decision is not propagated.
pub(crate) fn value(
    policy: &Policy,
    release: &Release,
    decision: &Decision,
    now: impl FnOnce() -> u64,
) -> Option<String> {
    policy.baggage.as_ref()?;
    let cohort = release.versions.get(decision.version)?.baggage_value.as_bytes();
    let identity = decision.identity.filter(|_| !cohort.is_empty())?;
    let mark = labels::cohort_mark(release, decision);
    policy.baggage_ring.sign("", &Seal::baggage(cohort, mark, identity, now()))
}

/// Copies all members except ours. Returns whether ours was among them.
fn copy_but(key: &str, request: &Request<'_>, line: &mut Vec<u8>) -> bool {
    let mut found = false;
    if request.baggage.is_none() {
        return found;
    }
    for (name, value) in &request.headers {
        if name != BAGGAGE.as_bytes() {
            continue;
        }
        for member in baggage_members(value) {
            if baggage_value(member, key).is_some() {
                found = true;
            } else if !member.is_empty() {
                push(line, &[member]);
            }
        }
    }
    found
}

fn push(line: &mut Vec<u8>, member: &[&[u8]]) {
    if !line.is_empty() {
        line.push(b',');
    }
    for part in member {
        line.extend_from_slice(part);
    }
}
