//! The version label for the pods of a running Deployment, and back, without a restart.
//!
//! ```text
//! checks     pods that would be replaced, labels of others; nothing is written before all of them
//! dry run    the API server validates the writes
//! lease      one change of a label in a namespace at a time; then the checks again
//! pause      the Deployment rolls nothing out
//! label      its ReplicaSet's template, its pods, its own template (backwards: its own template first)
//! wait       until its controller takes that ReplicaSet for the current one
//! resume     nothing is left to roll out
//! ```
//!
//! Each write is planned from what was observed after the one before it, and is refused by the API server if the object has changed
//! since. A call that fails takes back what it has written, and resumes the Deployment; after a kill at any point the next call
//! continues, in either direction.

mod report;

pub use report::{Adoption, ObjectIdentity, WorkloadIdentity};

use crate::client::WriteMode;
use crate::write::dry_run::about_the_write;
use crate::{Cluster, Error};
use canary_release::object::Reference;
use canary_release::plan::{
    LabelAction, LabelDirection, LabelNote, LabelPlan, LabelRefusal, LabelStep, LabelWrite, LabelledWorkload,
    VersionLabel,
};
use canary_release::rbac::ADOPTION_LEASE;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// The polling interval for the controllers of Kubernetes.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The options of `adopt`.
pub struct AdoptOptions<'a> {
    /// The wait for the controllers of Kubernetes.
    pub timeout: Duration,
    /// Called with each write that is done.
    pub progress: &'a mut dyn FnMut(&LabelWrite),
}

/// A change of the label of one Deployment.
#[derive(Clone, Copy)]
struct LabelTask<'a> {
    deployment: &'a Reference,
    label: &'a VersionLabel,
    direction: LabelDirection,
    timeout: Duration,
}

/// The progress of the label.
#[derive(Default)]
struct LabelProgress {
    writes: Vec<LabelWrite>,
    /// The Deployment was paused by us when it was last read or written.
    is_paused: bool,
}

impl Cluster {
    /// The plan of [`adopt`](Self::adopt). Reads only.
    ///
    /// # Errors
    ///
    /// Where the Deployment does not exist, and where pods would be replaced or a label of others overwritten
    /// ([`LabelRefusal`]).
    pub async fn adoption(
        &self,
        deployment: &Reference,
        label: &VersionLabel,
        direction: LabelDirection,
    ) -> Result<Adoption, Error> {
        let workload = self.workload(deployment).await?;
        let plan = LabelPlan::new(&workload, label, direction)?;
        let mut notes = plan.notes.clone();
        if direction == LabelDirection::Add {
            notes.extend(self.autoscaler_notes(deployment).await?);
        }
        let before = WorkloadIdentity::of(&workload, label);
        Ok(Adoption {
            deployment: deployment.clone(),
            label: label.clone(),
            direction,
            writes: plan.writes().cloned().collect(),
            notes,
            after: before.clone(),
            before,
        })
    }

    /// Lets the API server check the writes, and forget them. Of the pods only the first is checked: rights and policies are the
    /// same for all.
    ///
    /// # Errors
    ///
    /// Where it refuses one.
    pub async fn dry_run_adoption(&self, adoption: &Adoption) -> Result<(), Error> {
        let mut is_pod_checked = false;
        for write in &adoption.writes {
            if write.object.kind == "Pod" && std::mem::replace(&mut is_pod_checked, true) {
                continue;
            }
            self.client.merge(&write.object, &write.patch, WriteMode::DryRun).await?;
        }
        Ok(())
    }

    /// Writes the label into the templates of a running Deployment and of its `ReplicaSet` and to its pods, or removes it; no
    /// pod is replaced. Does nothing if all have it already, or have it no longer.
    ///
    /// # Errors
    ///
    /// As [`adoption`](Self::adoption); where the API server refuses a write, after what was written has been taken back; where a
    /// controller of Kubernetes does not respond in time, or taking back fails: the Deployment stays paused then
    /// ([`Error::StaysPaused`]).
    pub async fn adopt(
        &self,
        deployment: &Reference,
        label: &VersionLabel,
        direction: LabelDirection,
        options: AdoptOptions<'_>,
    ) -> Result<Adoption, Error> {
        let planned = self.adoption(deployment, label, direction).await?;
        if planned.writes.is_empty() {
            return Ok(planned);
        }
        // What was begun is finished or taken back, whatever is refused now.
        if !self.workload(deployment).await?.is_paused_by_us() {
            about_the_write(self.dry_run_adoption(&planned).await)?;
        }
        let task = LabelTask { deployment, label, direction, timeout: options.timeout };
        let lease = (deployment.namespace.clone(), ADOPTION_LEASE.to_owned());
        let verb = if direction == LabelDirection::Add { "adopt" } else { "undo adopt" };
        let work = format!("{verb} {}/{}", deployment.namespace, deployment.name);
        let (writes, workload) = self
            .leases
            .with_leases(vec![lease], work, async || self.adopt_locked(task, options.progress).await)
            .await?;
        Ok(Adoption { writes, after: WorkloadIdentity::of(&workload, label), ..planned })
    }

