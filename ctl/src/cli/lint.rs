//! `canary-ctl lint`.

use super::{Output, SpecFile};
use clap::Args;

/// Say what is dangerous in a release
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  canary-ctl lint -f canary.yaml\n\nExits 1 where a finding is an error.")]
pub struct Lint {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// The form of the findings.
    #[command(flatten)]
    pub output: Output,
}
