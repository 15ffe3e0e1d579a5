use super::*;
use crate::doctor::{Area, Refusal, Severity};
use crate::file::load;
use crate::preflight::{Exposure, GatewayObservation, WasmRuntime};
use crate::spec::Routes;
use crate::status::ProxyFault;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

fn release() -> Release {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml");
    let mut release = load(&path).unwrap().release;
    release.delivery.module = crate::spec::Module::Url("oci://registry.acme.io/filter:1".to_owned());
    release
}

fn proxy(pod: &str, istio: &str, fault: Option<&str>) -> ProxyExamination {
    ProxyExamination {
        namespace: "istio-ingress".to_owned(),
        pod: pod.to_owned(),
        istio: Some(istio.to_owned()),
        wasm_runtime: WasmRuntime::Present,
        fault: fault.map(|fault| ProxyFault::Unread(fault.to_owned())),
    }
}

fn right(namespace: &str, resource: &str) -> Right {
    let (group, resource) = (String::new(), resource.to_owned());
    Right { namespace: namespace.to_owned(), group, resource, name: None, verb: "list" }
}

fn istiod(version: &str) -> Istiod {
    Istiod::of("istiod-1", Some(&format!("docker.io/istio/pilot:{version}")), &BTreeMap::new())
}

fn with_istiod(all: &mut Examination, version: &str) {
    all.control_plane = Some(ControlPlane::Istiods(vec![istiod(version)]));
}

/// An installed release with nothing wrong.
fn healthy() -> Examination {
    let release = release();
    let servers = json!([{"port": {"protocol": "HTTPS"}, "hosts": ["*"]}]);
    let observed = |gateway: &crate::spec::Gateway| GatewayObservation {
        gateway: gateway.clone(),
        object: Some(json!({"spec": {"selector": gateway.pods.labels, "servers": servers}})),
        is_gateway_api: false,
        pods: vec![gateway.pods.labels.clone()],
    };
    let pods = ReadyPods { ready: 1, all: 1 };
    Examination {
        unreached: Vec::new(),
        is_installed: Some(true),
        brings_wasm: false,
        service: Some(ServiceExamination {
            missing_targets: Vec::new(),
            ports: Some(vec![release.service.port]),
            stable: pods,
            canary: Some(pods),
            unlabelled: 0,
            narrow: None,
        }),
        exposure: Some(Exposure {
            gateways: release.gateways.iter().map(observed).collect(),
            ..Exposure::default()
        }),
        failed_checks: Vec::new(),
        routes: Routes::Managed,
        unrouted: Vec::new(),
        gaps: Vec::new(),
        without_record: Vec::new(),
        wrong_cookie: None,
        missing_rights: Some(Vec::new()),
        refusals: Some(Vec::new()),
        proxies: Some(vec![proxy("a", "1.30.1", None)]),
        control_plane: Some(ControlPlane::Istiods(vec![istiod("1.30.0")])),
        keys: Some(KeyState::Equal),
        remote_clusters: BTreeSet::new(),
    }
}

/// Severity, area and text of the one finding of a healthy release with this fault.
fn only(spoil: impl FnOnce(&mut Examination)) -> (Severity, Area, String) {
    let mut examination = healthy();
    spoil(&mut examination);
    let found = findings(&release(), &examination);
    let [finding] = found.as_slice() else { panic!("expected one finding, found {found:?}") };
    (finding.severity(), finding.area(), finding.to_string())
}

fn service(examination: &mut Examination) -> &mut ServiceExamination {
    examination.service.as_mut().unwrap()
}

#[test]
fn a_session_cookie_that_no_response_sets_is_a_warning_about_the_proxies() {
    let message =
        "expected sessions with the cookie `SID`, found none in 60 requests of known users".to_owned();
    let found = only(|examination| examination.wrong_cookie = Some(message.clone()));
    assert_eq!(found, (Severity::Warning, Area::Proxies, message));
}

#[test]
fn a_healthy_release_has_no_finding_and_what_was_not_read_is_none() {
    assert_eq!(findings(&release(), &healthy()), []);
    let unread = Examination { is_installed: Some(true), ..Examination::default() };
    assert_eq!(findings(&release(), &unread), []);
}