    /// Carries the change out, or takes it back where it fails.
    async fn adopt_locked(
        &self,
        task: LabelTask<'_>,
        report: &mut dyn FnMut(&LabelWrite),
    ) -> Result<(Vec<LabelWrite>, LabelledWorkload), Error> {
        let mut progress = LabelProgress::default();
        let failed = match self.change_label(task, &mut progress, report).await {
            Ok(workload) => return Ok((progress.writes, workload)),
            Err(error) => error,
        };
        if !progress.is_paused || matches!(failed, Error::Missing { .. }) {
            return Err(failed);
        }
        // The way back needs the same controllers.
        if !matches!(failed, Error::NotObserved { .. }) {
            let back = LabelTask { direction: task.direction.reverse(), ..task };
            // Whether the Deployment is resumed counts, and not whether a rollout of others has finished.
            self.change_label(back, &mut progress, report).await.ok();
        }
        if !progress.is_paused {
            return Err(failed);
        }
        Err(Error::StaysPaused { deployment: task.deployment.to_string(), source: Box::new(failed) })
    }

    /// Writes and waits until nothing is left to do.
    async fn change_label(
        &self,
        task: LabelTask<'_>,
        progress: &mut LabelProgress,
        report: &mut dyn FnMut(&LabelWrite),
    ) -> Result<LabelledWorkload, Error> {
        let begun = Instant::now();
        loop {
            let workload = self.workload(task.deployment).await?;
            progress.is_paused = workload.is_paused_by_us();
            let waiting = match LabelPlan::new(&workload, task.label, task.direction) {
                // The controller has not observed the resumption yet, or rolls out what others have written meanwhile.
                Err(refusal @ LabelRefusal::Incomplete { .. }) if progress.has_resumed() => {
                    Error::from(refusal)
                }
                Err(refusal) => return Err(refusal.into()),
                Ok(plan) => match plan.steps.first() {
                    None => return Ok(workload),
                    Some(LabelStep::Write(_)) => match self.write_next(&plan, progress, report).await {
                        Ok(()) => continue,
                        Err(error) if is_outdated(&error) => error,
                        Err(error) => return Err(error),
                    },
                    Some(LabelStep::AwaitReplicaSet(object) | LabelStep::AwaitDeployment(object)) => {
                        Error::NotObserved { object: object.to_string(), waited: begun.elapsed() }
                    }
                },
            };
            if begun.elapsed() >= task.timeout {
                return Err(waiting);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Carries out the next write of a plan; where it is that of a pod, those of all pods that follow.
    async fn write_next(
        &self,
        plan: &LabelPlan,
        progress: &mut LabelProgress,
        report: &mut dyn FnMut(&LabelWrite),
    ) -> Result<(), Error> {
        let mut is_first = true;
        for write in plan.writes() {
            if !is_first && write.object.kind != "Pod" {
                break;
            }
            self.client.merge(&write.object, &write.patch, WriteMode::Commit).await?;
            progress.wrote(write);
            report(write);
            if write.object.kind != "Pod" {
                break;
            }
            is_first = false;
        }
        Ok(())
    }

    /// A Deployment with its `ReplicaSets` and pods. Pods are read last: those that the templates before have made are among them.
    async fn workload(&self, deployment: &Reference) -> Result<LabelledWorkload, Error> {
        let missing = || Error::Missing { object: deployment.clone() };
        let found = self.client.get(deployment).await?.ok_or_else(missing)?;
        let labels = found.pointer("/spec/selector/matchLabels").and_then(Value::as_object);
        let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
        let labels: BTreeMap<String, String> = labels.into_iter().flatten().filter_map(text).collect();
        let namespace = &deployment.namespace;
        let sets = self.client.list_selected("apps/v1", "ReplicaSet", namespace, &labels).await?;
        let pods = self.client.pods(namespace, &labels).await?;
        let pods = pods.into_iter().filter_map(|pod| serde_json::to_value(pod).ok()).collect();
        Ok(LabelledWorkload::new(found, sets, pods))
    }

    /// The autoscalers of a Deployment. That they cannot be read is a note too.
    async fn autoscaler_notes(&self, deployment: &Reference) -> Result<Vec<LabelNote>, Error> {
        let namespace = deployment.namespace.clone();
        let all = self.client.list("autoscaling/v2", "HorizontalPodAutoscaler", &namespace).await;
        let all = match all {
            Err(Error::Forbidden { .. }) => return Ok(vec![LabelNote::AutoscalersNotListed { namespace }]),
            all => all?,
        };
        let is_of = |autoscaler: &&Value| {
            let target = autoscaler.pointer("/spec/scaleTargetRef");
            let text = |field: &str| target.and_then(|target| target.get(field)).and_then(Value::as_str);
            text("kind") == Some("Deployment") && text("name") == Some(&deployment.name)
        };
        let note = |autoscaler: &Value| Ok(LabelNote::Autoscaler { autoscaler: Reference::of(autoscaler)? });
        all.iter().filter(is_of).map(note).collect()
    }
}

impl LabelProgress {
    fn wrote(&mut self, write: &LabelWrite) {
        match write.action {
            LabelAction::Pause => self.is_paused = true,
            LabelAction::Resume => self.is_paused = false,
            LabelAction::Label | LabelAction::Unlabel => {}
        }
        self.writes.push(write.clone());
    }

    fn has_resumed(&self) -> bool {
        self.writes.iter().any(|write| write.action == LabelAction::Resume)
    }
}

/// Whether the object has changed or gone since it was read: what is left is planned again.
const fn is_outdated(error: &Error) -> bool {
    matches!(error, Error::Stale { .. } | Error::Refused { code: 404, .. })
}
