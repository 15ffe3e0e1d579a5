//! The configuration that the proxies of a release have: a file that was edited and not applied yet differs from it.

use crate::{Cluster, Error, StoredRecord};
use assignment::contract::{FilterConfig, Position, Stickiness};
use canary_release::delivery::deployed_config;
use canary_release::plan;
use canary_release::record::Record;
use canary_release::spec::{ReleaseName, Seconds};

/// The stickiness of users in the deployed configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveSettings {
    /// Whether a user may move when the weight does.
    pub stickiness: Stickiness,
    /// The life of pins.
    pub max_age: Seconds,
    /// Whether sidecars decide too; they write no pins.
    pub is_inside: bool,
}

impl Default for EffectiveSettings {
    fn default() -> Self {
        Self { stickiness: Stickiness::Session, max_age: Seconds::DAY, is_inside: false }
    }
}

impl Cluster {
    /// The configuration of the proxies at this position, with all their releases and keys.
    ///
    /// # Errors
    ///
    /// If no proxy there has the release: `apply` has not finished, or the release has no proxy at this position.
    pub async fn effective_config(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
        position: Position,
    ) -> Result<FilterConfig, Error> {
        let configs = self.deployed_configs(release, &stored.record).await?;
        let config = configs.into_iter().find(|config| config.position == position);
        config.ok_or_else(|| not_deployed(release))
    }

    /// The stickiness of a release's users.
    ///
    /// # Errors
    ///
    /// If no proxy has the release.
    pub async fn effective_settings(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<EffectiveSettings, Error> {
        let held = self.deployed_configs(release, &stored.record).await?;
        // Inside the mesh no session is pinned, whatever the file configures.
        let edge = held.iter().find(|config| config.position == Position::Edge).or_else(|| held.first());
        let config = edge.and_then(|config| config.releases.get(&release.to_string()));
        let config = config.ok_or_else(|| not_deployed(release))?;
        let max_age = config.pin.as_ref().and_then(|pin| Seconds::new(pin.max_age_seconds));
        Ok(EffectiveSettings {
            stickiness: config.stickiness,
            max_age: max_age.unwrap_or(Seconds::DAY),
            is_inside: held.iter().any(|config| config.position == Position::Mesh),
        })
    }

    /// The train of a release that sidecars alone serve: there the gateways' decision for the train counts, and not the release's weight. `None`
    /// outside a train, and where a gateway decides.
    ///
    /// # Errors
    ///
    /// If the configurations cannot be read.
    pub async fn inner_train(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<Option<String>, Error> {
        let held = self.deployed_configs(release, &stored.record).await?;
        if held.iter().any(|config| config.position == Position::Edge) {
            return Ok(None);
        }
        let release = release.to_string();
        Ok(held.iter().find_map(|config| config.releases.get(&release)?.train.clone()))
    }

    /// The configurations, one for each group of proxies, that contain the release.
    pub(crate) async fn deployed_configs(
        &self,
        release: &ReleaseName,
        record: &Record,
    ) -> Result<Vec<FilterConfig>, Error> {
        let mut held = Vec::new();
        for body in self.configurations(record).await?.values() {
            let config = deployed_config(body)?;
            held.extend(config.filter(|config| config.releases.contains_key(&release.to_string())));
        }
        Ok(held)
    }
}

fn not_deployed(release: &ReleaseName) -> Error {
    let (release, object) = (release.to_string(), "gateways".into());
    plan::Error::NotCarried { release, object, found: "no proxy that holds it" }.into()
}
