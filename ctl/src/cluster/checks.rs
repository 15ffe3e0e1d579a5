//! Preflight checks before users are sent somewhere else: those of `plan`, with what they need from the cluster.

use super::{Cluster, Error};
use crate::config;
use crate::manifest::held_configuration;
use crate::plan::{PreflightCheck, Record, check_pause, check_step, check_stickiness};
use crate::spec::{Release, ReleaseName, Routes};
use assignment::Weight;
use assignment::contract::{Position, Role};

impl Cluster {
    /// Judges a weight. Taking users off a canary is refused by a pause alone, and taking all of them off by nothing.
    pub async fn check_weight(
        &self,
        release: &ReleaseName,
        record: &Record,
        to: Weight,
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        if to > Weight::ZERO {
            self.check_pause(record, skipped)?;
        }
        let now = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
        let from = record.standing.weight_at(now);
        if to <= from {
            return Ok(());
        }
        check_step(record.max_step, from, to, skipped)?;
        self.check_canary(release, record, skipped).await?;
        self.check_held(release, record, skipped).await
    }

    /// Refuses what only who has paused the release may do.
    pub fn check_pause(&self, record: &Record, skipped: &[PreflightCheck]) -> Result<(), Error> {
        Ok(check_pause(record, &self.user, skipped)?)
    }

    /// Refuses to send users to a canary that nobody serves, or that no route leads to.
    pub async fn check_canary(
        &self,
        release: &ReleaseName,
        record: &Record,
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        let Some(canary) = record.standing.version_of(Role::Canary) else { return Ok(()) };
        self.check_pods(release, record, canary, skipped).await?;
        if skipped.contains(&PreflightCheck::NoRoutes) || self.has_route(release, record, canary).await? {
            return Ok(());
        }
        let message = format!("no VirtualService leads to version `{canary}` by the filter's header");
        let instead = if record.routes == Routes::External {
            "put the routes that `canary-ctl generate` prints into it"
        } else {
            "`canary-ctl apply` puts them back"
        };
        Ok(PreflightCheck::NoRoutes.refuse(skipped, message, instead)?)
    }

    /// Refuses to send users to a version that has nobody to serve them.
    pub async fn check_pods(
        &self,
        release: &ReleaseName,
        record: &Record,
        version: &str,
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        if skipped.contains(&PreflightCheck::NoReadyPods) {
            return Ok(());
        }
        let pods = self.ready(release.namespace.as_str(), &record.service, version).await?;
        if pods.ready > 0 {
            return Ok(());
        }
        let service = &record.service.name;
        let message =
            format!("version `{version}` has no ready pod of {} behind Service `{service}`", pods.all);
        Ok(PreflightCheck::NoReadyPods.refuse(skipped, message, "start its pods")?)
    }

    /// Judges an `apply` before its first write: `before` and `after` are the records around it.
    pub(super) async fn check_apply(
        &self,
        release: &Release,
        (before, after): (Option<&Record>, &Record),
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        let moves = |before: &&Record| {
            before.standing.versions != after.standing.versions
                || before.standing.weight != after.standing.weight
                || after.initial_weight.is_some()
        };
        if let Some(before) = before.filter(moves) {
            self.check_pause(before, skipped)?;
        }
        if after.standing.version_of(Role::Canary).is_some() {
            let config = config::release_config(release, &after.standing, Position::Edge);
            check_stickiness(&config, skipped)?;
        }
        if let Some(weight) = after.initial_weight {
            check_step(after.max_step, Weight::ZERO, weight, skipped)?;
        }
        let stable = after.standing.version_of(Role::Stable).unwrap_or_default();
        self.check_pods(&release.name, after, stable, skipped).await
    }

    /// Judges what the gateways hold, which is not always what the file says.
    async fn check_held(
        &self,
        release: &ReleaseName,
        record: &Record,
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        for body in self.configurations(record).await?.values() {
            let Some(config) = held_configuration(body).map_err(crate::plan::Error::from)? else { continue };
            let entry = config.releases.get(&release.to_string());
            if let (Position::Edge, Some(entry)) = (config.position, entry) {
                check_stickiness(entry, skipped)?;
            }
        }
        Ok(())
    }
}
