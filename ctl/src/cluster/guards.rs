//! What has to be looked at before users are sent somewhere else: the guards of `plan`, with what they need from the cluster.

use super::{Cluster, Error};
use crate::config;
use crate::manifest::held_configuration;
use crate::plan::{Guard, Record, judge_pause, judge_step, judge_stickiness};
use crate::spec::{Release, ReleaseName, Routes};
use assignment::Weight;
use assignment::contract::{Position, Role};

impl Cluster {
    /// Judges a weight. Taking users off a canary is refused by a pause alone, and taking all of them off by nothing.
    pub async fn judge_weight(
        &self,
        release: &ReleaseName,
        record: &Record,
        to: Weight,
        overridden: &[Guard],
    ) -> Result<(), Error> {
        if to > Weight::ZERO {
            self.judge_pause(record, overridden)?;
        }
        let now = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
        let from = record.standing.weight_at(now);
        if to <= from {
            return Ok(());
        }
        judge_step(record.max_step, from, to, overridden)?;
        self.judge_canary(release, record, overridden).await?;
        self.judge_held(release, record, overridden).await
    }

    /// Refuses what only who has paused the release may do.
    pub fn judge_pause(&self, record: &Record, overridden: &[Guard]) -> Result<(), Error> {
        Ok(judge_pause(record, &self.user, overridden)?)
    }

    /// Refuses to send users to a canary that nobody serves, or that no route leads to.
    pub async fn judge_canary(
        &self,
        release: &ReleaseName,
        record: &Record,
        overridden: &[Guard],
    ) -> Result<(), Error> {
        let Some(canary) = record.standing.version_of(Role::Canary) else { return Ok(()) };
        self.judge_pods(release, record, canary, overridden).await?;
        if overridden.contains(&Guard::NoRoutes) || self.has_route(release, record, canary).await? {
            return Ok(());
        }
        let message = format!("no VirtualService leads to version `{canary}` by the filter's header");
        let instead = if record.routes == Routes::External {
            "put the routes that `canary-ctl generate` prints into it"
        } else {
            "`canary-ctl apply` puts them back"
        };
        Ok(Guard::NoRoutes.refuse(overridden, message, instead)?)
    }

    /// Refuses to send users to a version that has nobody to serve them.
    pub async fn judge_pods(
        &self,
        release: &ReleaseName,
        record: &Record,
        version: &str,
        overridden: &[Guard],
    ) -> Result<(), Error> {
        if overridden.contains(&Guard::NoReadyPods) {
            return Ok(());
        }
        let pods = self.ready(release.namespace.as_str(), &record.service, version).await?;
        if pods.ready > 0 {
            return Ok(());
        }
        let service = &record.service.name;
        let message =
            format!("version `{version}` has no ready pod of {} behind Service `{service}`", pods.all);
        Ok(Guard::NoReadyPods.refuse(overridden, message, "start its pods")?)
    }

    /// Judges an `apply` before its first write: `before` and `after` are the records around it.
    pub(super) async fn judge_apply(
        &self,
        release: &Release,
        (before, after): (Option<&Record>, &Record),
        overridden: &[Guard],
    ) -> Result<(), Error> {
        let moves = |before: &&Record| {
            before.standing.versions != after.standing.versions
                || before.standing.weight != after.standing.weight
                || after.begin_with.is_some()
        };
        if let Some(before) = before.filter(moves) {
            self.judge_pause(before, overridden)?;
        }
        if after.standing.version_of(Role::Canary).is_some() {
            let config = config::release_config(release, &after.standing, Position::Edge);
            judge_stickiness(&config, overridden)?;
        }
        if let Some(weight) = after.begin_with {
            judge_step(after.max_step, Weight::ZERO, weight, overridden)?;
        }
        let stable = after.standing.version_of(Role::Stable).unwrap_or_default();
        self.judge_pods(&release.name, after, stable, overridden).await
    }

    /// Judges what the gateways hold, which is not always what the file says.
    async fn judge_held(
        &self,
        release: &ReleaseName,
        record: &Record,
        overridden: &[Guard],
    ) -> Result<(), Error> {
        for body in self.configurations(record).await?.values() {
            let Some(config) = held_configuration(body).map_err(crate::plan::Error::from)? else { continue };
            let entry = config.releases.get(&release.to_string());
            if let (Position::Edge, Some(entry)) = (config.position, entry) {
                judge_stickiness(entry, overridden)?;
            }
        }
        Ok(())
    }
}
