//! A request for a port of the Service reaches the same port of a version's pods: at gateways and inside the mesh, whoever writes the
//! routes, however many ports there are and whatever they are called.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod istiod;

use canary_release::config::SigningKeys;
use canary_release::file::load;
use canary_release::manifest::{self, Options, ReleaseInstance};
use canary_release::object::{Manifest, Object, Reference, Stage};
use canary_release::plan::edits;
use canary_release::record::Record;
use canary_release::spec::{Release, Routes, version_subset};
use canary_release::state::ReleaseState;
use istiod::{Port, cluster};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Port 443 is that of the gateway's server, and none of the Service.
const GATEWAY: (&str, u16) = ("istio-ingress/shop", 443);

/// Services by their ports; the first one is that of the release. An empty name is none.
const SERVICES: [&[Port]; 7] = [
    &[Port { number: 80, name: "" }],
    &[Port { number: 80, name: "http" }],
    &[Port { number: 8080, name: "web" }],
    &[Port { number: 80, name: "http" }, Port { number: 9090, name: "http-metrics" }],
    &[Port { number: 9000, name: "grpc" }, Port { number: 80, name: "http" }],
    &[
        Port { number: 80, name: "http" },
        Port { number: 9090, name: "metrics" },
        Port { number: 9000, name: "grpc-api" },
    ],
    &[
        Port { number: 80, name: "http2" },
        Port { number: 5432, name: "tcp-db" },
        Port { number: 6379, name: "redis" },
    ],
];

/// What a request says of its version, and the version that it gets.
const REQUESTS: [(Option<&str>, &str); 4] =
    [(None, "v1"), (Some("shop/shop/v1"), "v1"), (Some("shop/shop/v2"), "v2"), (Some("shop/other/v2"), "v1")];

fn release(port: u16) -> Release {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml");
    let mut release = load(&example).unwrap().release;
    release.service.port = port;
    release
}

/// The texts with routes, as `generate` prints them and `apply` writes them.
fn texts(release: &Release, routes: Routes) -> Vec<String> {
    let mut release = release.clone();
    release.delivery.module.embed(canary_release::EmbeddedModule::new(b"\0asm").as_ref());
    let member = ReleaseInstance { routes, ..ReleaseInstance::first(&release, 1) };
    let (keys, held, names) = (SigningKeys::placeholder(), BTreeMap::new(), BTreeMap::new());
    let options = Options { keys: &keys, show_keys: false, held: &held, resource_names: &names };
    let manifests = manifest::manifests(&[member], options).unwrap();
    manifests.into_iter().filter(|one| one.stage == Stage::Routes).map(|one| one.text).collect()
}

fn managed(release: &Release, routes: Routes) -> Vec<Value> {
    texts(release, routes).iter().map(|text| object(text)).collect()
}

fn object(text: &str) -> Value {
    let manifest = Manifest { stage: Stage::Routes, text: text.to_owned() };
    Object::of(&manifest).unwrap().unwrap().body
}

fn virtual_service(gateways: &[&str], http: &Value) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": "by-hand", "namespace": "shop", "resourceVersion": "3"},
        "spec": {"hosts": ["shop.example.com", "shop"], "gateways": gateways, "http": http},
    })
}

/// Our routes in an object of another owner.
fn injected(release: &Release, theirs: &Value) -> Value {
    let record = Record::first(release, ReleaseState::first(release, "uid".to_owned()));
    let objects = edits(&record.route_targets("shop/shop"), std::slice::from_ref(theirs)).unwrap();
    assert_eq!(objects[0].reference, Reference::of(theirs).unwrap());
    let mut object = theirs.clone();
    object["spec"]["http"] = objects[0].body["spec"]["http"].clone();
    object
}

/// The lists that are printed for a chart, each without its comment signs.
fn printed(release: &Release) -> Vec<Value> {
    let text = texts(release, Routes::External).concat();
    let lists = text.split("# http:\n").skip(1).map(|list| {
        let lines = list.lines().take_while(|line| line.starts_with("#   "));
        let list = lines.map(|line| &line[2..]).collect::<Vec<_>>().join("\n");
        let head = "apiVersion: any/v1\nkind: Any\nmetadata: {name: any, namespace: any}\nhttp:\n";
        object(&format!("{head}{list}"))["http"].clone()
    });
    lists.collect()
}

/// Every request to every port of the Service.
fn check(what: &str, objects: &[Value], ports: &[Port]) {
    let numbers: Vec<u16> = ports.iter().map(|port| port.number).collect();
    assert!(objects.iter().all(|object| object["spec"]["tcp"].is_null() && object["spec"]["tls"].is_null()));
    for (Port { number, name }, (header, version)) in
        ports.iter().flat_map(|port| REQUESTS.iter().map(move |request| (port, request)))
    {
        let found = istiod::is_http(name)
            .then(|| objects.iter().find_map(|object| cluster(object, ("mesh", *number), &numbers, *header)));
        // A connection that Istio takes for TCP meets no route: it reaches the port that was called.
        let expected = istiod::is_http(name).then(|| {
            Some(format!("outbound|{number}|{}|shop.shop.svc.cluster.local", version_subset(version)))
        });
        assert_eq!(found, expected, "{what}: a call of {number} {name} with {header:?}, ports {numbers:?}");
    }
}

