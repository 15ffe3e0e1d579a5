//! `rollout test-hooks`: what each hook responds now, before a rollout depends on it.

use crate::command::arguments::{ClusterAccess, Output, SpecFile, only_client};
use crate::command::target;
use crate::hook::HttpHookCaller;
use crate::report::{Printer, Report, Table};
use crate::{Error, Outcome, module};
use canary_operations::HookCaller as _;
use canary_release::alert::{Alert, AlertMessage};
use canary_release::analysis::Outcome as Response;
use canary_release::hook::{HookPayload, HookReport, HookResult};
use canary_release::spec::{HookEndpoint, HookSpec, HookType, ReleaseName, RolloutHook, SecretSource};
use clap::{ArgAction, Args};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Call each hook of a rollout once, and say what it has responded
#[derive(Clone, Debug, Args)]
#[command(after_help = "Each gets what a rollout would send, with `test: \"true\"` in its metadata. A load
tester runs the command of a `rollout` hook. Nothing is written, and the rollout
does not advance.

Exit codes: 0 each has responded, gates may be closed; 1 one has not, a check
has failed, or one asks for a rollback; 2 failed.

Examples:
  canary-ctl rollout test-hooks            all of `rollout.hooks`
  canary-ctl rollout test-hooks --hook promotion
  canary-ctl rollout test-hooks --dry-run  print the payloads, and call none")]
pub(in crate::command) struct TestHooks {
    #[command(flatten)]
    pub(in crate::command) spec: SpecFile,
    /// Only this hook; may be given again
    #[arg(long = "hook", value_name = "NAME")]
    pub(in crate::command) hooks: Vec<String>,
    /// Print what would be sent, and call no hook
    #[arg(long, value_name = "WHERE", action = ArgAction::Set, value_parser = only_client, num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none", hide_default_value = true)]
    pub(in crate::command) dry_run: bool,
    /// The cluster, where a URL or a key stands in a Secret.
    #[command(flatten)]
    pub(in crate::command) cluster: ClusterAccess,
    #[command(flatten)]
    pub(in crate::command) output: Output,
}

/// The metadata that marks a payload of a test.
const MARK: (&str, &str) = ("test", "true");

/// The results of the calls.
#[derive(Clone, Debug, Serialize)]
struct HookTestReport {
    release: String,
    hooks: Vec<HookTestResult>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HookTestResult {
    name: String,
    #[serde(rename = "type")]
    kind: HookType,
    /// The response; `None` without a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<Response>,
    /// The reason why it did not succeed.
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    /// Whether requests are signed.
    is_signed: bool,
    payload: HookPayload,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    may_pass: bool,
}

pub(super) async fn test(arguments: &TestHooks, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = module::load(&arguments.spec.file)?;
    target::for_a_cluster(&document)?;
    target::check_namespace(&document, &arguments.cluster)?;
    let name = document.release.name.clone();
    let spec = &document.release.rollout.hooks;
    let chosen = chosen(spec, &arguments.hooks)?;
    let canary = document.release.versions.canary.as_deref().unwrap_or("no canary");
    let test = HookTest { release: &name, canary, at: Timestamp::now() };
    let mut hooks = Vec::new();
    if arguments.dry_run {
        hooks.extend(chosen.into_iter().map(|(hook, endpoint)| test.unsent(hook, endpoint)));
    } else {
        let needs_cluster = chosen.iter().any(|(_, endpoint)| stands_in_a_secret(endpoint));
        let secrets = if needs_cluster {
            Some(target::connect(&arguments.cluster).await?.secrets(name.namespace.as_str()))
        } else {
            None
        };
        let caller = HttpHookCaller::new(spec.endpoints.clone(), secrets);
        for (hook, endpoint) in chosen {
            hooks.push(test.called(hook, endpoint, &caller).await);
        }
    }
    let all_pass = hooks.iter().all(|result| result.may_pass);
    printer.report(&HookTestReport { release: name.to_string(), hooks })?;
    Ok(if all_pass { Outcome::Done } else { Outcome::Differences })
}

/// The hooks of these names, or all of them.
fn chosen<'s>(
    spec: &'s HookSpec,
    names: &[String],
) -> Result<Vec<(&'s RolloutHook, &'s HookEndpoint)>, Error> {
    if spec.hooks.is_empty() {
        let message = "expected hooks in `rollout.hooks`, found none";
        return Err(Error::usage(message, "docs/rollouts.md shows how to name them"));
    }
    if let Some(name) = names.iter().find(|name| !spec.endpoints.contains_key(*name)) {
        let known = spec.hooks.iter().map(|hook| hook.name.clone()).collect::<Vec<_>>().join(", ");
        let message = format!("expected a hook of `rollout.hooks`, found `{name}`");
        return Err(Error::usage(message, format!("hooks there: {known}")));
    }
    let is_chosen = |hook: &&RolloutHook| names.is_empty() || names.contains(&hook.name);
    let endpoint = |hook: &'s RolloutHook| Some((hook, spec.endpoints.get(&hook.name)?));
    Ok(spec.hooks.iter().filter(is_chosen).filter_map(endpoint).collect())
}

