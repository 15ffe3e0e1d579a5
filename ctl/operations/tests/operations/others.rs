//! Objects of others beside a release, each with what happens: `apply` refuses it by a check, and `doctor` says so; `doctor` names it; or
//! nothing is wrong with it.
//!
//! Rows about objects under our names, about owners of fields and about admission are in `refused`, `admission` and `object_metadata`.

use canary_operations::{Cluster, Error};
use canary_release::doctor::{ClusterFinding, Severity, findings};
use canary_release::spec::Release;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{INGRESS, SHOP, apply, release, run, shop};
use serde_json::{Value, json};

/// What becomes of an object of others.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    /// A check of this name refuses it, before and after the release is there.
    Refused(&'static str),
    /// The plan refuses it, and no flag skips that.
    NoPlan(&'static str),
    /// `apply` goes on, and `doctor` says this.
    Named(&'static str),
    /// Nothing is wrong with it.
    Fine,
}
use Verdict::{Fine, Named, NoPlan, Refused};

/// What it is, the object, changes to the `spec` of the release, and the verdict.
struct Row {
    what: &'static str,
    object: Value,
    spec: Value,
    verdict: Verdict,
}

fn row(what: &'static str, object: Value, verdict: Verdict) -> Row {
    Row { what, object, spec: Value::Null, verdict }
}

/// The same where sidecars of callers in `web` decide.
fn inside(what: &'static str, object: Value, verdict: Verdict) -> Row {
    let spec = json!({"sidecars": [{"namespace": "web", "selector": {"app": "web"}}]});
    Row { what, object, spec, verdict }
}

fn istio(kind: &str, name: &str, spec: &Value) -> Value {
    let (namespace, name) = name.split_once('/').unwrap();
    json!({"apiVersion": "networking.istio.io/v1", "kind": kind,
        "metadata": {"namespace": namespace, "name": name}, "spec": spec})
}

fn rule(name: &str, changes: &Value) -> Value {
    let mut spec = json!({"host": "shop.shop.svc.cluster.local"});
    for (field, value) in changes.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    istio("DestinationRule", name, &spec)
}

fn service(name: &str, changes: &Value) -> Value {
    let mut spec = json!({"selector": {"app": "shop"}, "ports": [{"name": "http", "port": 80}]});
    for (field, value) in changes.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": SHOP, "name": name}, "spec": spec})
}

fn port(name: &str) -> Value {
    service("shop", &json!({"ports": [{"name": name, "port": 80}]}))
}

/// A VirtualService of others at this gateway that leads to a host.
fn route(name: &str, hosts: &Value, gateway: &str, destination: &Value) -> Value {
    istio(
        "VirtualService",
        name,
        &json!({"hosts": hosts, "gateways": [gateway],
        "http": [{"route": [{"destination": destination}]}]}),
    )
}

fn gateway(servers: &Value) -> Value {
    istio("Gateway", "ingress/gateway", &json!({"selector": {"istio": "gateway"}, "servers": servers}))
}

fn server(port: u16, protocol: &str, host: &str, tls: &Value) -> Value {
    json!({"port": {"number": port, "name": format!("p{port}"), "protocol": protocol}, "hosts": [host], "tls": tls})
}

fn ingress(service: &str) -> Value {
    json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"namespace": SHOP, "name": "site"},
        "spec": {"defaultBackend": {"service": {"name": service, "port": {"number": 80}}}}})
}

fn http_route(namespace: &str, backend: &Value) -> Value {
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
        "metadata": {"namespace": namespace, "name": "site"}, "spec": {"rules": [{"backendRefs": [backend]}]}})
}

/// One to another Service, of the release's namespace, with this parent.
fn attached(parent: &Value, fields: &Value) -> Value {
    let mut route = http_route(SHOP, &json!({"name": "blog", "port": 80}));
    route["spec"]["parentRefs"] = json!([parent]);
    for (name, value) in fields.as_object().into_iter().flatten() {
        route["spec"][name] = value.clone();
    }
    route
}

