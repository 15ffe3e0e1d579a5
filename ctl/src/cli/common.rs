//! Arguments that several verbs share.

use crate::report::Format;
use clap::Args;
use std::path::PathBuf;

/// Where the release is described.
#[derive(Clone, Debug, Args)]
pub struct SpecFile {
    /// The file that describes the release
    #[arg(short, long, value_name = "FILE", default_value = SpecFile::DEFAULT)]
    pub file: PathBuf,
}

impl SpecFile {
    /// The file where none is named.
    pub const DEFAULT: &str = "canary.yaml";
}

/// The form of the result.
#[derive(Clone, Copy, Debug, Args)]
pub struct Output {
    /// The form of the result
    #[arg(short = 'o', long = "output", value_name = "FORMAT", value_enum, default_value_t)]
    pub format: Format,
}
