//! Which `DestinationRule` a client's proxy uses for a Service, selected as istiod does.
//!
//! istiod searches the client's namespace first, then the Service's, then the mesh's root namespace, and selects the
//! first that has a rule for the host. Within a namespace an exact host comes before a wildcard, and a longer wildcard
//! before a shorter one. Rules of one namespace and host are merged: subsets are added, and the first `trafficPolicy`
//! is used. So a rule in the client's own namespace replaces the Service's, even if its host is `*.local`.
//!
//! Source: Istio's `pilot/pkg/model`: `push_context.go` (`setDestinationRules`, `destinationRule`), `destination_rule.go`
//! (`mergeDestinationRule`), `sidecar.go` (`DestinationRule`); the docs:
//! <https://istio.io/latest/docs/ops/best-practices/traffic-management/#cross-namespace-configuration>.

use crate::object::ObjectError;
use crate::object::Reference;
use crate::spec::resolve;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The mesh's root namespace, as Istio installs it.
pub const ROOT_NAMESPACE: &str = "istio-system";

/// The value of the label by which our own objects are known.
const MANAGED_BY: &str = "/metadata/labels/app.kubernetes.io~1managed-by";

/// A `DestinationRule`, with the fields that determine its clients.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRule {
    /// Its reference.
    pub reference: Reference,
    /// Its host, short names completed.
    pub host: String,
    /// Whether a canary release has written it.
    pub is_ours: bool,
    export_to: BTreeSet<String>,
    selector: Option<BTreeMap<String, String>>,
    /// When it was made; of one that is not there yet, nothing.
    created: Option<String>,
    policy: Option<Value>,
    subsets: Vec<Value>,
}

/// A proxy that calls the Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its namespace.
    pub namespace: String,
    /// Its pod's labels.
    pub labels: BTreeMap<String, String>,
}

/// A Service as rules name it.
#[derive(Clone, Copy, Debug)]
pub struct CalledService<'s> {
    /// Its whole host name.
    pub host: &'s str,
    /// Its namespace.
    pub namespace: &'s str,
}

/// The rule in force for a proxy: some rules, merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effective {
    /// The `trafficPolicy`.
    pub policy: Option<Value>,
    /// The subsets, each name once.
    pub subsets: Vec<Value>,
    /// The rules that it was merged from, in this order.
    pub from: Vec<Reference>,
    export_to: BTreeSet<String>,
    selector: Option<BTreeMap<String, String>>,
}

impl HostRule {
    /// Reads an object.
    ///
    /// # Errors
    ///
    /// If it has no name.
    pub fn of(body: &Value) -> Result<Self, ObjectError> {
        Ok(Self::new(Reference::of(body)?, body))
    }

    /// The rule of this name, of what else stands in an object.
    pub(crate) fn new(reference: Reference, body: &Value) -> Self {
        let text = |path: &str| body.pointer(path).and_then(Value::as_str);
        let host = text("/spec/host").unwrap_or_default();
        let host = resolve(host, &reference.namespace);
        let list = |path: &str| body.pointer(path).and_then(Value::as_array).cloned().unwrap_or_default();
        let export_to = list("/spec/exportTo").iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let selector =
            body.pointer("/spec/workloadSelector").map(|selector| labels(selector.get("matchLabels")));
        Self {
            host,
            is_ours: text(MANAGED_BY) == Some(crate::object::FIELD_MANAGER),
            // A rule with a selector is for its own namespace alone.
            export_to: if selector.is_some() { BTreeSet::from([".".to_owned()]) } else { export_to },
            selector,
            created: text("/metadata/creationTimestamp").map(str::to_owned),
            policy: body.pointer("/spec/trafficPolicy").cloned(),
            subsets: list("/spec/subsets"),
            reference,
        }
    }

    /// The names of its subsets.
    pub fn subset_names(&self) -> impl Iterator<Item = &str> {
        self.subsets.iter().filter_map(|subset| subset.get("name")?.as_str())
    }

    /// Whether it has a subset of this name.
    pub fn has_subset(&self, name: &str) -> bool {
        self.subset_names().any(|other| other == name)
    }

    /// Whether it applies to this host, by its name or by a wildcard.
    pub fn matches(&self, host: &str) -> bool {
        self.host.strip_prefix('*').map_or(self.host == host, |end| host.ends_with(end))
    }

    /// The labels of the pods of its namespace to which it applies; `None`: to all.
    pub const fn selector(&self) -> Option<&BTreeMap<String, String>> {
        self.selector.as_ref()
    }

    /// Whether it applies only to selected pods of its namespace.
    pub const fn selects_pods(&self) -> bool {
        self.selector.is_some()
    }

    /// When it was made.
    pub(crate) fn created(&self) -> Option<&str> {
        self.created.as_deref()
    }

    /// The same, made at that moment.
    pub(crate) fn made(self, created: Option<String>) -> Self {
        Self { created, ..self }
    }

    /// The list of namespaces that may see it, as it stands in the object; none: all.
    pub(crate) const fn export_to(&self) -> &BTreeSet<String> {
        &self.export_to
    }

