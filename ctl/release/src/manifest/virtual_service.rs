//! The `VirtualService`s: by the filter's header to a version, everything else to stable.

use super::ReleaseInstance;
use super::destination_rule::object_name;
use crate::manifest::Error;
use crate::spec::{Release, version_subset};
use crate::yaml::{Template, block};
use assignment::contract::HeaderNames;
use serde_json::{Map, Value, json};

const TEMPLATE: &str = include_str!("../../../../envoyfilter-templates/virtualservice.yaml");

/// One for the gateways, and one for `mesh`: calls inside the mesh must not reach a canary's pods by chance either.
///
/// Two objects, because a host `*` is legal at a gateway and not in the mesh.
pub(super) fn documents(member: &ReleaseInstance<'_>) -> Result<Vec<String>, Error> {
    let release = member.release;
    let name = object_name(release);
    let mut documents = Vec::new();
    if !release.gateways.is_empty() {
        let gateways = release.gateways.iter().map(|gateway| gateway.name.to_string()).collect();
        documents.push(document(member, &name, &release.hosts, gateways)?);
    }
    documents.push(inside(member)?);
    Ok(documents)
}

/// The one for `mesh`.
pub(super) fn inside(member: &ReleaseInstance<'_>) -> Result<String, Error> {
    let release = member.release;
    let inside = [release.service_host().fqdn()];
    let mesh = format!("{}-mesh", object_name(release));
    // Istio merges no VirtualServices inside the mesh: this one answers for every path of the Service.
    let whole = Release { paths: vec!["/".to_owned()], ..release.clone() };
    let whole = ReleaseInstance { release: &whole, ..member.clone() };
    document(&whole, &mesh, &inside, vec!["mesh".to_owned()])
}

/// The routes as comments, for the owner of the `VirtualService` to take over: applied as they are they do nothing.
pub(super) fn for_a_chart(member: &ReleaseInstance<'_>) -> Result<String, Error> {
    let failed = |reason| crate::yaml::EditError::Value { path: "spec/http".to_owned(), reason };
    let routes = block(&routes(member)).map_err(failed)?;
    let lines: Vec<String> = routes.lines().map(|line| format!("#   {line}\n")).collect();
    let lines = lines.concat();
    Ok(format!(
        "# Put these routes first in `spec.http` of the VirtualService that owns {}, for every gateway and for mesh.\n\
         # The last one has to be the default of everything that reaches the Service.\n# http:\n{lines}",
        member.release.hosts.join(", ")
    ))
}

fn document(
    member: &ReleaseInstance<'_>,
    name: &str,
    hosts: &[String],
    gateways: Vec<String>,
) -> Result<String, Error> {
    let mut template = Template::new(TEMPLATE)?;
    template
        .set("metadata/name", name)?
        .set("metadata/namespace", member.release.name.namespace.as_str())?
        .set("spec/hosts", hosts)?
        .set("spec/gateways", gateways)?
        .set("spec/http", routes(member))?;
    Ok(template.finish()?)
}

/// A route for each version, then stable.
fn routes(member: &ReleaseInstance<'_>) -> Vec<Value> {
    let release = member.release;
    let routing = HeaderNames::default().routing;
    let by_header = |version: &str| {
        let value = format!("{}/{version}", release.name);
        let header = json!({&routing: {"exact": value}});
        json!({"name": value, "match": matches(release, Some(&header)), "route": route(release, version)})
    };
    let mut routes: Vec<Value> = member.routed().map(by_header).collect();
    let mut default = Map::new();
    default.insert("name".to_owned(), release.name.to_string().into());
    let paths = matches(release, None);
    // A route without a match takes everything; an empty match is refused.
    if paths.iter().any(|paths| paths.as_object().is_some_and(|fields| !fields.is_empty())) {
        default.insert("match".to_owned(), paths.into());
    }
    default.insert("route".to_owned(), route(release, member.stable()));
    routes.push(default.into());
    routes
}

/// One alternative for each path; the path `/` matches every path and adds no condition.
fn matches(release: &Release, headers: Option<&Value>) -> Vec<Value> {
    let everything = release.paths.iter().any(|path| path == "/");
    let every_path = [String::from("/")];
    let paths = if everything { every_path.as_slice() } else { release.paths.as_slice() };
    let alternative = |path: &String| {
        let mut fields = Map::new();
        if !everything {
            fields.insert("uri".to_owned(), json!({"prefix": path}));
        }
        if let Some(headers) = headers {
            fields.insert("headers".to_owned(), headers.clone());
        }
        Value::Object(fields)
    };
    paths.iter().map(alternative).collect()
}

fn route(release: &Release, version: &str) -> Value {
    let port = json!({"number": release.service.port});
    let destination =
        json!({"host": release.service_host().fqdn(), "subset": version_subset(version), "port": port});
    json!([{"destination": destination}])
}
