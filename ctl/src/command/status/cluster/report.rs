//! What a release on a cluster is asked to do, and what is there: as fields, and as text.

use super::super::{Problem, problem};
use crate::command::role_change;
use crate::hint::{CALLS_OF_AMBIENT_PODS, Hint};
use crate::report::{Report, Table, escape};
use assignment::Weight;
use assignment::contract::{Role, VersionConfig};
use canary_release::doctor::ClusterFinding;
use canary_release::format::counted;
use canary_release::metrics::{ReleaseGeneration, VersionTraffic};
use canary_release::rbac::Right;
use canary_release::record::{History, Pause};
use canary_release::rollout::Rollout;
use canary_release::routing::{AmbientPods, UnmeshedPods};
use canary_release::spec::ReleaseName;
use canary_release::status::{
    ControllerStatus, EmbeddedAtScale, NextStep, Observation, ObservedShare, ProxyStatus, ReadyPods, problems,
};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// The changes that are shown to people.
const LAST: usize = 5;

/// A release as it stands. Weights in basis points.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClusterStatus {
    release: String,
    weight: Share,
    #[serde(flatten)]
    desired: ReleaseGeneration,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
    /// The pause, with its author.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<Pause>,
    /// The rollout that goes by itself, or the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    rollout: Option<Box<Rollout>>,
    /// The status that the controller has written.
    #[serde(skip_serializing_if = "Option::is_none")]
    controller: Option<ControllerStatus>,
    versions: Vec<Version>,
    /// Versions that are not live and have ready pods behind the Service, and how many.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    not_live: BTreeMap<String, usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    draining: Vec<Draining>,
    /// The observed share of the canary; none without a canary.
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<ObservedShare>,
    proxies: Vec<ProxyStatus>,
    /// The right without which they cannot be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_right: Option<Right>,
    /// Pods that may call the Service past the routes.
    #[serde(skip_serializing_if = "UnmeshedPods::is_empty")]
    without_sidecar: UnmeshedPods,
    /// Ambient pods that may call it too.
    #[serde(skip_serializing_if = "AmbientPods::is_empty")]
    ambient: AmbientPods,
    /// The other clusters that the control plane reads, whose proxies are not asked.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    remote_clusters: BTreeSet<String>,
    /// The embedded module, where a registry is better.
    #[serde(skip_serializing_if = "Option::is_none")]
    embedded_at_scale: Option<EmbeddedAtScale>,
    /// The oldest first.
    history: History,
    /// The next step, if there is no problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<NextStep>,
    problems: Vec<Problem>,
}

#[derive(Clone, Debug, Serialize)]
struct Share {
    /// The desired weight, in basis points.
    asked: Weight,
    /// The effective weight, in basis points.
    effective: Weight,
}

#[derive(Clone, Debug, Serialize)]
struct Version {
    name: String,
    role: Role,
    epoch: u32,
    ready: usize,
    pods: usize,
}

/// A version whose sessions finish.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Draining {
    version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
    /// Its requests in the window.
    now: VersionTraffic,
    /// The length of the window in seconds.
    seconds: u64,
}

impl ClusterStatus {
    pub(super) fn new(
        name: &ReleaseName,
        (observation, controller): (Observation, Option<ControllerStatus>),
        now: Timestamp,
    ) -> Self {
        let seconds = u64::try_from(now.as_second()).unwrap_or_default();
        let canary = observation.record.state.version_of(Role::Canary);
        let share = canary
            .zip(observation.traffic.as_ref())
            .map(|(canary, traffic)| ObservedShare::of(canary, traffic, observation.counts_sessions));
        let problems = with_hints(&observation, share.as_ref(), seconds);
        let next = NextStep::of(&observation, seconds).filter(|_| problems.is_empty());
        let embedded_at_scale = EmbeddedAtScale::observed(
            observation.objects.embedded_module.as_ref(),
            observation.proxies.len(),
        );
        let (versions, draining) = (versions(&observation), draining(&observation));
        let not_live = observation.ready_but_not_live().into_iter();
        let not_live = not_live.map(|(version, ready)| (version.to_owned(), ready)).collect();
        let Observation { record, proxies, missing_right, coverage, remote_clusters, .. } = observation;
        let state = &record.state;
        Self {
            release: name.to_string(),
            weight: Share { asked: state.weight, effective: state.weight_at(seconds) },
            desired: state.release_generation(),
            until: state
                .until
                .and_then(|until| Timestamp::from_second(i64::try_from(until.at_seconds).ok()?).ok()),
            controller,
            versions,
            not_live,
            draining,
            history: record.history,
            paused: record.paused,
            rollout: record.rollout,
            seen: share,
            proxies,
            missing_right,
            remote_clusters,
            embedded_at_scale,
            without_sidecar: coverage.unmeshed_pods,
            ambient: coverage.ambient_pods,
            next,
            problems,
        }
    }
}

fn versions(observation: &Observation) -> Vec<Version> {
    let versions = observation.record.state.versions.iter().zip(&observation.ready);
    let version = |(version, pods): (&VersionConfig, &ReadyPods)| {
        let VersionConfig { name, role, epoch, .. } = version;
        Version { name: name.clone(), role: *role, epoch: *epoch, ready: pods.ready, pods: pods.all }
    };
    versions.map(version).collect()
}

