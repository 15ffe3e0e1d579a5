//! `twin render`, `post-render`, `diff` and `check`: read both versions and the decisions, plan, and print objects, decisions or refusals.
//! Only a report that was asked for is written.

use crate::command::arguments::{Output, SpecFile};
use crate::report::{Printer, TwinCheckReport, TwinDiffReport, escape};
use crate::{Error, Outcome};
use canary_release::spec::Versions;
use canary_release::{file, input_file};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use helm_twins::{
    Check, HookAnswer, Object, Phase, Rules, TwinPlan, plan, random_configuration, read_manifest,
    write_manifest,
};
use std::path::{Path, PathBuf};

/// Print the objects to deploy: files in, one stream out
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  # the first installation, of stable alone
  canary-ctl twin render --rendered v1.yaml > deployed.yaml
  # stable and the canary of canary.yaml
  canary-ctl twin render --deployed deployed.yaml --rendered v2.yaml
  # after the promotion
  canary-ctl twin render --deployed deployed.yaml --rendered v2.yaml --finish

Exit codes: 0 printed, 2 refused: no object is printed.")]
pub(in crate::command) struct TwinRender {
    #[command(flatten)]
    pub(in crate::command) charts: Charts,
    #[command(flatten)]
    pub(in crate::command) decisions: TwinDecisions,
}

/// Read what Helm has rendered from stdin, and print the objects to deploy: for `helm --post-renderer`
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  helm get manifest shop > deployed.yaml
  helm3 upgrade shop ./chart --post-renderer canary-ctl \\
    --post-renderer-args twin --post-renderer-args post-render \\
    --post-renderer-args --deployed=deployed.yaml
  helm4 upgrade shop ./chart --post-renderer canary-twin \\
    --post-renderer-args --deployed=deployed.yaml

Helm 4 shows nothing that a post-renderer prints: use `--report-file`, or
`canary-ctl twin check` before.")]
pub(in crate::command) struct TwinPostRender {
    /// Deployed objects: the output of `helm get manifest`; none for the first installation
    #[arg(long, value_name = "FILE")]
    pub(in crate::command) deployed: Option<PathBuf>,
    /// Write what becomes of each object, or why the chart is refused, to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(in crate::command) report_file: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::command) decisions: TwinDecisions,
}

/// Both versions, to be looked at and not deployed.
#[derive(Clone, Debug, Args)]
pub(in crate::command) struct TwinInspection {
    #[command(flatten)]
    pub(in crate::command) charts: Charts,
    #[command(flatten)]
    pub(in crate::command) decisions: TwinDecisions,
    #[command(flatten)]
    pub(in crate::command) output: Output,
}

/// The two versions of a chart, rendered.
#[derive(Clone, Debug, Args)]
pub(in crate::command) struct Charts {
    /// What is deployed, twins included: the output of `helm get manifest`, or of the last `twin render`; none for the first
    /// installation
    #[arg(long, value_name = "FILE")]
    pub(in crate::command) deployed: Option<PathBuf>,
    /// The new render of the chart with the chart's own names: the output of `helm template`
    #[arg(long, value_name = "FILE")]
    pub(in crate::command) rendered: PathBuf,
    /// A second render of the same input: Secrets and ConfigMaps in which the two differ are random, and shared
    #[arg(long, value_name = "FILE")]
    pub(in crate::command) rendered_again: Option<PathBuf>,
}

/// The operator's decisions about a chart.
#[derive(Clone, Debug, Args)]
pub(in crate::command) struct TwinDecisions {
    /// The release: its Service, version label and versions.
    #[command(flatten)]
    pub(in crate::command) spec: SpecFile,
    /// Stable is the only version: an upgrade without a canary, or the way back from one. So it is where nothing is deployed
    #[arg(long)]
    pub(in crate::command) alone: bool,
    /// The canary is promoted: it is the only version from now on
    #[arg(long, conflicts_with = "alone")]
    pub(in crate::command) finish: bool,
    /// The canary's replicas, which it keeps at the end of its promotion if the chart has fewer; or the lowest number for its autoscaler until
    /// then. With `--finish` those of the promoted version
    #[arg(long, value_name = "N")]
    pub(in crate::command) replicas: Option<u32>,
    /// Whether hooks and new Jobs of the chart run, with the canary's image
    #[arg(long, value_enum, value_name = "ANSWER")]
    pub(in crate::command) hooks: Option<HooksRun>,
    /// A Secret or ConfigMap that both versions share though it differs, by the chart's name; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(in crate::command) share: Vec<String>,
    /// A Secret whose difference is meant, and not made by a random function; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(in crate::command) twin_secret: Vec<String>,
    /// Skip this check; can be repeated
    #[arg(long = "skip-check", value_name = "CHECK", value_parser = skippable())]
    pub(in crate::command) skipped: Vec<Check>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in crate::command) enum HooksRun {
    /// They run
    Run,
    /// They are left out
    Skip,
}

/// Reads the name of a check that can be skipped.
fn skippable() -> impl TypedValueParser<Value = Check> {
    let names = Check::ALL.into_iter().filter(|check| check.can_be_skipped());
    PossibleValuesParser::new(names.map(|check| PossibleValue::new(check.name())))
        .try_map(|name| Check::named(&name).ok_or("no such check"))
}

pub(super) fn render(arguments: &TwinRender, printer: &mut Printer) -> Result<Outcome, Error> {
    print_objects(plan_charts(&arguments.charts, &arguments.decisions)?, printer)
}

pub(super) fn diff(arguments: &TwinInspection, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let report = TwinDiffReport(plan_charts(&arguments.charts, &arguments.decisions)?);
    printer.report(&report)?;
    let is_same = !report.0.is_refused() && report.0.decisions.iter().all(|one| one.differences.is_empty());
    Ok(if is_same { Outcome::Done } else { Outcome::Differences })
}

pub(super) fn check(arguments: &TwinInspection, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let plan = plan_charts(&arguments.charts, &arguments.decisions)?;
    let outcome = if plan.is_refused() { Outcome::Differences } else { Outcome::Done };
    printer.report(&TwinCheckReport::of(plan))?;
    Ok(outcome)
}

/// Dry runs of Helm call it too, so it changes nothing but the report that was asked for.
pub(super) fn post_render(arguments: &TwinPostRender, printer: &mut Printer) -> Result<Outcome, Error> {
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
