//! From the deployed objects and a new render to the objects to deploy.

use crate::checks::{CheckContext, Refusals, check_alone, check_beside, released_deployment};
use crate::comparison::differences;
use crate::deployed::{Deployed, autoscalers};
use crate::names::{Names, is_twinned};
use crate::object::{Key, VERSION};
use crate::selector::pod_labels;
use crate::twin::{Narrowed, adopt, keep_template, neutral, twin};
use crate::warnings::warnings;
use crate::{Check, Difference, HookAnswer, Object, Phase, Refusal, Rules};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The fate of an object of the chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Each version has its own.
    Twinned,
    /// Both versions have the same.
    Shared,
    /// It is new in this version of the chart.
    Added,
    /// It is what the new render says.
    Rendered,
    /// It is left out.
    Skipped,
    /// It goes: with two versions at the end of the promotion, with one now.
    Gone,
}

/// The fate of one object, with the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TwinDecision {
    /// Its kind.
    pub kind: String,
    /// The chart's name for it.
    pub name: String,
    /// Its fate.
    pub action: Action,
    /// The name that it is deployed under.
    pub deployed_name: String,
    /// Why.
    pub reason: String,
    /// In what the new render differs from stable.
    pub differences: Vec<Difference>,
}

impl TwinDecision {
    fn new(object: &Object, action: Action, deployed_name: &str, reason: &str) -> Self {
        Self {
            kind: object.kind().to_owned(),
            name: object.chart_name().to_owned(),
            action,
            deployed_name: deployed_name.to_owned(),
            reason: reason.to_owned(),
            differences: Vec::new(),
        }
    }

    /// With its differences. Those of a Secret say where it differs, and not what it says.
    fn with(mut self, mut differences: Vec<Difference>) -> Self {
        if self.kind == "Secret" {
            for value in
                differences.iter_mut().flat_map(|one| [&mut one.stable, &mut one.candidate]).flatten()
            {
                *value = Value::from("(redacted)");
            }
        }
        self.differences = differences;
        self
    }
}

/// The objects to deploy, or the refusals.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TwinPlan {
    /// The objects to deploy; they are not to be used if there are refusals.
    #[serde(skip)]
    pub objects: Vec<Object>,
    /// The fate of each object.
    pub decisions: Vec<TwinDecision>,
    /// The refusals of the chart; empty if there are none.
    pub refusals: Vec<Refusal>,
    /// Risks that are not refused.
    pub warnings: Vec<String>,
}

/// Plans what is deployed. `deployed` is what is deployed now, twins included, and empty before the first installation;
/// `rendered` is a new render of the chart with its own names.
pub fn plan(deployed: &[Object], rendered: &[Object], rules: &Rules) -> TwinPlan {
    let mut refusals = Refusals::new(rules);
    let Some(deployment) = released_deployment(rendered, rules, &mut refusals) else {
        return TwinPlan { refusals: refusals.list, ..TwinPlan::default() };
    };
    let deployed = Deployed::new(deployed, rules);
    let names = Names::of(&deployed, rendered, deployment, rules);
    let context = CheckContext { deployed: &deployed, candidate: rendered, deployment, names: &names, rules };
    let mut plan = TwinPlan::default();
    match &rules.phase {
        Phase::Alone { version } => {
            plan.render_alone(&context, version);
            check_alone(&context, &plan.objects, &mut refusals);
        }
        Phase::Beside { stable, .. } => {
            plan.keep_stable(&context, stable);
            plan.add_candidate(&context);
            check_beside(&context, &plan.objects, &mut refusals);
        }
    }
    plan.refusals = refusals.list;
    plan.warnings = warnings(&context, &plan.objects, &plan.decisions);
    plan
}

impl TwinPlan {
    /// Whether a check failed.
    pub fn is_refused(&self) -> bool {
        !self.refusals.is_empty()
    }

