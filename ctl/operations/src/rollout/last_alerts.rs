//! The alerts that are left when the record of a release is deleted: they are sent before, or the caller is told which nobody gets.

use super::{AlertSender, HookCaller, RolloutDriver};
use crate::{Cluster, Error, StoredRecord};
use canary_release::alert::UndeliveredAlert;
use canary_release::spec::ReleaseName;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Between two attempts to send what is left.
const PAUSE: Duration = Duration::from_millis(500);

/// The sender of the alerts that are left. Without one only Events are written, and the rest is named.
#[derive(Clone, Default)]
pub struct LastAlerts {
    /// To the receivers.
    pub sender: Option<Arc<dyn AlertSender>>,
    /// To hooks that are notified.
    pub hooks: Option<Arc<dyn HookCaller>>,
    /// The wait for receivers that do not accept them.
    pub timeout: Duration,
}

impl Cluster {
    /// Sends what is left; the record afterwards, and what nobody has got.
    pub(crate) async fn send_last_alerts(
        &self,
        release: &ReleaseName,
        last: &LastAlerts,
    ) -> Result<(StoredRecord, Vec<UndeliveredAlert>), Error> {
        let mut driver = RolloutDriver::new(self, release.clone(), Duration::ZERO);
        if let Some(sender) = &last.sender {
            driver = driver.with_alerts(Arc::clone(sender));
        }
        if let Some(hooks) = &last.hooks {
            driver = driver.with_hooks(Arc::clone(hooks));
        }
        let begun = Instant::now();
        let mut left = driver.deliver_alerts(Timestamp::now()).await?;
        while left > 0 {
            driver.settle_alerts().await;
            left = driver.deliver_alerts(Timestamp::now()).await?;
            if begun.elapsed() >= last.timeout {
                break;
            }
            tokio::time::sleep(PAUSE.min(last.timeout)).await;
        }
        driver.settle_alerts().await;
        driver.deliver_alerts(Timestamp::now()).await?;
        let stored = self.get_record(release).await?;
        let undelivered = stored.record.alerts.lost();
        Ok((stored, undelivered))
    }
}
