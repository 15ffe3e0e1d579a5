//! A cause that one verb names all verbs name: `doctor`, `apply`, `status`, a weight and a promotion.

use canary_operations::Error;
use canary_release::doctor::findings;
use canary_release::status::{NextStep, problems};
use fake_api_server::FakeApi;
use fake_api_server::fixture::{INGRESS, SHOP, apply, promote, release, run, set_weight, shop};
use serde_json::{Value, json};

/// What each verb says: its findings, messages, refusal.
struct Said {
    doctor: String,
    apply: String,
    status: String,
    weight: String,
    promote: String,
}

fn refusal<T>(result: Result<T, Error>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

/// The verbs on a release that is there, after something has happened to its cluster.
async fn said(happens: impl Fn(&FakeApi), change: &Value) -> Said {
    let api = shop();
    let cluster = api.cluster().await;
    apply(&cluster, &release(&Value::Null)).await.unwrap();
    happens(&api);
    let release = release(change);
    let diagnosis = cluster.diagnose(&release).await;
    let found = findings(&release, &diagnosis.examination);
    let errors = diagnosis.errors.iter().map(|(_, error)| error.to_string());
    let doctor = found.iter().map(ToString::to_string).chain(errors).collect::<Vec<_>>().join("\n");
    assert!(!doctor.contains("not on this cluster yet"), "{doctor}");
    let applied = match apply(&cluster, &release).await {
        Ok(applied) => {
            let calls = applied.unrouted.iter().map(ToString::to_string);
            let gaps = applied.coverage.gaps.iter().map(ToString::to_string);
            let texts = calls.chain(gaps).chain(applied.unreached.iter().map(ToString::to_string));
            texts.collect::<Vec<_>>().join("\n")
        }
        Err(error) => error.to_string(),
    };
    let stored = cluster.get_record(&release.name).await.unwrap();
    let observed = cluster.observe_status(&release.name, &stored).await.unwrap();
    let now = observed.record.state.generation;
    let next = NextStep::of(&observed, now).map(|next| format!("{next:?}"));
    let problems = problems(&observed, None, 0).iter().map(ToString::to_string).collect::<Vec<_>>();
    let status = problems.join("\n") + &next.unwrap_or_default();
    let weight = refusal(set_weight(&cluster, &release, "10").await);
    let promote = refusal(promote(&cluster, &release).await);
    Said { doctor, apply: applied, status, weight, promote }
}

fn narrow(api: &FakeApi) {
    let selector = json!({"app": "shop", "version": "v1"});
    api.state().store.edit("Service", "shop", |service| service["spec"]["selector"] = selector);
}

fn unlabelled(api: &FakeApi) {
    api.state().store.edit("Pod", "shop-v2", |pod| pod["metadata"]["labels"] = json!({"app": "shop"}));
}

fn bypass(api: &FakeApi) {
    api.state().create(&json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "metadata": {"namespace": SHOP, "name": "site"},
        "spec": {"defaultBackend": {"service": {"name": "shop", "port": {"number": 80}}}}}));
}

fn without_pods(api: &FakeApi) {
    api.state().store.remove("Pod", "shop-v2");
}

/// Kubernetes puts no pod of v2 behind a port whose name its containers do not have.
fn other_port_name(api: &FakeApi) {
    let mut state = api.state();
    state.store.edit("Service", "shop", |service| {
        service["spec"]["ports"] = json!([{"name": "http", "port": 80, "targetPort": "web"}]);
    });
    for (pod, name) in [("shop-v1", "web"), ("shop-v2", "http")] {
        state.store.edit("Pod", pod, |pod| {
            pod["spec"]["containers"] =
                json!([{"name": "shop", "ports": [{"name": name, "containerPort": 8080}]}]);
        });
    }
}

/// Of two named ports the canary has one.
fn one_port_name(api: &FakeApi) {
    let mut state = api.state();
    state.store.edit("Service", "shop", |service| {
        service["spec"]["ports"] = json!([{"name": "http", "port": 80, "targetPort": "web"},
            {"name": "http-admin", "port": 9090, "targetPort": "admin"}]);
    });
    for (pod, ports) in [
        (
            "shop-v1",
            json!([{"name": "web", "containerPort": 8080}, {"name": "admin", "containerPort": 9090}]),
        ),
        ("shop-v2", json!([{"name": "web", "containerPort": 8080}])),
    ] {
        state
            .store
            .edit("Pod", pod, |pod| pod["spec"]["containers"] = json!([{"name": "shop", "ports": ports}]));
    }
}

/// A virtual machine behind the Service, which our subsets leave out.
fn workload(api: &FakeApi) {
    api.state().create(&json!({"apiVersion": "networking.istio.io/v1", "kind": "WorkloadEntry",
        "metadata": {"namespace": SHOP, "name": "vm"}, "spec": {"address": "10.0.0.9", "labels": {"app": "shop"}}}));
}

