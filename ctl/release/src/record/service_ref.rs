//! The Service behind a release, and what each version has for itself beside routes of others.

use super::Record;
use crate::object::Reference;
use crate::routing::VersionName;
use crate::spec::{Release, ReleaseName, Routes};
use serde::{Deserialize, Serialize};

/// The pods behind a release, as its file names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceRef {
    /// The Kubernetes Service.
    pub name: String,
    /// The version label: its value differs between versions.
    pub label: String,
    /// Whether each version has a Service of its own, and this one selects stable alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub per_version: bool,
}

impl ServiceRef {
    /// The Service of a release, as its file names it.
    pub fn of(release: &Release) -> Self {
        Self {
            name: release.service.name.to_string(),
            label: release.versions.label.clone(),
            per_version: release.routes == Some(Routes::GatewayApi),
        }
    }
}

impl Record {
    /// The value of the routing header that leads to a version. `release` is `<namespace>/<name>`.
    pub fn routing_value(&self, release: &str, version: &str) -> String {
        let found = self.state.versions.iter().find(|one| one.name == version);
        found.and_then(|one| one.routing.clone()).unwrap_or_else(|| format!("{release}/{version}"))
    }

    /// Whether an object is one that a version has for itself.
    pub fn has_for(&self, release: &ReleaseName, version: &str, object: &Reference) -> bool {
        VersionName { release: release.name.as_str(), service: &self.service.name, version }.has(object)
    }

    /// Whether an object is one of a version that has neither a role nor users any more.
    pub(crate) fn is_of_left_version(&self, release: &str, object: &Reference) -> bool {
        if !self.service.per_version {
            return false;
        }
        let release = release.split('/').next_back().unwrap_or_default();
        let has = |version: &str| VersionName { release, service: &self.service.name, version }.has(object);
        let live = self.state.versions.iter().map(|version| version.name.as_str());
        let mut needed = live.chain(self.leaving.iter().map(String::as_str));
        !needed.any(has) && self.state.gone.iter().any(|gone| has(&gone.name))
    }

    /// Takes the objects of versions that have left out of those of the release: they are deleted.
    pub fn disown_left_versions(&mut self, release: &ReleaseName) {
        let release = release.to_string();
        let mut objects = std::mem::take(&mut self.objects);
        objects.retain(|(_, object)| !self.is_of_left_version(&release, object));
        self.objects = objects;
    }
}
