//! The filter's cookies of a request, and whether each is valid: the usual reason for an unexpected version.

use assignment::decide::{MAX_TOKEN_LIFE_SECONDS, is_ahead};
use assignment::policy::{PinStatus, Release};
use assignment::request::{SessionCookie, SessionHash, session_hash, split_session_pin, unquoted};
use assignment::seal::{Kind, Seal};
use assignment::{Policy, Request};
use serde::Serialize;

/// A cookie or header of the filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Credential {
    pub name: String,
    pub worth: String,
}

/// The filter's cookies and headers in the request, in the order pins, id, token.
pub(super) fn find(policy: &Policy, release: &Release, request: &Request<'_>, now: u64) -> Vec<Credential> {
    let pin = release.pin.as_ref().map(|pin| (Kind::Pin, pin.cookie.name.as_str()));
    let session_pin = release.pin.as_ref().map(|_| (Kind::Pin, release.session_pin_name.as_str()));
    let id = Some((Kind::Id, policy.id_cookie.name.as_str()));
    let token = release.token.as_ref().map(|token| (Kind::Token, token.cookie.name.as_str()));
    let cookies = request.cookies();
    let by_cookie = [session_pin, pin, id, token].into_iter().flatten().flat_map(|(kind, name)| {
        let named = cookies.iter().filter(move |(found, _)| *found == name.as_bytes());
        named.map(move |(_, value)| (kind, format!("cookie {name}"), unquoted(value)))
    });
    let by_header =
        request.token.map(|value| (Kind::Token, format!("header {}", policy.headers.token), value));
    let by_query = release.token.as_ref().and_then(|token| {
        Some((Kind::Token, format!("query parameter {}", token.query), request.query(&token.query)?))
    });
    by_cookie
        .chain(by_header)
        .chain(by_query)
        .map(|(kind, name, value)| {
            let (session, text) = if kind == Kind::Pin { split_session_pin(value) } else { (None, value) };
            let owner = session.map_or("", |session| owner(*session, release, request));
            Credential { name, worth: worth(policy, release, kind, text, now) + owner }
        })
        .collect()
}

/// Whose a pin is that belongs to a session.
fn owner(pinned: SessionHash, release: &Release, request: &Request<'_>) -> &'static str {
    let session = release.session_cookie.as_deref().unwrap_or_default().as_bytes();
    let cookies = request.cookies();
    if cookies.iter().any(|(_, value)| session_hash(value) == pinned) {
        "; it belongs to this session"
    } else if cookies.iter().any(|(name, _)| SessionCookie::of(name, session).is_some()) {
        "; it belongs to another session, so it counts as absent"
    } else {
        "; it belongs to a session whose cookie the request does not have"
    }
}

fn worth(policy: &Policy, release: &Release, kind: Kind, text: &[u8], now: u64) -> String {
    // Minted ids are one per host for all releases, so no release's uid is under their seal.
    let uid = if kind == Kind::Id { "" } else { release.uid.as_str() };
    match policy.ring.verify(kind, uid, text) {
        None => "not genuine (edited, another release's, another key's): counts as absent".to_owned(),
        Some(seal) if kind == Kind::Id => format!("genuine, identity {}", seal.identity),
        Some(seal) => format!("genuine, {}", content(release, &seal, now)),
    }
}

fn content(release: &Release, seal: &Seal<'_>, now: u64) -> String {
    let version = String::from_utf8_lossy(seal.version);
    let status = match release.pin_status(seal.version, seal.epoch, || now) {
        PinStatus::Live(_) => "live",
        PinStatus::Gone => "gone, so it does not count",
        PinStatus::Unknown => "not known here",
    };
    let age = match seal.issued {
        // So a logout writes it.
        0 => "ended by a logout: holds with a session cookie only".to_owned(),
        issued => format!("{} s old", now.saturating_sub(issued)),
    };
    let ending = seal.expires.map_or_else(String::new, |expires| token_ending(release, seal, expires, now));
    format!("version {version} (epoch {}, {status}), {age}{ending}", seal.epoch)
}

fn token_ending(release: &Release, seal: &Seal<'_>, expires: u64, now: u64) -> String {
    let revoked = release.token.as_ref().is_some_and(|token| seal.issued < token.not_before_seconds);
    match expires.checked_sub(now) {
        _ if revoked => ", revoked".to_owned(),
        _ if expires.saturating_sub(seal.issued) > MAX_TOKEN_LIFE_SECONDS => {
            ", for longer than a token may live".to_owned()
        }
        _ if is_ahead(seal.issued, now) => ", issued ahead of the clock".to_owned(),
        None | Some(0) => ", expired".to_owned(),
        Some(left) => format!(", {left} s left"),
    }
}
