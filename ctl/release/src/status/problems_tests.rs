//! Each fault of an observation is a problem, and nothing else is.

use super::super::share::tests::observed as share;
use super::super::{ObjectStatus, ProxyStatus, WindowTraffic};
use super::*;
use crate::file::load;
use crate::metrics::{ProxyMetrics, Traffic};
use crate::object::{Reference, Stage};
use crate::plan::{self, MissingCause, MissingObject};
use crate::rbac::Right;
use crate::record::{Author, Operation, ends_after};
use crate::routing::{Bypass, Coverage, Gap};
use crate::spec::Seconds;
use crate::state::ReleaseState;
use assignment::contract::{ExpiryAction, Until};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const NOW: u64 = 1_800_000_000;

/// A gateway that runs this generation of the example.
fn gateway(record: &Record) -> ProxyStatus {
    ProxyStatus {
        namespace: "ingress".to_owned(),
        pod: "gateway-1".to_owned(),
        active: Some(record.state.release_generation()),
        fused_until_seconds: None,
        wasm_runtime: WasmRuntime::Present,
        fault: None,
    }
}

/// The example at 20 %, with a ready pod of each version, a gateway and nothing wrong.
pub(crate) fn healthy() -> Observation {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml");
    let release = load(&path).unwrap().release;
    let mut record = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
    record.set_weight("20".parse().unwrap(), None, Author::new("ada", Timestamp::now()), Operation::Weight);
    Observation {
        proxies: vec![gateway(&record)],
        record,
        trust: RecordTrust::Genuine,
        ready: vec![ReadyPods { ready: 1, all: 1 }; 2],
        missing_right: None,
        objects: ObjectStatus::default(),
        is_routed: Some(true),
        route_faults: Vec::new(),
        coverage: Coverage::default(),
        beside_stable: BTreeMap::from([("v2".to_owned(), 1)]),
        template_drift: Vec::new(),
        remote_clusters: BTreeSet::new(),
        counts_sessions: true,
        session_cookie: None,
        traffic: None,
        narrow: None,
        default_route: None,
        failing: Vec::new(),
    }
}

/// The one problem of a release that is healthy but for this.
fn only(spoil: impl FnOnce(&mut Observation), canary_sessions: u64) -> String {
    let mut observation = healthy();
    spoil(&mut observation);
    let found = problems(&observation, Some(&share(canary_sessions, 100)), NOW);
    let [problem] = found.as_slice() else { panic!("expected one problem, found {found:?}") };
    problem.to_string()
}

#[test]
fn a_healthy_release_has_no_problem() {
    let healthy = healthy();
    let found = problems(&healthy, Some(&share(20, 100)), NOW);
    assert!(found.is_empty(), "expected none, found {found:?}");
}

#[test]
fn every_fault_is_a_problem_of_its_own() {
    let lost = ("EnvoyFilter shop/web".to_owned(), vec!["helm".to_owned()]);
    let cases: [(&str, String); 8] = [
        ("no ready proxy runs the filter", only(|observation| observation.proxies.clear(), 20)),
        ("no ready pod", only(|observation| observation.ready[1] = ReadyPods { ready: 0, all: 2 }, 20)),
        ("has lost routes of ours", only(|observation| observation.objects.lost_routes.push(lost), 20)),
        (
            "leads to the canary by the filter's header",
            only(|observation| observation.is_routed = Some(false), 20),
        ),
        (
            "was not seen in every proxy",
            only(
                |observation| {
                    observation.record.module_rollout = serde_json::from_value(json!([])).unwrap();
                },
                20,
            ),
        ),
        ("new sessions came to the canary", only(|_| {}, 0)),
        (
            "has expired",
            only(
                |observation| {
                    let until = Until { at_seconds: NOW - 1, action: ExpiryAction::Stop };
                    observation.record.state.until = Some(until);
                },
                0,
            ),
        ),
        (
            "routes and subset of the removed version",
            only(|observation| observation.record.leaving.push("v0".to_owned()), 20),
        ),
    ];
    for (expected, found) in cases {
        assert!(found.contains(expected), "expected `{expected}`, found `{found}`");
    }
}

#[test]
fn what_was_not_observed_and_what_was_copied_before_a_change_are_problems_too() {
    let outdated = ("EnvoyFilter shop/web".to_owned(), vec!["helm".to_owned()]);
    let right = Right {
        namespace: "ingress".to_owned(),
        group: String::new(),
        resource: "pods/proxy".to_owned(),
        name: None,
        verb: "get",
    };
    let found = [
        only(|observation| observation.objects.outdated_routes.push(outdated), 20),
        only(|observation| observation.missing_right = Some(right), 20),
    ];
    assert_eq!(
        found,
        [
            "EnvoyFilter shop/web has routes of ours with former settings: helm has changed the routes that they copy",
            "expected to see what the proxies run, found no right to get pods/proxy in namespace `ingress`"
        ]
    );
}

/// Routes of ours that somebody has deleted.
fn deleted_routes() -> MissingObject {
    let object = Reference::new("networking.istio.io/v1", "EnvoyFilter", "shop", "routes");
    MissingObject { stage: Stage::Routes, object, cause: MissingCause::Deleted }
}

#[test]
fn deleted_routes_are_one_problem_with_their_name_and_no_interruption() {
    let found = only(
        |observation| {
            observation.objects.missing_others.push(deleted_routes());
            observation.is_routed = Some(false);
        },
        20,
    );
    assert_eq!(found, "EnvoyFilter shop/routes is missing: it was deleted");
}