fn draining(observation: &Observation) -> Vec<Draining> {
    let Observation { record, traffic, .. } = observation;
    let drains = |version: String| Draining {
        until: record.draining.get(&version).copied(),
        now: traffic.as_ref().map(|window| window.traffic.of(&version)).unwrap_or_default(),
        seconds: traffic.as_ref().map(|window| window.time.as_secs()).unwrap_or_default(),
        version,
    };
    record.draining_versions().into_iter().map(drains).collect()
}

/// The problems with their hints.
fn with_hints(observation: &Observation, share: Option<&ObservedShare>, now_seconds: u64) -> Vec<Problem> {
    problems(observation, share, now_seconds)
        .into_iter()
        .map(|found| problem(found.id(), found.to_string(), found.hint().unwrap_or_default()))
        .collect()
}

impl ClusterStatus {
    /// The weight, and whether the proxies run it.
    fn text_of_weight(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let Share { asked, effective } = &self.weight;
        let current = self.proxies.iter().filter(|proxy| proxy.runs(self.desired)).count();
        let expired = if effective == asked { String::new() } else { format!(" ({asked} has expired)") };
        writeln!(
            out,
            "{}: weight {effective}{expired}, generation {}",
            self.release, self.desired.generation
        )?;
        match &self.missing_right {
            Some(_) => writeln!(out, "the proxies cannot be asked what they run")?,
            None => writeln!(out, "{current} of {} proxies run it", self.proxies.len())?,
        }
        Ok(())
    }

    /// Further notices: the canary's share, clusters that are not seen, an embedded module, calls past the routes.
    fn text_of_notices(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        if !self.remote_clusters.is_empty() {
            let unseen = ClusterFinding::RemoteClusters { names: self.remote_clusters.clone() };
            writeln!(out, "{unseen}\n  hint: {}", unseen.hint().unwrap_or_default())?;
        }
        if let Some(embedded) = &self.embedded_at_scale {
            writeln!(out, "{embedded}\n  hint: {}", embedded.hint().unwrap_or_default())?;
        }
        if let Some(seen) = &self.seen {
            writeln!(out, "{seen}")?;
        }
        if !self.without_sidecar.is_empty() {
            writeln!(out, "{}", self.without_sidecar)?;
        }
        if !self.ambient.is_empty() {
            writeln!(out, "{}\n  hint: {CALLS_OF_AMBIENT_PODS}", self.ambient)?;
        }
        Ok(())
    }

    /// The other contents of the record.
    fn text_of_record(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        if let Some(until) = self.until {
            writeln!(out, "until {until}")?;
        }
        if let Some(pause) = &self.paused {
            writeln!(out, "paused by {}", escape::line(&pause.to_string()))?;
        }
        if let Some(controller) = &self.controller {
            writeln!(out, "{}", escape::line(&controller.to_string()))?;
        }
        if let Some(rollout) = &self.rollout {
            writeln!(out, "rollout: {}", escape::line(&rollout.to_string()))?;
            if let Some(driver) = rollout.driver.as_ref().filter(|_| rollout.is_active()) {
                writeln!(out, "driven by {}", escape::line(&driver.to_string()))?;
            }
        }
        Ok(())
    }

    /// The versions, their pods, and those that drain.
    fn text_of_versions(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut table = Table::new(["VERSION", "ROLE", "EPOCH", "READY"]);
        for Version { name, role, epoch, ready, pods } in &self.versions {
            let row = [name.clone(), role.as_str().to_owned(), epoch.to_string(), format!("{ready}/{pods}")];
            table.row(row);
        }
        write!(out, "\n{table}")?;
        for (version, ready) in &self.not_live {
            let pods = counted(*ready, "ready pod", "ready pods");
            writeln!(
                out,
                "\n{version} is not live and has {pods}: no route of ours leads to them, and `uninstall` is refused (moves-users) until they have ended"
            )?;
        }
        for Draining { version, until, now, seconds } in &self.draining {
            let until = until.map_or_else(String::new, |until| format!(" until {until:.0}"));
            writeln!(
                out,
                "\n{version} drains{until}: {}",
                role_change::said(version, *now, Duration::from_secs(*seconds))
            )?;
        }
        Ok(())
    }

    /// The generation that each proxy runs.
    fn text_of_proxies(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut table = Table::new(["PROXY", "GENERATION"]);
        for proxy in &self.proxies {
            let generation =
                proxy.active.map_or_else(|| "-".to_owned(), |active| active.generation.to_string());
            table.row([format!("{}/{}", proxy.namespace, proxy.pod), generation]);
        }
        write!(out, "\n{table}\n")
    }
}

impl Report for ClusterStatus {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.text_of_weight(out)?;
        self.text_of_notices(out)?;
        self.text_of_record(out)?;
        self.text_of_versions(out)?;
        self.text_of_proxies(out)?;
        for entry in self.history.entries().iter().rev().take(LAST) {
            writeln!(out, "{}", escape::line(&entry.to_string()))?;
        }
        if let Some(next) = self.next.as_ref().and_then(Hint::hint) {
            writeln!(out, "\nnext: {}", escape::line(&next))?;
        }
        for problem in &self.problems {
            let (message, hint) = (escape::line(&problem.message), escape::line(&problem.hint));
            write!(out, "\nproblem: {message}\n  hint: {hint}\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
