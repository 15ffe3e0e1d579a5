//! `cds.yaml`: one cluster for each live version of each release.

use super::prototype::{self, set};
use super::{Error, State};
use placed_yaml::Template;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;

const TEMPLATE: &str = include_str!("../../../envoyfilter-templates/local-cds.yaml");

/// The name of a version's cluster, which is also its value of the routing header.
pub(super) fn cluster_name(release: &str, version: &str) -> String {
    format!("{release}/{version}")
}

/// The clusters of a state, by name.
pub(super) fn clusters(state: &State) -> Result<BTreeMap<String, Value>, Error> {
    let prototype = prototype::resource(TEMPLATE)?;
    let mut clusters = BTreeMap::new();
    for (release, entry) in &state.releases {
        for (version, endpoints) in &entry.upstream.endpoints {
            let name = cluster_name(release, version);
            clusters.insert(name.clone(), cluster(&prototype, &name, endpoints)?);
        }
    }
    Ok(clusters)
}

fn cluster(prototype: &Value, name: &str, endpoints: &[SocketAddr]) -> Result<Value, Error> {
    let mut cluster = prototype.clone();
    set(&mut cluster, "/name", name)?;
    set(&mut cluster, "/load_assignment/cluster_name", name)?;
    let endpoint = |at: &SocketAddr| {
        let address = json!({"socket_address": {"address": at.ip().to_string(), "port_value": at.port()}});
        json!({"endpoint": {"address": address}})
    };
    let endpoints: Vec<Value> = endpoints.iter().map(endpoint).collect();
    set(&mut cluster, "/load_assignment/endpoints/0/lb_endpoints", endpoints)?;
    Ok(cluster)
}

/// The file. `version` is what Envoy reports back.
pub(super) fn cds(clusters: &BTreeMap<String, Value>, version: &str) -> Result<String, Error> {
    let mut template = Template::new(TEMPLATE)?;
    let resources: Vec<&Value> = clusters.values().collect();
    template.set("version_info", version)?.set("resources", resources)?;
    Ok(template.finish()?)
}

/// The clusters of a file that is in force; none if it cannot be read.
pub(super) fn in_force(text: &str) -> BTreeMap<String, Value> {
    let file: Value = serde_saphyr::from_str(text).unwrap_or_default();
    let resources = file.get("resources").and_then(Value::as_array).cloned().unwrap_or_default();
    let named = |cluster: Value| Some((cluster.get("name")?.as_str()?.to_owned(), cluster));
    resources.into_iter().filter_map(named).collect()
}