    /// Whether proxies of its own namespace see it.
    fn is_local(&self) -> bool {
        let namespace = &self.reference.namespace;
        self.export_to.is_empty()
            || self.export_to.iter().any(|name| name == "*" || name == "." || name == namespace)
    }

    /// Whether no other namespace sees it.
    fn is_private(&self) -> bool {
        let namespace = &self.reference.namespace;
        self.export_to.len() == 1 && self.export_to.iter().all(|name| name == "." || name == namespace)
    }
}

/// The rule in force for a client that calls a Service; `None` if no rule applies.
pub fn effective(rules: &[HostRule], client: &Client, called: CalledService<'_>) -> Option<Effective> {
    let of = |namespace: &str, wanted: fn(&HostRule) -> bool| {
        let here = rules.iter().filter(|rule| rule.reference.namespace == namespace && wanted(rule));
        most_specific(here.filter(|rule| rule.matches(called.host)).collect())
    };
    // Rules of the root namespace apply to the whole mesh; proxies in that namespace use only its private rules as
    // their own.
    let own: fn(&HostRule) -> bool =
        if client.namespace == ROOT_NAMESPACE { HostRule::is_private } else { HostRule::is_local };
    let own = merged(of(&client.namespace, own));
    if !own.is_empty() {
        return Some(chosen(own, client));
    }
    [called.namespace, ROOT_NAMESPACE].into_iter().find_map(|namespace| {
        let mut exported = merged(of(namespace, |rule| !rule.is_private()));
        let sees = |name: &String| name == "*" || *name == client.namespace;
        exported.retain(|rule| rule.export_to.is_empty() || rule.export_to.iter().any(sees));
        (!exported.is_empty()).then(|| chosen(exported, client))
    })
}

/// Those of the most specific host: an exact one has no `*` and is as long as the requested host.
fn most_specific(rules: Vec<&HostRule>) -> Vec<&HostRule> {
    let rank = |rule: &HostRule| (!rule.host.starts_with('*'), rule.host.len());
    let Some(highest) = rules.iter().map(|rule| rank(rule)).max() else { return Vec::new() };
    rules.into_iter().filter(|rule| rank(rule) == highest).collect()
}

/// As istiod sorts them (with a selector first, then by age and name) and puts them together.
fn merged(mut rules: Vec<&HostRule>) -> Vec<Effective> {
    rules.sort_by_key(|rule| {
        (rule.selector.is_none(), rule.created.is_none(), &rule.created, &rule.reference.name)
    });
    let mut all: Vec<Effective> = Vec::new();
    for rule in rules {
        let mut apart = true;
        for other in &mut all {
            let is_wider = !other.export_to.is_empty() && rule.export_to.is_superset(&other.export_to);
            apart = rule.export_to != other.export_to;
            if apart && !is_wider {
                continue;
            }
            if rule.selector.is_some() && other.selector.is_some() && rule.selector != other.selector {
                apart = true;
                continue;
            }
            if rule.selector == other.selector {
                apart = false;
            }
            other.absorb(rule);
        }
        if apart {
            all.push(Effective::of(rule));
        }
    }
    all
}

/// The first with a selector that fits, otherwise the last without one. Where there is neither no other namespace is asked.
fn chosen(mut rules: Vec<Effective>, client: &Client) -> Effective {
    let fits = |rule: &Effective| {
        let mut wanted = rule.selector.iter().flatten();
        rule.selector.is_some() && wanted.all(|(name, value)| client.labels.get(name) == Some(value))
    };
    let by_selector = rules.iter().position(fits);
    let at = by_selector.or_else(|| rules.iter().rposition(|rule| rule.selector.is_none()));
    match at {
        Some(at) => rules.swap_remove(at),
        None => {
            Effective { from: rules.into_iter().flat_map(|rule| rule.from).collect(), ..Effective::default() }
        }
    }
}

impl Effective {
    fn of(rule: &HostRule) -> Self {
        Self {
            policy: rule.policy.clone(),
            subsets: rule.subsets.clone(),
            from: vec![rule.reference.clone()],
            export_to: rule.export_to.clone(),
            selector: rule.selector.clone(),
        }
    }

    /// Whether this rule is part of it.
    pub fn is_from(&self, rule: &Reference) -> bool {
        self.from.iter().any(|other| same(other, rule))
    }

    /// The subset of this name.
    pub fn subset(&self, name: &str) -> Option<&Value> {
        self.subsets.iter().find(|subset| subset.get("name").and_then(Value::as_str) == Some(name))
    }

    fn absorb(&mut self, rule: &HostRule) {
        for subset in &rule.subsets {
            let name = subset.get("name").and_then(Value::as_str).unwrap_or_default();
            if self.subset(name).is_none() {
                self.subsets.push(subset.clone());
            }
        }
        if self.policy.is_none() {
            self.policy.clone_from(&rule.policy);
        }
        self.from.push(rule.reference.clone());
    }
}

/// Whether two names are of one object, in whichever version of the API.
fn same(one: &Reference, other: &Reference) -> bool {
    (&one.namespace, &one.name) == (&other.namespace, &other.name)
}

/// The labels in a field of an object.
pub(crate) fn labels(object: Option<&Value>) -> BTreeMap<String, String> {
    let entries = object.and_then(Value::as_object).into_iter().flatten();
    entries.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}
