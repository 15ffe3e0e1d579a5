//! What is wrong with a release on a cluster. What a person can do about it is said at the edge, by kind.

use super::{
    LostCookies, Observation, ObservedShare, OpenFuse, ProxyStatus, ReadyPods, Share, TemplateDrift,
};
use crate::destination_rule::LostSubset;
use crate::format::{counted, none_ready};
use crate::metrics::ReleaseGeneration;
use crate::plan::{self, MissingObject, ModuleRollout, Reference};
use crate::preflight::WasmRuntime;
use crate::rbac::Right;
use crate::record::{Operation, Record, ScaledDown};
use crate::routing::Gap;
use crate::routing::route_kinds;
use crate::spec::Routes;
use assignment::Weight;
use assignment::contract::Role;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// Something that a person should look at. Its text is one sentence, without a hint.
#[derive(Debug, thiserror::Error)]
pub enum Problem<'o> {
    /// A version that users are sent to has no ready pod.
    #[error("version `{version}` has {}", none_ready(*all))]
    NoReadyPod {
        /// The version.
        version: &'o str,
        /// Its role.
        role: Role,
        /// Its pods, ready or not.
        all: usize,
    },
    /// Stable has too few pods for the users who would come back from the canary.
    #[error("{0}")]
    ScaledDown(ScaledDown),
    /// A Deployment replaces the pods of a live version by others.
    #[error("{drift}")]
    TemplateDrift {
        /// The Deployment, and what it makes now.
        drift: &'o TemplateDrift,
    },
    /// The record does not exist.
    #[error("the record of the release was deleted: this is what its objects say")]
    NoRecord,
    /// An object of the filter does not exist.
    #[error("expected {object}, found no such object: no proxy decides, and clients can name a version")]
    NoFilter {
        /// The object.
        object: &'o Reference,
    },
    /// Another object of ours does not exist.
    #[error("{object}")]
    Missing {
        /// The object, and why it does not exist.
        object: &'o MissingObject,
    },
    /// Routes of ours are no longer in an object of another owner.
    #[error("{object} has lost routes of ours: {} has written it", by.join(", "))]
    LostRoutes {
        /// The object.
        object: &'o str,
        /// The field managers that have written it since.
        by: &'o [String],
    },
    /// Routes of ours are copies of routes that have changed since.
    #[error("{object} has routes of ours with former settings: {} has changed the routes that they copy", by.join(", "))]
    OutdatedRoutes {
        /// The object.
        object: &'o str,
        /// The field managers that have written it since.
        by: &'o [String],
    },
    /// Routes of ours are no longer in an object, and cannot be put back.
    #[error("{}", not_repairable(error))]
    NotRepairable {
        /// Why.
        error: &'o plan::Error,
    },
    /// A configuration object does not contain the release.
    #[error("{error}")]
    NotDeployed {
        /// Which, and what was found.
        error: &'o plan::Error,
    },
    /// The subset of a version is missing or selects other pods.
    #[error("{} has no subset with the pods of version `{}`", lost.rule, lost.version)]
    LostSubset {
        /// The subset.
        lost: &'o LostSubset,
    },
    /// Another field manager has written an object of ours.
    #[error("{object} is not what was written: {} has changed it", by.join(", "))]
    ObjectChanged {
        /// The object.
        object: &'o str,
        /// The field managers.
        by: &'o [String],
    },
    /// No route leads to the canary.
    #[error("no {} leads to the canary by the filter's header", route_kinds(*routes))]
    NoRoutes {
        /// Who writes the routes.
        routes: Routes,
    },
    /// Requests can bypass our routes.
    #[error("{gap}: {}", reached_pods(reached))]
    Bypass {
        /// The object that leads past them.
        gap: &'o Gap,
        /// The ready pods that they reach and that are not of the stable version, by version.
        reached: &'o BTreeMap<String, usize>,
    },
    /// An operation was interrupted before it wrote this object.
    #[error("{object} does not carry generation {generation}")]
    NotWritten {
        /// The object.
        object: &'o str,
        /// The record's generation.
        generation: u64,
        /// The operation that was interrupted.
        operation: Option<&'o Operation>,
    },
    /// A new module may never arrive, and with it no weight.
    #[error("module {rollout} was not seen in every proxy")]
    ModuleRollout {
        /// The rollout.
        rollout: &'o ModuleRollout,
    },
    /// A proxy runs another generation, or none.
    #[error("{}, generation {} is desired", proxy.compared_with(*desired), desired.generation)]
    ProxyBehind {
        /// The proxy.
        proxy: &'o ProxyStatus,
        /// The record's generation.
        desired: ReleaseGeneration,
    },
    /// No pod is selected whose proxy could decide.
    #[error("no ready proxy serves the release: nobody decides, and where routes name versions clients can")]
    NoProxies,
    /// What the proxies run is not known.
    #[error("expected to see what the proxies run, found no right to {} {} in namespace `{}`", right.verb, right.resource, right.namespace)]
    NotObserved {
        /// The missing right.
        right: &'o Right,
    },
    /// A proxy may die of the next Wasm filter. One that reports no metrics is [`Problem::ProxyBehind`].
    #[error("{}/{} runs without V8, and may die of its first Wasm filter", proxy.namespace, proxy.pod)]
    NoWasmRuntime {
        /// The proxy.
        proxy: &'o ProxyStatus,
    },
    /// Clients do not return the filter's cookies.
    #[error("{0}")]
    LostCookies(LostCookies),
    /// New sessions are not distributed as the weight says, and chance does not explain it.
    #[error("{} of {} new sessions came to the canary in {seconds} s, at a weight of {weight}", share.canary, share.of)]
    ShareDeviates {
        /// The share.
        share: Share,
        /// Length of the window.
        seconds: u64,
        /// The weight in force.
        weight: Weight,
    },
    /// The fuse of the canary is open.
    #[error("{0}")]
    FuseOpen(OpenFuse<'o>),
    /// A weight with an expiry has ended.
    #[error("the weight {weight} has expired")]
    WeightExpired {
        /// The weight.
        weight: Weight,
    },
    /// The drain deadline of a version has passed.
    #[error("the drain deadline of version `{version}` has passed")]
    DrainOverdue {
        /// The version.
        version: String,
    },
    /// A version is gone, and objects still name it.
    #[error("routes and subset of the removed version `{version}` remain")]
    NotPruned {
        /// The version.
        version: &'o str,
    },
}

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
    problems.extend((!observation.is_recorded).then_some(Problem::NoRecord));
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
    problems.extend(not_written(observation));
    problems.extend(module_rollout(&observation.record));
    let has_none = observation.proxies.is_empty() && observation.missing_right.is_none();
    problems.extend(has_none.then_some(Problem::NoProxies));
    problems.extend(observation.missing_right.as_ref().map(|right| Problem::NotObserved { right }));
    problems.extend(proxies(observation));
    problems.extend(LostCookies::observed(observation, now).map(Problem::LostCookies));
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
    is_missing.then_some(Problem::NoRoutes { routes: observation.record.routes })
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

/// What requests get that bypass our routes.
fn reached_pods(reached: &BTreeMap<String, usize>) -> String {
    if reached.is_empty() {
        return "such requests may get any version".to_owned();
    }
    let pods = reached.iter().map(|(version, ready)| {
        format!("{} of version `{version}`", counted(*ready, "ready pod", "ready pods"))
    });
    format!("such requests reach {}, whatever the weight", pods.collect::<Vec<_>>().join(" and "))
}

fn not_repairable(error: &plan::Error) -> String {
    match error {
        plan::Error::NotOurs { object, owner } => {
            format!("{object} has lost routes of ours: it belongs to {owner}")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
#[path = "problem_tests.rs"]
mod tests;