/// Another Gateway of the same pods and port.
fn passthrough(api: &FakeApi) {
    let server = json!({"port": {"number": 443, "name": "tls", "protocol": "TLS"}, "tls": {"mode": "PASSTHROUGH"},
        "hosts": ["shop.example.com"]});
    api.state().create(&json!({"apiVersion": "networking.istio.io/v1", "kind": "Gateway",
        "metadata": {"namespace": "web", "name": "raw"}, "spec": {"selector": {"istio": "gateway"}, "servers": [server]}}));
}

/// A route of gRPC past the release.
fn grpc_route(api: &FakeApi) {
    api.state().create(&json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GRPCRoute",
        "metadata": {"namespace": SHOP, "name": "calls"}, "spec": {"rules": [{"backendRefs": [{"name": "shop", "port": 80}]}]}}));
}

/// The gateway's pods search their own namespace first.
fn hiding_rule(api: &FakeApi) {
    api.state().create(&json!({"apiVersion": "networking.istio.io/v1", "kind": "DestinationRule",
        "metadata": {"namespace": INGRESS, "name": "tls"}, "spec": {"host": "shop.shop.svc.cluster.local"}}));
}

fn other_port(api: &FakeApi) {
    api.state().store.edit("Service", "shop", |service| {
        service["spec"]["ports"] = json!([{"name": "http", "port": 8081}]);
    });
}

/// A cause, and the words in which `doctor`, `apply`, `status`, a weight and a promotion name it.
type Row = (&'static str, fn(&FakeApi), [&'static str; 5]);

const SELECTOR: &str = "Service `shop` selects `version: v1` alone";
const LABEL: &str = "expected label `version` at all pods behind Service `shop`, found 1 pod without it";
const NO_POD: &str = "version `v2` has no pod behind Service `shop`";
const UNNAMED: &str = "expected a container of version `v2` with the port that Service `shop` names (`web`)";
const HIDES: &str = "DestinationRule ingress/tls";
const PORT: &str = "expected port 80 of Service `shop`, found 8081";
const ROUTED: &str = "expected port 8081 of Service `shop` in the routes of VirtualService";
const INGRESS_OF_SHOP: &str = "Ingress shop/site";

const ADMIN: &str =
    "expected a container of version `v2` with port `admin`, to which port 9090 of Service `shop` leads";
const WORKLOAD: &str = "WorkloadEntry shop/vm";
const RAW: &str = "Gateway `web/raw` takes them";
const GRPC: &str = "GRPCRoute shop/calls";

const ROWS: [Row; 11] = [
    ("one of two ports that the canary does not name", one_port_name, [ADMIN; 5]),
    ("a workload without a version", workload, [WORKLOAD, WORKLOAD, "TestCanary", "", ""]),
    ("a Gateway that takes the connections", passthrough, [RAW, RAW, "TestCanary", "", ""]),
    ("a bypass by gRPC", grpc_route, [GRPC, GRPC, GRPC, "", ""]),
    (
        "a port that the canary does not name",
        other_port_name,
        ["version `v2` has no ready pod yet", "", "WaitForCanary", UNNAMED, UNNAMED],
    ),
    ("a rule that hides the subsets", hiding_rule, [HIDES; 5]),
    ("another port of the Service", other_port, [PORT, PORT, ROUTED, ROUTED, ROUTED]),
    ("narrow selector", narrow, [SELECTOR, SELECTOR, "WidenSelector", SELECTOR, SELECTOR]),
    ("pods without the label", unlabelled, [LABEL, LABEL, "DeployCanary", NO_POD, NO_POD]),
    ("no pods", without_pods, ["version `v2` has no ready pod yet", "", "DeployCanary", NO_POD, NO_POD]),
    ("a bypass", bypass, [INGRESS_OF_SHOP, INGRESS_OF_SHOP, INGRESS_OF_SHOP, "", ""]),
];

#[test]
fn a_cause_is_named_by_each_verb_that_it_concerns() {
    run(async {
        let change = json!({"maxStep": 90});
        let mut wrong = Vec::new();
        for (cause, happens, expected) in ROWS {
            let said = Box::pin(said(happens, &change)).await;
            let verbs = [
                ("doctor", &said.doctor),
                ("apply", &said.apply),
                ("status", &said.status),
                ("weight", &said.weight),
                ("promote", &said.promote),
            ];
            for ((verb, found), expected) in verbs.into_iter().zip(expected) {
                if !found.contains(expected) || (expected.is_empty() && !found.is_empty()) {
                    wrong.push(format!("{cause}, {verb}: expected `{expected}`, found `{found}`"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}
