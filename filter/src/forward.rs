//! What the decision changes in the request's headers.
//!
//! The routing header always has the decision of this proxy, whatever the request contained. Of identity and cohort the
//! edge writes its own or removes the client's; inside the mesh they pass as they came. Testers' tokens never reach the
//! application.

use crate::baggage;
use crate::edit::HeaderEdits;
use crate::labels;
use assignment::contract::{OverrideMode, Position, TokenConfig};
use assignment::policy::Release;
use assignment::request::{cookie_pairs, query_parameters};
use assignment::{Decision, Policy, Request, position_of};

/// Edits a request that concerns a release. `now` is called only if something is signed.
pub fn edit_matched(
    policy: &Policy,
    decision: &Decision,
    request: &Request<'_>,
    now: impl FnOnce() -> u64,
    edits: &mut impl HeaderEdits,
) {
    let Some(release) = policy.release(decision.release) else {
        return;
    };
    // First: if a token is in one of several cookie lines, the whole map is replaced, from the received one.
    if let (OverrideMode::Token, Some(token)) = (release.override_mode, &release.token) {
        hide_token(policy, decision, token, request, edits);
    }
    remove_odd_spellings(policy, request, edits);
    if let Some(version) = release.versions.get(decision.version) {
        let value = version.routing_value.as_bytes();
        if request.has_odd_spelling || request.routing != Some(value) {
            write(&policy.headers.routing, value, request.routing, edits);
        }
    }
    match policy.position {
        Position::Edge => {
            propagate(policy, release, decision, request, edits);
            let member = baggage::value(policy, release, decision, now);
            baggage::propagate(policy, member.as_deref(), request, edits);
        }
        Position::Mesh => write_identity(policy, release, decision, request, edits),
    }
}

/// Edits a request that concerns no release: what clients may not send is removed, nothing is added.
pub fn edit_unmatched(policy: &Policy, request: &Request<'_>, edits: &mut impl HeaderEdits) {
    remove_odd_spellings(policy, request, edits);
    let edge = policy.position == Position::Edge;
    if edge {
        baggage::propagate(policy, None, request, edits);
    }
    let sent = [
        (&policy.headers.routing, request.routing.is_some()),
        (&policy.headers.identity, edge && request.identity.is_some()),
        (&policy.headers.cohort, edge && request.cohort.is_some()),
    ];
    for (name, _) in sent.into_iter().filter(|(_, sent)| *sent) {
        edits.remove(name.as_bytes());
    }
}

fn propagate(
    policy: &Policy,
    release: &Release,
    decision: &Decision,
    request: &Request<'_>,
    edits: &mut impl HeaderEdits,
) {
    match decision.identity.filter(|_| release.writes_identity()) {
        Some(identity) => write(&policy.headers.identity, &identity.to_hex(), request.identity, edits),
        None if request.identity.is_some() => edits.remove(policy.headers.identity.as_bytes()),
        None => {}
    }
    let cohort = release.versions.get(decision.version).filter(|_| release.train.is_some());
    match (cohort.map(|version| version.cohort_value.as_bytes()), labels::cohort_mark(release, decision)) {
        (Some(cohort), Some(mark)) => {
            let marked = [cohort, b";", mark.as_bytes()].concat();
            write(&policy.headers.cohort, &marked, request.cohort, edits);
        }
        (Some(cohort), None) => write(&policy.headers.cohort, cohort, request.cohort, edits),
        (None, _) if request.cohort.is_some() => edits.remove(policy.headers.cohort.as_bytes()),
        (None, _) => {}
    }
}

/// Inside the mesh the identity passes as it came. Where it came by baggage, pods that are chosen by it need the header.
fn write_identity(
    policy: &Policy,
    release: &Release,
    decision: &Decision,
    request: &Request<'_>,
    edits: &mut impl HeaderEdits,
) {
    if let (Some(identity), None) =
        (decision.identity.filter(|_| release.writes_identity()), request.identity)
    {
        edits.add(&policy.headers.identity, &identity.to_hex());
    }
}

/// Sets a header to one value. If the request has none, which is the usual case, adding it is a third cheaper for the
/// proxy than replacing it (`docs/benchmarks.md`).
fn write(name: &str, value: &[u8], came_in: Option<&[u8]>, edits: &mut impl HeaderEdits) {
    match came_in {
        Some(_) => edits.set(name, value),
        None => edits.add(name, value),
    }
}

