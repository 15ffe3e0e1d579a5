//! The analyses of a Rollout: which templates, and with which arguments.

use super::super::common::Context;
use super::super::difference::{BEHAVIOUR, COSMETIC, Fate, GUARD, SourceOrigin};
use super::super::fields::check;
use super::super::source::SourceObject;
use super::metrics;
use super::{ANALYSIS_TEMPLATE, BLUE_GREEN, CANARY};
use placed_yaml::Node;
use std::collections::{BTreeMap, BTreeSet};

/// Templates name templates; deeper ones are left out, which is noted.
const MAX_DEPTH: usize = 5;

/// One analysis while it is read.
pub(super) struct Analysis<'s> {
    /// The arguments by name; without a value where that is not known before the analysis.
    pub(super) arguments: BTreeMap<String, Option<String>>,
    dry_run: Vec<String>,
    node: &'s Node,
    path: String,
}

/// Reads all of them; a metric that several have is one.
pub(super) fn read(context: &mut Context<'_>) {
    let subject = context.subject;
    let mut seen = BTreeSet::new();
    let background = [format!("{CANARY}.analysis")];
    let steps = subject.get(&format!("{CANARY}.steps")).map_or(0, |steps| steps.items().len());
    let steps = (0..steps).map(|index| format!("{CANARY}.steps[{index}].analysis"));
    for path in background.into_iter().chain(steps) {
        let Some(analysis) = Analysis::new(context, &path) else { continue };
        if path.contains('[') {
            let difference = "an analysis of one step counts in every step with users";
            context.differences.differs(&context.origin(&path), BEHAVIOUR, difference, "nothing");
        }
        templates(context, &analysis, &mut seen);
    }
    let path = format!("{BLUE_GREEN}.prePromotionAnalysis");
    if let Some(analysis) = Analysis::new(context, &path) {
        let difference = "Argo measures before any user is moved; here metrics count in steps with users";
        let action = "test at 0% by a `pre-rollout` hook, or write steps with small weights";
        context.differences.differs(&context.origin(&path), GUARD, difference, action);
        templates(context, &analysis, &mut seen);
    }
    let path = format!("{BLUE_GREEN}.postPromotionAnalysis");
    if subject.get(&path).is_some_and(|node| !node.is_off()) {
        let difference = "nothing is measured after the promotion: the metrics count in the steps before it";
        context.differences.lost_guard(
            &context.origin(&path),
            difference,
            "let the step at 100% last as long (`hold`)",
        );
    }
}

impl<'s> Analysis<'s> {
    fn new(context: &mut Context<'s>, path: &str) -> Option<Self> {
        let subject = context.subject;
        let node = path.split('[').enumerate().try_fold(&subject.node, |node, (part, path)| {
            let Some((index, rest)) = path.split_once("].").filter(|_| part > 0) else {
                return node.at(path);
            };
            node.items().get(index.parse::<usize>().ok()?)?.at(rest)
        })?;
        let mut arguments = BTreeMap::new();
        for argument in node.list("args") {
            let Some(name) = argument.text("name") else { continue };
            let value = argument.text("value").map(str::to_owned);
            arguments.insert(name.to_owned(), value.or_else(|| of_field(subject, argument)));
        }
        Some(Self { arguments, dry_run: dry_run(node), node, path: path.to_owned() })
    }
}

/// `metadata.name` and labels of the Rollout; the hash of a pod template is not known before it.
fn of_field(subject: &SourceObject, argument: &Node) -> Option<String> {
    let path = argument.at("valueFrom.fieldRef")?.text("fieldPath")?;
    match path.split_once("['") {
        Some((parent, name)) => subject.get(parent)?.text(name.strip_suffix("']")?).map(str::to_owned),
        None => subject.text(path).map(str::to_owned),
    }
}

fn dry_run(node: &Node) -> Vec<String> {
    node.list("dryRun").iter().filter_map(|metric| metric.text("metricName").map(str::to_owned)).collect()
}

fn templates(context: &mut Context<'_>, analysis: &Analysis<'_>, seen: &mut BTreeSet<(String, String)>) {
    for (index, reference) in analysis.node.list("templates").iter().enumerate() {
        let origin = context.origin(&format!("{}.templates[{index}]", analysis.path));
        template(context, analysis, reference, (&origin, MAX_DEPTH), seen);
    }
}

fn template(
    context: &mut Context<'_>,
    analysis: &Analysis<'_>,
    reference: &Node,
    (origin, depth): (&SourceOrigin, usize),
    seen: &mut BTreeSet<(String, String)>,
) {
    let name = reference.text("templateName").unwrap_or_default();
    let kind = if reference.is_true("clusterScope") { "ClusterAnalysisTemplate" } else { "AnalysisTemplate" };
    let sources = context.sources;
    let Some(object) = sources.find(&[kind], name, &context.namespace).filter(|_| depth > 0) else {
        let difference = format!("{kind} `{name}` is in none of the sources");
        context.differences.lost_guard(origin, difference, "give the file with it, too");
        return;
    };
    check(object, ANALYSIS_TEMPLATE, &mut context.differences);
    let mut arguments = defaults(object);
    arguments.extend(analysis.arguments.clone());
    let dry_run = [analysis.dry_run.clone(), object.get("spec").map(dry_run).unwrap_or_default()].concat();
    for (index, node) in object.get("spec.metrics").map_or(&[][..], Node::items).iter().enumerate() {
        let metric = node.text("name").unwrap_or_default();
        let origin = object.origin(&format!("spec.metrics[{index}]"));
        if dry_run.iter().any(|pattern| is_match(pattern, metric)) {
            let difference = "a metric in `dryRun` decides nothing, and is left out";
            context.differences.note(&origin, (COSMETIC, Fate::Lost), difference, "nothing");
        } else if seen.insert((object.title(), metric.to_owned())) {
            metrics::read(context, object, node, &origin, &arguments);
        }
    }
    for (index, inner) in object.get("spec.templates").map_or(&[][..], Node::items).iter().enumerate() {
        let origin = object.origin(&format!("spec.templates[{index}]"));
        template(context, analysis, inner, (&origin, depth - 1), seen);
    }
}

fn defaults(object: &SourceObject) -> BTreeMap<String, Option<String>> {
    let arguments = object.get("spec.args").map_or(&[][..], Node::items).iter();
    arguments
        .filter_map(|argument| {
            Some((argument.text("name")?.to_owned(), argument.text("value").map(str::to_owned)))
        })
        .collect()
}

/// A name, or a regular expression, of which `.*` alone is understood; another one is taken for a name.
fn is_match(pattern: &str, name: &str) -> bool {
    match pattern.split_once(".*") {
        Some((before, after)) => {
            name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
        }
        None => pattern == name,
    }
}
