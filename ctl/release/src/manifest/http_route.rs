//! The routes as `HTTPRoute`s of the Gateway API, for the owner of a release's routes: printed, and never applied by us.
//!
//! # Source
//! Gateway API, [HTTPRoute](https://gateway-api.sigs.k8s.io/reference/spec/#httproute): of rules that match a request, the one with
//! the longest path goes first, then the one with most headers, so their order is not what decides. Istio, [Kubernetes Gateway
//! API](https://istio.io/latest/docs/tasks/traffic-management/ingress/gateway-api/): a route whose parent is a Service is for
//! calls inside the mesh.

use super::destination_rule::object_name;
use super::object_metadata::with_metadata;
use super::{Error, ReleaseInstance};
use crate::spec::{Release, version_subset};
use crate::yaml::Template;
use assignment::contract::HeaderNames;
use serde_json::{Value, json};

const TEMPLATE: &str = include_str!("../../../../envoyfilter-templates/httproute.yaml");

/// One for the gateways of a release, and one for calls inside the mesh, as a stream of YAML documents.
///
/// # Errors
///
/// If the template has not the shape that this code expects: never by what a release says.
pub fn http_routes(members: &[ReleaseInstance<'_>]) -> Result<String, Error> {
    let mut documents = String::new();
    for member in members {
        let release = member.release;
        let parents: Vec<Value> = release
            .gateways
            .iter()
            .map(|gateway| {
                json!({"name": gateway.name.name.as_str(), "namespace": gateway.name.namespace.as_str()})
            })
            .collect();
        if !parents.is_empty() {
            documents += "---\n";
            documents += &document(member, &object_name(release), &parents, &release.paths)?;
        }
        let service = json!({"group": "", "kind": "Service", "name": release.service.name.as_str()});
        let mesh = format!("{}-mesh", object_name(release));
        documents += "---\n";
        documents += &document(member, &mesh, &[service], &["/".to_owned()])?;
    }
    Ok(documents)
}

fn document(
    member: &ReleaseInstance<'_>,
    name: &str,
    parents: &[Value],
    paths: &[String],
) -> Result<String, Error> {
    let release = member.release;
    let is_inside = parents.iter().any(|parent| parent.get("kind").is_some());
    let mut template = Template::new(TEMPLATE)?;
    template
        .set("metadata/name", name)?
        .set("metadata/namespace", release.name.namespace.as_str())?
        .set("spec/parentRefs", parents)?
        .set("spec/rules", rules(member, paths))?;
    // `*` is no host name of the Gateway API: without any, a route is for all.
    if is_inside || release.hosts.iter().any(|host| host == "*") {
        template.remove("spec/hostnames")?;
    } else {
        template.set("spec/hostnames", &release.hosts)?;
    }
    Ok(with_metadata(template.finish()?, &release.metadata)?)
}

/// A rule for each version, then stable.
fn rules(member: &ReleaseInstance<'_>, paths: &[String]) -> Vec<Value> {
    let release = member.release;
    let by_header = |version: &str| {
        let value = format!("{}/{version}", release.name);
        let header = json!([{"name": HeaderNames::default().routing, "value": value}]);
        let matches: Vec<Value> =
            paths.iter().map(|path| json!({"path": prefix(path), "headers": header})).collect();
        json!({"matches": matches, "backendRefs": backends(release, version)})
    };
    let mut rules: Vec<Value> = member.routed().map(by_header).collect();
    let matches: Vec<Value> = paths.iter().map(|path| json!({"path": prefix(path)})).collect();
    rules.push(json!({"matches": matches, "backendRefs": backends(release, member.stable())}));
    rules
}

fn prefix(path: &str) -> Value {
    json!({"type": "PathPrefix", "value": path})
}

fn backends(release: &Release, version: &str) -> Value {
    let name = format!("{}-{}", release.service.name, version_subset(version));
    json!([{"name": name, "port": release.service.port}])
}
