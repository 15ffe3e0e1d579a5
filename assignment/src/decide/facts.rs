//! The input of the decision rows: policy, release, request, and the filter's own cookies in it.

use super::DecisionContext;
use crate::contract::{OverrideMode, Stickiness};
use crate::policy::Release;
use crate::request::{SessionCookie, unquoted};
use crate::seal::{Kind, Seal};
use crate::{Policy, Request};

/// One request against one release.
pub struct Facts<'a> {
    pub(super) policy: &'a Policy,
    pub(super) release: &'a Release,
    pub(super) index: usize,
    pub(super) request: &'a Request<'a>,
    pub(super) context: &'a dyn DecisionContext,
    /// The release's session cookie, if the request has it: of several the first, which browsers send for the longest path
    /// (RFC 6265 §5.4); of a split session its first part.
    pub(super) session: Option<&'a [u8]>,
    /// Everything under the name of the sessions' pins.
    pub(super) session_pins: Candidates<'a>,
    /// Everything under the pin's name.
    pub(super) pins: Candidates<'a>,
    /// Everything under the minted id's name.
    pub(super) ids: Candidates<'a>,
    /// Everything under the token cookie's name.
    pub(super) tokens: Candidates<'a>,
    /// Whether the path has the token's query parameter, with any value.
    pub(super) has_token_parameter: bool,
}

/// Up to four cookies of one name.
///
/// A browser sends one for each path and domain that set it. Cookies after the fourth are ignored: otherwise an
/// attacker could make one request cost hundreds of verifications.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidates<'a> {
    found: [&'a [u8]; 4],
    count: usize,
}

impl<'a> Candidates<'a> {
    fn note(&mut self, value: &'a [u8]) {
        if let Some(slot) = self.found.get_mut(self.count) {
            *slot = unquoted(value);
            self.count += 1;
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.found.into_iter().take(self.count)
    }
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        policy: &'a Policy,
        index: usize,
        request: &'a Request<'a>,
        context: &'a dyn DecisionContext,
    ) -> Option<Self> {
        let release = policy.release(index)?;
        let mut facts = Self {
            policy,
            release,
            index,
            request,
            context,
            session: None,
            session_pins: Candidates::default(),
            pins: Candidates::default(),
            ids: Candidates::default(),
            tokens: Candidates::default(),
            has_token_parameter: has_token_parameter(release, request),
        };
        facts.read_cookies();
        Some(facts)
    }

    /// Reads the cookies once, for all names of this release.
    fn read_cookies(&mut self) {
        // A cookie without a name is skipped, so that a release without such a cookie finds none.
        let session = self.release.session_cookie.as_deref().unwrap_or_default().as_bytes();
        let session_pin = self.release.session_pin_name.as_bytes();
        let pin = self.release.pin.as_ref().map_or(&b""[..], |pin| pin.cookie.name.as_bytes());
        let token = self.release.token.as_ref().map_or(&b""[..], |token| token.cookie.name.as_bytes());
        let id = self.policy.id_cookie.name.as_bytes();
        let mut first_part = None;
        for (name, value) in &self.request.cookies() {
            if name.is_empty() || value.is_empty() {
                continue;
            }
            if name == pin {
                self.pins.note(value);
            } else if name == session_pin {
                self.session_pins.note(value);
            } else if name == id {
                self.ids.note(value);
            } else if name == token {
                self.tokens.note(value);
            } else if let Some(part) = SessionCookie::of(name, session) {
                match part {
                    SessionCookie::Whole => self.session = self.session.or(Some(value)),
                    SessionCookie::Part => first_part = first_part.or(Some(value)),
                }
            }
        }
        self.session = self.session.or(first_part);
    }

    /// The seal of a pin or a minted id, if it is genuine.
    pub(super) fn verify(&self, kind: Kind, uid: &str, text: &'a [u8]) -> Option<Seal<'a>> {
        self.context.verify(&self.policy.ring, kind, uid, text)
    }

    pub(super) fn now(&self) -> u64 {
        self.context.now_seconds()
    }

    pub(super) fn is_session(&self) -> bool {
        self.release.stickiness == Stickiness::Session
    }
}

/// Only releases with tokens have a parameter: those of others are the application's.
fn has_token_parameter(release: &Release, request: &Request<'_>) -> bool {
    let token = release.token.as_ref().filter(|_| release.override_mode == OverrideMode::Token);
    token.is_some_and(|token| request.has_query(&token.query))
}
