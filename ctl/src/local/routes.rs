//! `rds.yaml`: per host a virtual host, per release a route for each version by the filter's header, then stable.

use super::clusters::cluster_name;
use super::prototype::{self, add, part, set};
use super::{Entry, Error, State};
use assignment::contract::{HeaderNames, SessionAffinity};
use placed_yaml::Template;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const TEMPLATE: &str = include_str!("../../../envoyfilter-templates/local-rds.yaml");

/// The cookie by which Envoy keeps a user on a process if the release has no `sessionAffinity`.
///
/// Not the application's session cookie: the process that answers a first request is chosen before there is one. It reaches
/// what the release's other cookies reach.
const POD_COOKIE: &str = "canary-pod";

/// One path of one host, with everything that may answer there.
struct Path<'s> {
    prefix: &'s str,
    release: &'s str,
    entry: &'s Entry,
}

pub(super) fn virtual_hosts(state: &State) -> Result<Vec<Value>, Error> {
    let prototype = part(&prototype::resource(TEMPLATE)?, "/virtual_hosts/0")?;
    let mut hosts: BTreeMap<&str, Vec<Path<'_>>> = BTreeMap::new();
    for (release, entry) in &state.releases {
        for host in &entry.config.hosts {
            let paths = entry.config.paths.iter().map(|prefix| Path { prefix, release, entry });
            hosts.entry(host).or_default().extend(paths);
        }
    }
    hosts.into_iter().map(|(host, paths)| virtual_host(&prototype, host, paths)).collect()
}

fn virtual_host(prototype: &Value, host: &str, mut paths: Vec<Path<'_>>) -> Result<Value, Error> {
    // Envoy takes the first match, the filter the longest prefix: the longest has to be first.
    paths.sort_by(|one, other| other.prefix.len().cmp(&one.prefix.len()).then(one.prefix.cmp(other.prefix)));
    let mut routes = Vec::new();
    for path in &paths {
        for version in path.entry.upstream.endpoints.keys() {
            routes.push(version_route(prototype, path, version)?);
        }
        routes.push(default_route(prototype, path)?);
    }
    let mut host_value = prototype.clone();
    set(&mut host_value, "/name", host)?;
    set(&mut host_value, "/domains", [host])?;
    set(&mut host_value, "/routes", routes)?;
    Ok(host_value)
}

fn version_route(prototype: &Value, path: &Path<'_>, version: &str) -> Result<Value, Error> {
    let name = cluster_name(path.release, version);
    let mut route = part(prototype, "/routes/0")?;
    set(&mut route, "/name", &name)?;
    set(&mut route, "/match/prefix", path.prefix)?;
    set(&mut route, "/match/headers/0/name", HeaderNames::default().routing)?;
    set(&mut route, "/match/headers/0/string_match/exact", &name)?;
    set(&mut route, "/route/cluster", &name)?;
    add(&mut route, "/route", "hash_policy", hash_policy(path.entry))?;
    Ok(route)
}

fn default_route(prototype: &Value, path: &Path<'_>) -> Result<Value, Error> {
    let mut route = part(prototype, "/routes/1")?;
    set(&mut route, "/name", path.release)?;
    set(&mut route, "/match/prefix", path.prefix)?;
    set(&mut route, "/route/cluster", cluster_name(path.release, path.entry.stable()))?;
    add(&mut route, "/route", "hash_policy", hash_policy(path.entry))?;
    Ok(route)
}

/// By what a user stays on a process. The first policy that yields something ends it, so a request without an identity
/// (a filter that is missing) still has the cookie.
fn hash_policy(entry: &Entry) -> Value {
    let reach = &entry.envoy.id_cookie;
    let mut attributes = vec![json!({"name": "SameSite", "value": reach.same_site.as_str()})];
    attributes.extend(reach.domain.as_ref().map(|domain| json!({"name": "Domain", "value": domain})));
    attributes.extend(reach.secure.then(|| json!({"name": "Secure"})));
    let cookie = json!({"cookie": {"name": POD_COOKIE, "ttl": "0s", "path": "/", "attributes": attributes}});
    match entry.upstream.affinity {
        SessionAffinity::None => json!([cookie]),
        SessionAffinity::Identity => {
            json!([{"header": {"header_name": HeaderNames::default().identity}, "terminal": true}, cookie])
        }
    }
}

/// The file. `version` is what Envoy reports back.
pub(super) fn rds(virtual_hosts: &[Value], version: &str) -> Result<String, Error> {
    let mut template = Template::new(TEMPLATE)?;
    template.set("version_info", version)?.set("resources/0/virtual_hosts", virtual_hosts)?;
    Ok(template.finish()?)
}

/// The virtual hosts of a file that is in force; none if it cannot be read.
pub(super) fn in_force(text: &str) -> Vec<Value> {
    let file: Value = serde_saphyr::from_str(text).unwrap_or_default();
    file.pointer("/resources/0/virtual_hosts").and_then(Value::as_array).cloned().unwrap_or_default()
}

/// New virtual hosts that also keep the version routes of old ones: while proxies may still name a leaving version, its
/// route has to exist. Default routes are the new ones.
pub(super) fn with_leaving(new: &[Value], old: &[Value], clusters: &BTreeMap<String, Value>) -> Vec<Value> {
    let mut hosts = new.to_vec();
    for host in &mut hosts {
        let name = host.get("name").cloned();
        let before = old.iter().find(|other| other.get("name") == name.as_ref());
        let Some(routes) = host.get_mut("routes").and_then(Value::as_array_mut) else { continue };
        let leaving =
            before.and_then(|host| host.get("routes")).and_then(Value::as_array).into_iter().flatten();
        let is_leaving = |route: &&Value| {
            let is_version_route = route.pointer("/match/headers").is_some();
            let has_cluster = route
                .pointer("/route/cluster")
                .and_then(Value::as_str)
                .is_some_and(|cluster| clusters.contains_key(cluster));
            let is_known = routes.iter().any(|other| other.get("name") == route.get("name"));
            is_version_route && has_cluster && !is_known
        };
        let leaving: Vec<Value> = leaving.filter(is_leaving).cloned().collect();
        routes.splice(0..0, leaving);
    }
    hosts
}