#[test]
fn a_configuration_without_the_release_is_one_sentence() {
    let error = plan::Error::NotCarried {
        release: "shop/shop".to_owned(),
        object: "EnvoyFilter ingress/canary-gateway-config".to_owned(),
        found: "other releases",
    };
    assert_eq!(
        only(|observation| observation.objects.not_deployed = Some(error), 20),
        "expected release `shop/shop` in EnvoyFilter ingress/canary-gateway-config, found other releases"
    );
}

/// An object that leads to all pods.
fn gap() -> Gap {
    let object = Reference::new("networking.istio.io/v1", "EnvoyFilter", "shop", "by-hand");
    Gap { object, bypass: Bypass::WholeService, other_service: None }
}

#[test]
fn a_bypass_says_which_ready_pods_it_reaches_also_those_of_versions_that_are_not_live() {
    let found = only(
        |observation| {
            observation.coverage.gaps.push(gap());
            observation.beside_stable.insert("v3".to_owned(), 2);
        },
        20,
    );
    let expected = "such requests reach 1 ready pod of version `v2` and 2 ready pods of version `v3`, whatever the weight";
    assert!(found.ends_with(expected), "expected `{expected}`, found `{found}`");
    let found = only(
        |observation| {
            observation.coverage.gaps.push(gap());
            observation.beside_stable.clear();
        },
        20,
    );
    assert!(found.ends_with("such requests may get any version"), "{found}");
}

#[test]
fn ready_pods_that_no_route_reaches_are_no_problem_and_known_where_their_version_is_not_live() {
    let mut observation = healthy();
    assert_eq!(observation.ready_but_not_live(), BTreeMap::new(), "a canary has ready pods");
    observation.beside_stable.insert("v3".to_owned(), 2);
    assert_eq!(observation.ready_but_not_live(), BTreeMap::from([("v3", 2)]));
    let found = problems(&observation, None, NOW);
    assert!(found.is_empty(), "expected none, found {found:?}");
}

/// Requests of users who return no cookie of ours.
fn without_cookies() -> Traffic {
    let text = "canary_requests_total{component=\"shop/shop\",tag=\"v1/stable/minted\"} 9\n\
                canary_requests_total{component=\"shop/shop\",tag=\"v1/stable/adopted\"} 40\n";
    let pod = ("ingress".to_owned(), "gateway".to_owned());
    Traffic::of_release([(pod, &ProxyMetrics::parse(text))], "shop/shop")
}

#[test]
fn cookies_that_do_not_come_back_are_a_problem_where_sessions_are_pinned() {
    let traffic = || Some(WindowTraffic { total: without_cookies(), ..WindowTraffic::default() });
    let found = only(|observation| observation.traffic = traffic(), 20);
    assert!(found.contains("40 of 40 requests with a session came without a pin"), "{found}");
    let inside = Observation { traffic: traffic(), counts_sessions: false, ..healthy() };
    let found = problems(&inside, None, NOW);
    assert!(found.is_empty(), "expected none, found {found:?}");
}

#[test]
fn an_open_fuse_is_a_problem_until_it_closes_and_explains_why_the_share_deviates() {
    let fused_until = |until: u64| {
        move |observation: &mut Observation| {
            let second = ProxyStatus { pod: "gateway-2".to_owned(), ..gateway(&observation.record) };
            observation.proxies[0].fused_until_seconds = Some(until);
            observation.proxies.push(second);
        }
    };
    let text = only(fused_until(NOW + 25), 0);
    assert!(text.starts_with("the fuse of version `v2` is open in 1 of 2 proxies, for 25 s more"), "{text}");
    let text = only(fused_until(NOW), 0);
    assert!(text.contains("new sessions"), "it has closed, and the share deviates still: {text}");
    assert!(!text.contains("fuse"), "{text}");
}

#[test]
fn a_drain_is_overdue_after_its_deadline() {
    let mut observation = healthy();
    observation
        .record
        .promote(ends_after(Timestamp::now(), Some(Seconds::DAY)), Author::new("ada", Timestamp::now()));
    let at = |now: u64| {
        problems(&observation, None, now)
            .iter()
            .any(|one| one.to_string().contains("drain deadline of version"))
    };
    let today = u64::try_from(Timestamp::now().as_second()).unwrap();
    assert_eq!((at(today), at(today + 2 * 86_400)), (false, true));
}

#[test]
fn an_interrupted_operation_is_that_of_the_last_entry_of_the_history() {
    let mut observation = healthy();
    observation.objects.behind.push("EnvoyFilter shop/canary".to_owned());
    let operation = |observation: &Observation| match problems(observation, None, NOW).as_slice() {
        [Problem::NotWritten { operation, .. }] => operation.cloned(),
        found => panic!("expected one problem, found {found:?}"),
    };
    assert_eq!(operation(&observation), Some(Operation::Weight));
    observation.record.pause(Author::new("ada", Timestamp::now()), Some("promote".to_owned()));
    let paused = operation(&observation);
    assert!(!matches!(paused, Some(Operation::Promote)), "a reason is no operation: {paused:?}");
}

#[test]
fn a_proxy_without_v8_is_a_problem_beside_its_generation() {
    let mut observation = healthy();
    let gateway = gateway(&observation.record);
    observation.proxies = vec![ProxyStatus { active: None, wasm_runtime: WasmRuntime::Missing, ..gateway }];
    let found: Vec<String> = problems(&observation, None, NOW).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "ingress/gateway-1 does not run the release, generation 2 is desired",
            "ingress/gateway-1 runs without V8, and may die of its first Wasm filter"
        ]
    );
}
