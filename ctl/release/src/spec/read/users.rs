//! How users are identified, how they stay on a version, and how testers choose one.

use crate::spec::duration::Seconds;
use crate::spec::names::Label;
use crate::spec::read::keys;
use crate::spec::release::{Overrides, Session};
use assignment::contract::{Fallback, IdentityMode, KeySource, MintPolicy, OverrideMode, Stickiness};
use placed_yaml::Section;
use std::collections::BTreeSet;

pub(in crate::spec) const STICKINESS: [(&str, Stickiness); 2] =
    [("session", Stickiness::Session), ("user", Stickiness::User)];
pub(in crate::spec) const MINT: [(&str, MintPolicy); 3] =
    [("navigation", MintPolicy::Navigation), ("always", MintPolicy::Always), ("never", MintPolicy::Never)];
pub(in crate::spec) const FALLBACKS: [(&str, Fallback); 2] =
    [("stable", Fallback::Stable), ("client-address", Fallback::ClientAddress)];
pub(in crate::spec) const IDENTITIES: [(&str, IdentityMode); 2] =
    [("plain", IdentityMode::Plain), ("keyed", IdentityMode::Keyed)];
pub(in crate::spec) const OVERRIDES: [(&str, OverrideMode); 3] =
    [("off", OverrideMode::Off), ("token", OverrideMode::Token), ("open", OverrideMode::Open)];

/// The part of a release that is about its users.
pub(super) struct Users {
    pub(super) stickiness: Stickiness,
    pub(super) session: Option<Session>,
    pub(super) keys: Vec<KeySource>,
    pub(super) mint: MintPolicy,
    pub(super) fallback: Fallback,
    pub(super) identity: IdentityMode,
    pub(super) salt: Option<String>,
    pub(super) train: Option<String>,
    pub(super) train_namespaces: BTreeSet<Label>,
}

impl Users {
    /// Whether the release names the application's session cookie.
    pub(super) fn has_session_cookie(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.cookie.is_some())
    }
}

/// Reads it from the fields of `spec`.
pub(super) fn users(spec: &mut Section<'_>) -> Option<Users> {
    let node = spec.required("stickiness");
    let stickiness = node.and_then(|node| spec.chosen(node, &STICKINESS));
    let session = spec.section("session").map(session);
    let keys = keys::keys(spec);
    let mint = spec.choice("mint", &MINT).unwrap_or_default();
    let fallback = spec.choice("fallback", &FALLBACKS).unwrap_or_default();
    let identity = spec.choice("identity", &IDENTITIES).unwrap_or_default();
    let salt = spec.text("salt");
    let (train, train_namespaces) = train(spec);
    let stickiness = stickiness?;
    Some(Users { stickiness, session, keys, mint, fallback, identity, salt, train, train_namespaces })
}

/// `train: autumn`, or `train: {name: autumn, namespaces: [back]}`.
fn train(spec: &mut Section<'_>) -> (Option<String>, BTreeSet<Label>) {
    let Some(node) = spec.node("train") else { return (None, BTreeSet::new()) };
    if crate::spec::read::is_word(node) {
        return (spec.scalar(node).map(str::to_owned), BTreeSet::new());
    }
    let mut section = Section::new(spec.faults(), "spec.train", node);
    let name = section.required_text("name");
    let namespaces = section.list("namespaces").unwrap_or_default();
    let namespaces = namespaces.into_iter().filter_map(|(_, node)| section.parse::<Label>(node)).collect();
    section.finish();
    (name, namespaces)
}

fn session(mut section: Section<'_>) -> Session {
    let session = Session {
        cookie: section.text("cookie"),
        adopt: section.flag("adopt").unwrap_or(true),
        adopt_for: section.parsed::<Seconds>("adoptFor").unwrap_or(Seconds::DAY),
        max_age: section.parsed::<Seconds>("maxAge").unwrap_or(Seconds::DAY),
        idle: section.parsed::<Seconds>("idle"),
    };
    section.finish();
    session
}

/// `override: token`, or `override: {mode: token, tokensNotBefore: 2026-11-21T12:00:00Z}`.
pub(super) fn overrides(spec: &mut Section<'_>) -> Overrides {
    let Some(node) = spec.node("override") else { return Overrides::default() };
    if crate::spec::read::is_word(node) {
        let mode = spec.chosen(node, &OVERRIDES).unwrap_or_default();
        return Overrides { mode, tokens_not_before_seconds: 0 };
    }
    let mut section = Section::new(spec.faults(), "spec.override", node);
    let mode = section.required("mode").and_then(|node| section.chosen(node, &OVERRIDES)).unwrap_or_default();
    let not_before = section.parsed::<jiff::Timestamp>("tokensNotBefore");
    section.finish();
    let seconds = not_before.map_or(0, |time| u64::try_from(time.as_second()).unwrap_or_default());
    Overrides { mode, tokens_not_before_seconds: seconds }
}
