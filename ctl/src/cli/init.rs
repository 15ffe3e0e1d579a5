//! `canary-ctl init`.

use canary_release::spec::{Label, ReleaseName};
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Write a commented canary.yaml, and keys where there are none yet
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl init --name shop --namespace shop --host shop.example.com --session-cookie JSESSIONID --canary v2
  canary-ctl init --from-cluster --name shop --namespace shop --canary v2
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
    /// Look at the Service, its pods and its routes on the cluster, and ask only for what they do not say
    #[arg(long, conflicts_with = "local")]
    pub from_cluster: bool,
    /// The kubeconfig (default: as kubectl finds it, else the pod's service account)
    #[arg(long, value_name = "FILE", requires = "from_cluster")]
    pub kubeconfig: Option<PathBuf>,
    /// The context in it (default: its current one)
    #[arg(long, value_name = "CONTEXT", requires = "from_cluster")]
    pub context: Option<String>,
    /// A host name that its users type
    #[arg(long = "host", value_name = "HOST", required_unless_present = "from_cluster")]
    pub hosts: Vec<String>,
    /// What users are known by.
    #[command(flatten)]
    pub key: Key,
    /// The version that everyone is on (default: v1, or what the cluster says)
    #[arg(long, value_name = "VERSION")]
    pub stable: Option<String>,
    /// The version under test
    #[arg(long, value_name = "VERSION", required_unless_present = "from_cluster")]
    pub canary: Option<String>,
    /// The Gateway object that serves the host (default: istio-ingress/gateway, or what the cluster says)
    #[arg(long, value_name = "NAMESPACE/NAME")]
    pub gateway: Option<ReleaseName>,
    /// Whether browsers speak TLS with the host, at the gateway or in front of it (default: true, with --local false)
    #[arg(long, value_name = "BOOL")]
    pub tls: Option<bool>,
    /// Where the filter's module is: a URL, or with --local a path (default: embedded, the one in this tool)
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
    /// Where to write the signing keys, unless the file exists (with --local they are in the local directory)
    #[arg(
        long = "signing-keys",
        value_name = "FILE",
        default_value = "signing-keys.json",
        conflicts_with = "local"
    )]
    pub keys: PathBuf,
    /// Write canary.schema.json beside the file, and the line by which editors find it
    #[arg(long)]
    pub schema: bool,
    /// Overwrite the file, and the schema; keys are never overwritten
    #[arg(long)]
    pub force: bool,
    /// Print the file, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// What users are known by.
#[derive(Clone, Debug, Args)]
#[group(multiple = false)]
pub struct Key {
    /// The application's session cookie: sessions stay where they are
    #[arg(long, value_name = "NAME", required_unless_present_any = ["jwt_claim", "from_cluster"])]
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
