//! The rights that the verbs need for a release: of each kind only the objects that are its own, wherever the API server
//! can tell them apart.
//!
//! It cannot when objects are listed, and when one without a name in its path is made (`create` of a ConfigMap, a Secret
//! and a Lease). An object that is applied by server-side apply has its name in the path, so making it can be limited too.

use super::record::proxies;
use super::{ROOT_NAMESPACE, Reference};
use crate::spec::{Release, Routes};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The Secret of the keys.
pub const KEYS: &str = "canary-ctl-keys";

/// What may be done to some resources of a namespace, as a Role says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// The API group, alone in a list; empty for the core.
    pub api_groups: [&'static str; 1],
    /// The resource, alone in a list.
    pub resources: [String; 1],
    /// The objects; none stands for all.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub resource_names: BTreeSet<String>,
    /// What may be done.
    pub verbs: Vec<&'static str>,
}

/// The rules that the verbs need, by namespace. `objects` are those that the release needs.
pub fn rights(release: &Release, objects: &[Reference]) -> BTreeMap<String, Vec<Rule>> {
    let mut all = BTreeMap::new();
    own(&mut Rules(&mut all, release.name.namespace.as_str()), release);
    for (namespace, resource, group, names) in applied(objects) {
        let mut rules = Rules(&mut all, namespace);
        // Where all may be read and written those of ours may be, too.
        let covered = resource == "virtualservices" && release.routes == Some(Routes::Edit);
        let verbs: &[_] = if covered { &["create", "delete"] } else { &["get", "create", "patch", "delete"] };
        rules.add(group, &resource, names, verbs);
    }
    for namespace in release.signing_namespaces() {
        let mut rules = Rules(&mut all, &namespace);
        rules.add("", "secrets", [KEYS], &["get", "update"]);
        rules.add("", "secrets", [], &["create"]);
    }
    for namespace in proxies(release).into_iter().map(|proxies| proxies.namespace).collect::<BTreeSet<_>>() {
        let mut rules = Rules(&mut all, &namespace);
        rules.add("", "pods", [], &["list"]);
        // The metrics of proxies, whose pods have names that nobody knows beforehand.
        rules.add("", "pods/proxy", [], &["get"]);
        let shared = objects.iter().filter(|object| object.namespace == namespace);
        let names: Vec<&str> =
            shared.filter(|object| is_shared(object)).map(|object| &*object.name).collect();
        rules.leases(&names);
    }
    // The rules of others that are in force for the Service: in the namespaces of its callers, its own, and the root.
    let callers = proxies(release).into_iter().map(|proxies| proxies.namespace);
    let namespaces: BTreeSet<String> =
        callers.chain([release.name.namespace.to_string(), ROOT_NAMESPACE.to_owned()]).collect();
    for namespace in namespaces {
        Rules(&mut all, &namespace).add("networking.istio.io", "destinationrules", [], &["list"]);
    }
    // Who else leads to the Service: what Istio tries first, and the ways past our routes.
    let callers = proxies(release).into_iter().map(|proxies| proxies.namespace);
    for namespace in callers.chain([release.name.namespace.to_string()]).collect::<BTreeSet<_>>() {
        Rules(&mut all, &namespace).add("networking.istio.io", "virtualservices", [], &["list"]);
    }
    all
}

/// Adds the rights that restarting the proxies of a release needs: whose names nobody knows beforehand.
pub fn add_restart_rights(all: &mut BTreeMap<String, Vec<Rule>>, release: &Release) {
    for namespace in proxies(release).into_iter().map(|proxies| proxies.namespace).collect::<BTreeSet<_>>() {
        let mut rules = Rules(all, &namespace);
        rules.add("apps", "deployments", [], &["list", "get", "patch"]);
        rules.add("apps", "replicasets", [], &["get"]);
    }
}

/// The record, its Lease, the pods behind it.
fn own(rules: &mut Rules<'_>, release: &Release) {
    let name = format!("{}-canary", release.name.name);
    rules.add("", "configmaps", [name.as_str()], &["get", "update", "delete"]);
    rules.add("", "configmaps", [], &["create"]);
    rules.leases(&[&name]);
    rules.add("", "services", [release.service.name.as_str()], &["get"]);
    rules.add("", "pods", [], &["list"]);
    if release.routes == Some(Routes::Edit) {
        // By names that nobody knows beforehand.
        rules.add("networking.istio.io", "virtualservices", [], &["get", "patch"]);
    }
    rules.add("networking.k8s.io", "ingresses", [], &["list"]);
}

/// Whether it holds the configuration of all releases of its proxies.
fn is_shared(object: &Reference) -> bool {
    object.name.ends_with("-config")
}

/// Objects of one kind and namespace together.
fn applied(objects: &[Reference]) -> impl Iterator<Item = (&str, String, &'static str, Vec<&str>)> {
    let mut kinds: BTreeMap<(&str, String, &'static str), Vec<&str>> = BTreeMap::new();
    for object in objects {
        let group = match object.api_version.split_once('/') {
            Some(("extensions.istio.io", _)) => "extensions.istio.io",
            _ => "networking.istio.io",
        };
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
        group: &'static str,
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
            api_groups: [group],
            resources: [resource.to_owned()],
            resource_names: names,
            verbs: verbs.to_vec(),
        });
    }
}