fn stands_in_a_secret(endpoint: &HookEndpoint) -> bool {
    let sources = [Some(&endpoint.url_from), endpoint.signature_key_from.as_ref()];
    sources.into_iter().flatten().any(|source| matches!(source, SecretSource::Secret { .. }))
}

/// The input that all calls of a test share.
struct HookTest<'t> {
    release: &'t ReleaseName,
    canary: &'t str,
    at: Timestamp,
}

impl HookTest<'_> {
    fn payload(&self, hook: &RolloutHook) -> HookPayload {
        let alert = Alert::test(self.id(hook), self.canary, self.at);
        let payload = HookPayload::of_alert(AlertMessage { release: self.release, alert: &alert }, hook.kind);
        payload.with_metadata(&BTreeMap::from([(MARK.0.to_owned(), MARK.1.to_owned())]))
    }

    fn id(&self, hook: &RolloutHook) -> String {
        format!("test-{}-{}", hook.name, self.at.as_millisecond())
    }

    fn unsent(&self, hook: &RolloutHook, endpoint: &HookEndpoint) -> HookTestResult {
        let payload = self.payload(hook).with_metadata(&endpoint.metadata);
        let is_signed = endpoint.signature_key_from.is_some();
        HookTestResult {
            name: hook.name.clone(),
            kind: hook.kind,
            response: None,
            reason: String::new(),
            is_signed,
            text: would_send(endpoint, &payload),
            may_pass: true,
            payload,
        }
    }

    async fn called(
        &self,
        hook: &RolloutHook,
        endpoint: &HookEndpoint,
        caller: &HttpHookCaller,
    ) -> HookTestResult {
        let id = hook.kind.is_notification().then(|| self.id(hook));
        let result = caller.call(hook, self.payload(hook), id.as_deref()).await;
        let result =
            HookResult { hook: hook.name.clone(), step_since: self.at, at: Timestamp::now(), result };
        let report = HookReport::of_response(hook.clone(), &result);
        let reason = result.result.err().map(|error| error.reason).unwrap_or_default();
        HookTestResult {
            response: report.state.as_ref().map(|state| state.outcome),
            reason,
            text: report.said().unwrap_or_default(),
            may_pass: report.may_pass(),
            ..self.unsent(hook, endpoint)
        }
    }
}

/// The sources of URL and key, and the payload.
fn would_send(endpoint: &HookEndpoint, payload: &HookPayload) -> String {
    let signed = match &endpoint.signature_key_from {
        Some(source) => format!(", signed by {source}"),
        None => String::new(),
    };
    let payload = serde_json::to_string(payload).unwrap_or_default();
    format!("would get {payload} at the URL in {}{signed}", endpoint.url_from)
}

impl Report for HookTestReport {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut table = Table::new(["HOOK", "TYPE", "RESULT"]);
        for result in &self.hooks {
            table.row([result.name.clone(), result.kind.to_string(), result.text.clone()]);
        }
        write!(out, "{table}")
    }
}
