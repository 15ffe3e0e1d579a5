//! Brings a cluster to the desired state of a release: the record first, then the objects, make before break.
//!
//! | step | Leases | reads | writes |
//! | --- | --- | --- | --- |
//! | observe | | record, keys, lists of routes and rules, the other objects one by one; nothing to do: end | |
//! | begin | release, shared | the record; if it is another one by now everything, else the shared objects | Leases |
//! | check | release, shared | pods, metrics, routes that bypass ours; every write as a dry run | |
//! | keys | release, shared | | Secrets that are missing |
//! | module | release | a new one is rolled out alone (`module`); then from "begin" again | |
//! | record | release, shared | | the desired state: killed after it, the next call executes it |
//! | first part | release, shared | | the filter with its configuration at weight 0; or, without new subsets, everything |
//! | wait | release | metrics, until every proxy runs the filter | |
//! | subsets | release | the record; metrics, until every proxy has their clusters | DestinationRule |
//! | rest | release; shared if it has shared objects | the record; shared objects | routes, then configurations |
//! | wait | release | metrics, until every proxy runs it, if a weight or a removal depends on it | |
//! | prune | release | the objects to prune | routes, then subsets, of removed versions; the record |
//! | weight | release | as `weight` | the file's, once |
//!
//! An object whose write is answered with 409 is read again, and the record with it.
//!
//! ```text
//! callers      calls of others that the routes do not cover   Planned      -> CheckFailed
//! admission    every write as a dry run                    Planned         -> API requests
//! snapshot     what is read                                Release, Record -> Observed
//! planning     record, desired state and plan              Observed        -> Planned
//! moved_users  users that an edit of the file moves        Planned         -> CheckFailed
//! rollout      writes the plan part by part, and prunes    Planned         -> API requests
//! module       rolls out a new module before the rest      ModuleRollout   -> API requests
//! ```

mod admission;
mod callers;
mod module;
mod moved_users;
mod planning;
mod rollout;
mod snapshot;

pub(crate) use callers::{FailedChecks, OtherCalls};
pub(crate) use planning::Planned;

use crate::operation::set_weight::NewWeight;
use crate::stores::first_record::first_record;
use crate::stores::lease_manager::Task;
use crate::{Arrival, Cluster, Error, StoredRecord, WaitOptions};
use canary_release::delivery::{ModuleContents, ModuleRollout};
use canary_release::doctor::{ClusterFinding, Severity, service_findings};
use canary_release::plan::{Plan, PlanNote, RoleEdit, check_claims, check_edits};
use canary_release::preflight::{PreflightCheck, UnroutedCalls};
use canary_release::record::{Operation, Record};
use canary_release::routing::Coverage;
use canary_release::spec::Release;
use rollout::{Rollout, shared_places};

/// The options of `apply`.
pub struct ApplyOptions<'a> {
    /// The wait for proxies, if the order of writes depends on it.
    pub waiting: WaitOptions<'a>,
    /// Whether to wait for them at the end too.
    pub wait: bool,
    /// The checks that are skipped.
    pub skipped: &'a [PreflightCheck],
    /// Whether a version that was rolled back may return.
    pub allow_rolled_back: bool,
}

/// The result of `apply`.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The first plan, as `diff` would have shown it.
    pub plan: Plan,
    /// The record afterwards.
    pub record: Record,
    /// The last generation that was waited for.
    pub arrival: Option<Arrival>,
    /// The routes that bypass the release, if there is a canary.
    pub coverage: Coverage,
    /// The calls that no route of ours covers, if anything was written.
    pub unrouted: Vec<UnroutedCalls>,
    /// Pods that no request reaches by our routes, if anything was written.
    pub unreached: Vec<ClusterFinding>,
}

/// The progress of an `apply` under the Leases of the shared objects.
enum Begun<'r> {
    /// A new module has to be rolled out before anything else.
    Module(NewModule),
    /// The record and the first part are written.
    Rollout(Box<Rollout<'r>>, OtherCalls),
}

/// A module that has to be rolled out.
struct NewModule {
    rollout: ModuleRollout,
    /// The bytes of the embedded ones among the old and the new modules.
    contents: ModuleContents,
    /// The plan before.
    plan: Plan,
}

impl Cluster {
    /// The plan of `apply`. Reads only.
    ///
    /// # Errors
    ///
    /// If the file is older than a promotion or a rollback, or no plan leads to its desired state.
    pub async fn plan(&self, release: &Release) -> Result<Plan, Error> {
        self.plan_allowing(release, false).await
    }