fn sidecar(name: &str, hosts: &Value) -> Value {
    istio("Sidecar", name, &json!({"egress": [{"hosts": hosts}]}))
}

const SUBSETS: &str = "to know the subsets of the Service";

fn rules_of_callers() -> Vec<Row> {
    let web = json!({"matchLabels": {"app": "web"}});
    let pool = json!({"connectionPool": {"tcp": {"maxConnections": 9}}});
    let subset = |version: &str| json!({"name": version, "labels": {"version": version}});
    let both = json!([subset("v1"), subset("v2")]);
    vec![
        row(
            "rule with a selector in the Service's namespace",
            rule("shop/web", &json!({"workloadSelector": web})),
            Refused("hidden-subsets"),
        ),
        row(
            "rule in a caller's namespace",
            rule("web/client", &json!({"trafficPolicy": pool})),
            Refused("hidden-subsets"),
        ),
        row(
            "rule in a caller's namespace, with a selector",
            rule("web/client", &json!({"workloadSelector": web})),
            Refused("hidden-subsets"),
        ),
        row(
            "wildcard rule in a caller's namespace",
            rule("web/all", &json!({"host": "*.local"})),
            Named(SUBSETS),
        ),
        row(
            "rule in a caller's namespace with our subsets",
            rule("web/client", &json!({"subsets": both, "exportTo": ["."]})),
            Fine,
        ),
        row(
            "rule in a caller's namespace for others",
            rule("web/client", &json!({"exportTo": ["other"]})),
            Fine,
        ),
        row(
            "rule of another Service in a caller's namespace",
            rule("web/client", &json!({"host": "shop"})),
            Fine,
        ),
    ]
}

fn rules_of_others() -> Vec<Row> {
    let pool = json!({"connectionPool": {"tcp": {"maxConnections": 9}}});
    let other = json!([{"name": "v2", "labels": {"version": "two"}}]);
    vec![
        row(
            "rule in the gateway's namespace",
            rule("ingress/first", &Value::Null),
            NoPlan("would not know the subsets"),
        ),
        row("rule in the Service's namespace", rule("shop/own", &json!({"trafficPolicy": pool})), Fine),
        row(
            "subset of our name with other labels",
            rule("shop/own", &json!({"subsets": other})),
            NoPlan("differ"),
        ),
        row(
            "rule of the whole mesh",
            rule("istio-system/all", &json!({"host": "*.local", "trafficPolicy": pool})),
            Fine,
        ),
    ]
}

fn other_services() -> Vec<Row> {
    let metrics = json!({"ports": [{"name": "http", "port": 9090, "targetPort": 9090}]});
    vec![
        row(
            "second Service over the pods",
            service("shop-internal", &json!({})),
            Named("selects the same pods"),
        ),
        row(
            "headless Service over the pods",
            service("shop-headless", &json!({"clusterIP": "None"})),
            Named("selects the same pods"),
        ),
        row(
            "second Service with a load balancer",
            service("shop-lb", &json!({"type": "LoadBalancer"})),
            Refused("routes-bypassed"),
        ),
        row(
            "second Service on the nodes",
            service("shop-node", &json!({"type": "NodePort"})),
            Named("open on each node"),
        ),
        row(
            "ServiceEntry over the pods",
            istio(
                "ServiceEntry",
                "shop/shop",
                &json!({"hosts": ["shop.example.org"], "ports": [{"number": 80, "name": "http", "protocol": "HTTP"}],
                    "workloadSelector": {"labels": {"app": "shop"}}}),
            ),
            Named("ServiceEntry shop/shop selects the same pods"),
        ),
        row(
            "headless Service without ports",
            service("shop-peers", &json!({"clusterIP": "None", "ports": null})),
            Named("Service shop/shop-peers selects the same pods"),
        ),
        row("Service of their metrics", service("shop-metrics", &metrics), Fine),
        row(
            "Service of stable",
            service("shop-v1", &json!({"selector": {"app": "shop", "version": "v1"}})),
            Fine,
        ),
        row("Service of other pods", service("blog", &json!({"selector": {"app": "blog"}})), Fine),
    ]
}

