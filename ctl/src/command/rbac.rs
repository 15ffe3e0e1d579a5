//! `generate rbac`: read, make the objects, and print the rights that steering them needs.

use super::arguments::SpecFile;
use crate::report::{self, Printer};
use crate::{Error, Outcome, module};
use canary_release::destination_rule::ROOT_NAMESPACE;
use canary_release::rbac::{
    Rule, add_adoption_rights, add_port_forward_rights, add_restart_rights, add_rollout_rights,
    add_twin_rights, rules, secrets,
};
use canary_release::spec::{Mode, Release};
use clap::Args;
use placed_yaml as yaml;
use serde_json::{Value, json};

/// Print the rights that steering a release needs, as roles and their bindings
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl generate rbac --user alice | kubectl apply -f -
  canary-ctl generate rbac --service-account ci/deployer -f shop.yaml")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub(super) struct Rbac {
    #[command(flatten)]
    pub(super) spec: SpecFile,
    #[command(flatten)]
    pub(super) subject: Subject,
    /// Add what `prepare` needs: to read workloads of the proxies, and to patch their Deployments
    #[arg(long)]
    pub(super) prepare: bool,
    /// Add what `twin adopt` needs: to patch Deployments, ReplicaSets and pods of the release's namespace
    #[arg(long)]
    pub(super) adopt: bool,
    /// Add what `twin wait` needs, and `status` to see a Helm upgrade without the post-renderer: to list Deployments, ReplicaSets and
    /// events of the release's namespace, and to read the output of its pods
    #[arg(long)]
    pub(super) twins: bool,
    /// Add what reads proxies through their kubelets, where the API server does not reach port 15090 of pods
    #[arg(long)]
    pub(super) port_forward: bool,
}

/// Whose rights.
#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Subject {
    /// A user, as the API server knows them
    #[arg(long, value_name = "NAME")]
    pub(super) user: Option<String>,
    /// A group
    #[arg(long, value_name = "NAME")]
    pub(super) group: Option<String>,
    /// A service account, as NAMESPACE/NAME
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = account)]
    pub(super) service_account: Option<String>,
}

fn account(text: &str) -> Result<String, String> {
    match text.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains('/') => {
            Ok(text.to_owned())
        }
        _ => Err("expected NAMESPACE/NAME".to_owned()),
    }
}

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn run(arguments: &Rbac, printer: &mut Printer) -> Result<Outcome, Error> {
    let release = module::load(&arguments.spec.file)?.release;
    if release.delivery.mode == Mode::Local {
        let message = "expected a release for a cluster, found `delivery.mode: local`";
        return Err(Error::usage(message, "a local Envoy needs no rights but those of its files"));
    }
    let name = format!("canary-ctl-{}-{}", release.name.namespace, release.name.name);
    let mut text = String::new();
    let mut all = rules(&release).map_err(canary_operations::Error::from)?;
    add_rollout_rights(&mut all, &release);
    if arguments.prepare {
        add_restart_rights(&mut all, &release);
    }
    if arguments.adopt {
        add_adoption_rights(&mut all, &release);
    }
    if arguments.twins {
        add_twin_rights(&mut all, &release);
    }
    if arguments.port_forward {
        add_port_forward_rights(&mut all, &release);
    }
    let secrets = secrets(&release);
    for (namespace, rules) in all {
        if is_root_alone(&release, &namespace) {
            text += "# To see mesh-wide DestinationRules. Without it `apply` does not stop, and says that it does not see them.\n";
        }
        for name in secrets.get(&namespace).into_iter().flatten() {
            text += "---\n# Empty: `canary-ctl apply` fills it, without the right to create Secrets.\n";
            text += &yaml::block(&secret(name, &namespace)).map_err(report::Error::Yaml)?;
        }
        for object in [role(&name, &namespace, &rules), binding(&name, &namespace, &arguments.subject)] {
            text += "---\n";
            text += &yaml::block(&object).map_err(report::Error::Yaml)?;
        }
    }
    printer.yaml(&text)?;
    Ok(Outcome::Done)
}

/// Whether nothing of the release is in this namespace: rights there are good to have.
fn is_root_alone(release: &Release, namespace: &str) -> bool {
    let mut proxies = release.gateways.iter().map(|gateway| &gateway.pods).chain(&release.sidecars);
    namespace == ROOT_NAMESPACE
        && release.name.namespace.as_str() != namespace
        && proxies.all(|pods| pods.namespace.as_str() != namespace)
}

fn metadata(name: &str, namespace: &str) -> Value {
    json!({"name": name, "namespace": namespace})
}

fn secret(name: &str, namespace: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata(name, namespace), "type": "Opaque"})
}

fn role(name: &str, namespace: &str, rules: &[Rule]) -> Value {
    json!({
        "apiVersion": format!("{GROUP}/v1"),
        "kind": "Role",
        "metadata": metadata(name, namespace),
        "rules": rules,
    })
}

fn binding(name: &str, namespace: &str, subject: &Subject) -> Value {
    let subject = match (&subject.user, &subject.group, &subject.service_account) {
        (Some(user), _, _) => json!({"kind": "User", "name": user, "apiGroup": GROUP}),
        (_, Some(group), _) => json!({"kind": "Group", "name": group, "apiGroup": GROUP}),
        (_, _, account) => {
            let (namespace, account) =
                account.as_deref().and_then(|account| account.split_once('/')).unwrap_or_default();
            json!({"kind": "ServiceAccount", "name": account, "namespace": namespace})
        }
    };
    json!({
        "apiVersion": format!("{GROUP}/v1"),
        "kind": "RoleBinding",
        "metadata": metadata(name, namespace),
        "roleRef": {"apiGroup": GROUP, "kind": "Role", "name": name},
        "subjects": [subject],
    })
}
