//! What the decision changes in the answer's headers: pins, minted ids, caching.
//!
//! Session and pin cannot come from different answers: the pin is written in the answer that sets the session cookie,
//! and names the version that gave it.

mod caching;
mod date;
mod set_cookie;

use crate::edit::HeaderEdits;
use crate::labels::{self, StatusClass};
use assignment::contract::{CachePolicy, PinConfig, Position};
use assignment::decide::PinPlan;
use assignment::policy::Release;
use assignment::request::Headers;
use assignment::seal::Seal;
use assignment::{Decision, Identity, Policy, Request};
use caching::Caching;
use set_cookie::SessionChange;

/// What the answer must know of its request.
#[derive(Clone, Debug)]
pub struct Pending {
    /// What was decided.
    pub decision: Decision,
    /// When, in nanoseconds since 1970-01-01 UTC, where the release keeps latencies.
    pub decided_at: Option<u64>,
    is_navigation: bool,
    is_cacheable_method: bool,
}

impl Pending {
    /// Remembers a decision until the answer comes.
    pub fn new(decision: Decision, request: &Request<'_>) -> Self {
        Self {
            decision,
            decided_at: None,
            is_navigation: request.is_navigation(),
            is_cacheable_method: request.is_cacheable_method(),
        }
    }
}

/// What an answer says about the version that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Its status class.
    pub class: StatusClass,
    /// Whether it is the 503 that Envoy gives for a cluster without healthy pods, if its details say so too.
    pub may_be_unavailable: bool,
}

/// What one look at an answer finds: for most answers that is all there is to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance<'h> {
    /// `:status`; empty where the proxy gives none.
    pub status: &'h [u8],
    /// Whether it sets a cookie.
    pub sets_cookie: bool,
}

impl<'h> Glance<'h> {
    /// Looks at an answer.
    pub fn at(answer: Headers<'h>) -> Self {
        let mut glance = Self { status: b"", sets_cookie: false };
        for (name, value) in &answer {
            match name {
                b":status" => glance.status = value,
                b"set-cookie" => glance.sets_cookie = true,
                _ => {}
            }
        }
        glance
    }
}

impl Pending {
    /// Whether [`answered`] may write anything: nearly always not.
    pub fn may_write(&self, policy: &Policy, glance: &Glance<'_>) -> bool {
        let Some(release) = policy.release(self.decision.release) else {
            return false;
        };
        let decision = &self.decision;
        let follows_session =
            release.pin.is_some() && release.session_cookie.is_some() && policy.position == Position::Edge;
        decision.mints
            || decision.token.is_some()
            || matches!(decision.pin, PinPlan::Now { .. })
            || policy.debug_header.is_some()
            || (release.caches == CachePolicy::Guard && decision.version != release.stable())
            || (follows_session && glance.sets_cookie)
    }
}

impl Outcome {
    /// Of an answer with this `:status`.
    pub fn of(policy: &Policy, pending: &Pending, status: &[u8]) -> Self {
        let release = policy.release(pending.decision.release);
        let is_stable = release.is_none_or(|release| pending.decision.version == release.stable());
        Self { class: StatusClass::of(status), may_be_unavailable: status == b"503" && !is_stable }
    }
}

/// Edits an answer. `now` is asked for only where something is written or a date is compared.
pub fn answered(
    policy: &Policy,
    pending: &Pending,
    answer: Headers<'_>,
    now: impl Fn() -> u64,
    edits: &mut impl HeaderEdits,
) {
    if let Some(reply) = Reply::read(policy, pending, answer, &now) {
        reply.edit(&now, edits);
    }
}

/// An answer, read in one pass, beside the decision it belongs to.
struct Reply<'a> {
    policy: &'a Policy,
    release: &'a Release,
    pending: &'a Pending,
    session: SessionChange<'a>,
    caching: Caching<'a>,
}

