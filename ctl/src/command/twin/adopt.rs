//! `twin adopt`: read, say what would be written, write, and compare what runs with what ran before.

use crate::command::arguments::{Connection, DryRun, Output, SpecFile};
use crate::command::target;
use crate::report::{Printer, Report, escape};
use crate::{Error, Outcome, module};
use canary_operations::{AdoptOptions, Adoption, Cluster, WriteOptions};
use canary_release::object::Reference;
use canary_release::plan::{LabelAction, LabelDirection, LabelNote, LabelWrite, VersionLabel};
use canary_release::spec::{Label, Seconds};
use clap::Args;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// Give the pods of a running Deployment the version label, without a restart
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl twin adopt shop --dry-run  show what would be written
  canary-ctl twin adopt shop            for the stable version of the file
  canary-ctl twin adopt shop -n shop --label version=v1
  canary-ctl twin adopt shop --undo     before the first deployment that has it

The Deployment is paused, then its ReplicaSet's template, its pods and its own
template get the label, then it is resumed: its controller finds nothing to
replace. After an interruption the same call continues, and `--undo` removes the
label.

Exit codes: 0 done, 1 pods were replaced in this time, 2 failed or refused.")]
pub(in crate::command) struct TwinAdopt {
    /// The Deployment, in the release's namespace
    #[arg(value_parser = object_name)]
    pub(in crate::command) deployment: String,
    /// The release: its namespace, version label and stable version.
    #[command(flatten)]
    pub(in crate::command) spec: SpecFile,
    /// The namespace, where no file names it
    #[arg(short, long, value_name = "NAMESPACE", requires = "label", conflicts_with = "file")]
    pub(in crate::command) namespace: Option<Label>,
    /// The label, where no file names it
    #[arg(long, value_name = "NAME=VALUE", requires = "namespace", conflicts_with = "file")]
    pub(in crate::command) label: Option<VersionLabel>,
    /// Take the label back
    #[arg(long)]
    pub(in crate::command) undo: bool,
    /// Write nothing: say what would be written (client), and let the API server check it (server)
    #[arg(long, value_name = "WHERE", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    pub(in crate::command) dry_run: Option<DryRun>,
    /// How long to wait for the controllers of Kubernetes
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub(in crate::command) timeout: Seconds,
    #[command(flatten)]
    pub(in crate::command) connection: Connection,
    #[command(flatten)]
    pub(in crate::command) output: Output,
}

/// Reads the name of an object: a DNS subdomain (RFC 1123).
fn object_name(text: &str) -> Result<String, &'static str> {
    let is_made_of = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    let is_end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let has_ends = is_end(text.bytes().next()) && is_end(text.bytes().last());
    if text.len() <= 253 && has_ends && text.bytes().all(is_made_of) {
        return Ok(text.to_owned());
    }
    Err(
        "expected the name of a Deployment: at most 253 of `a-z 0-9 - .`, beginning and ending with a letter or digit",
    )
}

pub(super) async fn run(arguments: &TwinAdopt, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let (namespace, label) = asked(arguments)?;
    let deployment = Reference::new("apps/v1", "Deployment", &namespace, &arguments.deployment);
    let direction = if arguments.undo { LabelDirection::Remove } else { LabelDirection::Add };
    let cluster = Cluster::connect(&arguments.connection.access(), WriteOptions::default()).await?;
    if let Some(by) = arguments.dry_run {
        let planned = cluster.adoption(&deployment, &label, direction).await?;
        if by == DryRun::Server {
            cluster.dry_run_adoption(&planned).await?;
        }
        print_notes(&planned, printer);
        printer.report(&AdoptionReport::of(&planned))?;
        printer.message(if planned.writes.is_empty() { "nothing to do" } else { "nothing written" });
        return Ok(Outcome::Done);
    }
    let done = {
        let mut progress = |write: &LabelWrite| printer.message(&AdoptionReport::line(write));
        let timeout = Duration::from_secs(arguments.timeout.get());
        let options = AdoptOptions { timeout, progress: &mut progress };
        cluster.adopt(&deployment, &label, direction, options).await?
    };
    print_notes(&done, printer);
    printer.report(&AdoptionReport::of(&done))?;
    Ok(summarise(&done, printer))
}

