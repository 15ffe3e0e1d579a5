//! The pins that a response writes and deletes.
//!
//! Session and pin cannot come from different responses: the pin is written in the response that sets the session
//! cookie, and names the version that sent it.

use super::Response;
use super::set_cookie::{self, SessionChange, SetCookie};
use crate::edit::HeaderEdits;
use assignment::Identity;
use assignment::contract::{PinConfig, Position};
use assignment::decide::{HostPin, PinAction, Reason};
use assignment::request::{SessionCookie, session_pin};
use assignment::seal::Seal;

impl<'a> Response<'a> {
    /// Writes or deletes the pins. Returns whether it did.
    pub(super) fn edit_pin(
        &self,
        reusable: bool,
        now: &impl Fn() -> u64,
        edits: &mut impl HeaderEdits,
    ) -> bool {
        let Some(pin) = self.release.pin.as_ref().filter(|_| self.policy.position == Position::Edge) else {
            return false;
        };
        let decision = &self.state.decision;
        match (self.session, decision.pin) {
            (SessionChange::Deleted, _) => {
                self.end_session_pins(now, edits);
                self.end_host_pin(pin, edits)
            }
            (_, PinAction::Never) => false,
            (SessionChange::Set(cookie), _) => {
                let identity =
                    decision.identity.unwrap_or_else(|| self.policy.identity_of(self.release, cookie.value));
                self.pin_session(pin, identity, now, edits)
            }
            (SessionChange::Untouched, PinAction::Now { issued }) if !reusable => {
                decision.identity.is_some_and(|identity| self.add_host_pin(pin, identity, issued, edits))
            }
            (SessionChange::Untouched, PinAction::Now { .. } | PinAction::WithSession) => false,
        }
    }

    /// Pins the session that this response sets.
    ///
    /// Also pins the host, for pages that the session cookie does not reach, where no other session depends on the host's pin.
    fn pin_session(
        &self,
        pin: &PinConfig,
        identity: Identity,
        now: &impl Fn() -> u64,
        edits: &mut impl HeaderEdits,
    ) -> bool {
        let Some(text) = self.signed_pin(identity, now()) else {
            return false;
        };
        self.end_session_pins(now, edits);
        // Of a split session one pin is enough: it names the first part.
        let mut has_part = false;
        let mut value = String::new();
        let mut reaches_host = true;
        for cookie in self.session_cookies().filter(|cookie| !cookie.deletes(now)) {
            if self.is_part(&cookie) && std::mem::replace(&mut has_part, true) {
                continue;
            }
            reaches_host &= cookie.reaches_host();
            value = session_pin(cookie.value, &text);
            edits.add("set-cookie", &cookie.beside(&self.release.session_pin_name, &value));
        }
        match (self.state.decision.host_pin, self.state.decision.pin) {
            (HostPin::Unclaimed, PinAction::Now { .. }) => set_host_pin(pin, &text, edits),
            (HostPin::Absent | HostPin::OfSession | HostPin::OfAnotherSession, _) if !reaches_host => {
                set_host_pin(pin, &value, edits);
            }
            _ => {}
        }
        true
    }

    /// Deletes the pins of the sessions that this response deletes. Of a split session its last part does.
    fn end_session_pins(&self, now: &impl Fn() -> u64, edits: &mut impl HeaderEdits) {
        let lives_on = matches!(self.session, SessionChange::Set(_));
        let ended = self.session_cookies().filter(|cookie| cookie.deletes(now));
        for cookie in ended.filter(|cookie| !(lives_on && self.is_part(cookie))) {
            edits.add("set-cookie", &cookie.beside(&self.release.session_pin_name, ""));
        }
    }

    /// The lines of the response that set or delete the session cookie or a part of it.
    fn session_cookies(&self) -> impl Iterator<Item = SetCookie<'a>> {
        let session = self.release.session_cookie.as_deref().unwrap_or_default().as_bytes();
        let lines = self.headers.iter().filter(|(name, _)| *name == b"set-cookie");
        let cookies = lines.filter_map(|(_, line)| SetCookie::read(line));
        cookies.filter(move |cookie| SessionCookie::of(cookie.name, session).is_some())
    }

    fn is_part(&self, cookie: &SetCookie<'_>) -> bool {
        self.release.session_cookie.as_deref().is_some_and(|session| session.as_bytes() != cookie.name)
    }

    /// Ends the host's pin with the session that it belongs to.
    ///
    /// Sessions on other paths may depend on a pin that belongs to none: it is not deleted, but written as issued in 1970. Such a pin
    /// is past any age: it holds for a request with a session cookie, which renews it, and a request without one is decided again.
    fn end_host_pin(&self, pin: &PinConfig, edits: &mut impl HeaderEdits) -> bool {
        let decision = &self.state.decision;
        // Without a version that can answer, the request may have a pin of another one.
        let is_kept = match decision.host_pin {
            HostPin::OfOthers | HostPin::OfAnotherSession => true,
            HostPin::Unclaimed => decision.reason == Reason::Unavailable,
            HostPin::Absent => decision.reason == Reason::Unavailable || decision.pin == PinAction::Never,
            HostPin::OfSession => false,
        };
        if is_kept {
            return false;
        }
        if let (HostPin::Unclaimed, Reason::Pin, Some(identity)) =
            (decision.host_pin, decision.reason, decision.identity)
        {
            return self.add_host_pin(pin, identity, 0, edits);
        }
        edits.add("set-cookie", set_cookie::delete(&pin.cookie).as_bytes());
        true
    }

    /// Writes a pin of the host that belongs to no session.
    fn add_host_pin(
        &self,
        pin: &PinConfig,
        identity: Identity,
        issued: u64,
        edits: &mut impl HeaderEdits,
    ) -> bool {
        let text = self.signed_pin(identity, issued);
        if let Some(text) = &text {
            set_host_pin(pin, text, edits);
        }
        text.is_some()
    }

    /// The signed pin of the version that answered.
    fn signed_pin(&self, identity: Identity, issued: u64) -> Option<String> {
        let version = self.release.versions.get(self.state.decision.version)?;
        let issued = self.release.marked_issue_time(issued, self.state.decision.session_age);
        let seal = Seal::pin(version.name.as_bytes(), version.epoch, identity, issued);
        self.policy.ring.sign(&self.release.uid, &seal)
    }
}

fn set_host_pin(pin: &PinConfig, text: &str, edits: &mut impl HeaderEdits) {
    edits.add("set-cookie", set_cookie::write(&pin.cookie, text, pin.idle_seconds).as_bytes());
}
