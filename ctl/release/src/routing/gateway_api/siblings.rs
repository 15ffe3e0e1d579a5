//! Routes of our own beside those of others: each match of a rule that leads to the Service, with one header match more, leads to the
//! Service of a version. The owner's objects stay as they are, and what has not the header is routed as before.
//!
//! They are in the namespace of the Service, also beside a route of another one: nothing is written in namespaces of others, and a route
//! needs no `ReferenceGrant` there. The route of another namespace needs one to lead to the Service at all, and its listeners
//! have to admit routes of both namespaces.
//!
//! # Source
//! Gateway API 1.7.0: an object has 16 rules and 128 matches at the most, a match 16 headers. A longer path precedes any number of
//! headers, so each of the owner's matches is repeated; of equal paths more headers precede fewer, whichever object is older.

use super::binding::NamespaceLabels;
use super::gateway_route::{GatewayRoute, RouteMatch, RouteRule, list, name_of, unknown_field};
use super::leads::{GATEWAY_API, WholeService, backends, is, leads_to_whole_service};
use super::listener::{Attachment, ParentGateway, attachments};
use super::proof::prove;
use super::refusal::SiblingRefusal;
use super::route_kind::RouteKind;
use super::version_objects::is_numbered;
use crate::object::{FIELD_MANAGER, NamespacedName};
use crate::routing::is_ours;
use assignment::contract::HeaderNames;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const MAX_RULES: usize = 16;
const MAX_MATCHES: usize = 128;
const MAX_HEADERS: usize = 16;
/// Their names have two digits, so that their order is that of the numbers.
const MAX_OBJECTS: usize = 100;
const RULE_FIELDS: [&str; 6] = ["name", "matches", "filters", "backendRefs", "timeouts", "retry"];
const BACKEND_FIELDS: [&str; 7] = ["group", "kind", "name", "namespace", "port", "weight", "filters"];

/// The filters that name no objects.
const LOCAL_FILTERS: [&str; 5] =
    ["RequestHeaderModifier", "ResponseHeaderModifier", "RequestRedirect", "URLRewrite", "CORS"];

/// The release that routes of our own are for.
#[derive(Clone, Copy, Debug)]
pub struct SiblingContext<'c> {
    /// Our objects have this name and a number.
    pub name: &'c str,
    /// The Service that the owner's rules lead to.
    pub service: WholeService<'c>,
    /// The versions that users may get.
    pub versions: &'c [VersionRoute<'c>],
    /// The Gateways whose proxies run the filter.
    pub gateways: &'c [ParentGateway],
    /// The `ReferenceGrant`s of the Service's namespace; `None` where no route needs one, or they may not be read.
    pub grants: Option<&'c [Value]>,
    /// The labels of namespaces, where a listener selects by them.
    pub namespaces: &'c NamespaceLabels,
}

/// The header and the Service of a version.
#[derive(Clone, Copy, Debug)]
pub struct VersionRoute<'v> {
    /// The value that the filter gives the routing header.
    pub header: &'v str,
    /// The version's Service, in the namespace of the plain one.
    pub service: &'v str,
}

/// A route of others at the Gateways of the release.
pub(super) struct OwnerRoute<'o> {
    pub(super) route: GatewayRoute<'o>,
    pub(super) attachments: BTreeSet<Attachment>,
    /// The backend of each rule that leads to the Service, by the position of the rule.
    pub(super) leading: BTreeMap<usize, &'o Value>,
}

/// An object of ours, and which of the owners' rules each of its rules repeats, for which version.
pub(super) struct SiblingRoute {
    pub(super) object: Value,
    kind: RouteKind,
    pub(super) repeats: Vec<Repeated>,
    parents: Vec<Value>,
    matches: usize,
}

/// By the positions of the owner's route, of its rule, and of the version.
#[derive(Clone, Copy)]
pub(super) struct Repeated {
    pub(super) owner: usize,
    pub(super) rule: usize,
    pub(super) version: usize,
}

