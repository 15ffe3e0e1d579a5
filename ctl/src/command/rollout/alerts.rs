//! `rollout test-alerts`: whether the receivers of alerts are reached, before a rollout depends on them.

use crate::alert::HttpAlertSender;
use crate::command::arguments::{ClusterAccess, Output, SpecFile, only_client};
use crate::command::target;
use crate::report::{Printer, Report, Table};
use crate::{Error, Outcome, module};
use canary_operations::{AlertSender as _, Cluster, SendError};
use canary_release::alert::{Alert, AlertMessage};
use canary_release::spec::{AlertFormat, AlertSpec, ReceiverEndpoint, ReleaseName, SecretSource, SecretUrl};
use clap::{ArgAction, Args};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// Send a test message to the receivers of alerts
#[derive(Clone, Debug, Args)]
#[command(after_help = "Exit codes: 0 all receivers have accepted it, 1 one has not, 2 failed.

Examples:
  canary-ctl rollout test-alerts            to all of `rollout.alerts`
  canary-ctl rollout test-alerts --receiver team
  canary-ctl rollout test-alerts --dry-run  print the messages, and send none")]
pub(in crate::command) struct TestAlerts {
    #[command(flatten)]
    pub(in crate::command) spec: SpecFile,
    /// Only to this receiver; may be given again
    #[arg(long = "receiver", value_name = "NAME")]
    pub(in crate::command) receivers: Vec<String>,
    /// Print what would be sent, and send nothing
    #[arg(long, value_name = "WHERE", action = ArgAction::Set, value_parser = only_client, num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none", hide_default_value = true)]
    pub(in crate::command) dry_run: bool,
    /// The cluster, where a URL stands in a Secret.
    #[command(flatten)]
    pub(in crate::command) cluster: ClusterAccess,
    #[command(flatten)]
    pub(in crate::command) output: Output,
}

/// The result of a test message.
#[derive(Clone, Debug, Serialize)]
struct AlertTestReport {
    release: String,
    receivers: Vec<ReceiverResult>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReceiverResult {
    name: String,
    #[serde(rename = "type")]
    format: AlertFormat,
    /// `None` where nothing was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_accepted: Option<bool>,
    /// The reason of the refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The payload that was sent, or would be.
    payload: Value,
}

pub(super) async fn test(arguments: &TestAlerts, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = module::load(&arguments.spec.file)?;
    target::for_a_cluster(&document)?;
    target::check_namespace(&document, &arguments.cluster)?;
    let name = document.release.name.clone();
    let spec = &document.release.rollout.alerts;
    let receivers = chosen(spec, &arguments.receivers)?;
    let needs_cluster =
        |(_, endpoint): &(&str, &ReceiverEndpoint)| matches!(endpoint.url_from, SecretSource::Secret { .. });
    let cluster = if !arguments.dry_run && receivers.iter().any(needs_cluster) {
        Some(target::connect(&arguments.cluster).await?)
    } else {
        None
    };
    let sender = HttpAlertSender::new(spec.endpoints.clone());
    let now = Timestamp::now();
    let canary = document.release.versions.canary.as_deref().unwrap_or("no canary");
    let alert = Alert::test(format!("test-{}", now.as_millisecond()), canary, now);
    let mut results = Vec::new();
    for (receiver, endpoint) in receivers {
        let format = endpoint.format;
        let payload = AlertMessage { release: &name, alert: &alert }.payload(format);
        let sent = if arguments.dry_run {
            None
        } else {
            let sent = async {
                let url = url(cluster.as_ref(), &name, endpoint, &sender).await?;
                sender.send(&url, &payload, &alert.id).await
            };
            Some(sent.await)
        };
        let (is_accepted, reason) = match sent {
            None => (None, None),
            Some(Ok(())) => (Some(true), None),
            Some(Err(error)) => (Some(false), Some(error.reason)),
        };
        let name = receiver.to_owned();
        results.push(ReceiverResult { name, format, is_accepted, reason, payload: payload.body });
    }
    let has_failed = results.iter().any(|result| result.is_accepted == Some(false));
    printer.report(&AlertTestReport { release: name.to_string(), receivers: results })?;
    Ok(if has_failed { Outcome::Differences } else { Outcome::Done })
}

/// The receivers of these names, or all of them.
fn chosen<'s>(spec: &'s AlertSpec, names: &[String]) -> Result<Vec<(&'s str, &'s ReceiverEndpoint)>, Error> {
    let all = &spec.receivers;
    let known = all.iter().map(|receiver| receiver.name.clone()).collect::<Vec<_>>().join(", ");
    if all.is_empty() {
        let message = "expected receivers in `rollout.alerts`, found none";
        return Err(Error::usage(message, "docs/rollouts.md shows how to name them"));
    }
    if let Some(name) = names.iter().find(|name| all.iter().all(|receiver| receiver.name != **name)) {
        let message = format!("expected a receiver of `rollout.alerts`, found `{name}`");
        return Err(Error::usage(message, format!("receivers there: {known}")));
    }
    let names =
        all.iter().map(|receiver| &receiver.name).filter(|name| names.is_empty() || names.contains(name));
    Ok(names.filter_map(|name| Some((name.as_str(), spec.endpoints.get(name)?))).collect())
}

async fn url(
    cluster: Option<&Cluster>,
    release: &ReleaseName,
    endpoint: &ReceiverEndpoint,
    sender: &HttpAlertSender,
) -> Result<SecretUrl, SendError> {
    match cluster {
        Some(cluster) => cluster.receiver_url(release, endpoint, sender).await,
        None => sender.url(endpoint),
    }
}

impl Report for AlertTestReport {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut table = Table::new(["RECEIVER", "TYPE", "RESULT"]);
        for ReceiverResult { name, format, is_accepted, reason, payload } in &self.receivers {
            let result = match (is_accepted, reason) {
                (None, _) => format!("would get {payload}"),
                (Some(true), _) => "accepted".to_owned(),
                (Some(false), reason) => reason.clone().unwrap_or_default(),
            };
            table.row([name.clone(), format.to_string(), result]);
        }
        write!(out, "{table}")
    }
}
