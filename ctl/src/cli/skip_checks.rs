//! Which preflight checks are skipped.

use crate::plan::PreflightCheck;
use clap::Args;

/// Which preflight checks are skipped.
#[derive(Clone, Debug, Default, Args)]
pub struct SkipChecks {
    /// Skip this preflight check; can be repeated
    #[arg(long = "skip-check", value_name = "CHECK", value_enum)]
    pub skipped: Vec<PreflightCheck>,
}
