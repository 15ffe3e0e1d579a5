//! The rights that the operations need for a release: of each kind only the release's own objects, wherever RBAC can
//! limit rights to object names.
//!
//! It cannot for `list`, and for a `create` without a name in its path (ConfigMap, Secret, Lease). A server-side apply
//! has the object's name in its path, so creating an object by it can be limited too.

use crate::config::SigningKeys;
use crate::delivery::module_backup;
use crate::destination_rule::ROOT_NAMESPACE;
use crate::manifest::{self, Options, ReleaseInstance};
use crate::object::{Object, Reference};
use crate::plan;
use crate::record::proxies;
use crate::routing::{GATEWAY_API_GROUP, RouteKind};
use crate::spec::{Label, Module, Release, ReleaseName, Routes, SecretSource};
use assignment::contract::KeySource;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The Secret of the keys.
pub const KEYS: &str = "canary-ctl-keys";

/// The Secret of the keys of records.
pub const RECORD_KEYS: &str = "canary-ctl-record-keys";

/// The Lease under which the version label of running pods changes: one change in a namespace at a time.
pub const ADOPTION_LEASE: &str = "canary-ctl-adoption";

/// A rule of a Role: the verbs that are allowed on some resources of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// The API group, alone in a list; empty for the core.
    pub api_groups: [String; 1],
    /// The resource, alone in a list.
    pub resources: [String; 1],
    /// The objects; none stands for all.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub resource_names: BTreeSet<String>,
    /// The permitted verbs.
    pub verbs: Vec<&'static str>,
}

/// One right: a verb on one object, or on all of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Right {
    /// Where.
    pub namespace: String,
    /// The API group; empty for the core.
    pub group: String,
    /// The resource: `envoyfilters`, `pods/proxy` …
    pub resource: String,
    /// The object; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The permitted verbs.
    pub verb: &'static str,
}

/// The rules that the verbs need for a release, by namespace, whatever its keys are.
///
/// # Errors
///
/// If no objects can be made from the release.
pub fn rules(release: &Release) -> Result<BTreeMap<String, Vec<Rule>>, plan::Error> {
    let (keys, held, resource_names) = (SigningKeys::placeholder(), BTreeMap::new(), BTreeMap::new());
    let options = Options { keys: &keys, show_keys: false, held: &held, resource_names: &resource_names };
    let mut objects = Vec::new();
    for manifest in manifest::manifests(&[ReleaseInstance::first(release, 1)], options)? {
        objects.extend(Object::of(&manifest)?.map(|object| object.reference));
    }
    Ok(rights(release, &objects))
}

/// The Secrets that the operations fill, by namespace. They are made with the Roles: who may create Secrets in a namespace, and read one, becomes
/// any of its service accounts by a Secret of the type `kubernetes.io/service-account-token`
/// ([RBAC good practices](https://kubernetes.io/docs/concepts/security/rbac-good-practices/#listing-secrets)).
pub fn secrets(release: &Release) -> BTreeMap<String, BTreeSet<&'static str>> {
    let mut all: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
    for namespace in release.signing_namespaces() {
        all.entry(namespace).or_default().insert(KEYS);
    }
    for proxies in proxies(release) {
        all.entry(proxies.namespace).or_default().insert(RECORD_KEYS);
    }
    all
}

/// The single rights of rules, each of which can be asked for.
pub fn single_rights(rules: &BTreeMap<String, Vec<Rule>>) -> BTreeSet<Right> {
    let mut all = BTreeSet::new();
    for (namespace, rule) in
        rules.iter().flat_map(|(namespace, rules)| rules.iter().map(move |rule| (namespace, rule)))
    {
        let names = rule.resource_names.iter().cloned().map(Some);
        let names: Vec<Option<String>> =
            if rule.resource_names.is_empty() { vec![None] } else { names.collect() };
        for (name, verb) in names.iter().flat_map(|name| rule.verbs.iter().map(move |verb| (name, verb))) {
            let ([group], [resource]) = (&rule.api_groups, &rule.resources);
            let (namespace, name) = (namespace.clone(), name.clone());
            all.insert(Right { namespace, group: group.clone(), resource: resource.clone(), name, verb });
        }
    }
    all
}

