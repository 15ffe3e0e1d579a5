//! Which files there are in the directory of a local Envoy.

use std::path::{Path, PathBuf};

/// The files beside a local Envoy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    directory: PathBuf,
}

impl Layout {
    /// The files in a directory, which need not be there yet.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// The directory itself.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Envoy's bootstrap.
    pub fn bootstrap(&self) -> PathBuf {
        self.directory.join("envoy.yaml")
    }

    /// Envoy's clusters.
    pub fn clusters(&self) -> PathBuf {
        self.directory.join("cds.yaml")
    }

    /// Envoy's routes.
    pub fn routes(&self) -> PathBuf {
        self.directory.join("rds.yaml")
    }

    /// The filter's configuration. It holds keys.
    pub fn ecds(&self) -> PathBuf {
        self.directory.join("ecds.yaml")
    }

    /// The filter's module, where it is the one that the tool carries.
    pub fn module(&self) -> PathBuf {
        self.directory.join("canary_filter.wasm")
    }

    /// The file with the state of every release.
    pub fn state(&self) -> PathBuf {
        self.directory.join("state.json")
    }

    /// The keys that sign and verify.
    pub fn keys(&self) -> PathBuf {
        self.directory.join("signing-keys.json")
    }

    /// The files that are replaced under the write lock.
    pub(super) fn replaced(&self) -> Vec<PathBuf> {
        vec![
            self.bootstrap(),
            self.clusters(),
            self.routes(),
            self.ecds(),
            self.module(),
            self.state(),
            self.keys(),
        ]
    }

    /// The file of the write lock.
    pub fn lock(&self) -> PathBuf {
        self.directory.join("lock")
    }
}
