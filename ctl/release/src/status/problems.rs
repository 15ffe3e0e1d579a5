//! Everything that is wrong with a release on a cluster, as it was observed.

use super::{LostCookies, Observation, ObservedShare, OpenFuse, Problem, ReadyPods, WrongCookie};
use crate::preflight::WasmRuntime;
use crate::record::{Record, RecordTrust};
use crate::state::ScaledDown;
use assignment::Weight;
use assignment::contract::Role;
use jiff::Timestamp;

/// Everything that is wrong at a time, the worst first.
///
/// `share` is the canary's in the last window, `now` in seconds since 1970.
pub fn problems<'o>(
    observation: &'o Observation,
    share: Option<&ObservedShare>,
    now: u64,
) -> Vec<Problem<'o>> {
    let drift = observation.template_drift.iter().map(|drift| Problem::TemplateDrift { drift });
    let mut problems: Vec<Problem<'o>> = drift.chain(pods(observation)).collect();
    problems.extend(scaled_down(observation, now).map(Problem::ScaledDown));
    problems.extend(untrusted(&observation.trust));
    problems.extend(observation.objects.missing.iter().map(|object| Problem::NoFilter { object }));
    problems.extend(observation.objects.missing_others.iter().map(|object| Problem::Missing { object }));
    problems.extend(observation.objects.not_deployed.as_ref().map(|error| Problem::NotDeployed { error }));
    problems.extend(lost_routes(observation));
    problems.extend(changed(observation));
    problems.extend(routes(observation));
    problems.extend(
        observation
            .coverage
            .gaps
            .iter()
            .map(|gap| Problem::Bypass { gap, reached: &observation.beside_stable }),
    );
    problems.extend(observation.default_route.as_ref().map(Problem::DefaultRoute));
    problems.extend(observation.failing.iter().map(Problem::CheckFails));
    problems.extend(not_written(observation));
    problems.extend(module_rollout(&observation.record));
    let has_none = observation.proxies.is_empty() && observation.missing_right.is_none();
    problems.extend(has_none.then_some(Problem::NoProxies));
    problems.extend(observation.missing_right.as_ref().map(|right| Problem::NotObserved { right }));
    problems.extend(proxies(observation));
    let lost_cookies = LostCookies::observed(observation, now);
    // Sessions that lose their pins count as older than the filter, too.
    let wrong_cookie = WrongCookie::observed(observation, now).filter(|_| lost_cookies.is_none());
    problems.extend(lost_cookies.map(Problem::LostCookies));
    problems.extend(wrong_cookie.map(Problem::WrongCookie));
    let open_fuse = OpenFuse::observed(observation, now);
    // It explains the deviation.
    let share = share.filter(|_| open_fuse.is_none());
    problems.extend(open_fuse.map(Problem::FuseOpen));
    problems.extend(share.and_then(|share| deviation(share, observation.record.state.weight_at(now))));
    problems.extend(expired(&observation.record, now));
    problems.extend(overdue(&observation.record, now));
    problems.extend(not_pruned(&observation.record));
    problems
}

fn untrusted(trust: &RecordTrust) -> Option<Problem<'_>> {
    match trust {
        RecordTrust::Genuine => None,
        RecordTrust::Absent => Some(Problem::NoRecord),
        RecordTrust::Refused(fault) => Some(Problem::RefusedRecord { fault }),
        RecordTrust::Unverified(reason) => Some(Problem::UnverifiedRecord { reason }),
    }
}

fn pods(observation: &Observation) -> impl Iterator<Item = Problem<'_>> {
    let state = &observation.record.state;
    let gets_users = |role| role != Role::Canary || state.weight > Weight::ZERO;
    let versions = state.versions.iter().zip(&observation.ready);
    versions.filter(move |(version, pods)| pods.ready == 0 && gets_users(version.role)).map(
        |(version, pods)| {
            let ReadyPods { all, .. } = *pods;
            Problem::NoReadyPod { version: &version.name, role: version.role, all }
        },
    )
}

