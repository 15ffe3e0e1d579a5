//! The preview of an object. Reads only.

use super::answer::with_causes;
use super::carry_out::{check_grants, has_rollout, starts_rollout};
use super::{Host, Obstacle, Reconciler, TIMEOUT, name_of};
use crate::roles::as_roles_are;
use crate::{Grant, release_of, request};
use canary_operations::{ApplyOptions, WaitOptions};
use canary_release::plan::Plan;
use canary_release::record::Record;
use canary_release::rollout::{Rollout, RolloutAction};
use canary_release::spec::Release;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// The action of a controller for a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PreviewAction {
    /// Nothing differs.
    Nothing,
    /// Write objects.
    Apply,
    /// Begin a rollout.
    StartRollout,
    /// Observe the rollout that goes on, and write what follows.
    Drive,
    /// End drains.
    Finish,
    /// Wait for the end of a pause.
    Wait,
    /// Say why it is not carried out.
    Refuse,
    /// Give all users to stable, and uninstall it: its object is gone.
    Remove,
}

/// The next action of a controller for one release.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// Namespace and name.
    pub release: String,
    /// The action.
    pub action: PreviewAction,
    /// Its reason, as a sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The request that would be carried out first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<request::Action>,
    /// The objects that would be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
}

impl Preview {
    pub(crate) fn new(
        release: &(impl ToString + ?Sized),
        action: PreviewAction,
        reason: impl Into<String>,
    ) -> Self {
        let (release, reason) = (release.to_string(), reason.into());
        Self { release, action, reason, request: None, plan: None }
    }
}

impl<H: Host> Reconciler<'_, H> {
    /// The preview of an object. Writes nothing.
    pub async fn preview(&self, object: &Value, grants: &[Grant], now: Timestamp) -> Preview {
        let Some(name) = name_of(object) else {
            let named = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
            return Preview::new(named, PreviewAction::Refuse, "expected a name that a Service can have");
        };
        let preview = match Box::pin(self.preview_release(object, grants, now)).await {
            Ok(preview) => preview,
            Err(obstacle) => Preview::new(&name, PreviewAction::Refuse, with_causes(&obstacle)),
        };
        let request = request::of(object).and_then(Result::ok).map(|request| request.action);
        Preview { request, ..preview }
    }

    async fn preview_release(
        &self,
        object: &Value,
        grants: &[Grant],
        now: Timestamp,
    ) -> Result<Preview, Obstacle> {
        let mut release = release_of(object)?;
        self.host.embed_module(&mut release);
        check_grants(&release, grants)?;
        let found = self.cluster.find_record(&release.name).await?;
        let record = found.as_ref().map(|stored| &stored.record);
        if let Some(pause) = record.and_then(|record| record.paused.as_ref()) {
            return Ok(Preview::new(&release.name, PreviewAction::Wait, format!("paused by {pause}")));
        }
        if let Some(record) = record {
            release = as_roles_are(release, record);
        }
        let plan = self.check_namespaces(&release, false).await?;
        let waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
        let how = ApplyOptions { waiting, wait: false, skipped: &[], allow_rolled_back: false };
        self.cluster.check_application(&release, &how).await?;
        if !plan.is_empty() {
            let preview = Preview::new(&release.name, PreviewAction::Apply, "");
            return Ok(Preview { plan: Some(plan), ..preview });
        }
        match record {
            Some(record) => self.preview_rollout(&release, record, has_rollout(object), now).await,
            None => Ok(Preview::new(&release.name, PreviewAction::Nothing, "")),
        }
    }

    /// Of a release whose objects are as they should be.
    async fn preview_rollout(
        &self,
        release: &Release,
        record: &Record,
        has_rollout: bool,
        now: Timestamp,
    ) -> Result<Preview, Obstacle> {
        let name = &release.name;
        if starts_rollout(record, has_rollout) {
            let canary = release.versions.canary.as_deref().unwrap_or_default();
            let reason = format!("a rollout of `{canary}` by plan `{}`", canary_release::spec::DEFAULT_PLAN);
            return Ok(Preview::new(name, PreviewAction::StartRollout, reason));
        }
        if record.rollout.as_deref().is_some_and(Rollout::is_active) {
            self.check_secrets(release).await?;
            let report = self.host.driver(self.cluster, release).observe(now).await?;
            let decision = report.decision;
            let waits = if decision.action == RolloutAction::Wait { "waits: " } else { "" };
            let reason = format!("{}: {waits}{}", decision.phase, decision.reason);
            return Ok(Preview::new(name, PreviewAction::Drive, reason));
        }
        let draining = record.draining_versions();
        let is_over = draining.iter().all(|version| record.is_overdue(version, now));
        let is_left = !draining.is_empty() || !record.leaving.is_empty();
        let action = if is_over && is_left { PreviewAction::Finish } else { PreviewAction::Nothing };
        Ok(Preview::new(name, action, ""))
    }
}
