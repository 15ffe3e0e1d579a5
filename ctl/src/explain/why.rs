//! The row of the decision table, as a sentence.

use assignment::Reason;
use assignment::contract::{KeySource, MintPolicy, OverrideMode};
use assignment::decide::KeyOrigin;
use assignment::policy::Release;
use assignment::{Policy, Request};

/// The reason for which a row fitted.
pub(super) fn sentence(reason: Reason, release: &Release) -> String {
    match reason {
        Reason::Override if release.override_mode == OverrideMode::Open => {
            "the override header names a live version, and `override: open` believes it".to_owned()
        }
        Reason::Override => "a valid token names a live version; the visit is never pinned".to_owned(),
        Reason::Pin => "a genuine pin names a live version".to_owned(),
        Reason::Cohort => "the edge's cohort for this train names a role that is live here".to_owned(),
        Reason::Adopted => {
            "a session cookie without a canary cookie: the session predates the filter and stays on the version that was stable then"
                .to_owned()
        }
        Reason::Hash => "the user's bucket against the weight".to_owned(),
        Reason::Minted => "no key: an id is drawn at random, so the chance of the canary is the weight".to_owned(),
        Reason::Fallback => "nothing else fits".to_owned(),
        Reason::Unknown => "a genuine pin of a version that is not known here: stable, and the pin is kept".to_owned(),
        Reason::Conflict => "genuine pins that contradict each other: none counts".to_owned(),
        Reason::Unavailable => "the version has no healthy pod".to_owned(),
        Reason::Fused => "the fuse is open: the canary fails, and new sessions get stable".to_owned(),
    }
}

/// The reason for which nothing was minted, if that sent the request to the fallback.
pub(super) fn nothing_was_minted(
    policy: &Policy,
    release: &Release,
    request: &Request<'_>,
) -> Option<&'static str> {
    let cause = match release.mint {
        _ if !policy.ring.can_sign() => "no id is drawn: there is no key that signs",
        MintPolicy::Never => "no id is drawn: `mint: never`",
        _ if !request.may_keep_cookies() => {
            "no id is drawn: OPTIONS, gRPC and requests with a bearer token keep no cookies"
        }
        MintPolicy::Navigation if !request.is_navigation() => {
            "no id is drawn: not a browser loading a page (`sec-fetch-mode: navigate`, or `accept` with `text/html`)"
        }
        MintPolicy::Navigation | MintPolicy::Always => return None,
    };
    Some(cause)
}

/// The source of the key.
pub(super) fn key(origin: KeyOrigin, release: &Release, policy: &Policy) -> String {
    match origin {
        KeyOrigin::MintedId => format!("cookie {} (an id that was drawn before)", policy.id_cookie.name),
        KeyOrigin::Key(index) => release.identify_by.get(index).map_or_else(String::new, source),
    }
}

fn source(source: &KeySource) -> String {
    match source {
        KeySource::Cookie(name) => format!("cookie {name}"),
        KeySource::Header(name) => format!("header {name}"),
        KeySource::Query(name) => format!("query parameter {name}"),
        KeySource::Jwt { claim, .. } => format!("verified claim {}", claim.join(".")),
        KeySource::Identity {} => "identity from the previous hop".to_owned(),
        KeySource::ClientAddress {} => "client address".to_owned(),
    }
}