/// Namespace and label: of the command line, else of the file.
fn asked(arguments: &TwinAdopt) -> Result<(String, VersionLabel), Error> {
    if let (Some(namespace), Some(label)) = (&arguments.namespace, &arguments.label) {
        return Ok((namespace.to_string(), label.clone()));
    }
    let document = module::load(&arguments.spec.file)?;
    target::for_a_cluster(&document)?;
    let release = document.release;
    let label = VersionLabel::new(&release.versions.label, &release.versions.stable).map_err(|error| {
        Error::usage(error.to_string(), "correct `versions.label` or `versions.stable` in canary.yaml")
    })?;
    Ok((release.name.namespace.to_string(), label))
}

fn print_notes(adoption: &Adoption, printer: &mut Printer) {
    for note in &adoption.notes {
        printer.message(&format!("warning: {note}"));
    }
    let is_about_autoscaler = |note: &LabelNote| !matches!(note, LabelNote::OwnTerms { .. });
    if adoption.notes.iter().any(is_about_autoscaler) {
        printer.hint("`docs/helm.md` has the way with an autoscaler");
    }
}

/// Whether what ran before still runs.
fn summarise(done: &Adoption, printer: &mut Printer) -> Outcome {
    let gone = done.gone_pods();
    let kept = done.before.pods.len() - gone.len();
    let set = done.after.replica_set.as_ref().map_or("none", |set| &set.name);
    if done.writes.is_empty() {
        printer.message(&format!("nothing to do: ReplicaSet {set} and its pods ({kept}) are as asked"));
        return Outcome::Done;
    }
    if done.keeps_replica_set() && gone.is_empty() {
        printer.message(&format!("ReplicaSet {set} and its pods ({kept}) are those of before"));
        if done.direction == LabelDirection::Add {
            printer.hint(
                "`canary-ctl apply --wait` brings the release to the proxies, before the canary is deployed",
            );
        }
        return Outcome::Done;
    }
    if !done.keeps_replica_set() {
        let before = done.before.replica_set.as_ref().map_or("none", |set| &set.name);
        printer.message(&format!("expected ReplicaSet {before} kept, found {set}"));
    }
    if !gone.is_empty() {
        printer.message(&format!("pods of before that do not run any more: {}", gone.join(", ")));
    }
    Outcome::Differences
}

/// A change of the version label.
#[derive(Serialize)]
#[serde(transparent)]
struct AdoptionReport<'a>(&'a Adoption);

impl<'a> AdoptionReport<'a> {
    /// The report of a change.
    const fn of(adoption: &'a Adoption) -> Self {
        Self(adoption)
    }

    /// One write that was done.
    fn line(write: &LabelWrite) -> String {
        let done = match write.action {
            LabelAction::Pause => "paused",
            LabelAction::Label => "labelled",
            LabelAction::Unlabel => "label removed",
            LabelAction::Resume => "resumed",
        };
        format!("{}: {done}", write.object)
    }
}

const fn word(action: LabelAction) -> &'static str {
    match action {
        LabelAction::Pause => "pause",
        LabelAction::Label => "label",
        LabelAction::Unlabel => "remove label",
        LabelAction::Resume => "resume",
    }
}

impl Report for AdoptionReport<'_> {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut objects: Vec<(&Reference, Vec<&str>)> = Vec::new();
        for write in &self.0.writes {
            match objects.iter_mut().find(|(object, _)| *object == &write.object) {
                Some((_, words)) => words.push(word(write.action)),
                None => objects.push((&write.object, vec![word(write.action)])),
            }
        }
        for (object, words) in objects {
            writeln!(out, "{}: {} ({})", escape::line(&object.to_string()), words.join(", "), self.0.label)?;
        }
        Ok(())
    }
}
