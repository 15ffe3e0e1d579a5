//! The names that the objects of a new render get.
//!
//! Workloads are named by version, ConfigMaps and Secrets by content. What is deployed already keeps its name.

use crate::comparison::{content_differences, content_hash, differences};
use crate::deployed::{Deployed, autoscalers};
use crate::object::VERSION;
use crate::reference::{pod_spec, references, rewrite, rewrite_resource_names};
use crate::twin::neutral;
use crate::{Object, Phase, Rules};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The names of objects of the new render by kind and the chart's name.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The release's: objects elsewhere keep the chart's names.
    namespace: String,
    deployed: BTreeMap<(String, String), String>,
    /// The Deployment, its autoscalers and the configuration that become twins.
    twinned: BTreeSet<(String, String)>,
    /// The differences of the Deployment and of the objects that it names; empty if there is nothing to twin.
    pub(crate) reasons: BTreeMap<(String, String), String>,
}

impl Names {
    pub(crate) fn of(
        deployed: &Deployed<'_>,
        candidate: &[Object],
        deployment: &Object,
        rules: &Rules,
    ) -> Self {
        let mut names = Self { namespace: rules.namespace.clone(), ..Self::default() };
        let version = rules.phase.rendered_version();
        let has_own_names = deployed.has_twins_of(version);
        let beside = matches!(rules.phase, Phase::Beside { .. });
        for object in configuration(candidate, deployment, &rules.namespace) {
            names.name_configuration(deployed, object, rules, beside || has_own_names);
        }
        names.keep_other_names(deployed, candidate);
        let differs = beside && names.deployment_differs(deployed, deployment, rules);
        if differs || has_own_names {
            let mut scalers = autoscalers(candidate, deployment.chart_name());
            scalers.retain(|one| one.is_in(&rules.namespace) && is_twinned(one));
            for object in std::iter::once(deployment).chain(scalers) {
                let name = format!("{}-{version}", object.chart_name());
                names.twin(object, name, &format!("belongs to version {version}"));
            }
        }
        names
    }

    fn name_configuration(&mut self, deployed: &Deployed<'_>, object: &Object, rules: &Rules, hashed: bool) {
        let Some(stable) = deployed.counterpart(object) else { return };
        let found = content_differences(stable, object);
        if found.is_empty() || rules.shared.contains(object.chart_name()) {
            return self.keep(object, stable.name());
        }
        if hashed {
            let fields: Vec<_> = found.iter().take(3).map(|one| one.field.as_str()).collect();
            let reason = format!("the pods name it, and it differs in {}", fields.join(", "));
            self.twin(object, format!("{}-{}", object.chart_name(), content_hash(object)), &reason);
        }
    }

    /// Keeps the name of shared objects that were twins of a version that is stable now.
    fn keep_other_names(&mut self, deployed: &Deployed<'_>, candidate: &[Object]) {
        for object in candidate {
            if object.is_in(&self.namespace)
                && let Some(stable) = deployed.counterpart(object)
                && stable.annotation(VERSION).is_none()
                && !self.deployed.contains_key(&key_of(object))
            {
                self.keep(object, stable.name());
            }
        }
    }

    /// Compares the Deployments with the candidate's references as they will be.
    fn deployment_differs(&mut self, deployed: &Deployed<'_>, deployment: &Object, rules: &Rules) -> bool {
        let Some(stable) = deployed.counterpart(deployment) else { return false };
        let mut renamed = deployment.clone();
        self.rewrite(&mut renamed);
        let found = differences(&neutral(stable, rules), &neutral(&renamed, rules));
        let fields: Vec<_> = found.iter().take(3).map(|one| one.field.as_str()).collect();
        if !found.is_empty() {
            self.reasons.insert(key_of(deployment), format!("it differs in {}", fields.join(", ")));
        }
        !found.is_empty()
    }

    fn keep(&mut self, object: &Object, name: &str) {
        self.deployed.insert(key_of(object), name.to_owned());
    }

