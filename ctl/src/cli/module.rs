//! `canary-ctl module`.

use super::Output;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Save, push and verify the filter's module that this tool carries
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    canary-ctl module push oci://registry.example.com/canary/filter\n  \
    canary-ctl module verify oci://registry.example.com/canary/filter:1.0\n\n\
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
    /// Push an image of the module to a registry, as Istio's agent reads it
    Push(ModulePush),
    /// Say whether what is in a registry, a file or on a web server is the module of this tool
    Verify(ModuleVerify),
}

/// Write the module to a file, or an image of it to a folder
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  canary-ctl module save canary_filter.wasm\n  \
    canary-ctl module save --oci-layout image/   # then: skopeo copy oci:image docker://registry.example.com/canary/filter:1.0")]
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

/// How to reach a registry.
#[derive(Clone, Debug, Args)]
pub struct RegistryOptions {
    /// The user; the password is read from stdin (default: the login in Docker's configuration)
    #[arg(long, value_name = "NAME")]
    pub username: Option<String>,
    /// Without TLS, credentials too (a registry on this machine needs no flag)
    #[arg(long)]
    pub plain_http: bool,
}

/// Push an image of the module to a registry, as Istio's agent reads it
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  canary-ctl module push oci://registry.example.com/canary/filter\n  \
    canary-ctl module push oci://127.0.0.1:5000/canary/filter:1.0 --dry-run\n  \
    canary-ctl module push oci://ghcr.io/example/filter --username ci < password\n\n\
    Prints the line for canary.yaml, which names the image by its digest. The same module is the same image, whoever pushes it.")]
pub struct ModulePush {
    /// `oci://HOST/REPOSITORY[:TAG]` (default tag: the first 12 digits of the module's SHA-256)
    pub target: String,
    /// Give the tag to this image although it names another one
    #[arg(long)]
    pub force: bool,
    /// Print the digest and what would be sent, and ask no registry
    #[arg(long)]
    pub dry_run: bool,
    /// The registry.
    #[command(flatten)]
    pub registry: RegistryOptions,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// Say whether what is in a registry, a file or on a web server is the module of this tool
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  canary-ctl module verify oci://registry.example.com/canary/filter:1.0\n  \
    canary-ctl module verify https://files.example.com/canary_filter.wasm\n  \
    canary-ctl module verify canary_filter.wasm\n\n\
    Exits 1 where it is another one, and prints both digests."
)]
pub struct ModuleVerify {
    /// `oci://…` (without a tag: where `push` puts this module), `https://…`, `http://…`, or a file
    pub target: String,
    /// The registry.
    #[command(flatten)]
    pub registry: RegistryOptions,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}