/// That none of its pods is ready is a problem of its own.
fn scaled_down(observation: &Observation, now: u64) -> Option<ScaledDown> {
    let versions = observation.record.state.versions.iter().zip(&observation.ready);
    let ready = |name: &str| {
        let found = versions.clone().find(|(version, _)| version.name == name);
        found.map_or(0, |(_, pods)| pods.ready)
    };
    observation.record.scaled_down(ready, now).filter(|found| found.ready > 0)
}

fn lost_routes(observation: &Observation) -> impl Iterator<Item = Problem<'_>> {
    let lost = observation.objects.lost_routes.iter();
    let error = observation.objects.not_repairable.as_ref();
    let outdated = observation.objects.outdated_routes.iter();
    lost.map(|(object, by)| Problem::LostRoutes { object, by })
        .chain(outdated.map(|(object, by)| Problem::OutdatedRoutes { object, by }))
        .chain(error.map(|error| Problem::NotRepairable { error }))
}

fn changed(observation: &Observation) -> impl Iterator<Item = Problem<'_>> {
    let subsets = observation.objects.lost_subsets.iter().map(|lost| Problem::LostSubset { lost });
    let changed = observation.objects.changed.iter();
    subsets.chain(changed.map(|(object, by)| Problem::ObjectChanged { object, by }))
}

fn routes(observation: &Observation) -> Option<Problem<'_>> {
    let objects = &observation.objects;
    let is_explained = !objects.lost_routes.is_empty()
        || objects.not_repairable.is_some()
        || objects.missing_others.iter().any(|missing| missing.stage.is_route());
    let is_missing = !is_explained && observation.is_routed == Some(false);
    is_missing
        .then_some(Problem::NoRoutes { routes: observation.record.routes, faults: &observation.route_faults })
}

fn not_written(observation: &Observation) -> impl Iterator<Item = Problem<'_>> {
    let record = &observation.record;
    let (generation, operation) =
        (record.state.generation, record.history.last().map(|entry| &entry.operation));
    let behind = observation.objects.behind.iter();
    behind.map(move |object| Problem::NotWritten { object, generation, operation })
}

fn module_rollout(record: &Record) -> Option<Problem<'_>> {
    record.module_rollout.as_ref().map(|rollout| Problem::ModuleRollout { rollout })
}

fn proxies(observation: &Observation) -> impl Iterator<Item = Problem<'_>> {
    let desired = observation.record.state.release_generation();
    let behind = observation.proxies.iter().filter(move |proxy| !proxy.runs(desired));
    let without_v8 = observation.proxies.iter().filter(|proxy| proxy.wasm_runtime == WasmRuntime::Missing);
    behind
        .map(move |proxy| Problem::ProxyBehind { proxy, desired })
        .chain(without_v8.map(|proxy| Problem::NoWasmRuntime { proxy }))
}

fn deviation<'o>(share: &ObservedShare, weight: Weight) -> Option<Problem<'o>> {
    let seconds = share.seconds;
    share.deviation(weight).map(|share| Problem::ShareDeviates { share, seconds, weight })
}

fn expired(record: &Record, now: u64) -> Option<Problem<'_>> {
    let weight = record.state.weight;
    let has_expired = weight > Weight::ZERO && record.state.weight_at(now) == Weight::ZERO;
    has_expired.then_some(Problem::WeightExpired { weight })
}

fn overdue(record: &Record, now: u64) -> impl Iterator<Item = Problem<'_>> {
    let now = i64::try_from(now).ok().and_then(|now| Timestamp::from_second(now).ok());
    let now = now.unwrap_or(Timestamp::MAX);
    let versions = record.draining_versions().into_iter();
    versions
        .filter(move |version| record.is_overdue(version, now))
        .map(|version| Problem::DrainOverdue { version })
}

fn not_pruned(record: &Record) -> impl Iterator<Item = Problem<'_>> {
    record.leaving.iter().map(|version| Problem::NotPruned { version })
}

#[cfg(test)]
#[path = "problems_tests.rs"]
pub(crate) mod tests;
