//! What `apply` reads of a cluster, each object once. Afterwards an object is read again only if it is shared with other
//! releases, or if a write of it was answered with 409.

use crate::client::ServicePods;
use crate::observe::rules::namespaces;
use crate::stores::key_store::GatewayKeys;
use crate::{Cluster, Error};
use canary_release::config::SigningKeys;
use canary_release::destination_rule::HostRule;
use canary_release::object::Reference;
use canary_release::plan::{Desired, GatewayApiObjects, Observed, PlanNote, config_references};
use canary_release::record::Record;
use canary_release::routing::{GatewayServer, ROUTE_KIND, is_sent_to};
use canary_release::spec::{Release, Routes, ServiceHost};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const ISTIO: &str = "networking.istio.io/v1";

/// The parts of a snapshot that do not depend on the next record.
pub(super) struct Basis {
    pub(super) keys: GatewayKeys,
    /// Those of the release's namespace.
    pub(super) route_objects: Vec<Value>,
    /// Those of other namespaces that the proxies of its gateways are sent.
    pub(super) routes_elsewhere: Vec<Value>,
    /// The servers of the gateways to which routes of others for a host of the release are bound.
    pub(super) servers: Vec<GatewayServer>,
    /// The pods behind the Service; `None` for a release that is not there yet.
    pub(super) pods: Option<ServicePods>,
}

/// The observations for a record.
pub(super) struct Snapshot {
    pub(super) observed: Observed,
    /// The rules for the Service in namespaces that have no proxies of the release.
    pub(super) rules_elsewhere: Vec<HostRule>,
    /// The route objects of other namespaces that the proxies of its gateways are sent.
    pub(super) routes_elsewhere: Vec<Value>,
    /// The servers of the gateways to which routes of others for a host of the release are bound.
    pub(super) servers: Vec<GatewayServer>,
    /// A note of each part that could not be read.
    pub(super) notes: Vec<PlanNote>,
}

/// Objects of which whole lists were read.
struct Lists {
    objects: BTreeMap<Reference, Value>,
    namespace: String,
    rule_namespaces: BTreeSet<String>,
}

impl Lists {
    /// Whether an object that is not in the lists does not exist.
    fn cover(&self, reference: &Reference) -> bool {
        let Reference { api_version, kind, namespace, .. } = reference;
        api_version == ISTIO
            && match kind.as_str() {
                ROUTE_KIND => *namespace == self.namespace,
                "DestinationRule" => self.rule_namespaces.contains(namespace),
                _ => false,
            }
    }
}

impl Cluster {
    /// Reads what does not depend on what the record will be; `before` is the record as it is.
    pub(super) async fn basis(&self, release: &Release, before: Option<&Record>) -> Result<Basis, Error> {
        let namespace = release.name.namespace.as_str();
        let pods = async {
            match before {
                Some(before) => self.client.service_pods(namespace, &before.service).await.map(Some),
                None => Ok(None),
            }
        };
        let gateways: BTreeSet<String> =
            release.gateways.iter().map(|gateway| gateway.pods.namespace.to_string()).collect();
        let namespaces = gateways.iter().cloned().chain([namespace.to_owned()]).collect();
        let routes = Box::pin(self.client.list_istio_everywhere(ROUTE_KIND, &namespaces));
        let (keys, routes, pods) = tokio::try_join!(self.keys.find(release), routes, pods)?;
        let servers = self.contested_servers(release, &routes).await;
        let is_near =
            |body: &Value| body.pointer("/metadata/namespace").and_then(Value::as_str) == Some(namespace);
        let (route_objects, mut routes_elsewhere): (Vec<Value>, Vec<Value>) =
            routes.into_iter().partition(is_near);
        routes_elsewhere.retain(|body| is_sent_to(body, &gateways));
        Ok(Basis { keys, route_objects, routes_elsewhere, servers, pods })
    }