    /// The checks that failed, each once.
    pub fn failed_checks(&self) -> Vec<Check> {
        let mut checks: Vec<_> = self.refusals.iter().map(|refusal| refusal.check).collect();
        checks.sort_unstable();
        checks.dedup();
        checks
    }

    /// One version: the new render, with the names that its version has already.
    fn render_alone(&mut self, context: &CheckContext<'_>, version: &str) {
        let CheckContext { deployed, candidate, deployment, names, rules } = context;
        for object in *candidate {
            if self.skip_hook(context, object) {
                continue;
            }
            if let Some(kept) = stays_shared(context, object) {
                let reason = "it is to be shared: what is deployed stays";
                self.decisions.push(TwinDecision::new(object, Action::Shared, kept.name(), reason));
                self.objects.push(kept.clone());
                continue;
            }
            let is_released = deployed.is_same(object, deployment);
            let name = names.name_of(object);
            let mut new = object.clone();
            if names.is_twin(object) {
                let old = deployed.twin_of(object, name);
                new = twin(object, names, rules, is_scaled(*candidate, object), old);
                keep_template(&mut new, old);
            } else {
                names.rewrite(&mut new);
                names.rewrite_rules(&mut new);
                new.rename(name);
            }
            if is_released && !names.is_twin(object) {
                new = adopt(&new, rules, version, Narrowed::as_deployed(deployed.named(object), rules));
            }
            let reason = if name == object.name() { "the only version" } else { "a version keeps its names" };
            self.decisions.push(TwinDecision::new(object, Action::Rendered, name, reason));
            self.objects.push(new);
        }
        let kept: BTreeSet<Key> = self.objects.iter().map(|new| new.key(&rules.namespace)).collect();
        for old in deployed.all {
            if !kept.contains(&old.key(&rules.namespace)) {
                let reason = match old.annotation(VERSION) {
                    Some(_) => "it belongs to another version",
                    None => "nothing in this version of the chart has its name or names it",
                };
                self.decisions.push(TwinDecision::new(old, Action::Gone, old.name(), reason));
            }
        }
    }

    /// Stable's objects as they are deployed.
    fn keep_stable(&mut self, context: &CheckContext<'_>, version: &str) {
        let CheckContext { deployed, candidate, deployment, names, rules } = context;
        let by_chart_key: BTreeMap<Key, &Object> =
            candidate.iter().map(|new| (new.chart_key(&rules.namespace), new)).collect();
        for object in &deployed.stable {
            let mut kept = (*object).clone();
            if deployed.is_same(object, deployment) {
                let mut narrowed = Narrowed { terms: false, ..Narrowed::as_deployed(Some(object), rules) };
                // The selectors of two autoscalers' targets must not overlap: `selector-unchanged` refuses what cannot change any more.
                narrowed.selector |= is_scaled(deployed.stable.iter().copied(), object);
                kept = adopt(object, rules, version, narrowed);
            }
            let extended = names.extend_rules(&mut kept, deployed);
            self.objects.push(kept);
            let Some(new) = by_chart_key.get(&object.chart_key(&rules.namespace)).copied() else {
                let reason = if is_kept_by_helm(object) {
                    "it is not in this version of the chart; Helm leaves it (`helm.sh/resource-policy: keep`)"
                } else {
                    "it is not in this version of the chart; it goes at the end of the promotion"
                };
                self.decisions.push(TwinDecision::new(object, Action::Gone, object.name(), reason));
                continue;
            };
            if !names.is_twin(new) {
                let mut renamed = new.clone();
                names.rewrite(&mut renamed);
                let found = if deployed.is_same(object, deployment) {
                    chart_differences(object, &renamed, rules)
                } else {
                    differences(object, &renamed)
                };
                let reason = match (found.is_empty(), extended) {
                    (_, true) => "both versions use it; the names of the twins are added to its rules",
                    (true, false) => "it is the same in both versions",
                    (false, false) => shared_reason(object, rules),
                };
                self.decisions
                    .push(TwinDecision::new(object, Action::Shared, object.name(), reason).with(found));
            }
        }
    }