/// `x_canary_version` and the like: some servers take `_` for `-`, so at the edge a client must not send those either.
/// A repeated header of the filter is removed too; the filter's own values are set again afterwards.
fn remove_odd_spellings(policy: &Policy, request: &Request<'_>, edits: &mut impl HeaderEdits) {
    if !request.has_odd_spelling || policy.position == Position::Mesh {
        return;
    }
    let trusted = policy.headers.trusted();
    let is_odd = |name: &[u8]| {
        let dashes = name.iter().map(|byte| if *byte == b'_' { b'-' } else { *byte });
        name.contains(&b'_') && trusted.iter().any(|ours| dashes.clone().eq(ours.bytes()))
    };
    for (name, _) in request.headers.iter().filter(|(name, _)| is_odd(name)) {
        edits.remove(name);
    }
}

/// Removes the token's header, cookie and query parameter, also from `Referer`: the application and its logs never see them.
fn hide_token(
    policy: &Policy,
    decision: &Decision,
    token: &TokenConfig,
    request: &Request<'_>,
    edits: &mut impl HeaderEdits,
) {
    if decision.has_token_cookie {
        hide_cookie(&token.cookie.name, request, edits);
    }
    if request.token.is_some() {
        edits.remove(policy.headers.token.as_bytes());
    }
    let name = token.query.as_bytes();
    if decision.has_token_parameter
        && let Some(path) = path_without(request.path, name)
    {
        edits.set(":path", &path);
    }
    // A page that was opened by a link with a token names it in what it loads.
    if let Some(referer) = request.referer.and_then(|referer| path_without(referer, name)) {
        edits.set("referer", &referer);
    }
}

/// Removes one cookie from its line; the application's other lines stay unchanged.
fn hide_cookie(name: &str, request: &Request<'_>, edits: &mut impl HeaderEdits) {
    let carries = |line: &[u8]| cookie_pairs(line).any(|(found, _)| found == name.as_bytes());
    let rewritten: Vec<(&[u8], Vec<u8>)> = request
        .headers
        .iter()
        .map(|(header, value)| match header {
            b"cookie" if carries(value) => (header, line_without(value, name.as_bytes())),
            _ => (header, value.to_vec()),
        })
        .filter(|(header, value)| *header != b"cookie" || !value.is_empty())
        .collect();
    let mut lines = rewritten.iter().filter(|(header, _)| *header == b"cookie");
    match (lines.next(), lines.next()) {
        (None, _) => edits.remove(b"cookie"),
        (Some((_, line)), None) => edits.set("cookie", line),
        (Some(_), Some(_)) => {
            let pairs: Vec<(&[u8], &[u8])> =
                rewritten.iter().map(|(header, value)| (*header, value.as_slice())).collect();
            edits.set_all(&pairs);
        }
    }
}

fn line_without(line: &[u8], name: &[u8]) -> Vec<u8> {
    let is_it = |part: &[u8]| cookie_pairs(part).any(|(found, _)| found == name);
    let kept: Vec<&[u8]> =
        line.split(|byte| *byte == b';').map(<[u8]>::trim_ascii).filter(|part| !is_it(part)).collect();
    kept.join(&b"; "[..])
}

/// The path or URL without a query parameter; `None` if it has none of that name. All else keeps its bytes and its order.
fn path_without(path: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    let is_it =
        |parameter: &[u8]| parameter.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&b'='));
    if !query_parameters(path).any(is_it) {
        return None;
    }
    let mark = position_of(b'?', path)?;
    let (before, query) = (path.get(..mark)?, path.get(mark + 1..)?);
    let fragment = position_of(b'#', query).and_then(|hash| query.get(hash..)).unwrap_or_default();
    let kept: Vec<&[u8]> = query_parameters(path).filter(|parameter| !is_it(parameter)).collect();
    let kept = kept.join(&b"&"[..]);
    let mark: &[u8] = if kept.is_empty() { b"" } else { b"?" };
    Some([before, mark, &kept, fragment].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_taken_out_and_the_rest_keeps_its_bytes() {
        for (path, expected) in [
            ("/a?t=1", Some("/a")),
            ("/a?x=%20&t=1&y", Some("/a?x=%20&y")),
            ("/a?t=1&t=2&x=1#f", Some("/a?x=1#f")),
            ("/a?tt=1", None),
            ("/a?x=1#?t=1", None),
            ("/t=1", None),
        ] {
            let found = path_without(path.as_bytes(), b"t");
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{path}");
        }
    }

    #[test]
    fn a_cookie_is_taken_out_of_its_line_alone() {
        assert_eq!(line_without(b"a=1; t=x; b=2", b"t"), b"a=1; b=2");
        assert_eq!(line_without(b"t=x", b"t"), b"");
    }
}
