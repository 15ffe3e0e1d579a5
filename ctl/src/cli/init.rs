//! `canary-ctl init`.

use crate::spec::{Label, ReleaseName};
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Write a commented canary.yaml, and keys where there are none yet
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl init --name shop --namespace shop --host shop.example.com --session-cookie JSESSIONID --canary v2
  canary-ctl init --name api --namespace shop --host api.example.com --jwt-claim sub --canary v2
  canary-ctl init --name shop --host localhost --session-cookie SESSION --canary v2 --local \\
    --endpoint v1=127.0.0.1:9001 --endpoint v2=127.0.0.1:9002")]
pub struct Init {
    /// The release's name, and the Service's
    #[arg(long)]
    pub name: Label,
    /// The namespace of the Service
    #[arg(long, default_value = "default")]
    pub namespace: Label,
    /// A host name that its users type
    #[arg(long = "host", value_name = "HOST", required = true)]
    pub hosts: Vec<String>,
    /// What users are known by.
    #[command(flatten)]
    pub key: Key,
    /// The version that everyone is on
    #[arg(long, value_name = "VERSION", default_value = "v1")]
    pub stable: String,
    /// The version under test
    #[arg(long, value_name = "VERSION")]
    pub canary: String,
    /// The Gateway object that serves the host
    #[arg(long, value_name = "NAMESPACE/NAME", default_value = "istio-ingress/gateway")]
    pub gateway: ReleaseName,
    /// Where the filter's module is: a URL, or with --local a path
    #[arg(long)]
    pub module: Option<String>,
    /// For one Envoy on this machine, without Kubernetes
    #[arg(long)]
    pub local: bool,
    /// With --local: a process of a version
    #[arg(long = "endpoint", value_name = "VERSION=ADDRESS", requires = "local", value_parser = endpoint)]
    pub endpoints: Vec<(String, SocketAddr)>,
    /// The file to write
    #[arg(short, long, value_name = "FILE", default_value = "canary.yaml")]
    pub file: PathBuf,
    /// Where to write keys, unless there are some (with --local they are in the local directory)
    #[arg(long, value_name = "FILE", default_value = "keys.json", conflicts_with = "local")]
    pub keys: PathBuf,
    /// Overwrite the file; keys are never overwritten
    #[arg(long)]
    pub force: bool,
    /// Print the file, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// What users are known by.
#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Key {
    /// The application's session cookie: sessions stay where they are
    #[arg(long, value_name = "NAME")]
    pub session_cookie: Option<String>,
    /// A claim of a JWT: users stay where the weight puts them
    #[arg(long, value_name = "CLAIM")]
    pub jwt_claim: Option<String>,
}

fn endpoint(text: &str) -> Result<(String, SocketAddr), String> {
    let (version, address) =
        text.split_once('=').ok_or_else(|| format!("expected VERSION=ADDRESS, found `{text}`"))?;
    let address = address.parse().map_err(|_| format!("expected an address and port, found `{address}`"))?;
    Ok((version.to_owned(), address))
}
