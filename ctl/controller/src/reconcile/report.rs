//! The status of an object, written where it has changed.

use super::answer::with_causes;
use super::{
    Carried, Followed, Host, OBSERVE_AGAIN, Obstacle, Reconciled, Reconciler, Subject, generation_of,
};
use crate::definition::CONDITION;
use crate::request::Answer;
use crate::status::{Condition, Phase, Status, Verdict, reason_of, unreadable};
use crate::{GROUP, STATUS_MANAGER, VERSION};
use canary_operations::{Error, StoredRecord};
use canary_release::spec::ReleaseName;
use canary_release::status::{Observation, ObservedShare, problems};
use jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// After an error that may end by itself.
const RETRY: Duration = Duration::from_secs(10);
/// After one that a person has to end: an edit of the object or of a grant comes as an event.
const AFTER_REFUSAL: Duration = Duration::from_mins(2);

/// The status of a response to an object that its definition does not allow.
const INVALID: u16 = 422;

/// The resource of the objects.
pub(crate) fn resource() -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(GROUP, VERSION, "Release"), "releases")
}

impl<'c, H: Host> Reconciler<'c, H> {
    /// Says that a new generation is being carried out, before it is.
    pub(super) async fn announce(
        &self,
        object: &Value,
        status: &mut Status,
        now: Timestamp,
    ) -> Result<(), kube::Error> {
        // What the last spec has led to is not said of this one.
        (status.phase, status.rollout, status.waiting_for) = (Phase::Installing, None, None);
        status.problems.clear();
        let message = "the spec is being carried out";
        let verdict = Verdict { states: Verdict::RECONCILING, reason: "NewGeneration", message };
        status.conclude(&verdict, generation_of(object), now);
        self.write_status(object, status).await
    }

    /// Of an object whose name no release can have.
    pub(super) async fn report_nameless(
        &self,
        object: &Value,
        mut status: Status,
        now: Timestamp,
    ) -> Result<Reconciled, kube::Error> {
        let message = "expected a name that a Service can have";
        status.phase = Phase::Failed;
        let verdict = Verdict { states: Verdict::STALLED, reason: "Invalid", message };
        status.conclude(&verdict, generation_of(object), now);
        self.write_status(object, &status).await?;
        Ok(Reconciled { status, again: AFTER_REFUSAL })
    }

    /// The status after what was carried out, or was not.
    pub(super) async fn report(
        &self,
        subject: &Subject<'_>,
        mut status: Status,
        carried: Result<Carried, Obstacle>,
        followed: &mut Followed<'c>,
    ) -> Result<Reconciled, kube::Error> {
        let Subject { object, name, generation, now } = *subject;
        status.driver = Some(self.identity.clone());
        let again = match carried {
            Ok(carried) => {
                status.record(&carried.record, &carried.named, carried.report.as_ref());
                let is_complete = self.observe(name, &mut status, followed, now).await;
                let again = conclude(&mut status, is_complete, generation, now);
                carried.again.min(again)
            }
            Err(obstacle) => refuse(&mut status, &obstacle, generation, now),
        };
        self.write_status(object, &status).await?;
        Ok(Reconciled { status, again })
    }

    /// Observes problems and the canary's share; whether all proxies run the release and nothing is wrong. What cannot be observed now is
    /// observed the next time.
    async fn observe(
        &self,
        name: &ReleaseName,
        status: &mut Status,
        followed: &mut Followed<'c>,
        now: Timestamp,
    ) -> bool {
        let is_new = followed.observed.is_none_or(|at| now.duration_since(at) >= OBSERVE_AGAIN);
        if !is_new && !status.phase.is_settled() {
            return status.problems.is_empty();
        }
        let (stored, observation) = match self.observe_release(name).await {
            Ok(observed) => observed,
            Err(error) => {
                status.observe([("not-observed".to_owned(), with_causes(&error))], now);
                return false;
            }
        };
        followed.observed = Some(now);
        let share = self.share(name, &observation, followed).await;
        status.seen = share.as_ref().map(seen);
        let seconds = u64::try_from(now.as_second()).unwrap_or_default();
        let found = problems(&observation, share.as_ref(), seconds);
        status.observe(found.iter().map(|problem| (problem.id().to_owned(), problem.to_string())), now);
        let desired = stored.record.state.release_generation();
        status.problems.is_empty() && observation.proxies.iter().all(|proxy| proxy.runs(desired))
    }

