//! `canary-ctl module`.

use super::Output;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Save and verify the filter's module that this tool carries
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    canary-ctl module save --oci-layout image   # then: skopeo copy --preserve-digests oci:image docker://registry.example.com/canary/filter:1.0\n  \
    canary-ctl module verify https://files.example.com/canary_filter.wasm\n\n\
    Nothing has to be hosted with `mode: envoyfilter`: the module travels in the configuration (`delivery.module: embedded`).\n\
    Other modes, and meshes with hundreds of gateways, fetch it from a registry.")]
pub struct Module {
    /// What to do with the module.
    #[command(subcommand)]
    pub verb: ModuleVerb,
}

/// What can be done with the module.
#[derive(Clone, Debug, Subcommand)]
pub enum ModuleVerb {
    /// Write the module to a file, or an image of it to a folder
    Save(ModuleSave),
    /// Say whether a file, or what is on a web server, is the module of this tool
    Verify(ModuleVerify),
}

/// Write the module to a file, or an image of it to a folder
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  canary-ctl module save canary_filter.wasm\n  \
    canary-ctl module save --oci-layout image   # then: skopeo copy --preserve-digests oci:image docker://registry.example.com/canary/filter:1.0\n\n\
    The image is in the form that Istio's agent reads. The same module has the same digest, so canary.yaml names it by what is printed here:\n\
    `delivery.module: oci://registry.example.com/canary/filter@sha256:…`.")]
pub struct ModuleSave {
    /// The file to write the module to
    #[arg(required_unless_present = "layout")]
    pub file: Option<PathBuf>,
    /// The folder to write an image of the module to, as an OCI image layout
    #[arg(long = "oci-layout", value_name = "DIR")]
    pub layout: Option<PathBuf>,
    /// Replace a file or an image that is another one
    #[arg(long)]
    pub force: bool,
    /// Say what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// Say whether a file, or what is on a web server, is the module of this tool
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  canary-ctl module verify https://files.example.com/canary_filter.wasm\n  \
    canary-ctl module verify canary_filter.wasm\n\n\
    Exits 1 where it is another one, and prints both digests."
)]
pub struct ModuleVerify {
    /// `https://…`, `http://…`, or a file
    pub target: String,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