fn the_service() -> Vec<Row> {
    vec![
        row(
            "the Service has a load balancer",
            service("shop", &json!({"type": "LoadBalancer"})),
            Refused("routes-bypassed"),
        ),
        row(
            "the Service is on the nodes",
            service("shop", &json!({"type": "NodePort"})),
            Named("open on each node"),
        ),
        row(
            "the Service is headless",
            service("shop", &json!({"clusterIP": "None"})),
            Named("clusterIP: None"),
        ),
        inside(
            "the Service is headless, sidecars decide",
            service("shop", &json!({"clusterIP": "None"})),
            Refused("unrouted-calls"),
        ),
        row("port of TCP", port("tcp-web"), Named("is TCP for Istio")),
        inside("port of TCP, sidecars decide", port("tcp-web"), Refused("unrouted-calls")),
        inside(
            "another port of TCP, sidecars decide",
            service(
                "shop",
                &json!({"ports": [{"name": "http", "port": 80}, {"name": "tcp-x", "port": 9090}]}),
            ),
            Named("port 9090 of Service shop/shop, found `name: tcp-x`, which is TCP"),
        ),
        inside("port whose protocol is detected", port("web"), Fine),
    ]
}

fn routes() -> Vec<Row> {
    let shop = || json!({"host": "shop.shop.svc.cluster.local"});
    let (mine, theirs) = (json!(["shop.example.com"]), json!(["old.example.org"]));
    let wildcard = json!(["*.example.com"]);
    vec![
        row(
            "route to the Service at another host",
            route("shop/old", &theirs, "ingress/old", &shop()),
            Refused("routes-bypassed"),
        ),
        row(
            "route to the Service of a foreign namespace",
            route("web/old", &theirs, "web/old", &shop()),
            Refused("routes-bypassed"),
        ),
        row(
            "route to stable's subset",
            route("shop/old", &theirs, "ingress/old", &json!({"host": "shop", "subset": "v1"})),
            Fine,
        ),
        row(
            "route to another Service at our host",
            route("shop/blog", &mine, "ingress/other", &json!({"host": "blog"})),
            Fine,
        ),
        row(
            "wildcard of others at our gateway",
            route("web/site", &wildcard, "ingress/gateway", &json!({"host": "site"})),
            Refused("host-taken"),
        ),
        row("Ingress to the Service", ingress("shop"), Refused("routes-bypassed")),
        row("Ingress to another Service", ingress("blog"), Fine),
        row(
            "HTTPRoute to the Service",
            http_route(SHOP, &json!({"name": "shop", "port": 80})),
            Refused("routes-bypassed"),
        ),
        row(
            "HTTPRoute of the Service's name inside the mesh to another Service",
            attached(&json!({"kind": "Service", "group": "", "name": "shop"}), &json!({})),
            Refused("host-taken"),
        ),
        row(
            "HTTPRoute of our host at a Gateway that is not there",
            attached(&json!({"name": "edge"}), &json!({"hostnames": ["shop.example.com"]})),
            Fine,
        ),
        row("HTTPRoute to stable's Service", http_route(SHOP, &json!({"name": "shop-v1", "port": 80})), Fine),
    ]
}

