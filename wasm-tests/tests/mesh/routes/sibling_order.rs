//! Our routes beside generated `HTTPRoute`s and `GRPCRoute`s, in the order in which istiod sends them to a gateway.

#[path = "../../../../ctl/release/tests/sibling_routes/generator.rs"]
#[expect(dead_code, reason = "the Gateways are for the test without a mesh")]
mod generator;
#[path = "../../../../ctl/release/tests/sibling_routes/kit.rs"]
#[expect(dead_code, reason = "some objects are for the tests without a mesh")]
mod kit;
#[path = "../../../../ctl/release/tests/sibling_routes/model.rs"]
#[expect(dead_code, reason = "other implementations are for the test without a mesh")]
mod model;
mod sent_routes;

use crate::support::in_the_mesh;
use canary_release::routing::{ParentGateway, SiblingContext, WholeService, sibling_routes};
use fastrand::Rng;
use kit::{HEADERS, VERSIONS, edge, grant};
use mesh_lab::Lab;
use model::{Kinds, Reading, Request, answer, for_version, leads_to_shop};
use sent_routes::{SentRoutes, signature};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;
use wasm_tests::mesh::ends_with_the_test;

const SETS: u64 = 150;
const REQUESTS: usize = 40;
const NAMESPACES: [&str; 3] = ["shop", "team", "ingress"];
/// Where the specification leaves it to the implementation.
const ISTIO: Reading = Reading {
    regex_first: false,
    counts_slash: false,
    falls_through: false,
    joins_names: false,
    ends_names: true,
    implied_last: true,
    kinds: Kinds::Both,
};

#[test]
#[ignore = "a study of many sets of routes: ./x test long"]
fn istio_gives_requests_with_a_header_to_a_version_exactly_where_the_owners_routes_lead_to_the_service() {
    in_the_mesh(async |lab| {
        set_up(lab).await;
        create_owners(lab).await;
        let owners = by_set(&read(lab).await);
        let ours: BTreeMap<u64, Vec<Value>> = owners
            .iter()
            .filter_map(|(number, routes)| Some((*number, siblings(*number, routes)?)))
            .collect();
        let objects: Vec<Value> = ours.values().flatten().map(|one| outside(one.clone())).collect();
        lab.apply(&stream(&objects)).await.unwrap();
        let all = by_set(&read(lab).await);

        // Of both kinds on a hostname some follow a route for all paths, and istiod sends none of these.
        let is_of_one_kind = |routes: &&Vec<Value>| routes.iter().all(|one| one["kind"] == routes[0]["kind"]);
        let expected: usize =
            all.values().filter(is_of_one_kind).flatten().filter(|one| is_ours(one)).map(rule_count).sum();
        let before = Cell::new(0);
        let sent = lab
            .until("the routes at the gateway", async || {
                let sent = SentRoutes::read(
                    lab,
                    &namespace("ingress"),
                    "gateway.networking.k8s.io/gateway-name=edge",
                )
                .await?;
                let found = sent.with_header("x-canary-version");
                (found >= expected && before.replace(found) == found).then_some(sent)
            })
            .await
            .unwrap();
        let mut counts = (0, 0);
        for number in ours.keys() {
            compare(*number, (&owners[number], &all[number]), &sent, &mut counts);
        }
        let grpc = objects.iter().filter(|one| one["kind"] == "GRPCRoute").count();
        let mixed = ours.keys().filter(|number| !is_of_one_kind(&&all[*number])).count();
        println!(
            "{} of {} sets, {mixed} of both kinds; {grpc} of our {} objects are for gRPC; {counts:?} requests to versions and elsewhere",
            ours.len(),
            owners.len(),
            objects.len()
        );
        assert!(ours.len() > 60 && counts.0 > 500 && counts.1 > 500, "{} sets, {counts:?}", ours.len());
        assert!(grpc > 20 && mixed > 5, "{grpc} of gRPC, {mixed} sets of both kinds");
    });
}