    async fn observe_release(&self, name: &ReleaseName) -> Result<(StoredRecord, Observation), Error> {
        let stored = self.cluster.get_record(name).await?;
        let observation = self.cluster.observe_status(name, &stored).await?;
        Ok((stored, observation))
    }

    async fn share(
        &self,
        name: &ReleaseName,
        observation: &Observation,
        followed: &mut Followed<'c>,
    ) -> Option<ObservedShare> {
        use assignment::contract::Role;
        let canary = observation.record.state.version_of(Role::Canary)?;
        let traffic = self.cluster.traffic(&name.to_string(), &observation.record).await.ok()?;
        followed.window.add(Instant::now(), traffic);
        let window = followed.window.traffic()?;
        Some(ObservedShare::of(canary, &window, observation.counts_sessions))
    }

    /// Writes the status, and nothing if it is the same. A request that arrives concurrently stays.
    pub(super) async fn write_status(&self, object: &Value, status: &Status) -> Result<(), kube::Error> {
        let before = Status::of(object);
        let mut status = status.clone();
        status.conditions.extend(self.definition_condition(&status, &before));
        if status == before {
            return Ok(());
        }
        let mut body = serde_json::to_value(&status).map_err(kube::Error::SerdeError)?;
        clear_absent(&mut body, &unreadable(object));
        let patch = |status: Value| json!({"metadata": {"uid": text(object, "uid")}, "status": status});
        match self.patch_status(object, patch(body)).await {
            // An older definition does not know a word of the status. The conditions are the same in all.
            Err(kube::Error::Api(response)) if response.code == INVALID => {
                failed_status(&mut status, &before, &response.message);
                let fields = json!({"observedGeneration": status.observed_generation, "conditions": status.conditions});
                self.patch_status(object, patch(fields)).await.map(drop)
            }
            written => written.map(drop),
        }
    }

    /// Says that the definition in the cluster is another one than this controller's.
    fn definition_condition(&self, status: &Status, before: &Status) -> Option<Condition> {
        let definition = self.definition.borrow();
        let difference = definition.as_ref()?;
        let (reason, message) = (difference.reason(), difference.message());
        let times = (Timestamp::now(), &before.conditions[..]);
        Some(Condition::new((CONDITION, "False"), (reason, &message), status.observed_generation, times))
    }

    /// Takes the request of an object, on the condition that no other client has written the object since it was read. Whether it was taken.
    pub(super) async fn take_request(&self, object: &Value, answer: &Answer) -> Result<bool, kube::Error> {
        let patch = json!({
            "metadata": {"uid": text(object, "uid"), "resourceVersion": text(object, "resourceVersion")},
            "status": {"request": null, "lastRequest": answer},
        });
        self.patch_status(object, patch).await
    }

    /// The object as it is now; `None` if it was deleted.
    pub(super) async fn read(&self, name: &ReleaseName) -> Result<Option<Value>, kube::Error> {
        let api = releases(self.client.clone(), name.namespace.as_str());
        let found = api.get_opt(name.name.as_str()).await?;
        found.map(serde_json::to_value).transpose().map_err(kube::Error::SerdeError)
    }

    /// Whether the object was there as the patch expects it.
    async fn patch_status(&self, object: &Value, patch: Value) -> Result<bool, kube::Error> {
        let api = releases(self.client.clone(), text(object, "namespace"));
        let how = PatchParams { field_manager: Some(STATUS_MANAGER.to_owned()), ..PatchParams::default() };
        match api.patch_status(text(object, "name"), &how, &Patch::Merge(patch)).await {
            // It was deleted since then, or is another one under its name, or another client has written it.
            Err(kube::Error::Api(response)) if response.is_not_found() || response.is_conflict() => Ok(false),
            written => written.map(|_| true),
        }
    }
}

/// A text of the metadata.
fn text<'o>(object: &'o Value, field: &str) -> &'o str {
    let metadata = object.get("metadata").and_then(|metadata| metadata.get(field));
    metadata.and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn releases(client: Client, namespace: &str) -> Api<DynamicObject> {
    Api::namespaced_with(client, namespace, &resource())
}