/// Requests of users reach the port of the release.
fn check_gateway(what: &str, objects: &[Value], ports: &[Port]) {
    let numbers: Vec<u16> = ports.iter().map(|port| port.number).collect();
    for (header, version) in REQUESTS {
        let found = objects.iter().find_map(|object| cluster(object, GATEWAY, &numbers, header));
        let port = numbers[0];
        let expected = format!("outbound|{port}|{}|shop.shop.svc.cluster.local", version_subset(version));
        assert_eq!(
            found,
            Some(expected),
            "{what}: a request at the gateway with {header:?}, ports {numbers:?}"
        );
    }
}

#[test]
fn of_our_own_objects_each_port_reaches_itself_and_users_reach_the_port_of_the_release() {
    for ports in SERVICES {
        let release = release(ports[0].number);
        let objects = managed(&release, Routes::Managed);
        assert_eq!(objects.len(), 2);
        check("managed", &objects, ports);
        check_gateway("managed", &objects, ports);
        check("the one beside injected routes", &managed(&release, Routes::Inject), ports);
    }
}

#[test]
fn in_an_object_of_another_owner_each_route_keeps_its_port() {
    let to = |port: u16| json!([{"destination": {"host": "shop", "port": {"number": port}}}]);
    for ports in SERVICES {
        let release = release(ports[0].number);
        let at_gateway = json!([{"route": to(ports[0].number)}]);
        check_gateway("injected", &[injected(&release, &virtual_service(&[GATEWAY.0], &at_gateway))], ports);
        let unnamed = json!([{"route": [{"destination": {"host": "shop"}}], "timeout": "3s"}]);
        check("injected, no port", &[injected(&release, &virtual_service(&["mesh"], &unnamed))], ports);
        let route = |port: &Port| json!({"match": [{"port": port.number}], "route": to(port.number)});
        let by_port: Value = ports.iter().map(route).collect();
        check("injected, by port", &[injected(&release, &virtual_service(&["mesh"], &by_port))], ports);
    }
}

#[test]
fn of_the_routes_that_are_printed_for_a_chart_each_port_reaches_itself_in_one_object_or_in_two() {
    for ports in SERVICES {
        let lists = printed(&release(ports[0].number));
        let [inside, at_gateways] = lists.as_slice() else { panic!("expected two lists, found {lists:?}") };
        let both = [inside.as_array().unwrap().as_slice(), at_gateways.as_array().unwrap()].concat();
        let one = [virtual_service(&[GATEWAY.0, "mesh"], &json!(both))];
        let two = [virtual_service(&[GATEWAY.0], at_gateways), virtual_service(&["mesh"], inside)];
        for (what, objects) in [("in one object", one.as_slice()), ("in two", &two)] {
            check(what, objects, ports);
            check_gateway(what, objects, ports);
        }
    }
}

#[test]
fn an_http_route_is_for_one_port_and_is_printed_for_each_that_is_asked_for() {
    for ports in SERVICES {
        let numbers: BTreeSet<u16> = ports.iter().map(|port| port.number).collect();
        let release = release(ports[0].number);
        let member = [ReleaseInstance::first(&release, 1)];
        for (asked, reached) in
            [(numbers.clone(), numbers), (BTreeSet::new(), BTreeSet::from([ports[0].number]))]
        {
            let text = manifest::http_routes(&member, &asked).unwrap();
            let routes: Vec<Value> = text.split("---\n").skip(1).map(object).collect();
            let names: BTreeSet<&str> =
                routes.iter().map(|route| route["metadata"]["name"].as_str().unwrap()).collect();
            assert_eq!(names.len(), routes.len(), "{names:?}");
            let objects: Vec<Value> = routes.iter().map(istiod::translated).collect();
            for port in ports {
                for (header, version) in REQUESTS {
                    let call = ("mesh", port.number);
                    let found =
                        objects.iter().find_map(|object| cluster(object, call, &[port.number], header));
                    let host = format!("shop-{}.shop.svc.cluster.local", version_subset(version));
                    let expected = format!("outbound|{}||{host}", port.number);
                    assert_eq!(
                        found,
                        reached.contains(&port.number).then_some(expected),
                        "{port:?} of {asked:?}"
                    );
                    let found =
                        objects.iter().find_map(|object| cluster(object, GATEWAY, &[port.number], header));
                    assert_eq!(
                        found,
                        Some(format!("outbound|{}||{host}", ports[0].number)),
                        "at the gateway"
                    );
                }
            }
        }
    }
}