/// Creates all sets. Every second route of a set is older than the others; ages have whole seconds.
async fn create_owners(lab: &Lab) {
    let ages = |number| set(number).into_iter().enumerate();
    let (older, younger): (Vec<_>, Vec<_>) =
        (0..SETS).flat_map(ages).partition(|(position, _)| position % 2 == 1);
    for routes in [older, younger] {
        let routes: Vec<Value> = routes.into_iter().map(|(_, route)| route).collect();
        lab.apply(&stream(&routes)).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Compares what istiod sent with the model, and answers with a header with those without our routes.
fn compare(number: u64, (before, after): (&[Value], &[Value]), sent: &SentRoutes, counts: &mut (u32, u32)) {
    let mut random = Rng::with_seed(number);
    let gateways = [edge()];
    let (before, after): (Vec<&Value>, Vec<&Value>) = (before.iter().collect(), after.iter().collect());
    for _ in 0..REQUESTS {
        let own: Vec<Value> = before.iter().map(|one| (*one).clone()).collect();
        let mut request = generator::request(&mut random, &own);
        request.gateway = 0;
        request.host = of_set(number, &request.host);
        let plain = answer(&before, &gateways, &request, ISTIO);
        check(sent, &request, plain.as_ref(), &after);
        for (header, version) in HEADERS.iter().zip(VERSIONS) {
            let mut with_header = request.clone();
            with_header.headers.push(("x-canary-version".to_owned(), (*header).to_owned()));
            check(sent, &with_header, for_version(plain.clone(), version.service).as_ref(), &after);
        }
        let leads = plain.as_ref().is_some_and(leads_to_shop);
        *if leads { &mut counts.0 } else { &mut counts.1 } += 1;
    }
}

fn check(sent: &SentRoutes, request: &Request, expected: Option<&Value>, routes: &[&Value]) {
    let found = sent.answer(request);
    let routes = json!(routes);
    assert_eq!(
        found,
        expected.map(signature),
        "{request:?}\nroutes: {routes}\nsent: {:#?}",
        sent.of(request)
    );
}

/// The Gateway, the Services and the grants.
async fn set_up(lab: &Lab) {
    let mut objects = Vec::new();
    for name in NAMESPACES.map(namespace) {
        ends_with_the_test(&name);
        objects.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
    }
    let mut gateway = edge();
    gateway["spec"] = json!({"gatewayClassName": "istio", "listeners": [{"name": "http", "port": 80,
        "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}]});
    let mut grant = grant(&json!({"group": "", "kind": "Service"}));
    grant["apiVersion"] = json!("gateway.networking.k8s.io/v1beta1");
    grant["kind"] = json!("ReferenceGrant");
    objects.extend([outside(gateway), outside(grant)]);
    for (home, name) in ["shop", "blog", "old", "half", "shop-v1", "shop-v2"]
        .map(|name| ("shop", name))
        .into_iter()
        .chain([("team", "old"), ("team", "half")])
    {
        objects.push(json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"namespace": namespace(home), "name": name},
            "spec": {"selector": {"app": name}, "ports": [{"name": "http", "port": 80}]}}));
    }
    lab.apply(&stream(&objects)).await.unwrap();
    lab.until("the gateway that Istio deploys", async || {
        lab.rolled_out(&namespace("ingress"), "edge-istio").await.ok()
    })
    .await
    .unwrap();
}

/// The owners' routes of a set, with hostnames and names of its own, as objects of the cluster.
fn set(number: u64) -> Vec<Value> {
    let routes = generator::routes(&mut Rng::with_seed(number));
    let named = routes.into_iter().map(|mut one| {
        let hosts = one["spec"]["hostnames"].as_array().cloned().unwrap_or_else(|| vec![json!("*.example")]);
        one["spec"]["hostnames"] = hosts.iter().map(|host| of_set(number, host.as_str().unwrap())).collect();
        one["spec"]["parentRefs"] = json!([{"namespace": "ingress", "name": "edge"}]);
        one["metadata"]["name"] = json!(format!("s{number}-{}", one["metadata"]["name"].as_str().unwrap()));
        one["metadata"].as_object_mut().unwrap().remove("creationTimestamp");
        outside(one)
    });
    named.collect()
}

fn of_set(number: u64, host: &str) -> String {
    host.replace("example", &format!("s{number}.example"))
}

fn siblings(number: u64, routes: &[Value]) -> Option<Vec<Value>> {
    let context = SiblingContext {
        name: &format!("s{number}-canary"),
        service: WholeService { namespace: "shop", name: "shop" },
        versions: &VERSIONS,
        gateways: &[ParentGateway::read(&edge())],
        grants: Some(&[grant(&json!({"group": "", "kind": "Service"}))]),
        namespaces: &kit::namespaces(),
    };
    sibling_routes(routes, &context).ok()
}

fn is_ours(route: &Value) -> bool {
    route["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "canary-ctl"
}

/// All routes of the test, with the names of namespaces that the generator has.
async fn read(lab: &Lab) -> Vec<Value> {
    let mut found = Vec::new();
    for home in ["shop", "team"] {
        let list = lab
            .kubectl(&["get", "httproutes,grpcroutes", "-n", &namespace(home), "-o", "json"])
            .await
            .unwrap();
        let list: Value = serde_json::from_str(&list).unwrap();
        found.extend(list["items"].as_array().unwrap().iter().cloned().map(|one| renamed(one, &inside)));
    }
    found
}

fn by_set(routes: &[Value]) -> BTreeMap<u64, Vec<Value>> {
    let mut found: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for route in routes {
        let name = route["metadata"]["name"].as_str().unwrap();
        let (number, _) = name[1..].split_once('-').unwrap();
        found.entry(number.parse().unwrap()).or_default().push(route.clone());
    }
    found
}

/// The matches of an object of ours: istiod makes a route of each.
fn rule_count(object: &Value) -> usize {
    let rules = object["spec"]["rules"].as_array().unwrap();
    let matches: usize = rules.iter().map(|rule| rule["matches"].as_array().unwrap().len()).sum();
    matches * object["spec"]["hostnames"].as_array().unwrap().len()
}

fn namespace(name: &str) -> String {
    format!("order-{name}")
}

fn inside(name: &str) -> String {
    name.trim_start_matches("order-").to_owned()
}

fn outside(object: Value) -> Value {
    renamed(object, &namespace)
}

/// The object with other names of namespaces.
fn renamed(object: Value, name: &impl Fn(&str) -> String) -> Value {
    match object {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(field, value)| match &value {
                Value::String(text) if field == "namespace" => (field, json!(name(text))),
                _ => (field, renamed(value, name)),
            })
            .collect(),
        Value::Array(all) => all.into_iter().map(|one| renamed(one, name)).collect(),
        other => other,
    }
}

fn stream(objects: &[Value]) -> String {
    objects.iter().map(Value::to_string).collect::<Vec<_>>().join("\n---\n")
}