/// The rules that the verbs need, by namespace. `objects` are those that the release needs.
fn rights(release: &Release, objects: &[Reference]) -> BTreeMap<String, Vec<Rule>> {
    let mut all = BTreeMap::new();
    own(&mut Rules(&mut all, release.name.namespace.as_str()), release);
    for (namespace, resource, group, names) in applied(objects) {
        let mut rules = Rules(&mut all, namespace);
        // If all may be read and written, ours are included.
        let covered = resource == "virtualservices" && release.routes == Some(Routes::Inject);
        let verbs: &[_] = if covered { &["create", "delete"] } else { &["get", "create", "patch", "delete"] };
        rules.add(group, &resource, names, verbs);
    }
    for gateway in release.gateways.iter().map(|gateway| &gateway.name) {
        let mut rules = Rules(&mut all, gateway.namespace.as_str());
        rules.add("networking.istio.io", "gateways", [gateway.name.as_str()], &["get"]);
        if release.routes == Some(Routes::GatewayApi) {
            rules.add(GATEWAY_API_GROUP, "gateways", [gateway.name.as_str()], &["get"]);
        }
    }
    for namespace in release.signing_namespaces() {
        let mut rules = Rules(&mut all, &namespace);
        rules.add("", "secrets", [KEYS], &["get", "update"]);
    }
    for namespace in proxies(release).into_iter().map(|proxies| proxies.namespace).collect::<BTreeSet<_>>() {
        let mut rules = Rules(&mut all, &namespace);
        rules.add("", "secrets", [RECORD_KEYS], &["get", "update"]);
        rules.add("", "pods", [], &["list"]);
        // The metrics of proxies. The names of their pods are not known in advance.
        rules.add("", "pods/proxy", [], &["get"]);
        let shared = objects.iter().filter(|object| object.namespace == namespace);
        let names: Vec<&str> =
            shared.filter(|object| is_shared(object)).map(|object| &*object.name).collect();
        rules.leases(&names);
    }
    add_objects_of_others(&mut all, release);
    all
}

/// Adds the rights to list what others have beside the release: rules, scopes and routes of its Service, and Services of its pods.
fn add_objects_of_others(all: &mut BTreeMap<String, Vec<Rule>>, release: &Release) {
    // The rules of others that are in force for the Service: in the namespaces of its callers, its own, and the root.
    let callers = proxies(release).into_iter().map(|proxies| proxies.namespace);
    let namespaces: BTreeSet<String> =
        callers.chain([release.name.namespace.to_string(), ROOT_NAMESPACE.to_owned()]).collect();
    for namespace in namespaces {
        let mut rules = Rules(all, &namespace);
        rules.add("networking.istio.io", "destinationrules", [], &["list"]);
        // What callers see of the mesh.
        rules.add("networking.istio.io", "sidecars", [], &["list"]);
    }
    // Services of the same pods by another object, and what Services select beside pods.
    for resource in ["serviceentries", "workloadentries"] {
        Rules(all, release.name.namespace.as_str()).add("networking.istio.io", resource, [], &["list"]);
    }
    // What verifies tokens, where a claim is a user key.
    if release.identify_by.iter().any(|key| matches!(key, KeySource::Jwt { .. })) {
        for namespace in
            proxies(release).into_iter().map(|proxies| proxies.namespace).collect::<BTreeSet<_>>()
        {
            Rules(all, &namespace).add("security.istio.io", "requestauthentications", [], &["list"]);
        }
    }
    // Other routes to the Service: those that Istio matches first, and those that bypass ours.
    let callers = proxies(release).into_iter().map(|proxies| proxies.namespace);
    for namespace in callers.chain([release.name.namespace.to_string()]).collect::<BTreeSet<_>>() {
        let mut rules = Rules(all, &namespace);
        rules.add("networking.istio.io", "virtualservices", [], &["list"]);
        if release.routes == Some(Routes::GatewayApi) {
            header_routes(&mut rules, &["list"]);
        }
    }
}

/// Adds the rights to read the metrics of a release's proxies through the kubelets of their nodes. The names of the pods are not known in
/// advance. A WebSocket is opened by `get`, and since Kubernetes 1.35 the API server asks for `create` too
/// ([KEP-4006](https://www.kubernetes.dev/resources/keps/4006/), RBAC `create` authorization check).
pub fn add_port_forward_rights(all: &mut BTreeMap<String, Vec<Rule>>, release: &Release) {
    for namespace in proxies(release).into_iter().map(|proxies| proxies.namespace).collect::<BTreeSet<_>>() {
        Rules(all, &namespace).add("", "pods/portforward", [], &["get", "create"]);
    }
    if is_outer(release) {
        Rules(all, release.name.namespace.as_str()).add("", "pods/portforward", [], &["get", "create"]);
    }
}

