//! What the page shows of a release. The page formats numbers and draws; every sentence comes from here.

use crate::failures::failures_of;
use crate::{ChangeKind, RolloutProgress, crowd};
use assignment::Weight;
use assignment::contract::{Role, Until};
use canary_release::metrics::Traffic;
use canary_release::record::{History, HistoryEntry};
use canary_release::rollout::FailureInterval;
use canary_release::spec::ReleaseName;
use canary_release::state::ReleaseState;
use canary_release::status::{
    Observation, ObservedShare, Problem, ProxyStatus, ReadyPods, WindowTraffic, problems,
};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// A release at one moment. Weights in basis points.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseView {
    /// `<namespace>/<name>`.
    pub release: String,
    /// When it was observed.
    pub at: Timestamp,
    /// The desired weight.
    pub weight: Weight,
    /// The weight in force: 0 after an expiry.
    pub effective: Weight,
    /// When it ends by itself.
    pub until: Option<Timestamp>,
    /// The desired generation.
    pub generation: u64,
    /// By whom it was paused, when and why.
    pub paused: Option<String>,
    /// Length of the window in which requests were counted: since the last change of the release, five minutes at most.
    pub seconds: u64,
    /// Stable, canary, then those that drain.
    pub versions: Vec<VersionView>,
    /// The canary's share in the window; `None` without a canary.
    pub seen: Option<ObservedShare>,
    /// The proxies that serve it.
    pub proxies: Vec<ProxyView>,
    /// The rollout that goes by itself, or the last one.
    pub rollout: Option<RolloutProgress>,
    /// The worst first.
    pub problems: Vec<ProblemView>,
    /// Failures of both versions over time, the oldest first.
    pub failures: Vec<FailureInterval>,
    /// The latest first.
    pub history: Vec<HistoryView>,
    /// The changes that the page has buttons for.
    pub changes: Vec<ChangeKind>,
}

/// A version, and what it had in the window.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionView {
    pub name: String,
    pub role: Role,
    /// The number of times it was added to the release.
    pub epoch: u32,
    /// Its pods; `None` where they are not known.
    pub pods: Option<ReadyPods>,
    /// Its dots of [`CROWD`](crate::CROWD); `None` where no request was counted.
    pub dots: Option<u64>,
    /// Its requests, testers left out.
    pub requests: u64,
    /// Those of sessions that stay on it.
    pub sessions: u64,
    /// Responses by status class.
    pub responses: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProxyView {
    /// `<namespace>/<pod>`.
    pub name: String,
    /// The generation that it runs.
    pub generation: Option<u64>,
    /// Whether it is the desired one.
    pub is_current: bool,
    /// The fault for which it does not report its metrics.
    pub fault: Option<String>,
}

/// A change of the release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HistoryView {
    /// When.
    pub at: Timestamp,
    /// The weight after it.
    pub weight: Weight,
    /// User and action.
    pub text: String,
}

/// Something that a person should look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProblemView {
    /// The expected and the found text.
    pub message: String,
    /// The remedy.
    pub hint: String,
}

impl ReleaseView {
    /// A release on a cluster. `hint` says what to do about a problem.
    pub fn of_cluster(
        name: &ReleaseName,
        observation: &Observation,
        rollout: Option<RolloutProgress>,
        hint: impl Fn(&Problem<'_>) -> Option<String>,
        now: Timestamp,
    ) -> Self {
        let record = &observation.record;
        let window = observation.traffic.as_ref();
        let view = Self::of_state(&name.to_string(), &record.state, window, observation.counts_sessions, now);
        let found = problems(observation, view.seen.as_ref(), seconds(now));
        let problem = |found: Problem<'_>| ProblemView {
            message: found.to_string(),
            hint: hint(&found).unwrap_or_default(),
        };
        let desired = record.state.release_generation();
        let proxy = |proxy: &ProxyStatus| ProxyView {
            name: format!("{}/{}", proxy.namespace, proxy.pod),
            generation: proxy.active.map(|active| active.generation),
            is_current: proxy.runs(desired),
            fault: proxy.fault.as_ref().map(ToString::to_string),
        };
        Self {
            paused: record.paused.as_ref().map(ToString::to_string),
            proxies: observation.proxies.iter().map(proxy).collect(),
            rollout: rollout.or_else(|| record.rollout.as_deref().map(RolloutProgress::of_record)),
            problems: found.into_iter().map(problem).collect(),
            failures: failures_of(record.rollout.as_deref(), window, compared(&record.state), now),
            history: HistoryView::of_all(&record.history),
            changes: ChangeKind::offered(record, now),
            ..view
        }
        .with_pods(&observation.ready)
    }

