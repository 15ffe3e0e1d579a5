//! `twin`: read both versions and the decisions, plan, and print objects, decisions or refusals. Only a plugin directory and a
//! report that was asked for are written; `adopt` and `wait` alone need a cluster.

mod adopt;
mod plugin;
mod wait;

use crate::cli::{Charts, HooksRun, Twin, TwinDecisions, TwinPostRender, TwinVerb};
use crate::report::{Printer, TwinCheckReport, TwinDiffReport, escape};
use crate::{Error, Outcome};
use canary_release::spec::Versions;
use canary_release::{file, input_file};
use helm_twins::{
    HookAnswer, Object, Phase, Rules, TwinPlan, plan, random_configuration, read_manifest, write_manifest,
};
use std::path::Path;

pub(super) async fn run(arguments: &Twin, printer: &mut Printer) -> Result<Outcome, Error> {
    match &arguments.verb {
        TwinVerb::Render(arguments) => {
            let plan = plan_charts(&arguments.charts, &arguments.decisions)?;
            print_objects(plan, printer)
        }
        TwinVerb::PostRender(arguments) => post_render(arguments, printer),
        TwinVerb::Diff(arguments) => {
            printer.format = arguments.output.format;
            let report = TwinDiffReport(plan_charts(&arguments.charts, &arguments.decisions)?);
            printer.report(&report)?;
            let is_same =
                !report.0.is_refused() && report.0.decisions.iter().all(|one| one.differences.is_empty());
            Ok(if is_same { Outcome::Done } else { Outcome::Differences })
        }
        TwinVerb::Check(arguments) => {
            printer.format = arguments.output.format;
            let plan = plan_charts(&arguments.charts, &arguments.decisions)?;
            let outcome = if plan.is_refused() { Outcome::Differences } else { Outcome::Done };
            printer.report(&TwinCheckReport::of(plan))?;
            Ok(outcome)
        }
        TwinVerb::Plugin(arguments) => plugin::run(arguments, printer),
        TwinVerb::Adopt(arguments) => adopt::run(arguments, printer).await,
        TwinVerb::Wait(arguments) => wait::run(arguments, printer).await,
    }
}

/// Dry runs of Helm call it too, so it changes nothing but the report that was asked for.
fn post_render(arguments: &TwinPostRender, printer: &mut Printer) -> Result<Outcome, Error> {
    let rendered = read_stdin()?;
    let plan = plan_objects(arguments.deployed.as_deref(), &rendered, &[], &arguments.decisions)?;
    if let Some(path) = &arguments.report_file {
        let text = serde_json::to_string_pretty(&plan).map_err(crate::report::Error::from)?;
        std::fs::write(path, text + "\n").map_err(|source| Error::File {
            action: "write",
            path: path.clone(),
            source,
        })?;
    }
    print_objects(plan, printer)
}

fn print_objects(plan: TwinPlan, printer: &mut Printer) -> Result<Outcome, Error> {
    if plan.is_refused() {
        return Err(Error::TwinRefused(plan.refusals));
    }
    for warning in &plan.warnings {
        printer.message(&format!("warning: {}", escape::line(warning)));
    }
    let text =
        write_manifest(&plan.objects).map_err(|source| Error::Rendered { path: "stdout".into(), source })?;
    printer.yaml(&text)?;
    Ok(Outcome::Done)
}

fn plan_charts(charts: &Charts, decisions: &TwinDecisions) -> Result<TwinPlan, Error> {
    let rendered = read_objects(&charts.rendered)?;
    let mut random = Vec::new();
    if let Some(again) = &charts.rendered_again {
        random = random_configuration(&rendered, &read_objects(again)?);
    }
    plan_objects(charts.deployed.as_deref(), &rendered, &random, decisions)
}

fn plan_objects(
    deployed: Option<&Path>,
    rendered: &[Object],
    random: &[String],
    decisions: &TwinDecisions,
) -> Result<TwinPlan, Error> {
    let is_deployed = deployed.is_some();
    let deployed = deployed.map(read_objects).transpose()?.unwrap_or_default();
    let mut rules = rules(decisions, is_deployed, &deployed)?;
    rules.shared.extend(random.iter().cloned());
    Ok(plan(&deployed, rendered, &rules))
}

/// The rules, from `canary.yaml` and the command line.
fn rules(decisions: &TwinDecisions, is_deployed: bool, deployed: &[Object]) -> Result<Rules, Error> {
    let release = file::load(&decisions.spec.file)?.release;
    let canary = || {
        release.versions.canary.clone().ok_or_else(|| {
            Error::usage(
                "expected `versions.canary` in the release, found none",
                "name the version that the new render becomes, or give `--alone` for an upgrade of stable",
            )
        })
    };
    let stable = release.versions.stable.clone();
    let phase = match (decisions.finish, decisions.alone || !is_deployed) {
        (true, _) => Phase::Alone { version: promoted(&release.versions, deployed) },
        (false, true) => Phase::Alone { version: stable },
        (false, false) => Phase::Beside { stable, candidate: canary()? },
    };
    Ok(Rules {
        service: release.service.name.to_string(),
        namespace: release.name.namespace.to_string(),
        version_label: release.versions.label.clone(),
        phase,
        replicas: decisions.replicas,
        hooks: match decisions.hooks {
            None => HookAnswer::Unanswered,
            Some(HooksRun::Run) => HookAnswer::Run,
            Some(HooksRun::Skip) => HookAnswer::Skip,
        },
        shared: decisions.share.iter().cloned().collect(),
        twinned: decisions.twin_secret.iter().cloned().collect(),
        skip: decisions.skipped.iter().copied().collect(),
    })
}

/// The version whose promotion ends: the canary, or stable, if the file is that of after the promotion.
fn promoted(versions: &Versions, deployed: &[Object]) -> String {
    let Versions { stable, canary, .. } = versions;
    let is_deployed = |version: &str| deployed.iter().any(|object| object.version() == Some(version));
    let has_others = deployed.iter().filter_map(Object::version).any(|version| version != stable);
    match canary {
        // Not a canary that comes next: stable was promoted, and is deployed beside the version before.
        Some(canary) if is_deployed(canary) || !is_deployed(stable) || !has_others => canary.clone(),
        _ => stable.clone(),
    }
}

fn read_objects(path: &Path) -> Result<Vec<Object>, Error> {
    objects_of(path, input_file::read(path))
}

fn read_stdin() -> Result<Vec<Object>, Error> {
    objects_of(Path::new("stdin"), input_file::read_from(std::io::stdin().lock()))
}

fn objects_of(path: &Path, read: std::io::Result<String>) -> Result<Vec<Object>, Error> {
    let failed = |source| Error::File { action: "read", path: path.to_owned(), source };
    let text = read.map_err(failed)?;
    read_manifest(&text).map_err(|source| Error::Rendered { path: path.to_owned(), source })
}
