//! Uninstalls a release from a cluster, in the reverse order of its installation: only what we have written, and only
//! while we own it.

use crate::client::backoff::{MAX_CONFLICTS, backoff};
use crate::client::{ServicePods, WriteMode};
use crate::stores::lease_manager::Task;
use crate::{Cluster, Error, LastAlerts, StoredRecord, WaitOptions};
use assignment::Weight;
use assignment::contract::{Role, VersionConfig};
use canary_release::alert::UndeliveredAlert;
use canary_release::format::counted;
use canary_release::manifest::hashes_on_identity;
use canary_release::object::{Reference, Stage};
use canary_release::plan::{Plan, removal};
use canary_release::preflight::{Alternative, PreflightCheck};
use canary_release::record::{Operation, Record};
use canary_release::spec::ReleaseName;

/// The options of `uninstall`.
pub struct UninstallOptions<'a> {
    /// The checks that are skipped.
    pub skipped: &'a [PreflightCheck],
    /// The wait for proxies.
    pub waiting: WaitOptions<'a>,
    /// The sender of the alerts that are left.
    pub alerts: LastAlerts,
}

/// The result of an `uninstall`.
#[derive(Debug)]
pub struct Uninstalled {
    /// The changes that were written.
    pub plan: Plan,
    /// The proxies that could not be asked whether they still had the canary, or why none could.
    pub not_observed: Option<Box<Error>>,
    /// The alerts of its rollouts that somebody did not get and nobody sends any more.
    pub lost_alerts: Vec<UndeliveredAlert>,
}