    /// The view by state and counters alone.
    pub fn of_state(
        name: &str,
        state: &ReleaseState,
        window: Option<&WindowTraffic>,
        counts_sessions: bool,
        now: Timestamp,
    ) -> Self {
        let end = |until: Until| Timestamp::from_second(i64::try_from(until.at_seconds).ok()?).ok();
        let share = |canary| window.map(|window| ObservedShare::of(canary, window, counts_sessions));
        Self {
            release: name.to_owned(),
            at: now,
            weight: state.weight,
            effective: state.weight_at(seconds(now)),
            until: state.until.and_then(end),
            generation: state.generation,
            paused: None,
            seconds: window.map(|window| window.time.as_secs()).unwrap_or_default(),
            versions: versions(state, window.map(|window| &window.traffic)),
            seen: state.version_of(Role::Canary).and_then(share),
            proxies: Vec::new(),
            rollout: None,
            problems: Vec::new(),
            failures: failures_of(None, window, compared(state), now),
            history: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Adds the pods of each version, in the state's order.
    #[must_use]
    pub fn with_pods(mut self, ready: &[ReadyPods]) -> Self {
        for (version, ready) in self.versions.iter_mut().zip(ready) {
            version.pods = Some(*ready);
        }
        self
    }
}

impl HistoryView {
    /// The entries of a history, the latest first.
    pub fn of_all(history: &History) -> Vec<Self> {
        let entry = |entry: &HistoryEntry| Self { at: entry.at, weight: entry.to, text: entry.to_string() };
        history.entries().iter().rev().map(entry).collect()
    }
}

/// The versions whose failures are compared.
fn compared(state: &ReleaseState) -> [Option<&str>; 2] {
    [Role::Stable, Role::Canary].map(|role| state.version_of(role))
}

fn versions(state: &ReleaseState, traffic: Option<&Traffic>) -> Vec<VersionView> {
    let version = |version: &assignment::contract::VersionConfig| {
        let part = traffic.map(|traffic| traffic.of(&version.name)).unwrap_or_default();
        VersionView {
            name: version.name.clone(),
            role: version.role,
            epoch: version.epoch,
            pods: None,
            dots: None,
            requests: part.requests,
            sessions: part.sessions,
            responses: traffic.map(|traffic| traffic.responses_of(&version.name)).unwrap_or_default(),
        }
    };
    let mut versions: Vec<_> = state.versions.iter().map(version).collect();
    let counts: Vec<u64> = versions.iter().map(|version| version.requests).collect();
    for (version, dots) in versions.iter_mut().zip(crowd(&counts).into_iter().flatten()) {
        version.dots = Some(dots);
    }
    versions
}

fn seconds(now: Timestamp) -> u64 {
    u64::try_from(now.as_second()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use canary_release::evidence::{GroupCounts, IntervalCounts, VersionCounts};
    use canary_release::file::load;
    use canary_release::metrics::ProxyMetrics;
    use canary_release::record::{Author, Record, RecordTrust};
    use canary_release::rollout::InnerIntervals;
    use canary_release::routing::Coverage;
    use canary_release::status::ObjectStatus;
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::time::Duration;

    fn hint(problem: &Problem<'_>) -> Option<String> {
        problem.to_string().strip_prefix("version").map(|rest| format!("hint: version{rest}"))
    }

    fn observation() -> Observation {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml");
        let release = load(&path).unwrap().release;
        let mut record = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
        record.set_weight(
            "20".parse().unwrap(),
            None,
            Author::new("ada", Timestamp::now()),
            canary_release::record::Operation::Weight,
        );
        record.pause(Author::new("bob", Timestamp::now()), Some("looks odd".to_owned()));
        let text = "canary_requests_total{component=\"shop/shop\",tag=\"v1/stable/pin\"} 75\n\
            canary_requests_total{component=\"shop/shop\",tag=\"v2/canary/minted\"} 25\n\
            canary_responses_total{component=\"shop/shop\",tag=\"v2/canary/5xx\"} 2\n\
            canary_responses_total{component=\"shop/shop\",tag=\"v2/canary/2xx\"} 23\n";
        let pod = ("ingress".to_owned(), "gateway".to_owned());
        let traffic = Traffic::of_release([(pod, &ProxyMetrics::parse(text))], "shop/shop");
        Observation {
            record,
            trust: RecordTrust::Genuine,
            ready: vec![ReadyPods { ready: 2, all: 2 }, ReadyPods { ready: 0, all: 1 }],
            proxies: Vec::new(),
            missing_right: None,
            objects: ObjectStatus::default(),
            is_routed: Some(true),
            route_faults: Vec::new(),
            coverage: Coverage::default(),
            beside_stable: BTreeMap::new(),
            narrow: None,
            default_route: None,
            failing: Vec::new(),
            template_drift: Vec::new(),
            remote_clusters: BTreeSet::new(),
            counts_sessions: true,
            session_cookie: None,
            traffic: Some(WindowTraffic { total: traffic.clone(), traffic, time: Duration::from_secs(9) }),
        }
    }

    #[test]
    fn a_view_says_who_is_where_and_what_is_wrong_with_its_hint() {
        let now = Timestamp::from_second(1_764_000_000).unwrap();
        let view = ReleaseView::of_cluster(&"shop/shop".parse().unwrap(), &observation(), None, hint, now);
        assert_eq!((view.effective.to_string().as_str(), view.seconds), ("20%", 9));
        let dots: Vec<_> =
            view.versions.iter().map(|version| (version.name.as_str(), version.dots)).collect();
        assert_eq!(dots, [("v1", Some(150)), ("v2", Some(50))]);
        let canary = view.versions.last().unwrap();
        assert_eq!(canary.responses, BTreeMap::from([("2xx".to_owned(), 23), ("5xx".to_owned(), 2)]));
        assert_eq!(canary.pods, Some(ReadyPods { ready: 0, all: 1 }));
        assert_eq!(view.problems.first().unwrap().message, "version `v2` has no ready pod of 1");
        assert_eq!(view.problems.first().unwrap().hint, "hint: version `v2` has no ready pod of 1");
        assert!(view.paused.unwrap().ends_with("looks odd"));
        assert!(view.history.first().unwrap().text.starts_with("bob: pause"), "{:?}", view.history);
    }

    #[test]
    fn without_a_rollout_the_failures_are_those_of_the_window_and_in_one_those_of_its_record() {
        let now = Timestamp::from_second(1_764_000_000).unwrap();
        let name = "shop/shop".parse().unwrap();
        let mut observation = observation();
        let view = ReleaseView::of_cluster(&name, &observation, None, hint, now);
        let [window] = view.failures.as_slice() else { panic!("{:?}", view.failures) };
        assert_eq!((window.to, window.to.duration_since(window.from).as_secs()), (now, 9));
        assert_eq!((window.canary.failed, window.canary.responses, window.stable.failed), (2, 25, 0));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml");
        let spec = load(&path).unwrap().release.rollout;
        let start = now - jiff::SignedDuration::from_mins(5);
        observation.record.start_rollout(&spec, "default", Author::new("ada", start)).unwrap();
        let group = |failed| GroupCounts::new([10; 16], [failed; 16]);
        let server_errors = VersionCounts { canary: group(1), stable: group(0) };
        let counts = IntervalCounts { server_errors, ..IntervalCounts::default() };
        assert!(observation.record.add_evidence(0, &counts, &InnerIntervals::new()));
        observation.record.note_failures(now);
        let view = ReleaseView::of_cluster(&name, &observation, None, hint, now);
        let [rollout] = view.failures.as_slice() else { panic!("{:?}", view.failures) };
        assert_eq!((rollout.from, rollout.to), (start, now));
        assert_eq!((rollout.canary.failed, rollout.canary.responses, rollout.stable.failed), (16, 160, 0));
    }

    #[test]
    fn where_nothing_was_counted_there_are_no_dots() {
        let observation = Observation { traffic: None, ..observation() };
        let now = Timestamp::from_second(1_764_000_000).unwrap();
        let view = ReleaseView::of_cluster(&"shop/shop".parse().unwrap(), &observation, None, hint, now);
        assert!(view.versions.iter().all(|version| version.dots.is_none()), "{:?}", view.versions);
    }
}
