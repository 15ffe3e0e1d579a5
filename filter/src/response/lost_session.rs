//! Whether a response takes the session from its request: by it a rollout sees a version that forgets sessions.
//!
//! A response that deletes the session cookie of its request, or sets it to another value, ends the session that the user had, or
//! begins another one. Logouts, expiries and rotations do that too, in both versions alike; a login is a POST and does not count. An
//! application that keeps an encrypted session in its cookie sets another value with each response: of it a session that got
//! shorter by a quarter or more has lost what was in it.

use super::RequestState;
use super::set_cookie::SetCookie;
use assignment::policy::Release;
use assignment::request::{Headers, SessionCookie, unquoted};
use assignment::{Policy, Request};

/// More cookies than a session is split into: 16 of four kilobytes are more than Envoy accepts.
const MAX_COOKIES: usize = 16;

/// The way in which a response has ended the session of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostSession {
    /// It has another value.
    Replaced,
    /// It is deleted, or shorter by a quarter or more.
    Emptied,
}

/// The session cookies of a request, as hashes: one, or the parts of a long session. `None` where a lost session does not count. A thin
/// pointer: streams that wait for their responses are many.
pub(super) type SessionCookies = Option<Box<RequestSession>>;

#[derive(Clone, Debug)]
pub(super) struct RequestSession {
    cookies: Vec<HashedCookie>,
}

/// A session cookie without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HashedCookie {
    /// A hash of the name; 0 for the cookie that contains the whole session.
    name: u32,
    /// A hash of the value.
    value: u32,
    /// Of the value, in bytes.
    length: usize,
}

impl HashedCookie {
    fn of(name: &[u8], value: &[u8], session: &str) -> Option<Self> {
        let value = unquoted(value);
        let name = match SessionCookie::of(name, session.as_bytes())? {
            SessionCookie::Whole => 0,
            SessionCookie::Part => hash(name),
        };
        Some(Self { name, value: hash(value), length: value.len() })
    }
}

/// It only has to tell the values of one user's cookie apart: FNV-1a, which needs no more than these lines of the module.
///
/// # Source
/// G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, "The FNV Non-Cryptographic Hash Algorithm", RFC 9923.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

impl RequestState {
    /// Keeps what [`Self::lost_session`] compares, because Envoy gives a response no headers of its request, of a request that counts by user group ([`crate::labels::is_counted_by_group`]). Only
    /// a request to read something loses a session.
    #[inline(never)]
    pub fn keep_session(&mut self, release: &Release, request: &Request<'_>) {
        let Some(session) = release.session_cookie.as_deref() else { return };
        if !self.is_cacheable_method {
            return;
        }
        let cookies = request.cookies();
        let cookies = cookies.iter().filter(|(_, value)| !value.is_empty());
        let cookies = cookies.filter_map(|(name, value)| HashedCookie::of(name, value, session));
        let cookies: Vec<HashedCookie> = cookies.take(MAX_COOKIES).collect();
        self.session = (!cookies.is_empty()).then(|| Box::new(RequestSession { cookies }));
    }

    /// Compares a response with a cookie with its request. `None`: the session goes on, or does not count.
    pub fn lost_session(
        &self,
        policy: &Policy,
        response: Headers<'_>,
        now: impl Fn() -> u64,
    ) -> Option<LostSession> {
        let RequestSession { cookies: before } = self.session.as_deref()?;
        let release = policy.release(self.decision.release)?;
        let after = cookies_after(before, response, release.session_cookie.as_deref()?, &now);
        let is_same = after.len() >= before.len() && after.iter().all(|cookie| before.contains(cookie));
        let length = |cookies: &[HashedCookie]| cookies.iter().map(|cookie| cookie.length).sum::<usize>();
        let is_emptied = 4 * length(&after) <= 3 * length(before);
        (!is_same).then_some(if is_emptied { LostSession::Emptied } else { LostSession::Replaced })
    }
}

/// The session cookies that the client has after a response. Browsers carry its lines out in order.
fn cookies_after(
    before: &[HashedCookie],
    response: Headers<'_>,
    session: &str,
    now: &impl Fn() -> u64,
) -> Vec<HashedCookie> {
    let mut cookies = before.to_vec();
    let lines = response.iter().filter(|(name, _)| *name == b"set-cookie");
    for set in lines.filter_map(|(_, line)| SetCookie::read(line)) {
        let Some(new) = HashedCookie::of(set.name, set.value, session) else { continue };
        let deletes = set.deletes(now);
        // A request may have two of a name, one for each path: either of them set again changes nothing.
        if deletes || !cookies.contains(&new) {
            cookies.retain(|cookie| cookie.name != new.name);
            cookies.extend((!deletes).then_some(new));
        }
    }
    cookies
}