/// Adds the rights that alerts, metrics, hooks and dependencies of a rollout need: to write Events, and to read the Secrets and the records of other
/// releases that its file names; and those to find the other releases of its train, and to read the proxies that call them, in its own
/// namespace. Nothing else needs them.
pub fn add_rollout_rights(all: &mut BTreeMap<String, Vec<Rule>>, release: &Release) {
    let mut rules = Rules(all, release.name.namespace.as_str());
    // Each Event is an object of its own.
    rules.add("events.k8s.io", "events", [], &["create"]);
    if is_outer(release) {
        rules.add("", "pods/proxy", [], &["get"]);
    }
    add_train_rights(all, release);
    let mut rules = Rules(all, release.name.namespace.as_str());
    let urls = release.rollout.alerts.endpoints.values().map(|endpoint| &endpoint.url_from);
    let prometheus = release.rollout.analysis.prometheus.as_ref();
    let hooks = release.rollout.hooks.endpoints.values();
    let hooks =
        hooks.flat_map(|endpoint| [&endpoint.url_from].into_iter().chain(&endpoint.signature_key_from));
    for source in urls.chain(hooks).chain(prometheus.and_then(|server| server.bearer_token_from.as_ref())) {
        if let SecretSource::Secret { name, .. } = source {
            rules.add("", "secrets", [name.as_str()], &["get"]);
        }
    }
    for dependency in &release.rollout.depends_on {
        let record = record_name(&dependency.release);
        Rules(all, dependency.release.namespace.as_str()).add("", "configmaps", [record.as_str()], &["get"]);
    }
}

/// Adds the rights to find the other releases of its train, and to check the seals of those that its own namespace calls.
fn add_train_rights(all: &mut BTreeMap<String, Vec<Rule>>, release: &Release) {
    if release.train.is_none() {
        return;
    }
    let own = [release.name.namespace.as_str()];
    for namespace in release.train_namespaces.iter().map(Label::as_str).chain(own) {
        let mut rules = Rules(all, namespace);
        // A list cannot be limited to names.
        rules.add("", "configmaps", [], &["list", "get"]);
        rules.add("", "secrets", [RECORD_KEYS], &["get"]);
    }
}

/// Whether its rollout observes other releases.
fn is_outer(release: &Release) -> bool {
    release.train.is_some() && !release.gateways.is_empty()
}

/// The name of the ConfigMap that keeps the record of a release.
pub fn record_name(release: &ReleaseName) -> String {
    format!("{}-canary", release.name)
}

/// Adds the rights to restart the proxies of a release. Their names are not known in advance.
pub fn add_restart_rights(all: &mut BTreeMap<String, Vec<Rule>>, release: &Release) {
    for namespace in proxies(release).into_iter().map(|proxies| proxies.namespace).collect::<BTreeSet<_>>() {
        let mut rules = Rules(all, &namespace);
        rules.add("apps", "deployments", [], &["list", "get", "patch"]);
        rules.add("apps", "replicasets", [], &["get"]);
    }
}

/// Adds the rights to give running pods the version label. The names of Deployment, `ReplicaSet` and pods are not known in advance.
pub fn add_adoption_rights(all: &mut BTreeMap<String, Vec<Rule>>, release: &Release) {
    let mut rules = Rules(all, release.name.namespace.as_str());
    rules.add("apps", "deployments", [], &["get", "patch"]);
    rules.add("apps", "replicasets", [], &["list", "patch"]);
    rules.add("", "pods", [], &["patch"]);
    rules.add("autoscaling", "horizontalpodautoscalers", [], &["list"]);
    rules.leases(&[ADOPTION_LEASE]);
}