/// A merge patch deletes what is null: here what a status does not have any more. What another version has written stays.
fn clear_absent(status: &mut Value, unreadable: &[String]) {
    let fields =
        ["stable", "canary", "weight", "seen", "rollout", "problems", "waitingFor", "driver", "lastRequest"];
    if let Value::Object(status) = status {
        for field in fields.into_iter().filter(|field| !unreadable.iter().any(|other| other == field)) {
            status.entry(field).or_insert(Value::Null);
        }
    }
}

/// In percent.
fn seen(share: &ObservedShare) -> f64 {
    let seen = share.new_sessions.unwrap_or(share.requests);
    #[expect(clippy::cast_precision_loss, reason = "a share needs three digits")]
    let share = if seen.of == 0 { 0.0 } else { seen.canary as f64 / seen.of as f64 };
    (share * 1000.0).round() / 10.0
}

/// The conditions of a release that is carried out, and the latest time of the next look.
fn conclude(status: &mut Status, is_complete: bool, generation: i64, now: Timestamp) -> Duration {
    let waiting = status.waiting_for.clone().unwrap_or_default();
    let ended = status.rollout.as_ref().map(|rollout| rollout.reason().to_owned()).unwrap_or_default();
    let phase = format!("{:?}", status.phase);
    let (verdict, reason, message) = match status.phase {
        Phase::RolledBack | Phase::Stopped | Phase::Failed => (Verdict::STALLED, phase, ended),
        Phase::Progressing | Phase::Gated | Phase::Held | Phase::Installing => {
            (Verdict::RECONCILING, phase, waiting)
        }
        Phase::Paused => (Verdict::RECONCILING, phase, "a person has paused it".to_owned()),
        Phase::Stable | Phase::Canary | Phase::Promoted if is_complete => {
            (Verdict::READY, phase, "every proxy runs the release".to_owned())
        }
        Phase::Stable | Phase::Canary | Phase::Promoted => {
            if let Some(problem) = status.lasting_problem(now) {
                (Verdict::STALLED, reason_of(&problem.id), problem.message.clone())
            } else {
                let problem = status.problems.first().map(|problem| problem.message.clone());
                let message = problem.unwrap_or_else(|| "proxies do not run the release yet".to_owned());
                (Verdict::RECONCILING, phase, message)
            }
        }
    };
    status.conclude(&Verdict { states: verdict, reason: &reason, message: &message }, generation, now);
    match (is_complete, verdict) {
        (true, _) => Duration::MAX,
        (false, Verdict::STALLED) => OBSERVE_AGAIN.unsigned_abs(),
        (false, _) => RETRY,
    }
}

/// The conditions of a release that is not carried out, and when it is tried again.
fn refuse(status: &mut Status, obstacle: &Obstacle, generation: i64, now: Timestamp) -> Duration {
    let message = with_causes(obstacle);
    status.waiting_for = Some(message.clone());
    status.observe([(obstacle.id().to_owned(), message.clone())], now);
    let (verdict, reason, again) = match (obstacle.is_transient(), status.lasting_problem(now)) {
        (false, _) => (Verdict::STALLED, reason_of(obstacle.id()), AFTER_REFUSAL),
        (true, Some(problem)) => (Verdict::STALLED, reason_of(&problem.id), RETRY),
        (true, None) => (Verdict::RECONCILING, "Waiting".to_owned(), RETRY),
    };
    if verdict == Verdict::STALLED {
        status.phase = Phase::Failed;
    }
    status.conclude(&Verdict { states: verdict, reason: &reason, message: &message }, generation, now);
    again
}

/// Says that the API server refuses the status, which was carried out all the same.
fn failed_status(status: &mut Status, before: &Status, refusal: &str) {
    let message = format!("the API server refuses the status of this controller: {refusal}");
    let times = (Timestamp::now(), &before.conditions[..]);
    status.conditions.retain(|condition| condition.kind != CONDITION);
    let kind = (CONDITION, "False");
    status.conditions.push(Condition::new(kind, ("Older", &message), status.observed_generation, times));
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