fn gateways() -> Vec<Row> {
    vec![
        row(
            "Gateway that passes TLS on",
            gateway(&json!([server(443, "TLS", "*.example.com", &json!({"mode": "PASSTHROUGH"}))])),
            Refused("no-http-server"),
        ),
        row(
            "Gateway that redirects, and passes TLS on",
            gateway(&json!([
                server(80, "HTTP", "*.example.com", &json!({"httpsRedirect": true})),
                server(443, "HTTPS", "shop.example.com", &json!({"mode": "PASSTHROUGH"}))
            ])),
            Refused("no-http-server"),
        ),
        row(
            "Gateway of TCP",
            gateway(&json!([server(443, "TCP", "*", &Value::Null)])),
            Refused("no-http-server"),
        ),
        row(
            "Gateway with TCP beside HTTPS",
            gateway(&json!([
                server(5432, "TCP", "*", &Value::Null),
                server(443, "HTTPS", "*.example.com", &json!({"mode": "SIMPLE"}))
            ])),
            Fine,
        ),
        row(
            "Gateway that passes TLS of other hosts on",
            gateway(&json!([
                server(443, "TLS", "*.example.com", &json!({"mode": "PASSTHROUGH"})),
                server(443, "HTTPS", "shop.example.com", &json!({"mode": "SIMPLE"}))
            ])),
            Fine,
        ),
        row(
            "Gateway of plain HTTP",
            gateway(&json!([server(80, "HTTP", "*.example.com", &Value::Null)])),
            Refused("no-tls"),
        ),
        row(
            "Gateway of other hosts",
            gateway(&json!([server(443, "HTTPS", "*.example.org", &json!({"mode": "SIMPLE"}))])),
            Refused("host-not-served"),
        ),
    ]
}

fn scopes() -> Vec<Row> {
    let narrow = || json!(["./*", "istio-system/*"]);
    let mut waypoint = service("shop", &json!({}));
    waypoint["metadata"]["labels"] = json!({"istio.io/use-waypoint": "way"});
    let mut before_gateways = waypoint.clone();
    before_gateways["metadata"]["labels"]["istio.io/ingress-use-waypoint"] = json!("true");
    let strict = json!({"apiVersion": "security.istio.io/v1", "kind": "PeerAuthentication",
        "metadata": {"namespace": SHOP, "name": "default"}, "spec": {"mtls": {"mode": "STRICT"}}});
    let policy = json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": {"namespace": SHOP, "name": "web"}, "spec": {"podSelector": {}, "ingress": [{}]}});
    vec![
        row(
            "Sidecar of the mesh without the Service",
            sidecar("istio-system/default", &narrow()),
            Named("Sidecar istio-system/default leaves it out"),
        ),
        inside(
            "Sidecar of the mesh without the Service, sidecars decide",
            sidecar("istio-system/default", &narrow()),
            Refused("unrouted-calls"),
        ),
        row(
            "Sidecar of callers without the Service",
            sidecar("web/default", &narrow()),
            Named("callers in `web`"),
        ),
        inside(
            "Sidecar of callers without the Service, they decide",
            sidecar("web/default", &narrow()),
            Refused("unrouted-calls"),
        ),
        inside(
            "Sidecar of other callers, sidecars decide",
            sidecar("blog/default", &narrow()),
            Named("callers in `blog`"),
        ),
        inside(
            "Sidecar with the Service's namespace",
            sidecar("web/default", &json!(["./*", "shop/*"])),
            Fine,
        ),
        row("Sidecar in the Service's namespace", sidecar("shop/default", &narrow()), Fine),
        row("waypoint of the Service", waypoint, Named("has the waypoint `way`")),
        row("waypoint that gateways use", before_gateways, Refused("unrouted-calls")),
        row("strict mutual TLS", strict, Fine),
        row("NetworkPolicy", policy, Fine),
    ]
}

/// What `doctor` finds that matters.
async fn found(cluster: &Cluster, release: &Release) -> Vec<ClusterFinding> {
    let diagnosis = cluster.diagnose(release).await;
    let mut found = findings(release, &diagnosis.examination);
    found.retain(|finding| finding.severity() != Severity::Info);
    for (_, error) in diagnosis.errors {
        found.push(ClusterFinding::Refused { message: error.to_string() });
    }
    found
}

fn create(api: &FakeApi, object: &Value) {
    let mut state = api.state();
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    // What is there already is replaced: the release's own Service, and its Gateway.
    let is_own = (text("/kind") == "Service" && text("/metadata/name") == "shop")
        || (text("/kind") == "Gateway" && text("/metadata/namespace") == INGRESS);
    if is_own {
        let (kind, name) = (text("/kind"), text("/metadata/name"));
        state.store.remove(&kind, &name);
    }
    state.create(object);
}

