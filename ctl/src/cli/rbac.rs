//! `canary-ctl generate rbac`.

use super::SpecFile;
use clap::Args;

/// Print the rights that steering a release needs, as roles and their bindings
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl generate rbac --user alice | kubectl apply -f -
  canary-ctl generate rbac --service-account ci/deployer -f shop.yaml")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct Rbac {
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Whose rights.
    #[command(flatten)]
    pub subject: Subject,
    /// Add what `prepare` needs: to read workloads of the proxies, and to patch their Deployments
    #[arg(long)]
    pub prepare: bool,
    /// Add what `twin adopt` needs: to patch Deployments, `ReplicaSets` and pods of the release's namespace
    #[arg(long)]
    pub adopt: bool,
    /// Add what `twin wait` needs, and `status` to see a Helm upgrade without the post-renderer: to list Deployments, `ReplicaSets` and
    /// events of the release's namespace, and to read the output of its pods
    #[arg(long)]
    pub twins: bool,
    /// Add what reads proxies through their kubelets, where the API server does not reach port 15090 of pods
    #[arg(long)]
    pub port_forward: bool,
}

/// Whose rights.
#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Subject {
    /// A user, as the API server knows them
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// A group
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// A service account, as NAMESPACE/NAME
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = account)]
    pub service_account: Option<String>,
}

fn account(text: &str) -> Result<String, String> {
    match text.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains('/') => {
            Ok(text.to_owned())
        }
        _ => Err("expected NAMESPACE/NAME".to_owned()),
    }
}
