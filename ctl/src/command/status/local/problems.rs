//! What is wrong with a release as it runs, and what to do about it.

use super::super::{Problem, problem};
use crate::local::{Entry, Error, Stats};
use assignment::Weight;
use canary_release::format::counted;
use jiff::Timestamp;

/// Everything that is wrong, the worst first.
pub(super) fn of(name: &str, entry: &Entry, stats: Result<&Stats, &Error>, now: Timestamp) -> Vec<Problem> {
    let mut problems: Vec<Problem> = cookies(entry).into_iter().collect();
    let stats = match stats {
        Ok(stats) => stats,
        Err(error) => {
            problems.insert(0, problem("not-observed", error.to_string(), error.hint().unwrap_or_default()));
            return problems;
        }
    };
    problems.extend(inert(stats));
    problems.extend(generation(name, entry, stats));
    problems.extend(refusals(stats));
    problems.extend(health(name, entry, stats));
    problems.extend(errors(name, entry, stats));
    problems.extend(expired(entry, now));
    problems
}

/// The local Envoy listens without TLS (RFC 6265bis §5.7: a client sends `Secure` cookies over secure connections alone).
/// All our cookies have the attribute, or none.
fn cookies(entry: &Entry) -> Option<Problem> {
    let message = "Envoy listens without TLS, and its `Secure` cookies come back from browsers on localhost alone: other clients \
                   change versions";
    let hint = "set `cookies: {tls: false}`, and `canary-ctl generate`";
    entry.envoy.id_cookie.secure.then(|| problem("cookies-without-tls", message, hint))
}

fn inert(stats: &Stats) -> Option<Problem> {
    let message = "the filter never had a good configuration: everyone is on stable";
    let hint = "Envoy's log names the field; `canary-ctl generate` writes a good one";
    stats.is_inert().then(|| problem("no-configuration", message, hint))
}

fn generation(name: &str, entry: &Entry, stats: &Stats) -> Option<Problem> {
    let asked = entry.state.generation;
    match stats.release(name).generation() {
        Some(running) if running >= asked => None,
        Some(running) => Some(problem(
            "proxy-behind",
            format!("generation {asked} is asked for, {running} runs"),
            "`canary-ctl generate` writes the files again; if Envoy refuses them, its log says why",
        )),
        None => Some(problem(
            "not-reported",
            "the filter does not report this release",
            "it reports with its first configuration; if it stays so, look for `wasm` in Envoy's log",
        )),
    }
}

fn refusals(stats: &Stats) -> Option<Problem> {
    let count = stats.refusals();
    let configurations = counted(count, "configuration", "configurations");
    let message = || format!("Envoy has refused {configurations} of the filter since it started");
    let hint = "Envoy's log says why; the one before stays in force";
    (count > 0).then(|| problem("refused-configuration", message(), hint))
}

fn health(name: &str, entry: &Entry, stats: &Stats) -> Vec<Problem> {
    let unhealthy = |version: &String| {
        let (healthy, total) = stats.membership(&format!("{name}/{version}"))?;
        let message = format!("version `{version}`: {healthy} of {total} processes are healthy");
        (healthy < total)
            .then(|| problem("unhealthy-processes", message, "look at the processes that are not"))
    };
    entry.upstream.endpoints.keys().filter_map(unhealthy).collect()
}

/// The canary fails more often than stable does, by a margin that one bad request does not make.
fn errors(name: &str, entry: &Entry, stats: &Stats) -> Option<Problem> {
    const LEAST: u64 = 5;
    let counted = stats.release(name);
    let canary = entry.state.version_of(assignment::contract::Role::Canary)?;
    let share = |version: &str| {
        let failed = counted.responses_of(version, "5xx");
        (failed, permille(failed, counted.requests_of(version, false)))
    };
    let ((failed, rate), (_, stable_rate)) = (share(canary), share(entry.stable()));
    let message = || format!("version `{canary}` has answered {failed} requests with 5xx");
    let hint = "`canary-ctl weight 0` takes no new users; sessions there finish";
    (failed >= LEAST && rate > stable_rate.saturating_mul(2))
        .then(|| problem("canary-fails", message(), hint))
}

fn permille(part: u64, of: u64) -> u64 {
    part.saturating_mul(1000).checked_div(of).unwrap_or_default()
}

fn expired(entry: &Entry, now: Timestamp) -> Option<Problem> {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let is_over = entry.state.weight > Weight::ZERO && entry.state.weight_at(seconds) == Weight::ZERO;
    let message = format!("the weight {} was given for a time that is over", entry.state.weight);
    let hint = "give it again with `canary-ctl weight`, or leave it";
    is_over.then(|| problem("weight-expired", message, hint))
}
