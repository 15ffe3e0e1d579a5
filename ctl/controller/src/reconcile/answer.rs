//! A request of a person: taken, carried out once, answered.
//!
//! It is taken by a write that removes it, on the condition that the object is as it was read. What it asks for is done afterwards, so a
//! replica that is killed in between leaves an answer that is open; the next one carries it out then. Each action may be carried out
//! again: a repeated rollback takes back no more than the first.

use super::carry_out::check_grants;
use super::{Host, Obstacle, Reconciler, TIMEOUT};
use crate::request::{self, Action, Answer, Request};
use crate::{Grant, Status, release_of};
use assignment::Weight;
use canary_operations::{
    ApplyOptions, Cluster, Error, PromoteOptions, RollbackOptions, StoredRecord, WaitOptions, WeightRequest,
};
use canary_release::record::{RoleChange, RoleChangeKind};
use canary_release::rollout::{Rollout, RolloutVerb};
use canary_release::spec::{DEFAULT_PLAN, ReleaseName};
use jiff::Timestamp;
use serde_json::Value;

impl<H: Host> Reconciler<'_, H> {
    /// Answers the request of an object, and one that another replica has left open. `false` where another client has written the object since it was read.
    pub(super) async fn answer_request(
        &self,
        object: &Value,
        (name, grants): (&ReleaseName, &[Grant]),
        status: &mut Status,
        now: Timestamp,
    ) -> Result<bool, kube::Error> {
        if request::of(object).is_none() && request::answer_of(object).is_none_or(|answer| !answer.is_open())
        {
            return Ok(true);
        }
        // What was watched may be older than an answer.
        let Some(object) = &self.read(name).await? else { return Ok(true) };
        let answer = match request::of(object) {
            Some(asked) => {
                let answer = match asked {
                    Ok(request) => Answer::accepted(request, now),
                    Err(message) => Answer::invalid(message, now),
                };
                if !self.take_request(object, &answer).await? {
                    return Ok(false);
                }
                answer
            }
            None => match request::answer_of(object).filter(Answer::is_open) {
                Some(open) => open,
                None => return Ok(true),
            },
        };
        status.last_request = Some(match answer.request.clone() {
            Some(request) => answer.answered(Box::pin(self.execute(object, (name, grants), &request)).await),
            None => answer,
        });
        self.write_status(object, status).await?;
        Ok(true)
    }

    async fn execute(
        &self,
        object: &Value,
        (name, grants): (&ReleaseName, &[Grant]),
        request: &Request,
    ) -> Result<(), String> {
        let weight = request.weight.map_or(Ok(Weight::ZERO), |percent| percent.to_string().parse::<Weight>());
        let weight = weight.map_err(|error| error.to_string())?;
        if request.action == Action::Weight && request.weight.is_none() {
            return Err("expected `weight`, in percent, found none".to_owned());
        }
        let done = match Box::pin(self.retried(object, (name, grants), request.action)).await {
            Ok(false) => Box::pin(execute(self.cluster, name, request, weight)).await.map_err(Obstacle::from),
            retried => retried.map(drop),
        };
        done.map_err(|error| with_causes(&error))
    }

    /// Begins another rollout of the version that was rolled back, where that is asked for. Whether it was. Refuses what needs a driver, of
    /// an object that none carries out.
    async fn retried(
        &self,
        object: &Value,
        (name, grants): (&ReleaseName, &[Grant]),
        action: Action,
    ) -> Result<bool, Obstacle> {
        if action.is_immediate() {
            return Ok(false);
        }
        let mut release = release_of(object)?;
        self.host.embed_module(&mut release);
        check_grants(&release, grants)?;
        self.check_secrets(&release).await?;
        if action != Action::Retry {
            return Ok(false);
        }
        let stored = self.cluster.get_record(name).await?;
        let change = stored.record.role_change.as_ref();
        let is_back = |change: &&RoleChange| {
            change.kind == RoleChangeKind::RolledBack
                && release.versions.canary.as_ref() == Some(&change.from)
        };
        if !change.as_ref().is_some_and(is_back) {
            return Ok(false);
        }
        self.check_namespaces(&release, true).await?;
        let waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
        let how = ApplyOptions { waiting, wait: false, skipped: &[], allow_rolled_back: true };
        Box::pin(self.cluster.apply(&release, how)).await?;
        let stored = self.cluster.get_record(name).await?;
        self.cluster.start_rollout(name, stored, (&release.rollout, DEFAULT_PLAN), &[]).await?;
        Ok(true)
    }
}

/// An error with its causes, in one sentence.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

async fn execute(
    cluster: &Cluster,
    name: &ReleaseName,
    request: &Request,
    weight: Weight,
) -> Result<(), Error> {
    let stored = cluster.get_record(name).await?;
    let is_active = stored.record.rollout.as_deref().is_some_and(Rollout::is_active);
    let verb = match request.action {
        Action::Pause => Some(RolloutVerb::Pause).filter(|_| is_active),
        Action::Resume => Some(RolloutVerb::Resume).filter(|_| is_active && stored.record.paused.is_none()),
        Action::Promote => Some(RolloutVerb::Promote).filter(|_| is_active),
        Action::Approve => Some(RolloutVerb::Approve),
        Action::Abort => Some(RolloutVerb::Abort),
        Action::Retry => Some(RolloutVerb::Retry),
        Action::Rollback | Action::Weight => None,
    };
    match verb {
        Some(verb) => cluster.change_rollout(name, stored, verb, &[]).await.map(drop),
        None => without_rollout((cluster, name, stored), request, weight).await,
    }
}

/// An action that is not a rollout's.
async fn without_rollout(
    (cluster, name, stored): (&Cluster, &ReleaseName, StoredRecord),
    request: &Request,
    weight: Weight,
) -> Result<(), Error> {
    let mut waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
    match request.action {
        Action::Pause => cluster.pause(name, stored, request.by.clone(), &[]).await.map(drop),
        Action::Resume => cluster.resume(name, stored, &[]).await.map(drop),
        Action::Promote => {
            let checked = cluster.check_promotion(name, stored, PromoteOptions::default()).await?;
            Box::pin(cluster.promote(checked, &mut waiting, false)).await.map(drop)
        }
        Action::Rollback => {
            let checked = cluster.check_rollback(name, stored, RollbackOptions::default()).await?;
            Box::pin(cluster.roll_back(checked, &mut waiting)).await.map(drop)
        }
        Action::Weight => {
            let asked = WeightRequest { weight, expires_in: None, expected_generation: None, skipped: &[] };
            let checked = cluster.check_weight(name, stored, asked).await?;
            cluster.set_weight(checked).await.map(drop)
        }
        Action::Approve | Action::Abort | Action::Retry => Ok(()),
    }
}