/// Our routes beside these `HTTPRoute`s and `GRPCRoute`s, in the order in which they have to be created; none if no rule leads to the Service.
///
/// `routes` are all of the cluster. Those of ours among them, from an earlier call, are replaced and not repeated; their age counts.
///
/// # Errors
///
/// Every rule that cannot be repeated, and every pair of rules where a request with the header would get another answer than the
/// version's in place of the Service's.
pub fn sibling_routes(
    routes: &[Value],
    context: &SiblingContext<'_>,
) -> Result<Vec<Value>, BTreeSet<SiblingRefusal>> {
    let (owners, mut refusals) = read_owners(routes, context);
    for owner in &owners {
        refusals.extend(owner.leading.keys().flat_map(|rule| refusals_of(owner, *rule, context)));
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let siblings = repeat(&owners, context)?;
    let refusals = prove(&owners, &siblings, routes);
    if refusals.is_empty() {
        Ok(siblings.into_iter().map(|sibling| sibling.object).collect())
    } else {
        Err(refusals)
    }
}

/// The routes of others, the oldest first, as ties between them are decided.
fn read_owners<'o>(
    routes: &'o [Value],
    context: &SiblingContext<'_>,
) -> (Vec<OwnerRoute<'o>>, BTreeSet<SiblingRefusal>) {
    let mut owners = Vec::new();
    let mut refusals = BTreeSet::new();
    for object in routes.iter().filter(|object| !is_sibling(object, context)) {
        let attachments = attachments(object, context.gateways, context.namespaces);
        if attachments.is_empty() {
            continue;
        }
        match GatewayRoute::read(object) {
            Ok(route) => {
                let leading = if is_granted(object, context) {
                    leading(&route, context.service)
                } else {
                    BTreeMap::new()
                };
                owners.push(OwnerRoute { route, attachments, leading });
            }
            Err(refusal) => drop(refusals.insert(*refusal)),
        }
    }
    owners.sort_by(|one, other| {
        let age = |owner: &OwnerRoute<'o>| (owner.route.created, owner.route.name.clone(), owner.route.kind);
        age(one).cmp(&age(other))
    });
    (owners, refusals)
}

/// Whether an object is one of those that we write for this release.
fn is_sibling(object: &Value, context: &SiblingContext<'_>) -> bool {
    let (namespace, name) = name_of(object);
    let prefix = RouteKind::of_object(object).prefix(context.name);
    is_ours(object) && namespace == context.service.namespace && is_numbered(&name, &prefix)
}

/// Whether a route at one of the Gateways names the Service; and whether it leads there: one of another namespace needs a
/// `ReferenceGrant`.
pub(crate) fn leads_from(route: &Value, context: &SiblingContext<'_>) -> (bool, bool) {
    let names = leads_to_whole_service(route, context.service)
        && !attachments(route, context.gateways, context.namespaces).is_empty();
    (names, names && is_granted(route, context))
}

/// Whether a route may lead to the Service.
fn is_granted(route: &Value, context: &SiblingContext<'_>) -> bool {
    let (namespace, _) = name_of(route);
    let grants = context.grants.filter(|_| namespace != context.service.namespace);
    let from = (RouteKind::of_object(route).name(), namespace.as_str());
    grants.is_none_or(|grants| super::leads::is_granted(from, context.service, grants))
}

fn leading<'o>(route: &GatewayRoute<'o>, service: WholeService<'_>) -> BTreeMap<usize, &'o Value> {
    let backend = |rule: &RouteRule<'o>| backends(rule.body).find(|one| is(one, route.object, service));
    let rules = route.rules.iter().enumerate();
    rules.filter_map(|(index, rule)| Some((index, backend(rule)?))).collect()
}

