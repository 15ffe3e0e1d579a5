//! What `status` prints of a release on a cluster.

use super::*;
use canary_release::file::load;
use canary_release::preflight::{NarrowSelector, WasmRuntime};
use canary_release::record::{Author, Record, RecordTrust};
use canary_release::routing::Coverage;
use canary_release::state::ReleaseState;
use canary_release::status::ObjectStatus;
use std::path::Path;

/// The example at weight 0, with a ready pod of each version, a gateway and nothing wrong.
fn healthy() -> Observation {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/session-cookie/canary.yaml");
    let release = load(&path).unwrap().release;
    let record = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
    let gateway = ProxyStatus {
        namespace: "istio-ingress".to_owned(),
        pod: "gateway-1".to_owned(),
        active: Some(record.state.release_generation()),
        fused_until_seconds: None,
        wasm_runtime: WasmRuntime::Present,
        fault: None,
    };
    Observation {
        proxies: vec![gateway],
        record,
        trust: RecordTrust::Genuine,
        ready: vec![ReadyPods { ready: 1, all: 1 }; 2],
        missing_right: None,
        objects: ObjectStatus::default(),
        is_routed: Some(true),
        route_faults: Vec::new(),
        coverage: Coverage::default(),
        beside_stable: BTreeMap::from([("v2".to_owned(), 1)]),
        narrow: None,
        default_route: None,
        failing: Vec::new(),
        template_drift: Vec::new(),
        remote_clusters: BTreeSet::new(),
        counts_sessions: true,
        session_cookie: None,
        traffic: None,
    }
}

fn text(observation: Observation) -> String {
    let mut text = String::new();
    let name = "shop/shop".parse().unwrap();
    ClusterStatus::new(&name, (observation, None), Timestamp::UNIX_EPOCH).text(&mut text).unwrap();
    text
}

#[test]
fn clusters_whose_gateways_are_not_seen_are_a_line_with_a_hint_below_the_proxies() {
    let mut observation = healthy();
    observation.remote_clusters = ["east", "west"].map(str::to_owned).into();
    assert_eq!(
        text(observation),
        "\
shop/shop: weight 0%, generation 1
1 of 1 proxies run it
istiod reads other clusters (east, west): gateways there are not seen, and nothing waits for them
  hint: call the verb for the context of each cluster, `--context CONTEXT`; section \"Several clusters\" of docs/operations.md

VERSION  ROLE    EPOCH  READY
v1       stable  1      1/1
v2       canary  1      1/1

PROXY                    GENERATION
istio-ingress/gateway-1  1


next: `canary-ctl token create --version v2` for testers; then `canary-ctl rollout start`, or `canary-ctl weight 5 --wait`
"
    );
}

/// The next step of a release whose canary has these pods and this weight, changed once more.
fn next(pods: ReadyPods, weight: &str, change: impl FnOnce(&mut Record)) -> Option<String> {
    let mut observation = healthy();
    observation.ready[1] = pods;
    observation.record.state.weight = weight.parse().unwrap();
    change(&mut observation.record);
    NextStep::of(&observation, 0)?.hint()
}

#[test]
fn what_comes_next_follows_from_the_pods_of_the_canary_its_weight_and_the_roles() {
    let pods = |ready, all| ReadyPods { ready, all };
    let unchanged = |_: &mut Record| {};
    let begins = |found: Option<String>, expected: &str| {
        assert!(found.as_ref().is_some_and(|found| found.starts_with(expected)), "{expected}: {found:?}");
    };
    begins(next(pods(0, 0), "0", unchanged), "start the pods of `v2`");
    begins(next(pods(0, 2), "0", unchanged), "`canary-ctl twin wait`");
    let selector = BTreeMap::from([("version".to_owned(), "v1".to_owned())]);
    let mut narrow = healthy();
    narrow.narrow = NarrowSelector::excluding("v2", ("shop", "version"), &selector);
    begins(
        NextStep::of(&narrow, 0).unwrap().hint(),
        "Service `shop` selects `version: v1` alone; take `version` out of its selector",
    );
    begins(next(pods(1, 2), "0", unchanged), "`canary-ctl token create --version v2`");
    begins(next(pods(2, 2), "20", unchanged), "`canary-ctl weight +10 --wait`, or `canary-ctl promote`");
    begins(next(pods(2, 2), "100", unchanged), "`canary-ctl promote` makes `v2` stable");
    let role = |role| move |record: &mut Record| record.state.versions[1].role = role;
    begins(
        next(pods(2, 2), "0", role(Role::Draining)),
        "`canary-ctl promote --finish` when the sessions of `v2`",
    );
    begins(next(pods(2, 2), "0", |record| record.state.versions.truncate(1)), "name the next version");
    let rolled_back = |record: &mut Record| {
        let deadline = Timestamp::UNIX_EPOCH + Duration::from_mins(1);
        record.promote(deadline, Author::new("ada", Timestamp::UNIX_EPOCH));
        let target = record.to_roll_back().unwrap();
        record.roll_back(&target, Some(deadline), Author::new("ada", Timestamp::UNIX_EPOCH));
    };
    begins(
        next(pods(2, 2), "0", rolled_back),
        "the sessions of `v2` finish there; `canary-ctl rollback --now` ends them",
    );
    let paused = next(pods(2, 2), "0", |record| {
        record.paused = Some(Pause { by: "ada".to_owned(), at: Timestamp::UNIX_EPOCH, reason: None });
    });
    assert_eq!(paused, None);
}

#[test]
fn where_something_is_wrong_that_comes_first() {
    let mut observation = healthy();
    observation.trust = RecordTrust::Absent;
    let found = text(observation);
    assert!(found.contains("problem: ") && !found.contains("next: "), "{found}");
}

#[test]
fn an_embedded_module_in_two_hundred_proxies_is_a_line_with_the_bytes_and_the_way_to_a_registry() {
    let with_proxies = |count| {
        let mut observation = healthy();
        observation.proxies = vec![observation.proxies[0].clone(); count];
        observation.objects.embedded_module =
            Some(canary_release::ModuleDigest { sha256: "0".repeat(64), size: 146_971 });
        text(observation)
    };
    let found = with_proxies(200);
    let lines: Vec<&str> = found.lines().skip(1).take(3).collect();
    let expected = [
        "200 of 200 proxies run it",
        "the module is embedded: istiod sends it to each of 200 proxies with each weight, 29.3 MB",
    ];
    assert_eq!(lines[..2], expected);
    assert!(lines[2].contains("canary-ctl module save --oci-layout"), "{found}");
    assert!(!with_proxies(20).contains("embedded"), "20 proxies are few");
}