impl Cluster {
    /// The plan of `uninstall`. Reads only.
    ///
    /// # Errors
    ///
    /// If the API server cannot be asked, or refuses. If an object holds a configuration that is not ours.
    pub async fn removal(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<Plan, Error> {
        let observed =
            self.client.get_all(stored.record.objects.iter().map(|(_, reference)| reference)).await?;
        let targets = stored.record.route_targets(&release.to_string());
        Ok(removal(&targets, &observed, &stored.record.objects)?)
    }

    /// Uninstalls a release. First every proxy gets a configuration without a canary, then objects are deleted: routes,
    /// filter and configuration, subsets, and the record last, so that a call that was killed can be continued. A rollout that goes on is
    /// ended by it; its alerts are sent before the record is deleted.
    ///
    /// Keys stay: other releases sign with them.
    ///
    /// # Errors
    ///
    /// Before the first write, if a preflight check fails or another operator holds the Lease; before the objects, if a
    /// proxy reports that it still runs the canary when the timeout ends, or a route object that is not ours still leads to one of
    /// our subsets. A proxy that cannot be asked is none: it is part of the result.
    pub async fn uninstall(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        mut options: UninstallOptions<'_>,
    ) -> Result<Uninstalled, Error> {
        self.check_uninstall(release, &stored.record, options.skipped).await?;
        let task = Task { verb: "uninstall", release };
        let alone = async || {
            let mut not_observed = None;
            if self.end_canary(release, &mut stored).await? {
                not_observed = self.wait_for_removal(release, &stored.record, &mut options.waiting).await?;
            }
            self.protect_subsets(release, &stored.record).await?;
            let shared = stored.record.config_objects().map(Reference::place).collect();
            let plan =
                self.leases.with_leases(shared, task, async || self.remove(release, &stored).await).await?;
            if plan.has(Stage::Subsets) {
                // The next `apply` counts the clusters that proxies get. istiod sends nothing for a subset that is deleted
                // and created between two pushes.
                self.wait_for_istiod_push(&stored.record).await;
            }
            let mut lost_alerts = Vec::new();
            if !stored.record.alerts.is_empty() && stored.unsaved().is_none() {
                (stored, lost_alerts) = Box::pin(self.send_last_alerts(release, &options.alerts)).await?;
            }
            self.records.delete(release, &stored).await?;
            Ok(Uninstalled { plan, not_observed, lost_alerts })
        };
        self.leases.with_leases(vec![task.place()], task, alone).await
    }

    /// Refuses to uninstall a release that another operator has paused, one whose canary has users, and one beside whose stable
    /// version another has ready pods: without subsets the Service sends users of either to both. Reads only.
    ///
    /// # Errors
    ///
    /// If it refuses, or the API server cannot be asked.
    pub async fn check_uninstall(
        &self,
        release: &ReleaseName,
        record: &Record,
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        self.check_pause(record, skipped)?;
        if skipped.contains(&PreflightCheck::MovesUsers) {
            return Ok(());
        }
        let pods = self.client.service_pods(release.namespace.as_str(), &record.service).await?;
        if pods.ports.is_none() {
            // Without the Service no user reaches a version: it was deleted, or its namespace was.
            return Ok(());
        }
        let weight = record.state.weight;
        if weight > Weight::ZERO {
            let message = format!("`{release}` has {weight} of its users on the canary: they would be moved");
            PreflightCheck::MovesUsers.refuse(skipped, message, Alternative::ZeroWeight)?;
        }
        if let Some(default) = Box::pin(self.default_route(release, record)).await? {
            let message = default.to_string();
            let alternative = Alternative::SelectStable(Box::new(default));
            PreflightCheck::MovesUsers.refuse(skipped, message, alternative)?;
        }
        let Some((version, ready)) = pods.ready_beside_stable(record).into_iter().next() else {
            return self.check_affinity(record, &pods, skipped).await;
        };
        let (service, pods) = (&record.service.name, counted(ready, "ready pod", "ready pods"));
        let message = if record.service.per_version {
            format!(
                "version `{version}` has {pods}: without routes Service `{service}` sends its users to others"
            )
        } else {
            format!(
                "version `{version}` has {pods}: without routes Service `{service}` sends users of each version to both"
            )
        };
        Ok(PreflightCheck::MovesUsers.refuse(skipped, message, Alternative::StopPods { version })?)
    }

    /// Refuses to delete the rule by which users stay on one of several pods.
    async fn check_affinity(
        &self,
        record: &Record,
        pods: &ServicePods,
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        let stable = record.state.version_of(Role::Stable).unwrap_or_default();
        let ready = pods.of_version(&record.service, stable).ready;
        if ready < 2 {
            return Ok(());
        }
        let rules = record.objects.iter().filter(|(stage, _)| *stage == Stage::Subsets);
        let rules = self.client.get_all(rules.map(|(_, rule)| rule)).await?;
        let Some((rule, _)) = rules.iter().find(|(_, body)| hashes_on_identity(body)) else { return Ok(()) };
        let message = format!(
            "{rule} keeps each user on one of the {ready} ready pods of version `{stable}`: without it they would be moved"
        );
        Ok(PreflightCheck::MovesUsers.refuse(skipped, message, Alternative::KeepAffinity)?)
    }

    /// Deletes its objects, under the Leases of those that releases share; plans again if another release's weight was
    /// written meanwhile.
    async fn remove(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<Plan, Error> {
        let plan = self.removal(release, stored).await?;
        let mut done = self.take_away(stored, &plan).await;
        for attempt in 0..MAX_CONFLICTS {
            if !matches!(done, Err(Error::Stale { .. })) {
                break;
            }
            tokio::time::sleep(backoff(attempt)).await;
            let rest = self.removal(release, stored).await?;
            done = self.take_away(stored, &rest).await;
        }
        done.map(|()| plan)
    }

    async fn take_away(&self, stored: &StoredRecord, plan: &Plan) -> Result<(), Error> {
        let mut leads = false;
        for change in &plan.changes {
            if std::mem::replace(&mut leads, change.stage.is_route()) && !leads {
                // The proxies must have removed them before the filter that protects them and the subsets that they
                // name.
                self.wait_for_istiod_push(&stored.record).await;
            }
            self.client.carry_out(change, WriteMode::Commit).await?;
        }
        Ok(())
    }

    /// Removes the canary from the live versions in every proxy that has it. Returns whether there was one.
    async fn end_canary(&self, release: &ReleaseName, stored: &mut StoredRecord) -> Result<bool, Error> {
        let is_stable = |version: &VersionConfig| version.role == Role::Stable;
        let end = |record: &mut Record| {
            record.end_rollout_by_uninstallation(self.author());
            if !record.state.versions.iter().all(is_stable) {
                let from = record.state.weight;
                record.state = record.state.with_roles(|version| is_stable(version).then_some(Role::Stable));
                record.initial_weight = None;
                record.append_history(self.author(), from, Operation::Uninstall);
            }
            true
        };
        let mut ended = stored.record.clone();
        end(&mut ended);
        if ended != stored.record {
            self.save_in_emergency(release, stored, end).await?;
        }
        match self.write_weight(release, stored).await {
            Ok(_) => Ok(true),
            // An earlier call has done it already, or `apply` was not completed: no proxy has the release.
            Err(Error::Plan(error)) if error.is_not_deployed() => Ok(false),
            Err(error) => Err(error),
        }
    }
}
