//! How proxies route, written down a second time and without the code under test: a request, and the rule that answers it.
//!
//! Where the specification leaves something to the implementation, a `Reading` says how one does it; no answer may depend on it.

use serde_json::{Value, json};
use std::cmp::Reverse;

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) gateway: usize,
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) method: &'static str,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) query: Vec<(String, String)>,
}

/// What an implementation does.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "choices, each independent of the others")]
pub(crate) struct Reading {
    /// Regular expressions precede all other paths, or follow them.
    pub(crate) regex_first: bool,
    /// A slash at the end of a prefix counts as a character.
    pub(crate) counts_slash: bool,
    /// Rules of less specific hostnames answer what none of the most specific one matches.
    pub(crate) falls_through: bool,
    /// `namespace/name` is compared as one text.
    pub(crate) joins_names: bool,
    /// Names go on with a `~`, as in istiod.
    pub(crate) ends_names: bool,
    /// A rule of gRPC without matches follows one with an empty match.
    pub(crate) implied_last: bool,
    /// The kinds that are served for a hostname.
    pub(crate) kinds: Kinds,
}

/// What becomes of a hostname for which there are routes of both kinds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kinds {
    /// All are in one order, by their paths first.
    Both,
    /// Those of one kind answer alone; those of gRPC by their numbers of characters.
    Http,
    Grpc,
}

impl Reading {
    pub(crate) fn any(random: &mut fastrand::Rng) -> Self {
        Self {
            regex_first: random.bool(),
            counts_slash: random.bool(),
            falls_through: random.bool(),
            joins_names: random.bool(),
            ends_names: random.bool(),
            implied_last: random.bool(),
            kinds: [Kinds::Both, Kinds::Http, Kinds::Grpc][random.usize(..3)],
        }
    }
}

/// A rule without its matches: its backends, filters, timeouts. None: no rule answers.
pub(crate) fn answer(
    routes: &[&Value],
    gateways: &[Value],
    request: &Request,
    reading: Reading,
) -> Option<Value> {
    let gateway = &gateways[request.gateway];
    let listeners = gateway["spec"]["listeners"].as_array().unwrap();
    let hostname = |listener: &Value| listener["hostname"].as_str().unwrap_or("*").to_owned();
    let listener = listeners
        .iter()
        .filter(|one| covers(&hostname(one), &request.host))
        .max_by_key(|one| specificity(&hostname(one)))?;
    let mut found = Vec::new();
    for route in routes.iter().filter(|route| is_attached(route, gateway, listener)) {
        let own = texts(&route["spec"]["hostnames"]);
        let own = if own.is_empty() { vec!["*".to_owned()] } else { own };
        let Some(host) =
            own.iter().filter(|host| covers(host, &request.host)).map(|host| specificity(host)).max()
        else {
            continue;
        };
        // A listener's hostname may be the narrower one.
        let host = host.max(specificity(&hostname(listener)));
        for (index, rule) in route["spec"]["rules"].as_array().unwrap().iter().enumerate() {
            let implied = [Value::Null];
            for (at, one) in rule["matches"].as_array().map_or(&implied[..], Vec::as_slice).iter().enumerate()
            {
                let place = (age(route), name(route, reading), index, at);
                let rank = if is_grpc(route) { rank_call(one, reading) } else { rank(one, reading) };
                found.push((Reverse(host), rank, place, (*route, one.clone()), rule));
            }
        }
    }
    let hosts_of = |kind: bool| -> Vec<_> {
        found.iter().filter(|one| is_grpc(one.3.0) == kind).map(|one| one.0).collect()
    };
    let (http, grpc) = (hosts_of(false), hosts_of(true));
    found.retain(|one| match reading.kinds {
        Kinds::Both => true,
        Kinds::Http => !is_grpc(one.3.0) || !http.contains(&one.0),
        Kinds::Grpc => is_grpc(one.3.0) || !grpc.contains(&one.0),
    });
    let most = found.iter().map(|one| one.0.0).max()?;
    found.retain(|one| reading.falls_through || one.0.0 == most);
    found.sort_by(|one, other| (one.0, &one.1, &one.2).cmp(&(other.0, &other.1, &other.2)));
    let (.., rule) = found.into_iter().find(|one| {
        let (route, one) = &one.3;
        if is_grpc(route) { matches_call(one, request) } else { matches(one, request) }
    })?;
    let mut rule = rule.clone();
    let fields = rule.as_object_mut().unwrap();
    fields.remove("matches");
    fields.remove("name");
    Some(rule)
}

fn is_attached(route: &Value, gateway: &Value, listener: &Value) -> bool {
    route["spec"]["parentRefs"].as_array().unwrap().iter().any(|parent| {
        parent["name"] == gateway["metadata"]["name"]
            && (parent["sectionName"].is_null() || parent["sectionName"] == listener["name"])
    })
}

pub(crate) fn covers(pattern: &str, host: &str) -> bool {
    pattern.strip_prefix('*').map_or(pattern == host, |suffix| host.ends_with(suffix))
}

pub(crate) fn specificity(pattern: &str) -> (bool, usize) {
    (!pattern.starts_with('*'), pattern.len())
}

fn age(route: &Value) -> String {
    route["metadata"]["creationTimestamp"].as_str().unwrap().to_owned()
}

fn name(route: &Value, reading: Reading) -> (String, String) {
    let text = |field: &str| route["metadata"][field].as_str().unwrap().to_owned();
    let (namespace, name) = (text("namespace"), text("name"));
    let name = if reading.ends_names { format!("{name}~") } else { name };
    if reading.joins_names { (format!("{namespace}/{name}"), String::new()) } else { (namespace, name) }
}