async fn check(row: &Row) -> Result<(), String> {
    let (api, release) = (shop(), release(&row.spec));
    if row.spec != Value::Null {
        api.state().create(&fake_api_server::fixture::pod("web", "web-1", &json!({"app": "web"})));
    }
    create(&api, &row.object);
    let cluster = api.cluster().await;
    let found = found(&cluster, &release).await;
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    let applied = apply(&cluster, &release).await;
    match (row.verdict, &applied) {
        (Refused(check), Err(Error::Preflight(failed))) if failed.check.name() == check => {
            let is_it = |finding: &ClusterFinding| matches!(finding, ClusterFinding::CheckFails(said) if said.check.name() == check);
            found
                .iter()
                .any(is_it)
                .then_some(())
                .ok_or_else(|| format!("`doctor` does not say it: {texts:#?}"))
        }
        (NoPlan(part), Err(Error::Plan(error))) if error.to_string().contains(part) => texts
            .iter()
            .any(|text| text.contains(part))
            .then_some(())
            .ok_or_else(|| format!("`doctor` does not say it: {texts:#?}")),
        (Named(part), Ok(applied)) => {
            if !texts.iter().any(|text| text.contains(part)) {
                return Err(format!("`doctor` does not name it: {texts:#?}"));
            }
            let said = applied.unrouted.iter().any(|calls| calls.to_string().contains(part));
            said.then_some(()).ok_or_else(|| format!("`apply` does not say it: {:?}", applied.unrouted))
        }
        (Fine, Ok(applied)) if texts.is_empty() && applied.unrouted.is_empty() => Ok(()),
        (verdict, applied) => {
            let applied = applied.as_ref().map(|applied| &applied.unrouted);
            Err(format!("expected {verdict:?}, `apply` gave {applied:?}, `doctor` {texts:#?}"))
        }
    }
}

#[test]
fn what_becomes_of_a_release_beside_objects_of_others_is_what_the_table_says() {
    run(async {
        let tables =
            [rules_of_callers, rules_of_others, other_services, the_service, routes, gateways, scopes];
        let rows: Vec<Row> = tables.into_iter().flat_map(|table| table()).collect();
        assert!(rows.len() >= 50, "found {} rows", rows.len());
        let mut wrong = Vec::new();
        for row in &rows {
            if let Err(text) = Box::pin(check(row)).await {
                wrong.push(format!("{}: {text}", row.what));
            }
        }
        assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    });
}

#[test]
fn a_refusal_is_skipped_by_its_name_and_said_then() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        create(&api, &rule("web/client", &Value::Null));
        let cluster = api.cluster().await;
        let skipped = [canary_release::preflight::PreflightCheck::HiddenSubsets];
        let applied = fake_api_server::fixture::apply_skipping(&cluster, &release, &skipped).await.unwrap();
        let [calls] = applied.unrouted.as_slice() else { panic!("{:?}", applied.unrouted) };
        assert!(calls.to_string().contains(SUBSETS), "{calls}");
    });
}

/// With the rights of the Roles alone, what is in the namespaces of the release and its proxies is seen, and the rest is not.
#[test]
fn without_lists_of_all_namespaces_those_of_the_release_are_read() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        for resource in ["destinationrules", "sidecars", "virtualservices"] {
            api.state().access.deny_lists_of_all(resource);
        }
        create(&api, &rule("web/client", &Value::Null));
        let cluster = api.cluster().await;
        assert_eq!(found(&cluster, &release).await, [], "of a namespace that may not be listed");
        create(&api, &rule("shop/web", &json!({"workloadSelector": {"matchLabels": {"app": "web"}}})));
        let refused = apply(&cluster, &release).await;
        assert!(matches!(refused, Err(Error::Preflight(_))), "{refused:?}");
    });
}

