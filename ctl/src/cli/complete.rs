//! `canary-ctl __complete`, for `kubectl`.

use clap::Args;
use std::ffi::OsString;

/// Print what the last word of a command line can be, as cobra's programs do
#[derive(Clone, Debug, Args)]
pub struct Complete {
    /// The words behind the name of the tool; the last one is to be completed, and may be empty
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}
