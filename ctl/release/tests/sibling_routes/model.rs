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
#[expect(clippy::struct_excessive_bools, reason = "four choices, each independent of the others")]
pub(crate) struct Reading {
    /// Regular expressions precede all other paths, or follow them.
    pub(crate) regex_first: bool,
    /// A slash at the end of a prefix counts as a character.
    pub(crate) counts_slash: bool,
    /// Rules of less specific hostnames answer what none of the most specific one matches.
    pub(crate) falls_through: bool,
    /// `namespace/name` is compared as one text.
    pub(crate) joins_names: bool,
}

impl Reading {
    pub(crate) fn any(random: &mut fastrand::Rng) -> Self {
        Self {
            regex_first: random.bool(),
            counts_slash: random.bool(),
            falls_through: random.bool(),
            joins_names: random.bool(),
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
            for (at, one) in rule["matches"].as_array().unwrap().iter().enumerate() {
                let place = (age(route), name(route, reading), index, at);
                found.push((Reverse(host), rank(one, reading), place, one, rule));
            }
        }
    }
    let most = found.iter().map(|one| one.0.0).max()?;
    found.retain(|one| reading.falls_through || one.0.0 == most);
    found.sort_by(|one, other| (one.0, &one.1, &one.2).cmp(&(other.0, &other.1, &other.2)));
    let (.., rule) = found.into_iter().find(|one| matches(one.3, request))?;
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
    if reading.joins_names { (format!("{namespace}/{name}"), String::new()) } else { (namespace, name) }
}

/// Smaller goes first: kind and length of the path, method, headers, query parameters.
fn rank(one: &Value, reading: Reading) -> impl Ord + use<> {
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
    (kind, Reverse(length), rest)
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
    let all = |field: &str, given: &[(String, String)], fold: bool| {
        one[field].as_array().into_iter().flatten().all(|wanted| {
            let wanted_name = wanted["name"].as_str().unwrap();
            let same = |name: &str| {
                if fold { name.eq_ignore_ascii_case(wanted_name) } else { name == wanted_name }
            };
            let value = given.iter().find(|(name, _)| same(name)).map(|(_, value)| value);
            let pattern = wanted["value"].as_str().unwrap();
            value.is_some_and(|value| match wanted["type"].as_str() {
                Some("RegularExpression") => is_match(pattern, value),
                _ => value == pattern,
            })
        })
    };
    path_matches
        && one["method"].as_str().is_none_or(|method| method == request.method)
        && all("headers", &request.headers, true)
        && all("queryParams", &request.query, false)
}

/// The regular expressions of these tests: a text, and `.*` at its end.
pub(crate) fn is_match(pattern: &str, text: &str) -> bool {
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
