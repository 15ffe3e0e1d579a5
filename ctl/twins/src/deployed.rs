//! The objects of stable among those that are deployed.

use crate::object::{Key, VERSION};
use crate::reference::references;
use crate::selector::{matches_labels, pod_labels};
use crate::{Object, Phase};
use std::collections::BTreeSet;

/// What is deployed, without the twins of another version.
pub(crate) struct Deployed<'o> {
    /// The objects of stable, in the order in which they were deployed.
    pub(crate) stable: Vec<&'o Object>,
    /// Everything, those of the candidate included.
    pub(crate) all: &'o [Object],
}

impl<'o> Deployed<'o> {
    /// Leaves out the workloads of other versions, and the configuration that only they name.
    pub(crate) fn new(all: &'o [Object], phase: &Phase) -> Self {
        let is_other = |object: &Object| match (phase, object.annotation(VERSION)) {
            (Phase::Beside { candidate, .. }, Some(version)) => version == candidate,
            (Phase::Alone { version }, Some(other)) => other != version,
            (_, None) => false,
        };
        // Hooks are no part of what Helm keeps of a release; `helm template` prints them all the same.
        let is_kept = |object: &&Object| object.hook().is_empty() && !is_other(object);
        let kept: Vec<&Object> = all.iter().filter(is_kept).collect();
        let named: BTreeSet<(String, String)> = kept.iter().flat_map(|object| references(object)).collect();
        let is_needed = |object: &&Object| {
            !is_content_twin(object) || named.contains(&(object.kind().to_owned(), object.name().to_owned()))
        };
        Self { stable: kept.into_iter().filter(is_needed).collect(), all }
    }

    /// Stable's object for one of the chart.
    pub(crate) fn counterpart(&self, chart_key: &Key) -> Option<&'o Object> {
        let mut found = self.stable.iter().filter(|object| object.chart_key() == *chart_key);
        let first = found.next().copied();
        // Configuration that an unsuffixed shared workload names may stand beside stable's own.
        found.find(|object| object.is_twin()).copied().or(first)
    }

    /// The object that is deployed under this name, of whichever version.
    pub(crate) fn named(&self, key: &Key) -> Option<&'o Object> {
        self.all.iter().find(|object| object.key() == *key)
    }

    /// Whether a version has twins, and not the chart's names.
    pub(crate) fn has_twins_of(&self, version: &str) -> bool {
        self.all.iter().any(|object| object.is_twin() && object.annotation(VERSION) == Some(version))
    }
}

/// A ConfigMap or Secret with a name by its content.
pub(crate) fn is_content_twin(object: &Object) -> bool {
    object.is_twin() && ["ConfigMap", "Secret"].contains(&object.kind())
}

/// The Service of a name.
pub(crate) fn service<'o>(objects: impl IntoIterator<Item = &'o Object>, name: &str) -> Option<&'o Object> {
    objects.into_iter().find(|object| object.kind() == "Service" && object.name() == name)
}

/// The workloads whose pods a Service selects.
pub(crate) fn selected<'o>(
    objects: impl IntoIterator<Item = &'o Object>,
    service: &Object,
) -> Vec<&'o Object> {
    let selector = service.value().pointer("/spec/selector");
    let is_selected =
        |object: &&Object| pod_labels(object).is_some_and(|labels| matches_labels(selector, labels));
    objects.into_iter().filter(|object| object.hook().is_empty()).filter(is_selected).collect()
}

/// The autoscalers of a Deployment.
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
