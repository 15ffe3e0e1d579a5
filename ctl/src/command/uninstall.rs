//! `uninstall`: read the record, carry out, report. Of a local Envoy: its files without the release.

use super::arguments::{self, DryRun, DryRunArgument, OnCluster, Output};
use super::named_release::{self, InvalidFile};
use super::target::{self, ReleaseTarget};
use crate::alert::HttpAlertSender;
use crate::hint::ShellCommand;
use crate::hook::HttpHookCaller;
use crate::local::{Environment, Lock};
use crate::report::{PlanReport, Printer, Report};
use crate::{Error, Outcome};
use canary_operations::{Cluster, LastAlerts, UninstallOptions};
use canary_release::file::Document;
use canary_release::rbac::{KEYS, RECORD_KEYS};
use canary_release::spec::{Release, ReleaseName, Seconds};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Delete the objects that `apply` created; of a local Envoy, its files
#[derive(Clone, Debug, Args)]
#[command(after_help = "Users of the canary are on stable with their next request. Keys stay, because
other releases sign with them.

Exit codes: 0 done, 2 failed or refused.

Examples:
  canary-ctl uninstall --dry-run
  canary-ctl weight 0 && canary-ctl uninstall
  canary-ctl uninstall -f local.yaml api  another release of a local Envoy")]
#[command(arg = arguments::waits_always())]
pub(super) struct Uninstall {
    #[command(flatten)]
    pub(super) dry_run: DryRunArgument,
    /// How long to wait until no proxy sends users to the canary
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub(super) timeout: Seconds,
    #[command(flatten)]
    pub(super) on: OnCluster,
    #[command(flatten)]
    pub(super) output: Output,
}

/// Receivers that do not accept alerts are waited for so long: longer than a claim of a driver that was killed lasts.
const LAST_ALERTS: Duration = Duration::from_mins(1);

pub(super) async fn run(arguments: &Uninstall, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let found = named_release::find(&arguments.on.of, &arguments.on.cluster, InvalidFile::Ignored)?;
    if let Some(document) = found.local() {
        return from_directory(arguments, &found.name, document, printer).await;
    }
    let document = found.document.clone();
    let ReleaseTarget { name, cluster, stored } = target::read_release(&arguments.on, found).await?;
    target::report_record(&stored, printer);
    if let Some(by) = arguments.dry_run.by {
        let plan = cluster.removal(&name, &stored).await?;
        if by == DryRun::Server {
            cluster.server_dry_run(&plan).await?;
        }
        printer.report(&PlanReport::new(&plan))?;
        printer.message("nothing written");
        cluster.check_uninstall(&name, &stored.record, &arguments.on.checks.skipped).await?;
        return Ok(Outcome::Done);
    }
    let release = document.map(|document| document.release);
    let uninstalled = {
        let mut progress = target::progress(printer);
        let waiting = target::waiting(arguments.timeout, &mut progress);
        let alerts = last_alerts(&cluster, &name, release.as_ref());
        let options = UninstallOptions { skipped: &arguments.on.checks.skipped, waiting, alerts };
        Box::pin(cluster.uninstall(&name, stored, options)).await?
    };
    for alert in &uninstalled.lost_alerts {
        printer.message(&alert.to_string());
    }
    if release.is_none() && !uninstalled.lost_alerts.is_empty() {
        printer.hint("`uninstall -f canary.yaml` sends what is left to the receivers of that file");
    }
    printer.report(&PlanReport::written(&uninstalled.plan, arguments.on.cluster.connection.verbose))?;
    printer.message(&format!("{name}: taken off the cluster; its keys stay"));
    printer.hint(&keys_hint(release.map(|release| release.signing_namespaces()).as_ref()));
    if let Some(error) = &uninstalled.not_observed {
        printer.message(&format!("not observed that every proxy had left the canary before: {error}"));
    }
    Ok(Outcome::Done)
}

/// The sender of the alerts that are left. Receivers and hooks are those of the file of the release, as in `rollout run`: without it each alert is
/// given up at once, and named.
fn last_alerts(cluster: &Cluster, name: &ReleaseName, release: Option<&Release>) -> LastAlerts {
    let spec = release.map(|release| release.rollout.clone()).unwrap_or_default();
    let secrets = cluster.secrets(name.namespace.as_str());
    LastAlerts {
        sender: Some(Arc::new(HttpAlertSender::new(spec.alerts.endpoints))),
        hooks: Some(Arc::new(HttpHookCaller::new(spec.hooks.endpoints, Some(secrets)))),
        timeout: LAST_ALERTS,
    }
}

/// When the keys that stay can be deleted, and how.
fn keys_hint(namespaces: Option<&BTreeSet<String>>) -> String {
    let command = |namespace: &str| {
        ShellCommand::new("kubectl -n")
            .name(namespace, "NAMESPACE")
            .words("delete secret")
            .words(KEYS)
            .words(RECORD_KEYS)
            .to_string()
    };
    let commands: Vec<String> = match namespaces {
        Some(namespaces) => namespaces.iter().map(|namespace| command(namespace)).collect(),
        None => vec![command("NAMESPACE")],
    };
    format!(
        "other releases may sign with them; after the last release {} deletes them",
        commands.join(" and ")
    )
}

/// A release that was, or would be, taken out of the directory of a local Envoy.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Removed {
    release: String,
    directory: PathBuf,
    /// The releases that stay there.
    remaining: Vec<String>,
    /// Whether the files were written: not by a dry run.
    written: bool,
}

/// Routes of the release's hosts end with it: where no other release has them, Envoy answers 404.
async fn from_directory(
    arguments: &Uninstall,
    name: &ReleaseName,
    document: &Document,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let environment = Environment::of(&document.release)?;
    target::without_cluster(document, &arguments.on.cluster)?;
    let name = name.to_string();
    let lock =
        if arguments.dry_run.locally()? { None } else { Some(Lock::take(environment.layout()).await?) };
    let plan = environment.plan_without(&name)?;
    let report = Removed {
        release: name,
        directory: environment.layout().directory().to_owned(),
        remaining: plan.state().releases.keys().cloned().collect(),
        written: lock.is_some(),
    };
    if let Some(lock) = lock {
        environment.apply(&lock, &plan).await?;
    }
    printer.report(&report)?;
    Ok(Outcome::Done)
}

impl Report for Removed {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let Self { release, directory, remaining, written } = self;
        let verb = if *written { "taken out of" } else { "would be taken out of" };
        let rest = if remaining.is_empty() { "no release".to_owned() } else { remaining.join(", ") };
        writeln!(out, "{release}: {verb} {}, where {rest} remains; its keys stay", directory.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_that_stay_are_named_with_the_command_that_deletes_them() {
        let namespaces = ["a", "b"].map(str::to_owned).into();
        let hint = keys_hint(Some(&namespaces));
        let commands = "`kubectl -n a delete secret canary-ctl-keys canary-ctl-record-keys` and `kubectl -n b delete secret canary-ctl-keys";
        assert!(hint.contains(commands), "{hint}");
        assert!(keys_hint(None).contains("kubectl -n NAMESPACE delete"), "{}", keys_hint(None));
    }
}
