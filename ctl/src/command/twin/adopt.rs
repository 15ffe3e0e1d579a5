//! `twin adopt`: read, say what would be written, write, and compare what runs with what ran before.

use crate::cli::{DryRun, TwinAdopt};
use crate::command::target;
use crate::report::{AdoptionReport, Printer};
use crate::{Error, Outcome, module};
use canary_operations::{AdoptOptions, Adoption, Cluster, WriteOptions};
use canary_release::object::Reference;
use canary_release::plan::{LabelDirection, LabelNote, LabelWrite, VersionLabel};
use std::time::Duration;

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
