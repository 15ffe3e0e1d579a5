//! Sets of routes and requests from small alphabets, so that they meet.

use super::kit::{created, gateway, route};
use super::model::Request;
use fastrand::Rng;
use serde_json::{Value, json};

const HOSTS: [&str; 3] = ["shop.example", "www.shop.example", "blog.example"];
const HOSTNAMES: [&str; 4] = ["shop.example", "*.example", "*.shop.example", "www.shop.example"];
const PATHS: [&str; 6] = ["/", "/a", "/a/b", "/ab", "/a/b/c", "/c"];
/// A call of `b` of `a` has the path `/a/b`.
const SERVICES: [&str; 3] = ["a", "ab", "c"];
const METHODS: [&str; 2] = ["b", "c"];
const AGES: [&str; 3] = ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"];
/// When our routes are created.
pub(crate) const NOW: &str = "2026-06-01T00:00:00Z";

fn pick<T: Copy>(random: &mut Rng, of: &[T]) -> T {
    of[random.usize(..of.len())]
}

fn chance(random: &mut Rng, percent: u32) -> bool {
    random.u32(..100) < percent
}

/// Two Gateways; the second one has a listener for a hostname of its own.
pub(crate) fn gateways() -> Vec<Value> {
    let two =
        json!([{"name": "any", "port": 80}, {"name": "wild", "port": 80, "hostname": "*.shop.example"}]);
    vec![gateway("edge", &json!([{"name": "http", "port": 80}])), gateway("second", &two)]
}

/// One to four routes of one to three rules: of HTTP, of gRPC, or of both.
pub(crate) fn routes(random: &mut Rng) -> Vec<Value> {
    let grpc = pick(random, &[0, 0, 40, 100]);
    (0..random.usize(1..=4)).map(|index| any_route(random, index, grpc)).collect()
}

fn any_route(random: &mut Rng, index: usize, grpc: u32) -> Value {
    let namespace = if chance(random, 25) { "team" } else { "shop" };
    let is_grpc = chance(random, grpc);
    let rules: Vec<Value> = (0..random.usize(1..=3)).map(|_| any_rule(random, namespace, is_grpc)).collect();
    // A name may be the beginning of another one.
    let name = pick(random, &["r", "r0-", "r1."]);
    let mut found = route(&format!("{namespace}/{name}{index}"), &json!(rules));
    if is_grpc {
        found["kind"] = json!("GRPCRoute");
    }
    let parents = match random.u8(..10) {
        0 => json!([{"namespace": "ingress", "name": "edge"}, {"namespace": "ingress", "name": "second"}]),
        1 => json!([{"namespace": "ingress", "name": "second", "sectionName": "wild"}]),
        2 => json!([{"namespace": "ingress", "name": "second"}]),
        3 => json!([{"namespace": "ingress", "name": "elsewhere"}]),
        _ => json!([{"namespace": "ingress", "name": "edge"}]),
    };
    found["spec"]["parentRefs"] = parents;
    if chance(random, 50) {
        let count = random.usize(1..=2);
        let mut hostnames = random.choose_multiple(HOSTNAMES, count);
        hostnames.sort_unstable();
        found["spec"]["hostnames"] = json!(hostnames);
    }
    created(found, pick(random, &AGES))
}

fn any_rule(random: &mut Rng, namespace: &str, is_grpc: bool) -> Value {
    let any = if is_grpc { any_call } else { any_match };
    let matches: Vec<Value> = (0..random.usize(1..=2)).map(|_| any(random)).collect();
    let service = if chance(random, 60) { "shop" } else { "blog" };
    let mut backend = json!({"name": service, "port": 80});
    if namespace != "shop" {
        backend["namespace"] = json!("shop");
    }
    let mut rule = json!({"matches": matches, "backendRefs": [backend]});
    if is_grpc && chance(random, 15) {
        rule.as_object_mut().unwrap().remove("matches");
    }
    if !is_grpc && chance(random, 20) {
        rule["timeouts"] = json!({"request": format!("{}s", random.u8(1..=2))});
    }
    if chance(random, 20) {
        rule["backendRefs"].as_array_mut().unwrap().push(json!({"name": "old", "port": 80, "weight": 0}));
    }
    if chance(random, 2) {
        rule["backendRefs"].as_array_mut().unwrap().push(json!({"name": "half", "port": 80}));
    }
    rule
}

