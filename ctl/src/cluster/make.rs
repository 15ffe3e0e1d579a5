//! Carries out what `apply` has planned: part by part where a part must have arrived before the next one is written.

use super::apply::{planned, shared};
use super::lease::Task;
use super::objects::Really;
use super::{Cluster, Error, Stored, Waiting};
use crate::manifest::Stage;
use crate::plan::{Plan, Record, narrow};
use crate::spec::Release;
use std::time::Duration;

/// How long istiod takes to send what it was told, on a good day: its debounce, and a push. No metric of a default proxy
/// says which routes it has.
pub(super) const PUSH: Duration = Duration::from_secs(2);

/// What comes, as it was first worked out.
pub(super) struct Coming {
    pub(super) plan: Plan,
    /// How many subsets come.
    pub(super) subsets: usize,
}

impl Cluster {
    /// Writes what comes, stage by stage, and again where releases that share a proxy were quicker.
    pub(super) async fn make(
        &self,
        release: &Release,
        stored: &Stored,
        first: &Coming,
        waiting: &mut Waiting<'_>,
    ) -> Result<(), Error> {
        let name = release.name.to_string();
        let adds_routes = first.plan.has_ways();
        if first.plan.brings_filter() && adds_routes {
            let stages = [Stage::Configuration, Stage::Runtime, Stage::Filter];
            self.settle_alone(release, stored, async || Ok(self.remade(release, stored).await?.of(&stages)))
                .await?;
            // Without the filter a client can name the version of a route itself.
            self.wait(&name, &stored.record, waiting).await?;
        }
        // No route may name a cluster that a proxy does not have, and routes of others may come as soon as this returns.
        if first.subsets > 0 || (first.plan.has(Stage::Subsets) && adds_routes) {
            let before = self.clusters(&stored.record).await?;
            self.settle(async || Ok(self.remade(release, stored).await?.of(&[Stage::Subsets]))).await?;
            // Others may be given clusters at the same moment, so a count alone is not all.
            self.pushed(&name, &stored.record).await?;
            self.given(&stored.record, &before, first.subsets, waiting).await?;
        }
        self.settle_alone(release, stored, async || self.remade(release, stored).await).await
    }

    /// Carries out a plan as the only one who makes the objects that releases share: of two who find none, the second
    /// would write its own over the first one's.
    async fn settle_alone(
        &self,
        release: &Release,
        stored: &Stored,
        plan: impl AsyncFn() -> Result<Plan, Error>,
    ) -> Result<(), Error> {
        let task = Task { verb: "apply", release: &release.name };
        let shared = shared(release, &stored.record)?;
        self.alone(shared, task, async || self.settle(plan).await).await.map(drop)
    }

    /// The plan as it would be now. Fails where somebody has changed the release meanwhile: a weight waits for nobody, and
    /// must not be undone by what was read before it.
    async fn remade(&self, release: &Release, stored: &Stored) -> Result<Plan, Error> {
        let sight = self.look(release, &stored.record).await?;
        self.unless_overtaken(&release.name, stored).await?;
        let keys = self.keys(release).await?.or_signing(sight.signing()).required()?;
        let picture = self.picture(release, &stored.record, &keys, sight).await?;
        planned(release, &stored.record, &picture)
    }

    /// Takes away what only served versions that have left. Every proxy ignores them by now.
    pub(super) async fn narrow(&self, release: &Release, stored: &mut Stored) -> Result<(), Error> {
        let before = stored.record.clone();
        stored.record.leaving.clear();
        let sight = self.look(release, &stored.record).await?;
        let keys = self.keys(release).await?.or_signing(sight.signing()).required()?;
        let picture = self.picture(release, &stored.record, &keys, sight).await?;
        if !before.leaving.is_empty() {
            let plan = narrow(&picture.desired, &picture.observed);
            for change in &plan.changes {
                self.carry_out(change, Really::Write).await?;
                self.pushed(release.name.to_string().as_str(), &stored.record).await?;
            }
        }
        stored.record.objects = picture.kept();
        if before != stored.record {
            self.keep(&release.name, stored).await?;
        }
        Ok(())
    }

    /// Gives istiod time to send what was written, where there is a proxy to send it to.
    pub(super) async fn pushed(&self, release: &str, record: &Record) -> Result<(), Error> {
        if !self.proxies(release, record).await?.is_empty() {
            tokio::time::sleep(PUSH).await;
        }
        Ok(())
    }
}
