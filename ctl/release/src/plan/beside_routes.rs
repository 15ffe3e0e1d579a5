//! What each version of a release has beside routes of others: a Service, the settings of the plain Service, and routes.
//!
//! All of it follows from objects of others, so it is worked out again with each `apply`.

use super::{Error, Observed};
use crate::destination_rule::{CalledService, Client, effective};
use crate::object::{Object, Owners, Reference, Stage};
use crate::plan::Change;
use crate::record::Record;
use crate::routing::{
    NamespaceLabels, ParentGateway, SiblingContext, VersionName, VersionRoute, WholeService, is_ours,
    leads_from, sibling_routes,
};
use crate::spec::{ObjectMetadata, ReleaseName, ServiceHost};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The objects of the Gateway API, and the Service, that ours follow from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GatewayApiObjects {
    /// The release's Service.
    pub service: Option<Value>,
    /// The `HTTPRoute`s and `GRPCRoute`s of all namespaces that may be listed, ours included.
    pub routes: Vec<Value>,
    /// The Gateways of the release.
    pub gateways: Vec<Value>,
    /// The `ReferenceGrant`s of the release's namespace; `None` where no route needs one, or they may not be read.
    pub grants: Option<Vec<Value>>,
    /// The labels of namespaces, where a listener selects by them.
    pub namespaces: NamespaceLabels,
}

impl GatewayApiObjects {
    /// The routes at the Gateways that name the Service, and of these the ones that lead there.
    fn leading(&self, context: &SiblingContext<'_>) -> (Vec<&Value>, Vec<&Value>) {
        let named = self.routes.iter().map(|route| (route, leads_from(route, context)));
        let named: Vec<_> = named.filter(|(_, (names, _))| *names).collect();
        let leading = named.iter().filter(|(_, (_, leads))| *leads).map(|(route, _)| *route).collect();
        (named.into_iter().map(|(route, _)| route).collect(), leading)
    }
}

/// An object of ours that differs from what follows from objects of others, and the field managers of these.
pub type Outdated = (Reference, Vec<String>);

/// The desired objects of each version, and of those that leave.
///
/// # Errors
///
/// If the Service selects no pods, no route leads to it, or one cannot be repeated.
pub(crate) fn beside_routes(
    release: &ReleaseName,
    record: &Record,
    observed: &Observed,
) -> Result<Vec<Object>, Error> {
    let objects = &observed.gateway_api;
    let service = &record.service.name;
    let plain = objects.service.as_ref().filter(|plain| has_selector(plain));
    let plain = plain.ok_or_else(|| Error::NoSelector { service: service.clone() })?;
    let gateways: Vec<ParentGateway> = objects.gateways.iter().map(ParentGateway::read).collect();
    let whole = WholeService { namespace: release.namespace.as_str(), name: service };
    let of_release = SiblingContext {
        name: "",
        service: whole,
        versions: &[],
        gateways: &gateways,
        grants: objects.grants.as_deref(),
        namespaces: &objects.namespaces,
    };
    let (named, leading) = objects.leading(&of_release);
    if leading.is_empty() {
        let routes = named.into_iter().map(Reference::of).collect::<Result<_, _>>()?;
        return Err(Error::NothingBeside { service: service.clone(), routes });
    }
    let policy = policy(release, observed)?;
    let mut desired = Vec::new();
    for (version, header) in versions(release, record, &objects.routes) {
        let name = VersionName { release: release.name.as_str(), service, version };
        let own = name.service();
        desired.push((Stage::Subsets, name.service_object(plain, &record.service.label)));
        let host = ServiceHost::new(&own, release.namespace.as_str()).fqdn();
        desired
            .extend(policy.as_ref().map(|policy| (Stage::Subsets, name.rule_object(plain, &host, policy))));
        let context = SiblingContext {
            name: &name.object(),
            versions: &[VersionRoute { header: &header, service: &own }],
            ..of_release
        };
        let routes = sibling_routes(&objects.routes, &context).map_err(Error::Siblings)?;
        desired.extend(routes.into_iter().map(|route| (Stage::Routes, route)));
    }
    desired.into_iter().map(|(stage, body)| object(stage, body, &record.metadata)).collect()
}

