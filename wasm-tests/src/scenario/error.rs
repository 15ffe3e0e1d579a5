//! Why a world could not be made or steered.

use crate::artifact::MissingArtifact;
use crate::client::ClientError;
use crate::envoy::EnvoyError;
use crate::shop::ShopError;

/// What went wrong between a test and its world.
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
    /// A request got no answer.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// `canary.yaml` is none.
    #[error(transparent)]
    Spec(#[from] canary_ctl::spec::Error),
    /// The local target failed; with all its sources, which alone say why.
    #[error("the local target: {}", chain(.0))]
    Local(#[from] canary_ctl::local::Error),
    /// A file could not be written or read.
    #[error("a file of the world: {0}")]
    Io(#[from] std::io::Error),
    /// A file is no JSON or YAML.
    #[error("a file of the world: {0}")]
    Json(#[from] serde_json::Error),
    /// A bootstrap is no YAML.
    #[error("the bootstrap: {0}")]
    Yaml(String),
    /// The keys are none.
    #[error(transparent)]
    Contract(#[from] assignment::contract::ContractError),
    /// The test names a release that its world has not.
    #[error("expected one of the world's releases, found `{0}`")]
    UnknownRelease(String),
    /// The test asks for a weight that is none.
    #[error("expected a weight in percent, found `{0}`")]
    Weight(String),
}

fn chain(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(Some(error), |error| error.source());
    sources.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
