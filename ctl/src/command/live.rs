//! The configuration in the proxies of a cluster: the weight, epochs and keys in force, which are in no file.

use super::arguments::{ClusterAccess, SpecFile};
use super::target;
use crate::Error;
use assignment::contract::{FilterConfig, Position};
use assignment::policy::Release;
use assignment::{Policy, Weight};
use canary_release::config;

/// A release as a proxy holds it.
pub(super) struct Live {
    config: FilterConfig,
    name: String,
}

impl Live {
    /// Reads it from the cluster. Fails for the release of a local Envoy, and where no proxy at this position holds it.
    pub(super) async fn read(
        spec: &SpecFile,
        access: &ClusterAccess,
        position: Position,
    ) -> Result<Self, Error> {
        let document = target::load_for(spec, access)?;
        let name = document.release.name.clone();
        let cluster = target::connect(access).await?;
        let stored = cluster.show_record(&name, &target::config_objects(Some(&document))?).await?;
        let config = cluster.effective_config(&name, &stored, position).await?;
        Ok(Self { config, name: name.to_string() })
    }

    /// The policy of that proxy, with another weight for this release where one is given.
    pub(super) fn policy_at(mut self, weight: Option<Weight>) -> Result<Policy, Error> {
        if let (Some(weight), Some(release)) = (weight, self.config.releases.get_mut(&self.name)) {
            release.weight = weight;
        }
        Ok(Policy::compile(&self.config).map_err(config::Error::from)?)
    }

    /// The same, as if the proxy had no other release.
    pub(super) fn alone(mut self) -> Self {
        self.config.releases.retain(|name, _| *name == self.name);
        self
    }
}

pub(super) fn only(policy: &Policy) -> Result<&Release, Error> {
    let missing = || Error::usage("expected a release, found none", "check the file that `-f` names");
    policy.releases().first().ok_or_else(missing)
}
