//! What was observed of a release at one moment.

use super::{ProxyStatus, SessionCookie, TemplateDrift, WindowTraffic};
use crate::ModuleDigest;
use crate::object::Reference;
use crate::plan::{self, MissingObject};
use crate::preflight::{CheckFailed, DefaultRoute, NarrowSelector, RouteFault};
use crate::rbac::Right;
use crate::record::{Record, RecordTrust};
use crate::routing::Coverage;
use crate::status::LostSubset;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The number of ready pods of a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadyPods {
    /// Those with the condition `Ready`.
    pub ready: usize,
    /// All that are there and do not terminate.
    pub all: usize,
}

/// A release on a cluster at one moment.
#[derive(Debug)]
pub struct Observation {
    /// Its record.
    pub record: Record,
    /// Whether the record is the one on the cluster, or was read back from the objects.
    pub trust: RecordTrust,
    /// The pods of each version, in the record's order.
    pub ready: Vec<ReadyPods>,
    /// The proxies that serve it and are ready; none where [`missing_right`](Self::missing_right) keeps them from being asked.
    pub proxies: Vec<ProxyStatus>,
    /// The right without which the proxies cannot be asked.
    pub missing_right: Option<Right>,
    /// The state of its objects against the record.
    pub objects: ObjectStatus,
    /// Whether a route leads to the canary; `None` without a canary.
    pub is_routed: Option<bool>,
    /// The faults of external routes that name it.
    pub route_faults: Vec<RouteFault>,
    /// The bypasses of our routes, if there is more than one version.
    pub coverage: Coverage,
    /// The ready pods behind the Service that are not of the stable version, by version: also of versions that the record does not
    /// name.
    pub beside_stable: BTreeMap<String, usize>,
    /// The part of the Service's selector that excludes the canary.
    pub narrow: Option<NarrowSelector>,
    /// The Service, where it does not select stable alone beside `HTTPRoute`s of others.
    pub default_route: Option<DefaultRoute>,
    /// The checks of routes and subsets that fail now: requests get 503.
    pub failing: Vec<CheckFailed>,
    /// The Deployments behind the Service that replace the pods of a live version by others. Empty where they may not be listed.
    pub template_drift: Vec<TemplateDrift>,
    /// The other clusters that the control plane reads: their proxies are none of these. Empty where it may not be read.
    pub remote_clusters: BTreeSet<String>,
    /// Whether a decision by weight is one of a new session: where sessions are pinned, and only the edge decides.
    pub counts_sessions: bool,
    /// The cookie by which sessions are known; `None` where none is named.
    pub session_cookie: Option<SessionCookie>,
    /// The requests of the last seconds; `None` where none were counted.
    pub traffic: Option<WindowTraffic>,
}

impl Observation {
    /// The versions that are not live and have ready pods behind the Service, and how many. No route of ours leads to them; without
    /// our routes the Service would.
    pub fn ready_but_not_live(&self) -> BTreeMap<&str, usize> {
        let is_live = |name: &str| self.record.state.versions.iter().any(|version| version.name == name);
        let beside = self.beside_stable.iter().map(|(version, ready)| (version.as_str(), *ready));
        beside.filter(|(version, _)| !is_live(version)).collect()
    }
}

/// The state of a release's objects against its record.
#[derive(Debug, Default)]
pub struct ObjectStatus {
    /// The module that travels in the configuration; `None` if proxies fetch it.
    pub embedded_module: Option<ModuleDigest>,
    /// The objects of the filter that do not exist.
    pub missing: Vec<Reference>,
    /// The other objects of ours that do not exist.
    pub missing_others: Vec<MissingObject>,
    /// Those that do not carry the record's generation.
    pub behind: Vec<String>,
    /// Those of others that had our routes, and the field managers that have written them since.
    pub lost_routes: Vec<(String, Vec<String>)>,
    /// Those of others that have all our routes, copied from routes that field managers have changed since, and these.
    pub outdated_routes: Vec<(String, Vec<String>)>,
    /// Ours that other field managers have written since, and these.
    pub changed: Vec<(String, Vec<String>)>,
    /// Versions whose subset is missing or selects other pods.
    pub lost_subsets: Vec<LostSubset>,
    /// The error for which lost routes cannot be put back.
    pub not_repairable: Option<plan::Error>,
    /// The configuration object that does not contain the release.
    pub not_deployed: Option<plan::Error>,
}
