//! What the page changes on a cluster. It skips no preflight check.

use crate::Error;
use crate::command::weight::Changed;
use crate::command::{role_change, rollback};
use crate::report::Report;
use canary_dashboard::{ChangeKind, ChangeReport, ChangeRequest};
use canary_operations::{Cluster, RollbackOptions, StoredRecord, WaitOptions, WeightRequest};
use canary_release::record::Author;
use canary_release::rollout::RolloutVerb;
use canary_release::spec::ReleaseName;
use jiff::Timestamp;
use std::time::Duration;

/// The timeout of a rollback, as the default of `canary-ctl rollback`.
const ROLLBACK_TIMEOUT: Duration = Duration::from_mins(1);

/// A release as it was read, and what the page asks for.
pub(super) struct ReleaseEditor<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) name: &'a ReleaseName,
    pub(super) stored: StoredRecord,
    pub(super) dry_run: bool,
}

impl ReleaseEditor<'_> {
    /// Carries out a change, or says what it would come to.
    pub(super) async fn change(self, request: &ChangeRequest) -> Result<ChangeReport, Error> {
        let state = &self.stored.record.state;
        if request.expected_generation != state.generation {
            return Err(canary_operations::Error::Generation {
                release: self.name.to_string(),
                expected: request.expected_generation,
                found: state.generation,
                last: self.stored.record.history.entries().last().map(ToString::to_string),
            }
            .into());
        }
        let written = !self.dry_run;
        let lines = match (request.change, request.change.rollout_verb()) {
            (_, Some(verb)) => self.rollout(verb).await?,
            (ChangeKind::Pause, _) => self.pause(request.reason.clone()).await?,
            (ChangeKind::Resume, _) => self.resume().await?,
            (ChangeKind::Rollback, _) => self.roll_back(false).await?,
            (ChangeKind::RollbackNow, _) => self.roll_back(true).await?,
            (_, None) => self.weight(request).await?,
        };
        Ok(ChangeReport { lines, written })
    }

    async fn weight(self, request: &ChangeRequest) -> Result<Vec<String>, Error> {
        let Self { cluster, name, stored, dry_run } = self;
        let before = stored.record.state.clone();
        let Some(weight) = request.weight else {
            return Err(Error::usage("expected a weight", "give one in percent"));
        };
        let request = WeightRequest {
            weight,
            expires_in: None,
            expected_generation: Some(request.expected_generation),
            skipped: &[],
        };
        let checked = cluster.check_weight(name, stored, request).await?;
        let after =
            if dry_run { checked.preview() } else { cluster.set_weight(checked).await?.stored.record };
        let mut report = Changed::between(&name.to_string(), &before, &after.state)?;
        report.written = !dry_run;
        let rollout = after.rollout.as_ref().filter(|rollout| rollout.is_active());
        Ok(sentences(&report).chain(rollout.map(|rollout| format!("rollout: {rollout}"))).collect())
    }

    async fn pause(self, reason: Option<String>) -> Result<Vec<String>, Error> {
        let Self { cluster, name, mut stored, dry_run } = self;
        let effect =
            "users go on as they are; only its pauser can change the release, and weight 0 is never refused";
        if dry_run {
            cluster.check_pause(&stored.record, &[])?;
            return Ok(vec![format!("{name}: would be paused at {}; {effect}", stored.record.state.weight)]);
        }
        stored = cluster.pause(name, stored, reason, &[]).await?;
        Ok(vec![format!("{name}: paused at {}; {effect}", stored.record.state.weight)])
    }

    async fn resume(self) -> Result<Vec<String>, Error> {
        let Self { cluster, name, stored, dry_run } = self;
        let weight = stored.record.state.weight;
        let Some(pause) = stored.record.paused.clone() else {
            return Ok(vec![format!("{name}: is not paused")]);
        };
        if dry_run {
            cluster.check_pause(&stored.record, &[])?;
            return Ok(vec![format!("{name}: would go on at {weight}; it was paused by {pause}")]);
        }
        cluster.resume(name, stored, &[]).await?;
        Ok(vec![format!("{name}: goes on at {weight}; it was paused by {pause}")])
    }

    async fn roll_back(self, now: bool) -> Result<Vec<String>, Error> {
        let Self { cluster, name, stored, dry_run } = self;
        let options = RollbackOptions { now, drain: None, skipped: &[] };
        let checked = cluster.check_rollback(name, stored, options).await?;
        let mut lines = rollback::impact(cluster, name, &checked).await;
        lines.extend(checked.deadline().map(|_| rollback::END_SESSIONS.to_owned()));
        if dry_run {
            return Ok(lines);
        }
        let mut waiting = WaitOptions { timeout: ROLLBACK_TIMEOUT, progress: &mut |_, _| {} };
        let changed = cluster.roll_back(checked, &mut waiting).await?;
        lines.extend(sentences(&role_change::Roles::of(name, &changed)));
        lines.extend(
            changed.not_observed.map(|error| format!("written, and not observed in every proxy: {error}")),
        );
        Ok(lines)
    }

    async fn rollout(self, verb: RolloutVerb) -> Result<Vec<String>, Error> {
        let Self { cluster, name, mut stored, dry_run } = self;
        if dry_run {
            let changed = stored.record.change_rollout(verb, Author::of_a_preview(Timestamp::now()));
            changed.map_err(canary_operations::Error::from)?;
        } else {
            stored = cluster.change_rollout(name, stored, verb, &[]).await?;
        }
        let rollout = stored.record.rollout.map(|rollout| format!("rollout: {rollout}"));
        let driver = "a running `canary-ctl rollout run` carries it out";
        Ok(rollout.into_iter().chain((verb != RolloutVerb::Pause).then(|| driver.to_owned())).collect())
    }
}

/// The lines of a report.
pub(super) fn sentences(report: &impl Report) -> impl Iterator<Item = String> {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = report.text(&mut text);
    text.lines().map(str::to_owned).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fake_api_server::fixture::{apply, promote, release, run, set_weight, shop};
    use serde_json::Value;

    #[test]
    fn after_a_promotion_a_rollback_says_what_it_does_to_sessions_and_names_now() {
        run(async {
            let (api, release) = (shop(), release(&Value::Null));
            let cluster = api.cluster().await;
            apply(&cluster, &release).await.unwrap();
            set_weight(&cluster, &release, "30").await.unwrap();
            promote(&cluster, &release).await.unwrap();
            let said = async |change: ChangeKind| {
                let stored = cluster.get_record(&release.name).await.unwrap();
                let expected_generation = stored.record.state.generation;
                let request =
                    ChangeRequest { change, weight: None, reason: None, expected_generation, dry_run: true };
                let editor = ReleaseEditor { cluster: &cluster, name: &release.name, stored, dry_run: true };
                editor.change(&request).await.unwrap().lines.join("\n")
            };
            let drains = said(ChangeKind::Rollback).await;
            assert!(
                drains.contains("its sessions finish there until") && drains.contains("--now"),
                "{drains}"
            );
            let ends = said(ChangeKind::RollbackNow).await;
            assert!(ends.contains("its sessions lose their state") && !ends.contains("--now"), "{ends}");
        });
    }
}