    /// Reads the objects of a release, those that hold configurations of its proxies, and the rules for its Service.
    pub(super) async fn snapshot(
        &self,
        release: &Release,
        record: &Record,
        route_objects: &[Value],
    ) -> Result<Snapshot, Error> {
        let namespace = release.name.namespace.as_str();
        let route_objects = by_reference(route_objects)?;
        let rules = self.rules(namespace, record).await?;
        let mut objects = by_reference(&rules.bodies)?;
        objects.extend(route_objects.clone());
        let lists = Lists {
            objects,
            namespace: namespace.to_owned(),
            rule_namespaces: namespaces(record, namespace),
        };
        let mut wanted: BTreeSet<Reference> = config_references(release, record)?.into_iter().collect();
        wanted.extend(record.objects.iter().map(|(_, reference)| reference.clone()));
        let mut notes: Vec<PlanNote> = rules.note().into_iter().collect();
        let gateway_api = Box::new(Box::pin(self.gateway_api(release, record, &mut notes)).await?);
        let (objects, clients) =
            tokio::try_join!(self.read(&lists, &wanted), self.clients(record, &rules.found))?;
        let service_host = ServiceHost::new(&record.service.name, namespace).fqdn();
        let mut observed =
            Observed { service_host, objects, route_objects, rules: rules.found, clients, gateway_api };
        // What a first `apply` or another file names for the first time. Which objects these are does not depend on the keys.
        let desired = Desired::of(release, record, &SigningKeys::placeholder(), &observed)?;
        let desired = desired.objects.into_iter().map(|object| object.reference);
        let unread: BTreeSet<Reference> = desired.filter(|reference| !wanted.contains(reference)).collect();
        observed.objects.extend(self.read(&lists, &unread).await?);
        let (routes_elsewhere, servers) = (Vec::new(), Vec::new());
        Ok(Snapshot { observed, rules_elsewhere: rules.elsewhere, routes_elsewhere, servers, notes })
    }

    /// The objects that routes beside those of others follow from; none where they are of another kind.
    async fn gateway_api(
        &self,
        release: &Release,
        record: &Record,
        notes: &mut Vec<PlanNote>,
    ) -> Result<GatewayApiObjects, Error> {
        if record.routes != Routes::GatewayApi {
            return Ok(GatewayApiObjects::default());
        }
        let gateways = release.gateways.iter().map(|gateway| &gateway.name);
        let gateways = gateways.map(|name| (name.namespace.to_string(), name.name.to_string())).collect();
        let (found, is_partial) = self.gateway_api_objects(&release.name, record, gateways).await?;
        notes.extend(is_partial.then_some(PlanNote::RoutesNotListed));
        Ok(found)
    }

    /// Those of these objects that exist.
    async fn read(
        &self,
        lists: &Lists,
        wanted: &BTreeSet<Reference>,
    ) -> Result<BTreeMap<Reference, Value>, Error> {
        let (listed, single): (Vec<_>, Vec<_>) = wanted.iter().partition(|reference| lists.cover(reference));
        let mut found = self.client.get_all(single).await?;
        let body = |reference: &Reference| Some((reference.clone(), lists.objects.get(reference)?.clone()));
        found.extend(listed.into_iter().filter_map(body));
        Ok(found)
    }

    /// Reads some objects again.
    pub(super) async fn refresh<'r>(
        &self,
        snapshot: &mut Snapshot,
        references: impl IntoIterator<Item = &'r Reference>,
    ) -> Result<(), Error> {
        let references: BTreeSet<&Reference> = references.into_iter().collect();
        let mut found = self.client.get_all(references.iter().copied()).await?;
        for reference in references {
            snapshot.observed.replace(reference, found.remove(reference))?;
        }
        Ok(())
    }
}

fn by_reference(bodies: &[Value]) -> Result<BTreeMap<Reference, Value>, Error> {
    bodies.iter().map(|body| Ok((Reference::of(body)?, body.clone()))).collect()
}
