//! Whether the responses are good for anything, and whether any user was moved between two of them.

use super::{Check, CheckContext};
use crate::verify::response::status_text;
use std::collections::BTreeMap;

/// Every response has an accepted status, and each that has names its version.
pub(super) fn check(context: &CheckContext<'_>) -> Vec<Check> {
    let (mut all, mut silent, mut from_cache) = (0, 0, 0);
    let mut errors: BTreeMap<u16, u32> = BTreeMap::new();
    for user in context.users {
        all += user.versions.len();
        user.errors.iter().for_each(|(status, count)| *errors.entry(*status).or_default() += count);
        from_cache += user.cached;
        silent += user.silent;
    }
    let well = Check::of("responses", errors.is_empty(), error_counts(&errors, all));
    let told = (silent > 0).then(|| {
        let detail =
            format!("{silent} of {all} do not name a version the release knows: see --version-header");
        Check::of("version told", false, detail)
    });
    let known = unknown_version(context);
    let caches = (from_cache > 0).then(|| {
        let detail =
            format!("{from_cache} of {all} come from a cache, which hands one user's version to others");
        Check::of("caches", false, detail)
    });
    std::iter::once(well).chain(told).chain(known).chain(caches).collect()
}

/// The errors among all responses, by status.
fn error_counts(errors: &BTreeMap<u16, u32>, all: usize) -> String {
    let count: u32 = errors.values().sum();
    let by_status: Vec<String> =
        errors.iter().map(|(status, count)| format!("{count} times {}", status_text(*status))).collect();
    let which = if by_status.is_empty() { String::new() } else { format!(": {}", by_status.join(", ")) };
    format!("{count} of {all} are errors (status 400 and above){which}")
}

/// A version that is not in the release means that the version is read from the wrong place of the response, or that
/// the release is the wrong one.
fn unknown_version(context: &CheckContext<'_>) -> Option<Check> {
    let release = context.expected.release()?;
    let mut named = context.users.iter().flat_map(|user| user.versions.iter().flatten());
    let stranger = named.find(|name| !release.versions.iter().any(|version| version.name == **name))?;
    let known: Vec<&str> = release.versions.iter().map(|version| version.name.as_str()).collect();
    let detail = format!("expected one of {}, found `{stranger}`", known.join(", "));
    Some(Check::of("version known", false, detail))
}

/// No user sees two versions.
pub(super) fn stickiness(context: &CheckContext<'_>) -> Check {
    let name = "stickiness";
    let flips = context.users.iter().filter(|user| user.has_flipped()).count();
    let users = context.users.len();
    if flips > 0 {
        let without_cookies = context.users.iter().all(|user| user.jar.pairs().is_empty());
        let why = if without_cookies { "; no user could keep a cookie (`Secure` without TLS?)" } else { "" };
        return Check::of(name, false, format!("{flips} of {users} users saw two versions{why}"));
    }
    let visits = context.users.iter().map(|user| user.versions.len()).max().unwrap_or_default();
    if visits < 2 {
        return Check::skipped(name, "one request a user shows no flip: ask for --requests 2 or more");
    }
    let mut versions = context.users.iter().filter_map(|user| user.version());
    let Some(first) = versions.next() else {
        return Check::skipped(name, "no response names its version: a flip would not be seen");
    };
    if versions.all(|version| version == first) {
        let weight = context.expected.weight();
        return Check::skipped(
            name,
            format!("at weight {weight} all users are on {first}: no flip is possible"),
        );
    }
    Check::of(name, true, format!("{users} users, {visits} requests each, no flip"))
}