    /// The candidate's twins, and what only it has.
    fn add_candidate(&mut self, context: &CheckContext<'_>) {
        let CheckContext { deployed, candidate, names, rules, .. } = context;
        for object in *candidate {
            if self.skip_hook(context, object) {
                continue;
            }
            let stable = deployed.counterpart(object);
            if names.is_twin(object) {
                let old = deployed.twin_of(object, names.name_of(object));
                let new = twin(object, names, rules, is_scaled(*candidate, object), old);
                let found = stable.map(|stable| chart_differences(stable, object, rules)).unwrap_or_default();
                let key = (object.kind().to_owned(), object.chart_name().to_owned());
                let reason = names.reasons.get(&key).map_or("", String::as_str);
                self.decisions
                    .push(TwinDecision::new(object, Action::Twinned, new.name(), reason).with(found));
                self.objects.push(new);
            } else if stable.is_none() || !object.hook().is_empty() {
                let mut new = object.clone();
                names.rewrite(&mut new);
                names.rewrite_rules(&mut new);
                let reason = if object.hook().is_empty() {
                    "it is new in this version"
                } else {
                    "Helm runs it as a hook"
                };
                self.decisions.push(TwinDecision::new(object, Action::Added, new.name(), reason));
                self.objects.push(new);
            }
        }
    }

    /// Leaves hooks and new Jobs out where they are not to run.
    fn skip_hook(&mut self, context: &CheckContext<'_>, object: &Object) -> bool {
        let is_hook = !object.hook().is_empty() && object.hook() != "test";
        let is_new_job = object.kind() == "Job" && context.deployed.counterpart(object).is_none();
        let skips = context.rules.hooks == HookAnswer::Skip && (is_hook || is_new_job);
        if skips {
            self.decisions.push(TwinDecision::new(
                object,
                Action::Skipped,
                object.name(),
                "hooks are not to run",
            ));
        }
        skips
    }
}

/// Configuration that is to be shared though each render differs: a new random password would lock the application out.
fn stays_shared<'c>(context: &CheckContext<'c>, object: &Object) -> Option<&'c Object> {
    let is_shared = ["ConfigMap", "Secret"].contains(&object.kind())
        && context.rules.shared.contains(object.chart_name());
    context.deployed.counterpart(object).filter(|_| is_shared)
}

/// In what the chart differs: not in what distinguishes two versions of one Deployment.
fn chart_differences(stable: &Object, object: &Object, rules: &Rules) -> Vec<Difference> {
    match object.kind() {
        "Deployment" => differences(&neutral(stable, rules), &neutral(object, rules)),
        _ => differences(stable, object),
    }
}

/// Whether an object is a Deployment whose replicas an autoscaler sets.
pub(crate) fn is_scaled<'o>(objects: impl IntoIterator<Item = &'o Object>, deployment: &Object) -> bool {
    if deployment.kind() != "Deployment" {
        return false;
    }
    let scalers = autoscalers(objects, deployment.name());
    scalers.into_iter().any(|one| one.kind() != "VerticalPodAutoscaler" && is_twinned(one))
}

/// Whether Helm leaves an object where the chart has it no more.
fn is_kept_by_helm(object: &Object) -> bool {
    object.annotation("helm.sh/resource-policy").is_some_and(|policy| policy.trim() == "keep")
}

fn shared_reason(object: &Object, rules: &Rules) -> &'static str {
    if rules.shared.contains(object.chart_name()) {
        return "it is to be shared; stable's stays until the promotion is finished";
    }
    if pod_labels(object).is_some() || object.kind() == "CronJob" {
        return "it must not run twice; stable's stays until the promotion is finished";
    }
    "both versions use it; stable's stays until the promotion is finished"
}
