//! The `VirtualService`s: by the filter's header to a version, everything else to stable.

use super::ReleaseInstance;
use super::destination_rule::object_name;
use crate::manifest::Error;
use crate::object::Reference;
use crate::routing::{HostBinding, MESH, ROUTE_KIND, RouteStart, covers_mesh};
use crate::spec::{Release, Routes, version_subset};
use assignment::contract::{HeaderNames, Position};
use placed_yaml::{EditError, Template, block};
use serde_json::{Map, Value, json};

const TEMPLATE: &str = include_str!("../../../../envoyfilter-templates/virtualservice.yaml");
const API_VERSION: &str = "networking.istio.io/v1";

/// One for the gateways, and one for `mesh`: calls inside the mesh must not reach a canary's pods by chance either.
///
/// Two objects, because a host `*` is legal at a gateway and not in the mesh.
pub(super) fn documents(member: &ReleaseInstance<'_>) -> Result<Vec<String>, Error> {
    let mut documents = Vec::new();
    if let Some(binding) = at_gateways(member.release) {
        documents.push(document(binding, routes(member, Position::Edge))?);
    }
    documents.push(inside(member)?);
    Ok(documents)
}

/// The one for `mesh`.
pub(super) fn inside(member: &ReleaseInstance<'_>) -> Result<String, Error> {
    document(inside_the_mesh(member.release), routes(member, Position::Mesh))
}

/// The hosts for which our objects answer, where our routes are written so. `theirs` are the route objects of the release's namespace.
pub fn route_bindings(release: &Release, routes: Routes, theirs: &[Value]) -> Vec<HostBinding> {
    let inside = || inside_the_mesh(release);
    match routes {
        Routes::Managed => at_gateways(release).into_iter().chain([inside()]).collect(),
        Routes::Inject if covers_mesh(&release.service_host(), theirs) => Vec::new(),
        Routes::Inject => vec![inside()],
        Routes::External | Routes::GatewayApi => Vec::new(),
    }
}

fn at_gateways(release: &Release) -> Option<HostBinding> {
    let gateways: Vec<String> = release.gateways.iter().map(|gateway| gateway.name.to_string()).collect();
    let object = reference(release, &object_name(release));
    let starts = release.paths.iter().map(|path| RouteStart::below(path)).collect();
    (!gateways.is_empty()).then(|| HostBinding::new(object, release.hosts.clone(), gateways, starts))
}

fn inside_the_mesh(release: &Release) -> HostBinding {
    let object = reference(release, &format!("{}-mesh", object_name(release)));
    let hosts = vec![release.service_host().fqdn()];
    HostBinding::new(object, hosts, vec![MESH.to_owned()], vec![RouteStart::below("/")])
}

fn reference(release: &Release, name: &str) -> Reference {
    Reference::new(API_VERSION, ROUTE_KIND, release.name.namespace.as_str(), name)
}

/// The routes as comments, for the owners of the `VirtualService`s to take over: applied as they are they do nothing.
pub(super) fn for_a_chart(member: &ReleaseInstance<'_>) -> Result<String, Error> {
    let release = member.release;
    let mut text = format!(
        "# For calls inside the mesh: put these routes first in `spec.http` of the VirtualService of {}, for `mesh`.\n\
         # They name no port: a call to any port of the Service reaches the same port of the pods.\n",
        release.service_host().fqdn()
    );
    text += &commented(&inside_the_mesh_alone(routes(member, Position::Mesh)))?;
    if !release.gateways.is_empty() {
        let head = format!(
            "# For users: put these routes first, or after those for the mesh, in `spec.http` of the VirtualService that owns {}, for every\n\
             # gateway. The last one has to be the default of everything that reaches the Service.\n",
            release.hosts.join(", ")
        );
        text += &head;
        text += &commented(&routes(member, Position::Edge))?;
    }
    Ok(text)
}

fn commented(routes: &[Value]) -> Result<String, Error> {
    let failed = |reason| EditError::Value { path: "spec/http".to_owned(), reason };
    let routes = block(&routes).map_err(failed)?;
    let lines = routes.lines().map(|line| format!("#   {line}\n"));
    Ok(std::iter::once("# http:\n".to_owned()).chain(lines).collect())
}

/// Routes that do not match at the gateways of an object that is bound to both.
fn inside_the_mesh_alone(mut routes: Vec<Value>) -> Vec<Value> {
    for fields in routes.iter_mut().filter_map(Value::as_object_mut) {
        let alternatives = fields.entry("match").or_insert_with(|| json!([{}])).as_array_mut();
        for one in alternatives.into_iter().flatten().filter_map(Value::as_object_mut) {
            one.insert("gateways".to_owned(), json!([MESH]));
        }
    }
    routes
}

fn document(binding: HostBinding, routes: Vec<Value>) -> Result<String, Error> {
    let mut template = Template::new(TEMPLATE)?;
    template
        .set("metadata/name", binding.object.name)?
        .set("metadata/namespace", binding.object.namespace)?
        .set("spec/hosts", binding.hosts)?
        .set("spec/gateways", binding.gateways)?
        .set("spec/http", routes)?;
    Ok(template.finish()?)
}

/// A route for each version, then stable.
fn routes(member: &ReleaseInstance<'_>, position: Position) -> Vec<Value> {
    let release = member.release;
    let routing = HeaderNames::default().routing;
    let paths = match position {
        Position::Edge => release.paths.as_slice(),
        // Istio merges no VirtualServices inside the mesh: this one answers for every path of the Service.
        Position::Mesh => &[],
    };
    let by_header = |version: &str| {
        let value = format!("{}/{version}", release.name);
        let header = json!({&routing: {"exact": value}});
        json!({"name": value, "match": matches(paths, Some(&header)), "route": route(release, version, position)})
    };
    let mut routes: Vec<Value> = member.routed().map(by_header).collect();
    let mut default = Map::new();
    default.insert("name".to_owned(), release.name.to_string().into());
    let paths = matches(paths, None);
    // A route without a match takes everything; an empty match is refused.
    if paths.iter().any(|paths| paths.as_object().is_some_and(|fields| !fields.is_empty())) {
        default.insert("match".to_owned(), paths.into());
    }
    default.insert("route".to_owned(), route(release, member.stable(), position));
    routes.push(default.into());
    routes
}

/// One alternative for each path; no path, and the path `/`, match every path and add no condition.
fn matches(paths: &[String], headers: Option<&Value>) -> Vec<Value> {
    let everything = paths.is_empty() || paths.iter().any(|path| path == "/");
    let every_path = [String::from("/")];
    let paths = if everything { every_path.as_slice() } else { paths };
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

/// The one destination of a route. At a gateway it names the Service's port, because the port that was called is the gateway's.
/// Inside the mesh it names none: istiod takes the port that was called, which for a Service of several ports has to be kept.
///
/// # Source
/// Istio, *Virtual Service*, `Destination.port`; `GetDestinationCluster` in istiod.
fn route(release: &Release, version: &str, position: Position) -> Value {
    let mut destination = json!({"host": release.service_host().fqdn(), "subset": version_subset(version)});
    if let (Position::Edge, Some(fields)) = (position, destination.as_object_mut()) {
        fields.insert("port".to_owned(), json!({"number": release.service.port}));
    }
    json!([{"destination": destination}])
}
