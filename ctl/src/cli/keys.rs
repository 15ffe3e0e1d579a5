//! Where the keys are that the proxies sign with.

use clap::Args;
use std::path::PathBuf;

/// Where the keys are.
#[derive(Clone, Debug, Default, Args)]
pub struct Keys {
    /// The signing keys of the proxies, as JSON (default: those of the local target)
    #[arg(long = "signing-keys", value_name = "FILE")]
    pub keys: Option<PathBuf>,
}