fn any_match(random: &mut Rng) -> Value {
    let mut found = json!({});
    let path = pick(random, &PATHS);
    found["path"] = match random.u32(..100) {
        0..2 => json!({"type": "RegularExpression", "value": format!("{path}.*")}),
        2..25 => json!({"type": "Exact", "value": path}),
        25..35 if path != "/" => json!({"type": "PathPrefix", "value": format!("{path}/")}),
        _ => json!({"type": "PathPrefix", "value": path}),
    };
    if chance(random, 20) {
        found["method"] = json!(pick(random, &["GET", "POST"]));
    }
    for (field, percent) in [("headers", 25), ("queryParams", 15)] {
        let names: Vec<&str> = ["x-a", "x-b"].into_iter().filter(|_| chance(random, percent)).collect();
        if !names.is_empty() {
            found[field] = names.into_iter().map(|name| any_value(random, name)).collect();
        }
    }
    found
}

/// A match of a `GRPCRoute`.
fn any_call(random: &mut Rng) -> Value {
    let (service, method) = (pick(random, &SERVICES), pick(random, &METHODS));
    let mut found = match random.u32(..100) {
        0..2 => json!({"method": {"type": "RegularExpression", "service": service, "method": "b.*"}}),
        2..30 => json!({"method": {"service": service, "method": method}}),
        30..65 => json!({"method": {"type": "Exact", "service": service}}),
        65..80 => json!({"method": {"method": method}}),
        _ => json!({}),
    };
    let names: Vec<&str> = ["x-a", "x-b"].into_iter().filter(|_| chance(random, 30)).collect();
    if !names.is_empty() {
        found["headers"] = names.into_iter().map(|name| any_value(random, name)).collect();
    }
    found
}

fn any_value(random: &mut Rng, name: &str) -> Value {
    let value = pick(random, &["1", "2"]);
    if chance(random, 15) {
        return json!({"type": "RegularExpression", "name": name, "value": format!("{value}.*")});
    }
    json!({"name": name, "value": value})
}

/// A request of which much is taken from a match of these routes.
pub(crate) fn request(random: &mut Rng, routes: &[Value]) -> Request {
    let of: Vec<&Value> = routes
        .iter()
        .flat_map(|route| route["spec"]["rules"].as_array().unwrap())
        .flat_map(|rule| rule["matches"].as_array().into_iter().flatten())
        .collect();
    let one = if of.is_empty() { &Value::Null } else { of[random.usize(..of.len())] };
    let path = one["path"]["value"].as_str().map_or_else(|| call(random, one), str::to_owned);
    let path = path.trim_end_matches(".*");
    let tail = pick(random, &["", "", "/b", "/c", "/"]);
    let mut found = Request {
        gateway: random.usize(..2),
        host: pick(random, &HOSTS).to_owned(),
        path: format!("{}{tail}", if tail.is_empty() { path } else { path.trim_end_matches('/') }),
        method: if one["method"] == "POST" { "POST" } else { "GET" },
        headers: values(random, &one["headers"]),
        query: values(random, &one["queryParams"]),
    };
    for list in [&mut found.headers, &mut found.query] {
        for name in ["x-a", "x-b"] {
            if chance(random, 30) && list.iter().all(|(before, _)| before != name) {
                list.push((name.to_owned(), pick(random, &["1", "2", "3"]).to_owned()));
            }
        }
    }
    found
}

/// The path of a call that a match asks for.
fn call(random: &mut Rng, one: &Value) -> String {
    let (service, method) = (pick(random, &SERVICES), pick(random, &METHODS));
    let text = |field: &str, other: &str| one["method"][field].as_str().unwrap_or(other).to_owned();
    format!("/{}/{}", text("service", service), text("method", method))
}

/// What a list of matches asks for.
fn values(random: &mut Rng, of: &Value) -> Vec<(String, String)> {
    let text = |one: &Value, field: &str| one[field].as_str().unwrap().trim_end_matches(".*").to_owned();
    let all = of.as_array().into_iter().flatten().map(|one| (text(one, "name"), text(one, "value")));
    all.filter(|_| chance(random, 90)).collect()
}