    /// The same; with `allow_rolled_back`, a version that was rolled back may return.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub async fn plan_allowing(&self, release: &Release, allow_rolled_back: bool) -> Result<Plan, Error> {
        let found = self.find_or_recover(release).await?;
        let planned = Box::pin(self.plan_apply(release, found, allow_rolled_back)).await?;
        let failed_edit = planned.failed_edit(&release.name)?;
        let Planned { mut plan, stored, before, .. } = planned;
        let roles = before.iter().flat_map(|before| RoleEdit::between(before, &stored.record));
        plan.notes.extend(roles.map(PlanNote::Role));
        plan.notes.extend(failed_edit.map(PlanNote::CheckFails));
        plan.notes.extend(self.exposure_notes(release, stored.record.routes, &plan).await?);
        plan.notes.extend(self.runtime_note(&plan, &stored.record).await?);
        Ok(plan)
    }

    /// The checks of [`apply`](Self::apply) before its first write. Reads only.
    ///
    /// # Errors
    ///
    /// As those of `apply` before its first write.
    pub async fn check_application(
        &self,
        release: &Release,
        options: &ApplyOptions<'_>,
    ) -> Result<(), Error> {
        let found = self.find_or_recover(release).await?;
        let planned = Box::pin(self.plan_apply(release, found, options.allow_rolled_back)).await?;
        if planned.is_nothing() && is_settled(&planned.stored.record) {
            return Ok(());
        }
        self.check_before_writes(release, &planned, options).await.map(drop)
    }

    /// Brings the cluster to the desired state of a release. Writes nothing if nothing differs. If it is interrupted,
    /// the next call continues.
    ///
    /// # Errors
    ///
    /// Before the first write: if a preflight check fails, the file is older than a promotion or a rollback, or another
    /// operator holds a Lease. After it: if a proxy does not run what the next write depends on in time, or another
    /// operator changes the release meanwhile.
    pub async fn apply(&self, release: &Release, mut options: ApplyOptions<'_>) -> Result<Applied, Error> {
        let mut planned = None;
        if let Some(found) = self.find_or_recover(release).await? {
            let first = self.plan_apply(release, Some(found), options.allow_rolled_back).await?;
            if first.is_nothing() && is_settled(&first.stored.record) {
                return self.wait_for_applied(release, first, &mut options).await;
            }
            planned = Some(first);
        }
        let task = Task { verb: "apply", release: &release.name };
        self.leases
            .with_leases(vec![task.place()], task, async || {
                Box::pin(self.apply_locked(release, task, planned, options)).await
            })
            .await
    }

    async fn wait_for_applied(
        &self,
        release: &Release,
        planned: Planned,
        options: &mut ApplyOptions<'_>,
    ) -> Result<Applied, Error> {
        let Planned { plan, stored: StoredRecord { record, .. }, .. } = planned;
        let mut arrival = None;
        if options.wait {
            arrival = Some(self.wait_for_proxies(&release.name, &record, &mut options.waiting).await?);
        }
        let (coverage, unrouted, unreached) = (Coverage::default(), Vec::new(), Vec::new());
        Ok(Applied { plan, record, arrival, coverage, unrouted, unreached })
    }

    /// The same under the Lease of the release.
    async fn apply_locked(
        &self,
        release: &Release,
        task: Task<'_>,
        mut planned: Option<Planned>,
        mut options: ApplyOptions<'_>,
    ) -> Result<Applied, Error> {
        let record = planned.as_ref().map(|planned| planned.stored.record.clone());
        let shared = shared_places(release, &record.unwrap_or_else(|| first_record(release)))?;
        let mut first = None;
        let (mut rollout, OtherCalls { coverage, unrouted, unreached }) = loop {
            // The record names a module rollout until the next record: a finished one must not begin again.
            let is_rolled_out = first.is_some();
            let begin =
                async || Box::pin(self.begin_locked(release, planned.take(), is_rolled_out, &options)).await;
            match self.leases.with_leases(shared.clone(), task, begin).await? {
                Begun::Module(NewModule { rollout, contents, plan }) => {
                    self.roll_out_module(release, rollout, &contents, &mut options.waiting).await?;
                    first = Some(plan);
                }
                Begun::Rollout(rollout, other) => break (*rollout, other),
            }
        };
        self.write_rest(&mut rollout, &mut options.waiting).await?;
        if options.wait && rollout.plan.has_ways() {
            self.wait_for_istiod_push(&rollout.stored.record).await;
        }
        let mut arrival = None;
        if options.wait || !is_settled(&rollout.stored.record) {
            arrival = Some(
                self.wait_for_proxies(&release.name, &rollout.stored.record, &mut options.waiting).await?,
            );
        }
        self.prune(&mut rollout).await?;
        let Rollout { mut stored, plan, .. } = rollout;
        if let Some(weight) = stored.record.initial_weight {
            let ready = self.check_canary(&release.name, &stored.record, options.skipped).await?;
            let stable_pods = ready.map(|ready| ready.stable);
            let new = NewWeight { weight, until: None, operation: Operation::Apply, stable_pods };
            stored = self.write_new_weight(&release.name, stored, new).await?.stored;
            if options.wait {
                arrival =
                    Some(self.wait_for_proxies(&release.name, &stored.record, &mut options.waiting).await?);
            }
        }
        let plan = first.unwrap_or(plan);
        Ok(Applied { plan, record: stored.record, arrival, coverage, unrouted, unreached })
    }

    /// Checks, and writes keys, record and the first part, under the Leases of the shared objects too.
    async fn begin_locked<'r>(
        &self,
        release: &'r Release,
        planned: Option<Planned>,
        is_module_rolled_out: bool,
        options: &ApplyOptions<'_>,
    ) -> Result<Begun<'r>, Error> {
        let mut planned = Box::pin(self.plan_current(release, planned, options.allow_rolled_back)).await?;
        let other = self.check_before_writes(release, &planned, options).await?;
        if !is_module_rolled_out {
            self.check_apply_admission(release, &planned).await?;
        }
        if !planned.keys.is_complete() {
            planned.keys = self.keys.create_missing(planned.keys, &release.metadata).await?;
            planned.replan(release)?;
        }
        if let Some(rollout) =
            planned.module_rollout(&release.name.to_string()).filter(|_| !is_module_rolled_out)
        {
            let contents = planned.module_contents();
            return Ok(Begun::Module(NewModule { rollout, contents, plan: planned.plan }));
        }
        planned.own_all();
        if !planned.is_recorded() {
            self.records.save(&release.name, &mut planned.stored).await?;
        }
        let mut rollout = Rollout::of(release, planned)?;
        self.write_first(&mut rollout).await?;
        Ok(Begun::Rollout(Box::new(rollout), other))
    }

    async fn check_before_writes(
        &self,
        release: &Release,
        planned: &Planned,
        options: &ApplyOptions<'_>,
    ) -> Result<OtherCalls, Error> {
        let other = self.check_planned(release, planned, options.skipped).await?;
        if planned.waits_for_proxies(options.wait) {
            self.check_proxies_seen(&release.name, &planned.stored.record).await?;
        }
        Ok(other)
    }

    /// All checks of an `apply` that do not depend on what proxies report.
    async fn check_planned(
        &self,
        release: &Release,
        planned: &Planned,
        skipped: &[PreflightCheck],
    ) -> Result<OtherCalls, Error> {
        let record = &planned.stored.record;
        let pods = match &planned.pods {
            Some(pods) => pods.clone(),
            None => self.client.service_pods(release.name.namespace.as_str(), &record.service).await?,
        };
        self.check_apply(release, planned, &pods, skipped)?;
        if !skipped.contains(&PreflightCheck::MovesUsers)
            && let Some(failed) = planned.failed_edit(&release.name)?
        {
            return Err(failed.into());
        }
        if planned.promotes() {
            self.check_promoted_inside(&release.name, record, &[], skipped).await?;
        }
        let routes = self.check_exposure(release, record.routes, skipped).await?;
        check_edits(&planned.plan, &planned.snapshot.observed.objects, self.options.take_ownership)?;
        check_claims(&planned.plan, self.options.force_conflicts)?;
        self.check_runtimes(&planned.plan, record, skipped).await?;
        let services = self.services(release.name.namespace.as_str(), &record.service.name).await?;
        let unrouted = self.check_unrouted(release, planned, (&pods, &services), skipped).await?;
        let observed = (&pods, services, routes);
        let coverage = self.check_coverage(&release.name, planned, observed, skipped).await?;
        let mut unreached = service_findings(release, &pods.examination(release));
        unreached.retain(|finding| finding.severity() == Severity::Warning);
        unreached.extend(Box::pin(self.unreached(release, planned)).await?);
        Ok(OtherCalls { coverage, unrouted, unreached })
    }
}

/// Whether nothing is left to do but what was asked.
fn is_settled(record: &Record) -> bool {
    record.initial_weight.is_none() && record.leaving.is_empty()
}