fn refusals_of(owner: &OwnerRoute<'_>, index: usize, context: &SiblingContext<'_>) -> Vec<SiblingRefusal> {
    let place = || owner.route.place(index);
    let (Some(rule), Some(backend)) = (owner.route.rules.get(index), owner.leading.get(&index)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if backends(rule.body).count() > 1 {
        found.push(SiblingRefusal::SeveralBackends { place: place() });
    }
    let unknown = unknown_field(rule.body, &RULE_FIELDS)
        .or_else(|| Some(format!("backendRefs.{}", unknown_field(backend, &BACKEND_FIELDS)?)));
    found.extend(unknown.map(|field| SiblingRefusal::UnknownField { place: place(), field }));
    let routing = HeaderNames::default().routing;
    let any = |wrong: &dyn Fn(&RouteMatch) -> bool| rule.matches.iter().any(wrong);
    if any(&|one| one.path.is_regex()) {
        found.push(SiblingRefusal::RegexPath { place: place() });
    }
    if any(&|one| one.names_header(&routing)) {
        found.push(SiblingRefusal::MatchesRoutingHeader { place: place() });
    }
    if any(&|one| list(one.body.get("headers")).len() >= MAX_HEADERS) {
        found.push(SiblingRefusal::TooManyHeaders { place: place() });
    }
    if owner.route.name.0 != context.service.namespace {
        found.extend(foreign_refusals(owner, index, context));
    }
    found
}

/// The faults of a rule of another namespace that its sibling in the Service's would have.
fn foreign_refusals(
    owner: &OwnerRoute<'_>,
    index: usize,
    context: &SiblingContext<'_>,
) -> Vec<SiblingRefusal> {
    let namespace = context.service.namespace;
    let (place, from) = (|| owner.route.place(index), (owner.route.kind, namespace));
    let is_admitted = |gateway: &NamespacedName, listener: &str| {
        let mut gateways = context.gateways.iter().filter(|one| one.is(gateway));
        gateways.any(|one| one.admits(listener, from, context.namespaces) == Some(true))
    };
    let closed = owner.attachments.iter().filter(|(gateway, listener, _)| !is_admitted(gateway, listener));
    let mut found: Vec<SiblingRefusal> = closed
        .map(|(gateway, listener, _)| SiblingRefusal::NotAdmitted {
            place: place(),
            gateway: gateway.clone(),
            listener: listener.clone(),
            namespace: namespace.to_owned(),
        })
        .collect();
    let body = owner.route.rules.get(index).map_or(&Value::Null, |rule| rule.body);
    let of_backend = owner.leading.get(&index).and_then(|backend| backend.get("filters"));
    let filters = list(body.get("filters")).iter().chain(list(of_backend));
    let types = filters.map(|filter| filter.get("type").and_then(Value::as_str).unwrap_or_default());
    found.extend(types.filter(|filter| !LOCAL_FILTERS.contains(filter)).map(|filter| {
        SiblingRefusal::ForeignFilter {
            place: place(),
            filter: filter.to_owned(),
            namespace: namespace.to_owned(),
        }
    }));
    found
}

/// Our objects: those of equal parents and hostnames together, within the limits.
fn repeat(
    owners: &[OwnerRoute<'_>],
    context: &SiblingContext<'_>,
) -> Result<Vec<SiblingRoute>, BTreeSet<SiblingRefusal>> {
    let mut found: Vec<SiblingRoute> = Vec::new();
    let mut counts: BTreeMap<RouteKind, usize> = BTreeMap::new();
    let namespace = context.service.namespace;
    for (owner, seen) in owners.iter().enumerate() {
        let parents = parents(&seen.route, context);
        for (&rule, backend) in &seen.leading {
            let Some(body) = seen.route.rules.get(rule) else { continue };
            for (version, target) in context.versions.iter().enumerate() {
                let index = if let Some(index) = room(&found, seen, &parents, body.matches.len()) {
                    index
                } else {
                    let kind = seen.route.kind;
                    let count = counts.entry(kind).or_default();
                    let name = format!("{}-{count:02}", kind.prefix(context.name));
                    found.push(SiblingRoute::new(seen, &parents, (namespace, &name)));
                    *count += 1;
                    found.len() - 1
                };
                if let Some(sibling) = found.get_mut(index) {
                    sibling.add(sibling_rule(body, backend, target), body.matches.len());
                    sibling.repeats.push(Repeated { owner, rule, version });
                }
            }
        }
    }
    let too_many = counts.into_iter().filter(|(_, count)| *count > MAX_OBJECTS);
    let refusals: BTreeSet<SiblingRefusal> = too_many
        .map(|(kind, count)| SiblingRefusal::TooManyObjects {
            kind,
            namespace: namespace.to_owned(),
            count,
            most: MAX_OBJECTS,
        })
        .collect();
    if refusals.is_empty() { Ok(found) } else { Err(refusals) }
}

/// The parents of a route that run the filter, as routes of the Service's namespace name them.
fn parents(route: &GatewayRoute<'_>, context: &SiblingContext<'_>) -> Vec<Value> {
    let own = route.name.0.as_str();
    let all = list(route.object.pointer("/spec/parentRefs")).iter();
    let is_ours = |parent: &&Value| context.gateways.iter().any(|gateway| gateway.is_parent(parent, own));
    let named = all.filter(is_ours).map(|parent| {
        let mut parent = parent.clone();
        if own != context.service.namespace && parent.get("namespace").is_none() {
            set(&mut parent, "namespace", json!(own));
        }
        parent
    });
    named.collect()
}

/// The last of our objects beside such a route, if it takes a rule more.
fn room(found: &[SiblingRoute], owner: &OwnerRoute<'_>, parents: &[Value], matches: usize) -> Option<usize> {
    let hostnames = owner.route.object.pointer("/spec/hostnames");
    let index = found.iter().rposition(|one| {
        one.kind == owner.route.kind
            && one.parents == parents
            && one.object.pointer("/spec/hostnames") == hostnames
    })?;
    let last = found.get(index)?;
    (last.repeats.len() < MAX_RULES && last.matches + matches <= MAX_MATCHES).then_some(index)
}

/// A rule for a version: the owner's, with the header in each match and the version's Service in the place of the plain one.
fn sibling_rule(rule: &RouteRule<'_>, backend: &Value, version: &VersionRoute<'_>) -> Value {
    let header = json!({"type": "Exact", "name": HeaderNames::default().routing, "value": version.header});
    let with_header = |one: &RouteMatch| {
        let mut body = one.body.clone();
        let mut headers = list(body.get("headers")).to_vec();
        headers.push(header.clone());
        set(&mut body, "headers", Value::Array(headers));
        body
    };
    let mut backend = backend.clone();
    set(&mut backend, "name", json!(version.service));
    let mut body = rule.body.clone();
    set(&mut body, "matches", rule.matches.iter().map(with_header).collect());
    set(&mut body, "backendRefs", json!([backend]));
    // Of an object it names one rule alone.
    if let Some(fields) = body.as_object_mut() {
        fields.remove("name");
    }
    body
}

fn set(object: &mut Value, field: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(field.to_owned(), value);
    }
}

impl SiblingRoute {
    fn new(owner: &OwnerRoute<'_>, parents: &[Value], (namespace, name): (&str, &str)) -> Self {
        let mut spec = Map::from_iter([("parentRefs".to_owned(), json!(parents))]);
        if let Some(hostnames) = owner.route.object.pointer("/spec/hostnames") {
            spec.insert("hostnames".to_owned(), hostnames.clone());
        }
        spec.insert("rules".to_owned(), json!([]));
        let metadata = json!({"namespace": namespace, "name": name,
            "labels": {"app.kubernetes.io/managed-by": FIELD_MANAGER}});
        let kind = owner.route.kind;
        let object =
            json!({"apiVersion": GATEWAY_API, "kind": kind.name(), "metadata": metadata, "spec": spec});
        Self { object, kind, repeats: Vec::new(), parents: parents.to_vec(), matches: 0 }
    }

    fn add(&mut self, rule: Value, matches: usize) {
        if let Some(rules) = self.object.pointer_mut("/spec/rules").and_then(Value::as_array_mut) {
            rules.push(rule);
            self.matches += matches;
        }
    }

    /// Its name, and since when it exists.
    pub(super) fn created<'r>(&self, routes: &'r [Value]) -> Option<&'r str> {
        let name: NamespacedName = name_of(&self.object);
        let is_it = |object: &&Value| is_ours(object) && object.get("kind") == self.object.get("kind");
        let before = routes.iter().filter(is_it).find(|object| name_of(object) == name)?;
        before.pointer("/metadata/creationTimestamp").and_then(Value::as_str)
    }
}
