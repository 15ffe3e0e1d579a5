//! What the releases that a rollout depends on have as stable, by their records.

use crate::Cluster;
use assignment::contract::Role;
use canary_release::rollout::{DependencyState, Rollout};
use canary_release::spec::ReleaseDependency;

impl Cluster {
    /// In the order of the rollout's dependencies. A record that cannot be read is no error: the rollout waits, and says why.
    pub(super) async fn dependencies(&self, rollout: &Rollout) -> Vec<DependencyState> {
        let mut states = Vec::new();
        for dependency in rollout.depends_on.iter().filter(|_| rollout.is_active()) {
            states.push(self.dependency(dependency).await);
        }
        states
    }

    async fn dependency(&self, dependency: &ReleaseDependency) -> DependencyState {
        // The other release may have proxies elsewhere, whose keys this user does not read. Its record opens this gate and nothing else.
        match self.records.find_unverified(&dependency.release).await {
            Ok(Some(record)) => {
                let stable = record.state.version_of(Role::Stable).unwrap_or_default();
                DependencyState::Stable(stable.to_owned())
            }
            Ok(None) => DependencyState::Missing,
            Err(error) => DependencyState::Unread(error.to_string()),
        }
    }
}
