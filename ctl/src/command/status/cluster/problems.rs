//! What is wrong with a release on a cluster, and what to do about it.

use super::super::problem::{Problem, problem};
use super::Seen;
use super::share::SeenShare;
use crate::cluster::Proxy;
use crate::plan::{self, LostSubset, Record, WasmRuntime};
use crate::spec::Routes;
use assignment::Weight;
use assignment::contract::Role;
use jiff::Timestamp;

/// Everything that is wrong, the worst first.
pub(super) fn of(seen: &Seen, share: Option<&SeenShare>, now: u64) -> Vec<Problem> {
    let mut problems: Vec<Problem> = pods(seen).collect();
    problems.extend(lost(seen));
    problems.extend(changed(seen));
    problems.extend(routes(seen));
    problems.extend(
        seen.coverage
            .gaps
            .iter()
            .map(|gap| problem(format!("{gap}: whoever comes by it may get any version"), gap.instead)),
    );
    problems.extend(seen.objects.behind.iter().map(|object| {
        let message = format!("{object} does not carry generation {}", seen.record.standing.generation);
        let verb = unfinished(&seen.record);
        problem(message, format!("a call did not come to its end: `canary-ctl {verb}` continues it"))
    }));
    problems.extend(trial(seen));
    problems.extend(proxies(seen));
    problems.extend(wasm_runtimes(seen));
    problems.extend(share.and_then(|share| deviating(share, seen.record.standing.weight_at(now))));
    problems.extend(expired(seen, now));
    problems.extend(overdue(seen, now));
    problems.extend(leaving(seen));
    problems
}

/// The verb that carries a record out. A file that is older than a promotion or a rollback cannot.
fn unfinished(record: &Record) -> &'static str {
    match record.history.last().map(|entry| entry.why.as_str()) {
        Some("promote") => "promote",
        Some("rollback") => "rollback",
        Some("finish") => "promote --finish",
        _ => "apply",
    }
}

/// Sessions had the time that they were given.
fn overdue(seen: &Seen, now: u64) -> impl Iterator<Item = Problem> {
    let now =
        i64::try_from(now).ok().and_then(|now| Timestamp::from_second(now).ok()).unwrap_or(Timestamp::MAX);
    let record = &seen.record;
    record.draining_versions().into_iter().filter(move |version| record.is_overdue(version, now)).map(
        |version| {
            let message = format!("the time that version `{version}` had to drain is over");
            problem(
                message,
                "`canary-ctl promote --finish` takes its routes and its subset away; so does `apply`",
            )
        },
    )
}

fn leaving(seen: &Seen) -> impl Iterator<Item = Problem> {
    seen.record.leaving.iter().map(|version| {
        let message = format!("version `{version}` is gone, and its routes and its subset are there");
        problem(message, "`canary-ctl promote --finish` takes them away when every proxy ignores it")
    })
}

/// A version that users are sent to, and nobody there.
fn pods(seen: &Seen) -> impl Iterator<Item = Problem> {
    let weight = seen.record.standing.weight;
    let versions = seen.record.standing.versions.iter().zip(&seen.ready);
    versions
        .filter(move |(version, ready)| {
            ready.ready == 0 && (version.role != Role::Canary || weight > Weight::ZERO)
        })
        .map(|(version, ready)| {
            let message = format!("version `{}` has no ready pod of {}", version.name, ready.all);
            let hint = match version.role {
                Role::Draining => "its sessions are on stable; `canary-ctl promote --finish` ends it",
                _ => "start its pods; `canary-ctl weight 0` takes no new users to a canary",
            };
            problem(message, hint)
        })
}

/// What others have done to the routes that we had put into theirs.
fn lost(seen: &Seen) -> impl Iterator<Item = Problem> {
    let lost = seen.objects.lost.iter().map(|(object, by)| {
        let message = format!("{object} has lost routes of ours: {} has written it", by.join(", "));
        problem(message, "`canary-ctl apply` puts them into what is there now")
    });
    let stuck = |error: &plan::Error| {
        let message = match error {
            plan::Error::NotOurs { object, owner } => {
                format!("{object} has lost routes of ours: it belongs to {owner}")
            }
            other => other.to_string(),
        };
        problem(message, error.hint().unwrap_or_default())
    };
    lost.chain(seen.objects.stuck.as_ref().map(stuck))
}

/// What others have done to objects of ours.
fn changed(seen: &Seen) -> impl Iterator<Item = Problem> {
    let hint = |by: &[String]| match by {
        [] => "`canary-ctl apply` puts it right".to_owned(),
        by => format!(
            "`canary-ctl diff` shows what {} has changed, `apply --force-conflicts` takes it back",
            by.join(", ")
        ),
    };
    let subsets = seen.objects.subsets.iter().map(move |lost| {
        let LostSubset { version, rule, by } = lost;
        problem(format!("{rule} has no subset with the pods of version `{version}`"), hint(by))
    });
    let changed = seen.objects.changed.iter().map(move |(object, by)| {
        problem(format!("{object} is not what was written: {} has changed it", by.join(", ")), hint(by))
    });
    subsets.chain(changed)
}

fn routes(seen: &Seen) -> Option<Problem> {
    if !seen.objects.lost.is_empty() || seen.objects.stuck.is_some() {
        return None;
    }
    let message = "no VirtualService leads to the canary by the filter's header";
    let hint = if seen.record.routes == Routes::External {
        "put the routes that `canary-ctl generate` prints into it"
    } else {
        "`canary-ctl apply` puts them back"
    };
    (seen.routed == Some(false)).then(|| problem(message, hint))
}

fn proxies(seen: &Seen) -> impl Iterator<Item = Problem> {
    let generation = seen.record.standing.generation;
    seen.proxies.iter().filter(move |proxy| !proxy.runs(generation)).map(move |proxy| {
        let hint = proxy.likely_cause().unwrap_or_default();
        problem(format!("{proxy}, {generation} is asked for"), hint)
    })
}

/// A proxy that may die of the next Wasm filter. One that does not answer is a problem of its own.
fn wasm_runtimes(seen: &Seen) -> impl Iterator<Item = Problem> {
    let missing = seen.proxies.iter().filter(|proxy| proxy.wasm_runtime == WasmRuntime::Missing);
    missing.map(|proxy| {
        let Proxy { namespace, pod, .. } = proxy;
        let message = format!("{namespace}/{pod} runs without V8, and may die of its first Wasm filter");
        problem(message, "`canary-ctl prepare` restarts its pods, so that they start with V8")
    })
}

/// A module that may never arrive, and no weight with it.
fn trial(seen: &Seen) -> Option<Problem> {
    let trial = seen.record.trial.as_ref()?;
    Some(problem(
        format!("module {trial} was not seen in every proxy"),
        "`canary-ctl apply` tries it again; `weight` and `rollback` put the old one back",
    ))
}

/// Users who are not sent where the weight says.
fn deviating(share: &SeenShare, weight: Weight) -> Option<Problem> {
    let hint = "the weight may have changed meanwhile; else `canary-ctl verify URL` tells what users get";
    Some(problem(share.deviates(weight)?, hint))
}

fn expired(seen: &Seen, now: u64) -> Option<Problem> {
    let standing = &seen.record.standing;
    let is_over = standing.weight > Weight::ZERO && standing.weight_at(now) == Weight::ZERO;
    let message = format!("the weight {} was given for a time that is over", standing.weight);
    is_over.then(|| problem(message, "give it again with `canary-ctl weight`, or leave it"))
}
