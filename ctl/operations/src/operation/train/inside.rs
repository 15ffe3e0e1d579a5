//! Whether the releases inside a train still have a canary when the release in front of them is promoted without them: the users of its new version
//! follow the role of stable then, and would get the old versions of these.

use super::TrainRelease;
use crate::{Cluster, Error};
use assignment::contract::Role;
use canary_release::preflight::{Alternative, PreflightCheck};
use canary_release::record::Record;
use canary_release::spec::ReleaseName;

impl Cluster {
    /// Refuses the promotion of a release behind gateways while one that follows its users, and is not among `promoted_before`, has a canary.
    ///
    /// # Errors
    ///
    /// If there is one, and the check is not among `skipped`; if no records may be listed.
    pub(crate) async fn check_promoted_inside(
        &self,
        release: &ReleaseName,
        record: &Record,
        promoted_before: &[&ReleaseName],
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        let Some(member) = record.train.as_ref().filter(|member| !member.is_inner) else { return Ok(()) };
        let train = &member.name;
        let others = self.members_of(release, member).await?.into_iter();
        let others = others.filter(|other| !promoted_before.contains(&&other.name));
        let inside: Vec<String> = others.filter_map(canary_inside).collect();
        if inside.is_empty() {
            return Ok(());
        }
        let message = format!(
            "expected no canary inside train `{train}`, found those of {}: the users of the new version of {release} would get the old versions there",
            inside.join(", ")
        );
        let alternative = Alternative::PromoteTrain { train: train.clone() };
        Ok(PreflightCheck::MovesUsers.refuse(skipped, message, alternative)?)
    }
}

/// The name of a release inside a train that has a canary.
fn canary_inside(TrainRelease { name, stored }: TrainRelease) -> Option<String> {
    let record = stored.record;
    let is_inner = record.train.as_ref().is_some_and(|member| member.is_inner);
    (is_inner && record.state.version_of(Role::Canary).is_some()).then(|| name.to_string())
}