fn is_grpc(route: &Value) -> bool {
    route["kind"] == "GRPCRoute"
}

/// Smaller goes first: kind and length of the path, method, headers, query parameters, and what has no matches.
type MatchRank = (u8, Reverse<usize>, Reverse<usize>, (Reverse<bool>, Reverse<usize>, Reverse<usize>), bool);

fn rank(one: &Value, reading: Reading) -> MatchRank {
    let path = one["path"]["value"].as_str().unwrap_or("/");
    let kind = match one["path"]["type"].as_str().unwrap_or("PathPrefix") {
        "Exact" => 1,
        "PathPrefix" => 2,
        _ if reading.regex_first => 0,
        _ => 3,
    };
    let length = if reading.counts_slash { path.len() } else { path.trim_end_matches('/').len() };
    let count = |field: &str| one[field].as_array().map_or(0, Vec::len);
    let rest = (Reverse(!one["method"].is_null()), Reverse(count("headers")), Reverse(count("queryParams")));
    (kind, Reverse(length), Reverse(0), rest, false)
}

/// Of a call: by its path or, where routes of gRPC answer alone, by the characters of its service and its method.
fn rank_call(one: &Value, reading: Reading) -> MatchRank {
    let call = |field: &str| one["method"][field].as_str();
    let (service, method) = (call("service"), call("method"));
    let headers = one["headers"].as_array().map_or(0, Vec::len);
    let rest = (Reverse(false), Reverse(headers), Reverse(0));
    let is_last = one.is_null() && reading.implied_last;
    let length = |text: Option<&str>| text.map_or(0, str::len);
    if one["method"]["type"] == "RegularExpression" {
        let kind = if reading.regex_first { 0 } else { 3 };
        return (kind, Reverse(length(service) + length(method)), Reverse(0), rest, is_last);
    }
    if reading.kinds == Kinds::Grpc {
        return (2, Reverse(length(service)), Reverse(length(method)), rest, is_last);
    }
    let (kind, length) = match (service, method) {
        (Some(service), Some(method)) => (1, service.len() + method.len() + 2),
        (Some(service), None) => (2, service.len() + 2),
        (None, Some(method)) => (3, "/[^/]+/".len() + method.len()),
        (None, None) => (4, 0),
    };
    (kind, Reverse(length), Reverse(0), rest, is_last)
}

fn matches_call(one: &Value, request: &Request) -> bool {
    let call = |field: &str| one["method"][field].as_str();
    let segments: Vec<&str> = request.path.split('/').skip(1).collect();
    let is_regex = one["method"]["type"] == "RegularExpression";
    let is = |pattern: &str, text: &str| if is_regex { is_match(pattern, text) } else { pattern == text };
    let called = match (call("service"), call("method")) {
        (None, None) => true,
        (Some(service), None) => segments.first().is_some_and(|first| is(service, first)),
        (service, Some(method)) => {
            segments.len() == 2
                && service.is_none_or(|service| is(service, segments[0]))
                && is(method, segments[1])
        }
    };
    called && has_all(one, "headers", &request.headers, true)
}

fn matches(one: &Value, request: &Request) -> bool {
    let path = one["path"]["value"].as_str().unwrap_or("/");
    let path_matches = match one["path"]["type"].as_str().unwrap_or("PathPrefix") {
        "Exact" => request.path == path,
        "RegularExpression" => is_match(path, &request.path),
        _ => {
            let segments = |path: &str| {
                path.split('/').filter(|one| !one.is_empty()).map(str::to_owned).collect::<Vec<_>>()
            };
            segments(&request.path).starts_with(&segments(path))
        }
    };
    path_matches
        && one["method"].as_str().is_none_or(|method| method == request.method)
        && has_all(one, "headers", &request.headers, true)
        && has_all(one, "queryParams", &request.query, false)
}

/// Whether a request has the headers or query parameters of a match; `fold` for names without case.
fn has_all(one: &Value, field: &str, given: &[(String, String)], fold: bool) -> bool {
    one[field].as_array().into_iter().flatten().all(|wanted| {
        let wanted_name = wanted["name"].as_str().unwrap();
        let same =
            |name: &str| if fold { name.eq_ignore_ascii_case(wanted_name) } else { name == wanted_name };
        let value = given.iter().find(|(name, _)| same(name)).map(|(_, value)| value);
        let pattern = wanted["value"].as_str().unwrap();
        value.is_some_and(|value| match wanted["type"].as_str() {
            Some("RegularExpression") => is_match(pattern, value),
            _ => value == pattern,
        })
    })
}

/// The regular expressions of these tests: a text, `.*` at its end, and before it any first segment, as istiod writes it.
pub(crate) fn is_match(pattern: &str, text: &str) -> bool {
    if let Some(rest) = pattern.strip_prefix("/[^/]+/") {
        let (first, tail) = text.strip_prefix('/').and_then(|text| text.split_once('/')).unwrap_or_default();
        return !first.is_empty() && is_match(rest, tail);
    }
    pattern.strip_suffix(".*").map_or(pattern == text, |start| text.starts_with(start))
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|one| one.as_str().unwrap().to_owned()).collect()
}

/// What an answer becomes for a version: the Service of the version in the place of `shop/shop`.
pub(crate) fn for_version(answer: Option<Value>, service: &str) -> Option<Value> {
    let mut answer = answer?;
    let ours = leads_to_shop(&answer);
    if ours {
        let mut backend = answer["backendRefs"][0].clone();
        backend["name"] = json!(service);
        answer["backendRefs"] = json!([backend]);
    }
    Some(answer)
}

pub(crate) fn leads_to_shop(answer: &Value) -> bool {
    answer["backendRefs"][0]["name"] == "shop"
}
