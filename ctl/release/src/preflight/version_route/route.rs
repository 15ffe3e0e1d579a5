//! The routes of a route object, with the conditions of each alternative, and where they lead.
//!
//! # Source
//! istiod: `mergeHTTPMatchRequests` (delegates), `translateRoute` (what follows a route that takes everything is left out).

use crate::routing::{HostBinding, gateway_name, http};
use assignment::contract::HeaderNames;
use serde_json::Value;

/// A route of an object, or of the delegate to which it leads.
pub(super) struct Route<'o> {
    /// The namespace in which its destinations are named.
    pub(super) namespace: &'o str,
    pub(super) body: &'o Value,
    /// Its conditions, one list for each alternative: that of the root, and that of the delegate.
    pub(super) alternatives: Vec<Vec<&'o Value>>,
}

/// The routes of a route object of Istio, those of its delegates in their places.
pub(super) fn routes<'o>(object: &'o Value, all: &'o [Value]) -> Vec<Route<'o>> {
    let namespace = namespace_of(object);
    let mut found = Vec::new();
    for body in http(object) {
        let root = alternatives(body, "match");
        let Some(delegate) = body.get("delegate") else {
            found.push(Route { namespace, body, alternatives: root });
            continue;
        };
        let text = |field: &str| delegate.get(field).and_then(Value::as_str);
        let (name, of) = (text("name"), text("namespace").unwrap_or(namespace));
        let is_it = |one: &&Value| {
            one.pointer("/metadata/name").and_then(Value::as_str) == name
                && namespace_of(one) == of
                && one.get("kind") == object.get("kind")
        };
        for body in all.iter().filter(is_it).flat_map(http) {
            let both = root.iter().flat_map(|root| {
                alternatives(body, "match").into_iter().map(|own| [root.clone(), own].concat())
            });
            found.push(Route { namespace: of, body, alternatives: both.collect() });
        }
    }
    // A delegate has no hosts of its own: where it answers its root says.
    let delegates = |root: &Value| {
        http(root).iter().any(|body| {
            let text = |field: &str| body.pointer(&format!("/delegate/{field}")).and_then(Value::as_str);
            text("name") == object.pointer("/metadata/name").and_then(Value::as_str)
                && text("namespace").unwrap_or(namespace_of(root)) == namespace
        })
    };
    if all.iter().any(delegates) { Vec::new() } else { found }
}

pub(super) fn rule_routes(object: &Value) -> Vec<Route<'_>> {
    let route =
        |body| Route { namespace: namespace_of(object), body, alternatives: alternatives(body, "matches") };
    rules(object).iter().map(route).collect()
}

/// The alternatives of a route; one without conditions where it has none.
fn alternatives<'o>(body: &'o Value, field: &str) -> Vec<Vec<&'o Value>> {
    match list(body, field) {
        [] => vec![vec![&Value::Null]],
        all => all.iter().map(|one| vec![one]).collect(),
    }
}

/// The hosts and gateways of an alternative of a route object of Istio.
pub(super) fn binding_of(object: &Value, alternative: &[&Value]) -> Option<HostBinding> {
    let mut binding = HostBinding::of(object)?;
    for part in alternative {
        let named = list(part, "gateways").iter().filter_map(Value::as_str);
        let named: Vec<String> = named.map(|name| gateway_name(name, &binding.object.namespace)).collect();
        if !named.is_empty() {
            binding.gateways = named;
        }
        if let Some(host) = part.pointer("/authority/exact").and_then(Value::as_str) {
            binding.hosts = vec![host.to_ascii_lowercase()];
        }
    }
    Some(binding)
}

/// The destinations of a route that get requests.
pub(super) fn destinations(route: &Value) -> impl Iterator<Item = (&str, Option<&str>)> {
    let all = list(route, "route");
    let gets = move |one: &&Value| {
        all.len() == 1 || one.get("weight").and_then(Value::as_u64).unwrap_or_default() > 0
    };
    all.iter().filter(gets).filter_map(|one| {
        let text = |field: &str| one.get("destination")?.get(field)?.as_str().filter(|text| !text.is_empty());
        Some((text("host")?, text("subset")))
    })
}

/// Whether a match needs this value of our header.
pub(super) fn has_header(one: &Value, value: &str) -> bool {
    let routing = HeaderNames::default().routing;
    let of_rule = list(one, "headers").iter().any(|header| {
        let text = |field: &str| header.get(field).and_then(Value::as_str);
        text("name").is_some_and(|name| name.eq_ignore_ascii_case(&routing))
            && text("type").unwrap_or("Exact") == "Exact"
            && text("value") == Some(value)
    });
    let found = one.get("headers").and_then(|headers| headers.get(&routing));
    of_rule
        || found.is_some_and(|found| {
            ["exact", "prefix", "regex"]
                .iter()
                .any(|kind| found.get(kind).and_then(Value::as_str) == Some(value))
        })
}

/// Whether every request of an alternative has what a match asks for.
pub(super) fn covers(part: &Value, alternative: &[&Value]) -> bool {
    let Some(conditions) = part.as_object() else { return true };
    let value = |path: &str| alternative.iter().find_map(|one| one.pointer(path));
    conditions.iter().all(|(field, condition)| match field.as_str() {
        "name" | "statPrefix" | "ignoreUriCase" => true,
        "uri" => takes(condition, value("/uri"), "/"),
        "headers" => condition.as_object().into_iter().flatten().all(|(name, condition)| {
            value(&format!("/headers/{name}")).is_some_and(|found| takes(condition, Some(found), ""))
        }),
        _ => value(&format!("/{field}")) == Some(condition),
    })
}

/// Whether a condition on a text takes every text that another one takes. `every` is the prefix that all have.
fn takes(condition: &Value, other: Option<&Value>, every: &str) -> bool {
    let text = |of: &Value, kind: &str| of.get(kind).and_then(Value::as_str).map(str::to_owned);
    let known = other.and_then(|other| text(other, "exact").or_else(|| text(other, "prefix")));
    let takes_all = text(condition, "regex")
        .is_some_and(|regex| [".*", ".+", "/.*"].contains(&regex.as_str()))
        || condition.as_object().is_some_and(serde_json::Map::is_empty);
    let begins = text(condition, "prefix")
        .is_some_and(|prefix| prefix == every || known.is_some_and(|known| known.starts_with(&prefix)));
    takes_all || begins || Some(condition) == other
}

pub(super) fn rules(object: &Value) -> &[Value] {
    object.get("spec").map_or(&[], |spec| list(spec, "rules"))
}

pub(super) fn list<'o>(object: &'o Value, field: &str) -> &'o [Value] {
    object.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn namespace_of(object: &Value) -> &str {
    object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default()
}