/// A fault, and severity, area and a part of the text of its finding.
type Case = (fn(&mut Examination), Severity, Area, &'static str);

const NONE_READY: ReadyPods = ReadyPods { ready: 0, all: 2 };

#[test]
fn every_fault_is_a_finding_with_its_severity_and_its_area() {
    let cases: [Case; 15] = [
        (|all| service(all).ports = None, Severity::Error, Area::Service, "expected Service"),
        (|all| service(all).ports = Some(vec![1]), Severity::Error, Area::Service, "expected port"),
        (|all| service(all).stable = NONE_READY, Severity::Error, Area::Service, "no ready pod of 2"),
        (|all| service(all).canary = Some(NONE_READY), Severity::Info, Area::Service, "no ready pod yet"),
        (|all| service(all).unlabelled = 3, Severity::Warning, Area::Service, "found 3 pods without it"),
        (without_gateway, Severity::Error, Area::Gateways, "expected Gateway"),
        (|all| lacking(all, "shop", "pods"), Severity::Error, Area::Rights, "missing: 1 right"),
        (
            |all| lacking(all, ROOT_NAMESPACE, "destinationrules"),
            Severity::Warning,
            Area::Rights,
            "not allowed to list DestinationRules",
        ),
        (refused, Severity::Error, Area::Admission, "a policy"),
        (silent, Severity::Error, Area::Proxies, "istio-ingress/a does not answer"),
        (mixed, Severity::Info, Area::Proxies, "1.29.0, 1.30.1"),
        (
            |all| with_istiod(all, "1.32.0"),
            Severity::Warning,
            Area::Proxies,
            "1 proxy runs Istio 1.30.1, and istiod 1.32.0: an istiod supports its own",
        ),
        (
            |all| with_istiod(all, "1.29.0"),
            Severity::Warning,
            Area::Proxies,
            "1 proxy runs Istio 1.30.1, and istiod 1.29.0",
        ),
        (without_keys, Severity::Warning, Area::Keys, "in istio-ingress, found none"),
        (|all| all.is_installed = Some(false), Severity::Info, Area::Service, "not on this cluster yet"),
    ];
    for (spoil, expected, about, part) in cases {
        let (severity, area, text) = only(spoil);
        assert_eq!((severity, area), (expected, about), "{text}");
        assert!(text.contains(part), "expected `{part}`, found `{text}`");
    }
}

fn without_gateway(all: &mut Examination) {
    all.exposure.as_mut().unwrap().gateways[0].object = None;
}

fn lacking(all: &mut Examination, namespace: &str, resource: &str) {
    all.missing_rights = Some(vec![right(namespace, resource)]);
}

fn refused(all: &mut Examination) {
    all.refusals = Some(vec![Refusal { message: "a policy".to_owned() }]);
}

fn silent(all: &mut Examination) {
    all.proxies = Some(vec![proxy("a", "1.30.1", Some("does not answer"))]);
}

fn mixed(all: &mut Examination) {
    all.proxies = Some(vec![proxy("a", "1.30.1", None), proxy("b", "1.29.0", None)]);
}

fn without_keys(all: &mut Examination) {
    all.keys = Some(KeyState::Missing { namespaces: vec!["istio-ingress".to_owned()] });
}

#[test]
fn v8_is_missed_only_where_a_filter_would_come() {
    let missing = |brings_wasm| {
        let mut examination = healthy();
        examination.brings_wasm = brings_wasm;
        examination.proxies.as_mut().unwrap()[0].wasm_runtime = WasmRuntime::Missing;
        findings(&release(), &examination).len()
    };
    assert_eq!((missing(true), missing(false)), (1, 0));
}

#[test]
fn the_worst_comes_first() {
    let mut examination = healthy();
    examination.is_installed = Some(false);
    service(&mut examination).unlabelled = 1;
    service(&mut examination).ports = Some(Vec::new());
    let severities: Vec<Severity> =
        findings(&release(), &examination).iter().map(ClusterFinding::severity).collect();
    assert_eq!(severities, [Severity::Error, Severity::Warning, Severity::Info]);
}

#[test]
fn other_clusters_of_the_control_plane_are_named() {
    let (severity, area, text) =
        only(|found| found.remote_clusters = ["west", "east"].map(str::to_owned).into());
    assert_eq!((severity, area), (Severity::Warning, Area::Clusters));
    let expected =
        "istiod reads other clusters (east, west): gateways there are not seen, and nothing waits for them";
    assert_eq!(text, expected);
}

#[test]
fn what_is_older_than_the_oldest_supported_istio_is_said_of_istiods_and_of_proxies() {
    let mut examination = healthy();
    with_istiod(&mut examination, "1.27.3");
    examination.proxies = Some(vec![proxy("a", "1.27.1", None), proxy("b", "1.27.1", None)]);
    let found: Vec<String> = findings(&release(), &examination).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "istiod istiod-1 runs Istio 1.27.3, expected 1.28 or later",
            "2 proxies run Istio 1.27.1, expected 1.28 or later"
        ]
    );
}

#[test]
fn where_no_istiod_can_be_seen_nothing_is_said_of_its_proxies() {
    let mut examination = healthy();
    examination.control_plane = Some(ControlPlane::Unknown("not allowed".to_owned()));
    assert_eq!(findings(&release(), &examination), []);
}

#[test]
fn an_embedded_module_in_many_proxies_is_said_and_in_few_it_is_not() {
    let found_with = |proxies: usize| {
        let mut examination = healthy();
        let one = examination.proxies.take().unwrap().remove(0);
        examination.proxies = Some(vec![one; proxies]);
        let mut release = release();
        let module = crate::EmbeddedModule::new(b"\0asm, and what follows").unwrap();
        release.delivery.module = crate::spec::Module::Embedded(Some(module));
        findings(&release, &examination)
    };
    let found = found_with(200);
    let [ClusterFinding::EmbeddedAtScale(embedded)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((embedded.proxies, embedded.module_bytes), (200, 22));
    assert_eq!((found[0].severity(), found[0].area()), (Severity::Info, Area::Proxies));
    assert_eq!(found_with(20), []);
}