impl<'a> Reply<'a> {
    fn read(
        policy: &'a Policy,
        pending: &'a Pending,
        answer: Headers<'a>,
        now: &impl Fn() -> u64,
    ) -> Option<Self> {
        let release = policy.release(pending.decision.release)?;
        let session_cookie = release.session_cookie.as_deref().filter(|_| release.pin.is_some());
        let mut session = SessionChange::Untouched;
        let mut caching = Caching::default();
        for (name, value) in &answer {
            match (name, session_cookie) {
                (b"set-cookie", Some(cookie)) => session = session.or_by(value, cookie, now),
                _ => caching.note(name, value),
            }
        }
        Some(Self { policy, release, pending, session, caching })
    }

    fn edit(&self, now: &impl Fn() -> u64, edits: &mut impl HeaderEdits) {
        let decision = &self.pending.decision;
        let storable =
            self.caching.may_be_stored(self.pending.is_navigation, self.pending.is_cacheable_method);
        let mut added = self.edit_pin(storable, now, edits);
        if decision.mints && !storable {
            added |= self.add_minted_id(now(), edits);
        }
        let token_set = self.add_token_cookie(now, edits);
        let is_stable = decision.version == self.release.stable();
        let guarded = self.release.caches == CachePolicy::Guard && !is_stable && storable;
        if token_set || guarded {
            self.caching.make_private(edits);
        } else if added && self.caching.is_silent() {
            edits.set("cache-control", b"private");
        }
        if let Some(header) = &self.policy.debug_header {
            edits.set(header, labels::debug(self.release, decision).as_bytes());
        }
    }

    /// Writes or deletes the pin; says whether it did.
    fn edit_pin(&self, storable: bool, now: &impl Fn() -> u64, edits: &mut impl HeaderEdits) -> bool {
        let Some(pin) = self.release.pin.as_ref().filter(|_| self.policy.position == Position::Edge) else {
            return false;
        };
        let decision = &self.pending.decision;
        match (self.session, decision.pin) {
            (SessionChange::Deleted, _) => {
                edits.add("set-cookie", set_cookie::delete(&pin.cookie).as_bytes());
                true
            }
            (_, PinPlan::Never) => false,
            (SessionChange::Set(value), _) => {
                let identity =
                    decision.identity.unwrap_or_else(|| self.policy.identity_of(self.release, value));
                self.add_pin(pin, identity, now(), edits)
            }
            (SessionChange::Untouched, PinPlan::Now { issued }) if !storable => {
                decision.identity.is_some_and(|identity| self.add_pin(pin, identity, issued, edits))
            }
            (SessionChange::Untouched, PinPlan::Now { .. } | PinPlan::WithSession) => false,
        }
    }

    fn add_pin(
        &self,
        pin: &PinConfig,
        identity: Identity,
        issued: u64,
        edits: &mut impl HeaderEdits,
    ) -> bool {
        let Some(version) = self.release.versions.get(self.pending.decision.version) else {
            return false;
        };
        let seal = Seal::pin(version.name.as_bytes(), version.epoch, identity, issued);
        let Some(text) = self.policy.ring.sign(&self.release.uid, &seal) else {
            return false;
        };
        edits.add("set-cookie", set_cookie::write(&pin.cookie, &text, pin.idle_seconds).as_bytes());
        true
    }

    fn add_minted_id(&self, now: u64, edits: &mut impl HeaderEdits) -> bool {
        let signed = self
            .pending
            .decision
            .identity
            .and_then(|identity| self.policy.ring.sign("", &Seal::id(identity, now)));
        let Some(text) = signed else {
            return false;
        };
        let age = Some(self.policy.id_max_age_seconds);
        edits.add("set-cookie", set_cookie::write(&self.policy.id_cookie, &text, age).as_bytes());
        true
    }

    /// Turns a token that came by query into a cookie. Its address must not travel on by `Referer`, and the answer must
    /// not stay in a cache; says whether it did.
    fn add_token_cookie(&self, now: &impl Fn() -> u64, edits: &mut impl HeaderEdits) -> bool {
        let (Some((text, expires)), Some(token)) = (&self.pending.decision.token, &self.release.token) else {
            return false;
        };
        let left = expires.saturating_sub(now());
        edits.add("set-cookie", set_cookie::write(&token.cookie, text, Some(left)).as_bytes());
        edits.set("referrer-policy", b"no-referrer");
        true
    }
}