    fn twin(&mut self, object: &Object, name: String, reason: &str) {
        self.twinned.insert(key_of(object));
        self.reasons.entry(key_of(object)).or_insert_with(|| reason.to_owned());
        self.deployed.insert(key_of(object), name);
    }

    /// The name under which an object of the new render is deployed.
    pub(crate) fn name<'n>(&'n self, kind: &str, chart_name: &'n str) -> &'n str {
        self.deployed.get(&(kind.to_owned(), chart_name.to_owned())).map_or(chart_name, String::as_str)
    }

    pub(crate) fn name_of<'n>(&'n self, object: &'n Object) -> &'n str {
        if object.is_in(&self.namespace) {
            self.name(object.kind(), object.chart_name())
        } else {
            object.name()
        }
    }

    /// Whether an object of the new render becomes a twin.
    pub(crate) fn is_twin(&self, object: &Object) -> bool {
        object.is_in(&self.namespace) && self.twinned.contains(&key_of(object))
    }

    /// The chart's names that are deployed under others: kind, the chart's name, the name.
    pub(crate) fn renamed(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let all =
            self.deployed.iter().map(|((kind, chart), name)| (kind.as_str(), chart.as_str(), name.as_str()));
        all.filter(|(_, chart, name)| chart != name)
    }

    /// Rewrites the references of an object of the new render.
    pub(crate) fn rewrite(&self, object: &mut Object) {
        if !object.is_in(&self.namespace) {
            return;
        }
        rewrite(object, &self.namespace, &mut |kind, name| *name = self.name(kind, name).to_owned());
    }

    /// Replaces the names in RBAC rules.
    pub(crate) fn rewrite_rules(&self, role: &mut Object) {
        if !role.is_in(&self.namespace) {
            return;
        }
        rewrite_resource_names(role, &mut |kinds, names| {
            for name in names {
                let text = name.as_str().unwrap_or_default();
                let found = kinds.iter().map(|kind| self.name(kind, text)).find(|found| *found != text);
                if let Some(found) = found {
                    *name = json!(found);
                }
            }
        });
    }

    /// Adds the names of twins to RBAC rules that list stable's; `true` if there are any.
    pub(crate) fn extend_rules(&self, role: &mut Object, deployed: &Deployed<'_>) -> bool {
        if !role.is_in(&self.namespace) {
            return false;
        }
        let mut added = false;
        rewrite_resource_names(role, &mut |kinds, names| {
            let mut listed: BTreeSet<String> =
                names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            for (kind, chart, name) in self.renamed().filter(|(kind, ..)| kinds.contains(kind)) {
                let mut stables = deployed.names(kind, chart).iter();
                let is_listed = listed.contains(chart) || stables.any(|stable| listed.contains(*stable));
                if is_listed && listed.insert(name.to_owned()) {
                    names.push(json!(name));
                    added = true;
                }
            }
        });
        added
    }
}

fn key_of(object: &Object) -> (String, String) {
    (object.kind().to_owned(), object.chart_name().to_owned())
}

/// KEDA on a queue would consume twice: only what scales by the load of the pods themselves is a twin.
pub(crate) fn is_twinned(autoscaler: &Object) -> bool {
    let triggers = autoscaler.value().pointer("/spec/triggers").and_then(Value::as_array);
    let by_load = ["cpu", "memory", "prometheus", "cron"];
    triggers.into_iter().flatten().all(|trigger| {
        trigger.get("type").and_then(Value::as_str).is_some_and(|kind| by_load.contains(&kind))
    })
}

/// The ConfigMaps and Secrets that a Deployment's pods name.
pub(crate) fn configuration<'o>(
    objects: &'o [Object],
    deployment: &Object,
    namespace: &str,
) -> Vec<&'o Object> {
    if pod_spec(deployment).is_none() {
        return Vec::new();
    }
    let named = references(deployment);
    let is_named = |object: &&Object| {
        ["ConfigMap", "Secret"].contains(&object.kind())
            && object.is_in(namespace)
            && named.contains(&(object.kind().to_owned(), object.name().to_owned()))
    };
    objects.iter().filter(is_named).collect()
}
