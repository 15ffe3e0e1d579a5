//! Why a fixture could not be made or steered.

use crate::shop::ShopError;
use browser::ClientError;
use envoy_kit::EnvoyError;
use programs::artifact::MissingArtifact;

/// What went wrong between a test and its fixture.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// Something has not been built.
    #[error(transparent)]
    Missing(#[from] MissingArtifact),
    /// Envoy did not start, or did not answer.
    #[error(transparent)]
    Envoy(#[from] EnvoyError),
    /// A pod did not start.
    #[error(transparent)]
    Shop(#[from] ShopError),
    /// A request got no response.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// `canary.yaml` is none.
    #[error(transparent)]
    Spec(#[from] canary_release::file::Error),
    /// The local target failed; with all its sources, which alone say why.
    #[error("the local target: {}", chain(.0))]
    Local(#[from] canary_ctl::local::Error),
    /// A file could not be written or read.
    #[error("a file of the fixture: {0}")]
    Io(#[from] std::io::Error),
    /// A file is no JSON or YAML.
    #[error("a file of the fixture: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the bootstrap: {0}")]
    Yaml(String),
    /// No configuration of the filter can be made of `canary.yaml`.
    #[error(transparent)]
    Config(#[from] canary_release::config::Error),
    /// The keys are none.
    #[error(transparent)]
    Contract(#[from] assignment::contract::ContractError),
    /// The test names a release that its fixture has not.
    #[error("expected one of the fixture's releases, found `{0}`")]
    UnknownRelease(String),
    /// The test's weight is invalid.
    #[error("expected a weight in percent, found `{0}`")]
    Weight(String),
}

fn chain(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(Some(error), |error| error.source());
    sources.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
