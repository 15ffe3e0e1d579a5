//! The promotion by which a rollout ends. Of a train it is that of the release behind the gateways, and before it of those that follow its users: they have no
//! rollout of their own. Other releases behind gateways have their own weight, and their own rollouts.

use crate::operation::train::Train;
use crate::{Cluster, Error, PromoteOptions, StoredRecord, WaitOptions};
use canary_release::record::Record;
use canary_release::spec::ReleaseName;

impl Cluster {
    /// Promotes a release, and before it the releases inside its train. The checks of all are made before the first write; what was promoted
    /// already is left as it is, so another driver goes on.
    ///
    /// # Errors
    ///
    /// As [`Cluster::promote`]; an error about another release of the train names it.
    pub(super) async fn promote_with_followers(
        &self,
        release: &ReleaseName,
        stored: StoredRecord,
        options: PromoteOptions<'_>,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<Record, Error> {
        let Some(train) = self.train_with_followers(release, &stored).await? else {
            let checked = self.check_promotion(release, stored, options).await?;
            return Ok(Box::pin(self.promote(checked, waiting, true)).await?.stored.record);
        };
        let mut checked = self.check_train_promotion(&train, options).await?;
        let own = checked.take(release);
        self.promote_train(checked, waiting, &mut |_| {}).await?;
        let Some(own) = own else { return Ok(stored.record) };
        Ok(Box::pin(self.promote(own, waiting, true)).await?.stored.record)
    }

    /// A release behind gateways with those that follow its users; `None` outside a train, and of a release inside one.
    async fn train_with_followers(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<Option<Train>, Error> {
        let Some(member) = stored.record.train.as_ref().filter(|member| !member.is_inner) else {
            return Ok(None);
        };
        let about = |error| Error::InTrain { release: release.to_string(), source: Box::new(error) };
        let mut train = self.train_of(release, member).await.map_err(about)?;
        train.releases.retain(|found| {
            let is_inner = found.stored.record.train.as_ref().is_some_and(|member| member.is_inner);
            is_inner || found.name == *release
        });
        for found in train.releases.iter_mut().filter(|found| found.name == *release) {
            // With what the driver has counted.
            found.stored = stored.clone();
        }
        Ok(Some(train))
    }
}
