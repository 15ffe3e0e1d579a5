//! The routes as `HTTPRoute`s of the Gateway API, for the owner of a release's routes: printed, and never applied by us.
//!
//! # Source
//! Gateway API, [HTTPRoute](https://gateway-api.sigs.k8s.io/reference/spec/#httproute): of rules that match a request, the one with
//! the longest path goes first, then the one with most headers, so their order is not what decides. Istio, [Kubernetes Gateway
//! API](https://istio.io/latest/docs/tasks/traffic-management/ingress/gateway-api/): a route whose parent is a Service is for
//! calls inside the mesh, to the port of the parent or, if it names none, to every port.

use super::destination_rule::object_name;
use super::object_metadata::with_metadata;
use super::{Error, ReleaseInstance};
use crate::spec::{Release, version_subset};
use assignment::contract::HeaderNames;
use placed_yaml::Template;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const TEMPLATE: &str = include_str!("../../../../envoyfilter-templates/httproute.yaml");

/// One for the gateways of a release, and one for each port that is called inside the mesh, as a stream of YAML documents: a rule leads to
/// one port, so a route for all ports would send their calls to one. The port of `service.port` is among them; `ports` are the others.
///
/// # Errors
///
/// If the template has not the shape that this code expects: never by what a release says.
pub fn http_routes(members: &[ReleaseInstance<'_>], ports: &BTreeSet<u16>) -> Result<String, Error> {
    let mut documents = String::new();
    for member in members {
        let release = member.release;
        let (name, port) = (object_name(release), release.service.port);
        let parents: Vec<Value> = release
            .gateways
            .iter()
            .map(|gateway| {
                json!({"name": gateway.name.name.as_str(), "namespace": gateway.name.namespace.as_str()})
            })
            .collect();
        if !parents.is_empty() {
            documents += "---\n";
            documents += &document(member, &name, &parents, Rules { paths: &release.paths, port })?;
        }
        let mesh = format!("{name}-mesh");
        let head = format!(
            "---\n# For calls inside the mesh to port {port}; each other port that is called needs one of its own.\n"
        );
        documents += &head;
        documents += &inside(member, &mesh, port)?;
        for port in ports.iter().filter(|other| **other != port) {
            documents += "---\n";
            documents += &inside(member, &format!("{mesh}-{port}"), *port)?;
        }
    }
    Ok(documents)
}

/// The rules of one object: for these paths, to this port of a version's Service.
#[derive(Clone, Copy)]
struct Rules<'r> {
    paths: &'r [String],
    port: u16,
}

/// The one for calls inside the mesh to a port of the Service.
fn inside(member: &ReleaseInstance<'_>, name: &str, port: u16) -> Result<String, Error> {
    let service = member.release.service.name.as_str();
    let parent = json!({"group": "", "kind": "Service", "name": service, "port": port});
    document(member, name, &[parent], Rules { paths: &["/".to_owned()], port })
}

fn document(
    member: &ReleaseInstance<'_>,
    name: &str,
    parents: &[Value],
    rules: Rules<'_>,
) -> Result<String, Error> {
    let release = member.release;
    let is_inside = parents.iter().any(|parent| parent.get("kind").is_some());
    let mut template = Template::new(TEMPLATE)?;
    template
        .set("metadata/name", name)?
        .set("metadata/namespace", release.name.namespace.as_str())?
        .set("spec/parentRefs", parents)?
        .set("spec/rules", rules.of(member))?;
    // `*` is no host name of the Gateway API: without any, a route is for all.
    if is_inside || release.hosts.iter().any(|host| host == "*") {
        template.remove("spec/hostnames")?;
    } else {
        template.set("spec/hostnames", &release.hosts)?;
    }
    Ok(with_metadata(template.finish()?, &release.metadata)?)
}

impl Rules<'_> {
    /// A rule for each version, then stable.
    fn of(&self, member: &ReleaseInstance<'_>) -> Vec<Value> {
        let Self { paths, port } = self;
        let release = member.release;
        let by_header = |version: &str| {
            let value = format!("{}/{version}", release.name);
            let header = json!([{"name": HeaderNames::default().routing, "value": value}]);
            let matches: Vec<Value> =
                paths.iter().map(|path| json!({"path": prefix(path), "headers": header})).collect();
            json!({"matches": matches, "backendRefs": backends(release, version, *port)})
        };
        let mut rules: Vec<Value> = member.routed().map(by_header).collect();
        let matches: Vec<Value> = paths.iter().map(|path| json!({"path": prefix(path)})).collect();
        rules.push(json!({"matches": matches, "backendRefs": backends(release, member.stable(), *port)}));
        rules
    }
}

fn prefix(path: &str) -> Value {
    json!({"type": "PathPrefix", "value": path})
}

fn backends(release: &Release, version: &str, port: u16) -> Value {
    let name = format!("{}-{}", release.service.name, version_subset(version));
    json!([{"name": name, "port": port}])
}