#[test]
fn without_the_right_to_list_services_the_own_one_is_read() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        api.state().access.deny("list", "services");
        create(&api, &service("shop-internal", &json!({})));
        let cluster = api.cluster().await;
        let applied = apply(&cluster, &release).await.unwrap();
        assert_eq!(applied.unrouted, [], "what may not be listed is not seen");
        let found = found(&cluster, &release).await;
        assert!(
            found.iter().any(|finding| matches!(finding, ClusterFinding::MissingRights { .. })),
            "{found:?}"
        );
    });
}

/// A Gateway of the Gateway API at the release's pods, by a Service of theirs, and an `HTTPRoute` of the release's host.
fn share_the_pods(api: &FakeApi) {
    let mut state = api.state();
    state.store.edit("Gateway", "gateway", |object| {
        object["spec"]["servers"] = json!([server(80, "HTTP", "*.example.com", &Value::Null)]);
    });
    let mut service = service("ingress", &json!({"selector": {"istio": "gateway"}}));
    service["metadata"]["namespace"] = json!(INGRESS);
    state.create(&service);
    let listener = json!({"name": "web", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}});
    let edge = json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"namespace": INGRESS, "name": "edge"},
        "spec": {"gatewayClassName": "istio", "listeners": [listener],
            "addresses": [{"type": "Hostname", "value": "other"}, {"type": "Hostname", "value": "ingress.ingress.svc.cluster.local"}]}});
    state.create(&edge);
    state.create(&attached(
        &json!({"namespace": INGRESS, "name": "edge"}),
        &json!({"hostnames": ["shop.example.com"]}),
    ));
}

#[test]
fn an_http_route_of_the_host_at_the_same_pods_is_found_as_a_route_object_of_istio_is() {
    run(async {
        let (api, release) = (shop(), release(&json!({"cookies": {"tls": true}})));
        share_the_pods(&api);
        let cluster = api.cluster().await;
        let is_it =
            |text: &str| text.contains("those of HTTPRoute shop/site at another Gateway of the same pods");
        let found = found(&cluster, &release).await;
        assert!(found.iter().any(|finding| is_it(&finding.to_string())), "{found:?}");
        let refused = apply(&cluster, &release).await;
        assert!(
            matches!(&refused, Err(Error::Preflight(failed)) if is_it(&failed.to_string())),
            "{refused:?}"
        );
        let plan = cluster.plan(&release).await.unwrap();
        assert!(plan.notes.iter().any(|note| is_it(&note.to_string())), "{:?}", plan.notes);
        // At pods of its own it is no matter of ours.
        api.state()
            .store
            .edit("Service", "ingress", |service| service["spec"]["selector"] = json!({"istio": "edge"}));
        apply(&cluster, &release).await.unwrap();
    });
}

/// `host-taken` looks at what the proxies are sent: an object that no server binds, or that is not exported, neither blocks nor counts.
#[test]
fn an_older_object_that_no_proxy_of_the_release_is_sent_blocks_nothing() {
    run(async {
        let catch_all = json!({"host": "blog"});
        for (what, hosts, export_to) in [
            ("a server for the release's namespace", "shop/*.example.com", json!(["*"])),
            ("exported to its own namespace", "*.example.com", json!(["."])),
        ] {
            let (api, release) = (shop(), release(&Value::Null));
            api.state()
                .store
                .edit("Gateway", "gateway", |object| object["spec"]["servers"][0]["hosts"] = json!([hosts]));
            let mut older = route("web/old", &json!(["shop.example.com"]), "ingress/gateway", &catch_all);
            older["metadata"]["creationTimestamp"] = json!("2020-01-01T00:00:00Z");
            older["spec"]["exportTo"] = export_to;
            api.state().create(&older);
            let applied = apply(&api.cluster().await, &release).await.unwrap();
            assert!(applied.plan.notes.is_empty(), "{what}: {:?}", applied.plan.notes);
        }
    });
}
