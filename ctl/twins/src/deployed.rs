//! The objects of stable among those that are deployed.

use crate::object::{Key, VERSION};
use crate::reference::references;
use crate::selector::{matches_labels, pod_labels};
use crate::{Object, Phase, Rules};
use std::collections::{BTreeMap, BTreeSet};

/// The deployed objects, without the twins of another version.
pub(crate) struct Deployed<'o> {
    /// The objects of stable, in the order in which they were deployed.
    pub(crate) stable: Vec<&'o Object>,
    /// Everything, those of the candidate included.
    pub(crate) all: &'o [Object],
    namespace: &'o str,
    by_chart_key: BTreeMap<Key, &'o Object>,
    by_key: BTreeMap<Key, &'o Object>,
    names: NamesByKind<'o>,
}

/// The names under which objects are deployed, by kind and the chart's name.
type NamesByKind<'o> = BTreeMap<&'o str, BTreeMap<&'o str, Vec<&'o str>>>;

impl<'o> Deployed<'o> {
    /// Leaves out the workloads of other versions, and the configuration that only they name.
    pub(crate) fn new(all: &'o [Object], rules: &'o Rules) -> Self {
        let is_other = |object: &Object| match (&rules.phase, object.annotation(VERSION)) {
            (Phase::Beside { candidate, .. }, Some(version)) => version == candidate,
            (Phase::Alone { version }, Some(other)) => other != version,
            (_, None) => false,
        };
        // Hooks are no part of what Helm keeps of a release; `helm template` prints them all the same.
        let is_kept = |object: &&Object| object.hook().is_empty() && !is_other(object);
        let kept: Vec<&Object> = all.iter().filter(is_kept).collect();
        let referenced: BTreeSet<(String, String)> =
            kept.iter().flat_map(|object| references(object)).collect();
        let is_needed = |object: &&Object| {
            !is_content_twin(object)
                || referenced.contains(&(object.kind().to_owned(), object.name().to_owned()))
        };
        let stable: Vec<&Object> = kept.into_iter().filter(is_needed).collect();
        let namespace = &rules.namespace;
        let by_key = all.iter().map(|object| (object.key(namespace), object)).collect();
        let by_chart_key = by_chart_key(&stable, namespace);
        let names = names_of(&stable, namespace);
        Self { stable, all, namespace, by_chart_key, by_key, names }
    }

    /// Stable's object for one of the chart.
    pub(crate) fn counterpart(&self, object: &Object) -> Option<&'o Object> {
        self.by_chart_key.get(&object.chart_key(self.namespace)).copied()
    }

    /// The object that is deployed under the name of this one, of whichever version.
    pub(crate) fn named(&self, object: &Object) -> Option<&'o Object> {
        self.by_key.get(&object.key(self.namespace)).copied()
    }

    /// The object that is deployed under a name in the place of one of the chart.
    pub(crate) fn twin_of(&self, object: &Object, name: &str) -> Option<&'o Object> {
        let (group, kind, namespace, _) = object.key(self.namespace);
        self.by_key.get(&(group, kind, namespace, name.to_owned())).copied()
    }

    /// The names under which stable's objects of a kind and a name of the chart are deployed, in the release's namespace.
    pub(crate) fn names(&self, kind: &str, chart_name: &str) -> &[&'o str] {
        self.names.get(kind).and_then(|names| names.get(chart_name)).map_or(&[], Vec::as_slice)
    }

    /// Whether two objects are one of the chart, in whichever version.
    pub(crate) fn is_same(&self, one: &Object, other: &Object) -> bool {
        one.chart_key(self.namespace) == other.chart_key(self.namespace)
    }

    /// Whether a version has twins, and not the chart's names.
    pub(crate) fn has_twins_of(&self, version: &str) -> bool {
        self.all.iter().any(|object| object.is_twin() && object.annotation(VERSION) == Some(version))
    }
}

/// The first object of each name of the chart; a twin that comes later takes its place, because configuration that a shared workload
/// names under the chart's name may stand beside stable's own.
fn by_chart_key<'o>(stable: &[&'o Object], namespace: &str) -> BTreeMap<Key, &'o Object> {
    let mut found = BTreeMap::new();
    let mut later = BTreeSet::new();
    for object in stable {
        let key = object.chart_key(namespace);
        if !found.contains_key(&key) || (object.is_twin() && later.insert(key.clone())) {
            found.insert(key, *object);
        }
    }
    found
}

fn names_of<'o>(objects: &[&'o Object], namespace: &str) -> NamesByKind<'o> {
    let mut names = NamesByKind::new();
    for object in objects.iter().filter(|object| object.is_in(namespace)) {
        let of_kind = names.entry(object.kind()).or_default();
        of_kind.entry(object.chart_name()).or_default().push(object.name());
    }
    names
}

/// A ConfigMap or Secret with a name by its content.
pub(crate) fn is_content_twin(object: &Object) -> bool {
    object.is_twin() && ["ConfigMap", "Secret"].contains(&object.kind())
}

/// The released Service.
pub(crate) fn service<'o>(
    objects: impl IntoIterator<Item = &'o Object>,
    rules: &Rules,
) -> Option<&'o Object> {
    let is_it = |object: &&Object| {
        object.kind() == "Service" && object.name() == rules.service && object.is_in(&rules.namespace)
    };
    objects.into_iter().find(is_it)
}

/// The workloads of the release's namespace whose pods a Service selects.
pub(crate) fn selected<'o>(
    objects: impl IntoIterator<Item = &'o Object>,
    service: &Object,
    rules: &Rules,
) -> Vec<&'o Object> {
    let selector = service.value().pointer("/spec/selector");
    let is_selected = |object: &&Object| {
        object.hook().is_empty()
            && object.is_in(&rules.namespace)
            && pod_labels(object).is_some_and(|labels| matches_labels(selector, labels))
    };
    objects.into_iter().filter(is_selected).collect()
}

pub(crate) fn autoscalers<'o>(
    objects: impl IntoIterator<Item = &'o Object>,
    deployment: &str,
) -> Vec<&'o Object> {
    let scales = |object: &&Object| {
        is_autoscaler(object)
            && references(object).iter().any(|(kind, name)| kind == "Deployment" && name == deployment)
    };
    objects.into_iter().filter(scales).collect()
}

/// Whether an object scales a workload.
pub(crate) fn is_autoscaler(object: &Object) -> bool {
    ["HorizontalPodAutoscaler", "ScaledObject", "VerticalPodAutoscaler"].contains(&object.kind())
}
