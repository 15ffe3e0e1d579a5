//! Carries out what `apply` has planned: part by part where a part must have arrived before the next one is written.

use super::apply::{build_plan, shared};
use super::lease::Task;
use super::objects::WriteMode;
use super::{Cluster, Error, StoredRecord, WaitOptions};
use crate::manifest::Stage;
use crate::plan::{Plan, Record, prune};
use crate::spec::Release;
use std::time::Duration;

/// How long istiod takes to send what it was told, on a good day: its debounce, and a push. No metric of a default proxy
/// says which routes it has.
pub(super) const ISTIOD_PUSH_DELAY: Duration = Duration::from_secs(2);

/// What comes, as it was first worked out.
pub(super) struct PendingRollout {
    pub(super) plan: Plan,
    /// How many subsets come.
    pub(super) subsets: usize,
}

impl Cluster {
    /// Writes what comes, stage by stage, and again where releases that share a proxy were quicker.
    pub(super) async fn execute(
        &self,
        release: &Release,
        stored: &StoredRecord,
        first: &PendingRollout,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<(), Error> {
        let name = release.name.to_string();
        let adds_routes = first.plan.has_ways();
        if first.plan.brings_filter() && adds_routes {
            let stages = [Stage::Configuration, Stage::Runtime, Stage::Filter];
            self.apply_with_retry_locked(release, stored, async || {
                Ok(self.replan(release, stored).await?.of(&stages))
            })
            .await?;
            // Without the filter a client can name the version of a route itself.
            self.wait(&name, &stored.record, waiting).await?;
        }
        // No route may name a cluster that a proxy does not have, and routes of others may come as soon as this returns.
        if first.subsets > 0 || (first.plan.has(Stage::Subsets) && adds_routes) {
            let before = self.clusters(&stored.record).await?;
            self.apply_with_retry(async || Ok(self.replan(release, stored).await?.of(&[Stage::Subsets])))
                .await?;
            // Others may be given clusters at the same moment, so a count alone is not all.
            self.wait_for_istiod_push(&name, &stored.record).await?;
            self.wait_for_clusters(&stored.record, &before, first.subsets, waiting).await?;
        }
        self.apply_with_retry_locked(release, stored, async || self.replan(release, stored).await).await
    }

    /// Carries out a plan as the only one who makes the objects that releases share: of two who find none, the second
    /// would write its own over the first one's.
    async fn apply_with_retry_locked(
        &self,
        release: &Release,
        stored: &StoredRecord,
        plan: impl AsyncFn() -> Result<Plan, Error>,
    ) -> Result<(), Error> {
        let task = Task { verb: "apply", release: &release.name };
        let shared = shared(release, &stored.record)?;
        self.with_leases(shared, task, async || self.apply_with_retry(plan).await).await.map(drop)
    }

    /// The plan as it would be now. Fails where somebody has changed the release meanwhile: a weight waits for nobody, and
    /// must not be undone by what was read before it.
    async fn replan(&self, release: &Release, stored: &StoredRecord) -> Result<Plan, Error> {
        let observation = self.observe(release, &stored.record).await?;
        self.ensure_current(&release.name, stored).await?;
        let keys = self.keys(release).await?.or_signing(observation.signing()).required()?;
        let reconciliation = self.reconcile(release, &stored.record, &keys, observation).await?;
        build_plan(release, &stored.record, &reconciliation)
    }

    /// Takes away what only served versions that have left. Every proxy ignores them by now.
    pub(super) async fn prune(&self, release: &Release, stored: &mut StoredRecord) -> Result<(), Error> {
        let before = stored.record.clone();
        stored.record.leaving.clear();
        let observation = self.observe(release, &stored.record).await?;
        let keys = self.keys(release).await?.or_signing(observation.signing()).required()?;
        let reconciliation = self.reconcile(release, &stored.record, &keys, observation).await?;
        if !before.leaving.is_empty() {
            let plan = prune(&reconciliation.desired, &reconciliation.observed);
            for change in &plan.changes {
                self.carry_out(change, WriteMode::Commit).await?;
                self.wait_for_istiod_push(release.name.to_string().as_str(), &stored.record).await?;
            }
        }
        stored.record.objects = reconciliation.kept();
        if before != stored.record {
            self.save_record(&release.name, stored).await?;
        }
        Ok(())
    }

    /// Gives istiod time to send what was written, where there is a proxy to send it to.
    pub(super) async fn wait_for_istiod_push(&self, release: &str, record: &Record) -> Result<(), Error> {
        if !self.proxies(release, record).await?.is_empty() {
            tokio::time::sleep(ISTIOD_PUSH_DELAY).await;
        }
        Ok(())
    }
}
