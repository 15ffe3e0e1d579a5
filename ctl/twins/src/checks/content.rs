//! Names, Secrets, hooks, and names in texts.

use super::tokens::NameTokens;
use super::{Check, CheckContext, Refusals};
use crate::reference::{pod_spec, references};
use crate::{CHART_NAME, HookAnswer, Object};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The longest name of a Deployment whose ReplicaSets and pods still have valid names: 253 without both suffixes.
const MAX_NAME: usize = 253 - 17;

pub(super) fn check(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    check_hooks(context, refusals);
    check_secrets(context, refusals);
    check_sealed(context, refusals);
    check_names(context, refusals);
    check_texts(context, refusals);
}

/// Hooks that `helm upgrade` and `helm install` run; the others run at other times, with the version that is stable then.
fn runs_now(hook: &str) -> bool {
    hook.split(',')
        .any(|one| ["pre-install", "post-install", "pre-upgrade", "post-upgrade"].contains(&one.trim()))
}

pub(super) fn check_hooks(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    if context.rules.hooks != HookAnswer::Unanswered || context.deployed.all.is_empty() {
        return;
    }
    for object in context.candidate {
        if runs_now(object.hook()) {
            let message =
                format!("expected a decision whether the hook `{}` runs, found none", object.hook());
            refusals.add(Check::HooksAnswered, object, message);
        } else if object.kind() == "Job" && object.hook().is_empty() {
            let is_new = context.deployed.counterpart(object).is_none();
            if is_new {
                let message = "expected a decision whether the new Job runs beside stable, found none";
                refusals.add(Check::HooksAnswered, object, message);
            }
        }
    }
}

/// A chart's random functions give another text with each render, and a twin with a password of its own cannot log in.
fn check_secrets(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    for object in context.candidate.iter().filter(|one| one.kind() == "Secret" && context.names.is_twin(one))
    {
        if !context.rules.twinned.contains(object.chart_name()) {
            let message = "expected a Secret that is the same in both versions, or a decision whether its \
                           difference is meant, found neither: charts make random passwords";
            refusals.add(Check::RandomSecret, object, message);
        }
    }
}

/// A strictly scoped SealedSecret cannot be renamed, so the twin would read stable's Secret.
fn check_sealed(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    let named = references(context.deployment);
    let is_sealed = |one: &&Object| one.kind() == "SealedSecret" && one.is_in(&context.rules.namespace);
    for object in context.candidate.iter().filter(is_sealed) {
        let Some(stable) = context.deployed.counterpart(object) else { continue };
        let is_named = named.contains(&("Secret".to_owned(), object.name().to_owned()));
        if is_named && !crate::differences(stable, object).is_empty() {
            let message = "expected the same in both versions, found a change: the twin would read stable's";
            refusals.add(Check::SealedSecret, object, message);
        }
    }
}

/// The annotation of a twin in the new render: two objects of one name would be deployed.
pub(super) fn check_rendered_once(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    for object in context.candidate.iter().filter(|object| object.is_twin()) {
        let found = object.chart_name();
        let message =
            format!("expected an object of the chart, found a twin: annotation `{CHART_NAME}: {found}`");
        refusals.add(Check::RenderedOnce, object, &message);
    }
}

fn check_names(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    let CheckContext { deployed, candidate, rules, .. } = context;
    let mut by_name: BTreeMap<(&str, &str), Vec<&Object>> = BTreeMap::new();
    for object in deployed.all.iter().chain(*candidate).filter(|one| one.is_in(&rules.namespace)) {
        by_name.entry((object.kind(), object.name())).or_default().push(object);
    }
    for object in context.candidate.iter().filter(|object| context.names.is_twin(object)) {
        let name = context.names.name(object.kind(), object.chart_name());
        if name.len() > MAX_NAME {
            let message = format!("expected a name of at most {MAX_NAME} characters, found {}", name.len());
            refusals.add(Check::TwinName, object, message);
        }
        let mut others = by_name.get(&(object.kind(), name)).into_iter().flatten();
        if others.any(|other| !deployed.is_same(other, object)) {
            let message = format!("expected the name {name} to be free, found another object with it");
            refusals.add(Check::TwinName, object, message);
        }
    }
}

/// Names in texts are reported, never guessed. A name that a Service has too means the Service, which is not renamed.
fn check_texts(context: &CheckContext<'_>, refusals: &mut Refusals<'_>) {
    let services = context.candidate.iter().filter(|one| one.kind() == "Service").map(Object::name);
    let services: BTreeSet<&str> = services.collect();
    let renamed: Vec<_> = context.names.renamed().filter(|(_, chart, _)| !services.contains(chart)).collect();
    let tokens = NameTokens::new(renamed.iter().map(|(_, chart, _)| *chart));
    for object in context.candidate.iter().filter(|one| context.names.is_twin(one) && one.kind() != "Secret")
    {
        let mut texts = Vec::new();
        match pod_spec(object) {
            Some(spec) => container_texts(spec, &mut texts),
            None if object.kind() == "ConfigMap" => collect(object.value().get("data"), &mut texts),
            None => {}
        }
        let mut found: BTreeMap<usize, &str> = BTreeMap::new();
        for text in texts {
            for index in tokens.find(text) {
                found.entry(index).or_insert(text);
            }
        }
        for (index, text) in found {
            let Some((kind, chart, name)) = renamed.get(index) else { continue };
            if *kind == object.kind() && *chart == object.chart_name() {
                continue;
            }
            let line = text.lines().find(|line| tokens.find(line).contains(&index)).unwrap_or_default();
            let start: String = line.trim().chars().take(80).collect();
            let message = format!(
                "expected no name of an object that is renamed in a text, found {chart} ({kind}, deployed as {name}) in `{start}`"
            );
            refusals.add(Check::NameInText, object, message);
        }
    }
}

fn container_texts<'v>(spec: &'v Value, texts: &mut Vec<&'v str>) {
    for list in ["containers", "initContainers"] {
        let containers = spec.get(list).and_then(Value::as_array);
        for container in containers.into_iter().flatten() {
            for field in ["command", "args"] {
                collect(container.get(field), texts);
            }
            let variables = container.get("env").and_then(Value::as_array);
            variables.into_iter().flatten().for_each(|variable| collect(variable.get("value"), texts));
        }
    }
}

fn collect<'v>(value: Option<&'v Value>, texts: &mut Vec<&'v str>) {
    match value {
        Some(Value::String(text)) => texts.push(text),
        Some(Value::Array(items)) => items.iter().for_each(|item| collect(Some(item), texts)),
        Some(Value::Object(map)) => map.values().for_each(|item| collect(Some(item), texts)),
        _ => {}
    }
}