/// Adds the rights to wait for the pods of a version with the reason why they are not ready, and to see workloads that another template
/// replaces. Nothing fails without those of logs, events, `ReplicaSets`,
/// `StatefulSets` and `DaemonSets`.
pub fn add_twin_rights(all: &mut BTreeMap<String, Vec<Rule>>, release: &Release) {
    let mut rules = Rules(all, release.name.namespace.as_str());
    for workloads in ["daemonsets", "deployments", "replicasets", "statefulsets"] {
        rules.add("apps", workloads, [], &["list"]);
    }
    rules.add("", "pods/log", [], &["get"]);
    rules.add("", "events", [], &["list"]);
}

/// The record, its Lease, the pods behind it.
fn own(rules: &mut Rules<'_>, release: &Release) {
    let name = record_name(&release.name);
    rules.add("", "configmaps", [name.as_str()], &["get", "update", "delete"]);
    if let Module::Embedded(_) = release.delivery.module {
        rules.add(
            "",
            "configmaps",
            [module_backup(&release.name).name.as_str()],
            &["get", "patch", "delete"],
        );
    }
    rules.add("", "configmaps", [], &["create"]);
    rules.leases(&[&name]);
    rules.add("", "services", [release.service.name.as_str()], &["get"]);
    // Others of the same pods.
    rules.add("", "services", [], &["list"]);
    rules.add("", "pods", [], &["list"]);
    if release.routes == Some(Routes::Inject) {
        // Their names are not known in advance.
        rules.add("networking.istio.io", "virtualservices", [], &["get", "patch"]);
    }
    rules.add("networking.k8s.io", "ingresses", [], &["list"]);
    if release.routes == Some(Routes::External) {
        header_routes(rules, &["list"]);
    }
    if release.routes == Some(Routes::GatewayApi) {
        // Those of each version. Versions come and go, so their names are not known in advance.
        let verbs = ["get", "create", "patch", "delete"];
        rules.add("", "services", [], &verbs);
        rules.add("networking.istio.io", "destinationrules", [], &verbs);
        header_routes(rules, &verbs);
        rules.add(GATEWAY_API_GROUP, "referencegrants", [], &["list"]);
    }
}

/// Adds rights to the routes of the Gateway API that match headers.
fn header_routes(rules: &mut Rules<'_>, verbs: &[&'static str]) {
    for kind in RouteKind::ALL {
        rules.add(GATEWAY_API_GROUP, kind.resource(), [], verbs);
    }
}

/// Whether it holds the configuration of all releases of its proxies.
fn is_shared(object: &Reference) -> bool {
    object.name.ends_with("-config")
}

/// Objects of one kind and namespace together.
fn applied(objects: &[Reference]) -> impl Iterator<Item = (&str, String, &str, Vec<&str>)> {
    let mut kinds: BTreeMap<(&str, String, &str), Vec<&str>> = BTreeMap::new();
    for object in objects {
        // An API version without a group is the core's.
        let group = object.api_version.split_once('/').map_or("", |(group, _)| group);
        let resource = format!("{}s", object.kind.to_ascii_lowercase());
        kinds.entry((&object.namespace, resource, group)).or_default().push(&object.name);
    }
    kinds.into_iter().map(|((namespace, resource, group), names)| (namespace, resource, group, names))
}

/// The rules of one namespace.
struct Rules<'a>(&'a mut BTreeMap<String, Vec<Rule>>, &'a str);

impl Rules<'_> {
    fn leases(&mut self, names: &[&str]) {
        self.add("coordination.k8s.io", "leases", names.iter().copied(), &["get", "update", "delete"]);
        self.add("coordination.k8s.io", "leases", [], &["create"]);
    }

    /// Adds a rule, or names to one that is the same but for them.
    fn add<'n>(
        &mut self,
        group: &str,
        resource: &str,
        names: impl IntoIterator<Item = &'n str>,
        verbs: &[&'static str],
    ) {
        let names: BTreeSet<String> = names.into_iter().map(str::to_owned).collect();
        let rules = self.0.entry(self.1.to_owned()).or_default();
        let is_same = |rule: &&mut Rule| {
            rule.api_groups == [group]
                && rule.resources == [resource]
                && rule.verbs == verbs
                && rule.resource_names.is_empty() == names.is_empty()
        };
        if let Some(rule) = rules.iter_mut().find(is_same) {
            rule.resource_names.extend(names);
            return;
        }
        rules.push(Rule {
            api_groups: [group.to_owned()],
            resources: [resource.to_owned()],
            resource_names: names,
            verbs: verbs.to_vec(),
        });
    }
}