impl Observed {
    /// Our objects that no longer are what follows from those of others. A missing one is none of them, unless it is new.
    ///
    /// # Errors
    ///
    /// If a route of others cannot be repeated any more.
    pub fn outdated(&self, release: &ReleaseName, record: &Record) -> Result<Vec<Outdated>, Error> {
        let objects = &*self.gateway_api;
        let gateways: Vec<ParentGateway> = objects.gateways.iter().map(ParentGateway::read).collect();
        let context = SiblingContext {
            name: "",
            service: WholeService { namespace: release.namespace.as_str(), name: &record.service.name },
            versions: &[],
            gateways: &gateways,
            grants: objects.grants.as_deref(),
            namespaces: &objects.namespaces,
        };
        let mut by = BTreeSet::new();
        for source in objects.leading(&context).1.into_iter().chain(&objects.service) {
            by.extend(Owners::of(source).others(&["spec"]).into_iter().map(str::to_owned));
        }
        let is_missing = |object: &Reference| {
            record.objects.iter().any(|(_, known)| known == object) && !self.objects.contains_key(object)
        };
        let desired = beside_routes(release, record, self)?;
        let differs = |object: &&Object| Change::to(object, self.objects.get(&object.reference)).is_some();
        let outdated = desired.iter().filter(|object| !is_missing(&object.reference)).filter(differs);
        Ok(outdated.map(|object| (object.reference.clone(), by.iter().cloned().collect())).collect())
    }
}

/// The versions with their routing values. That of a version that leaves is in its routes alone: if there are none, nothing leads to it.
fn versions<'r>(release: &ReleaseName, record: &'r Record, routes: &[Value]) -> Vec<(&'r str, String)> {
    let full_name = release.to_string();
    let live = record.state.versions.iter().map(|version| version.name.as_str());
    let live = live.map(|version| (version, record.routing_value(&full_name, version)));
    let leaving = record.leaving.iter().filter_map(|version| {
        let name = VersionName { release: release.name.as_str(), service: &record.service.name, version };
        let own = routes.iter().filter(|route| is_ours(route));
        let mut own = own.filter(|route| Reference::of(route).is_ok_and(|route| name.has(&route)));
        Some((version.as_str(), routing_value(own.next()?)?))
    });
    live.chain(leaving).collect()
}

/// The value of the routing header in a route of ours: that of the last header.
fn routing_value(route: &Value) -> Option<String> {
    let headers = route.pointer("/spec/rules/0/matches/0/headers")?.as_array()?;
    headers.last()?.get("value")?.as_str().map(str::to_owned)
}

fn has_selector(service: &Value) -> bool {
    let selector = service.pointer("/spec/selector").and_then(Value::as_object);
    selector.is_some_and(|selector| !selector.is_empty())
}

/// The settings that the plain Service has for the gateways, where they are not those of every Service of the namespace.
fn policy(release: &ReleaseName, observed: &Observed) -> Result<Option<Value>, Error> {
    let namespace = release.namespace.as_str();
    let called = CalledService { host: &observed.service_host, namespace };
    let is_exact = |client: &Client| {
        let found = effective(&observed.rules, client, called)?;
        let is_of_service = observed.rules.iter().any(|rule| {
            found.is_from(&rule.reference) && rule.host == observed.service_host && !rule.is_ours
        });
        found.policy.filter(|_| is_of_service)
    };
    let mut policies = observed.clients.iter().map(is_exact);
    let first = policies.next().flatten();
    if policies.any(|other| other != first) {
        return Err(Error::SeveralPolicies { service: observed.service_host.clone() });
    }
    Ok(first)
}

fn object(stage: Stage, mut body: Value, metadata: &ObjectMetadata) -> Result<Object, Error> {
    for (field, given) in [("labels", &metadata.labels), ("annotations", &metadata.annotations)] {
        let place = body.pointer_mut("/metadata").and_then(Value::as_object_mut);
        let Some(place) = place.filter(|_| !given.is_empty()) else { continue };
        let all = place.entry(field).or_insert_with(|| json!({}));
        if let Some(all) = all.as_object_mut() {
            // The label by which our objects are known is reserved, so a release gives none of this name.
            all.extend(
                given.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect::<Map<_, _>>(),
            );
        }
    }
    Ok(Object { reference: Reference::of(&body)?, stage, body })
}
