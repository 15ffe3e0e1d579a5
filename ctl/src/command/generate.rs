//! `generate`: read, make everything, and only then print it or write it.

use super::admission_policy::AdmissionPolicy;
use super::arguments::only_client;
use super::controller::Install;
use super::crd::Crd;
use super::rbac::Rbac;
use crate::hint::ShellCommand;
use crate::local::{Bootstrap, Environment, Layout, Lock, Plan, bootstrap};
use crate::report::Printer;
use crate::{Error, Outcome, module};
use assignment::Weight;
use canary_release::config::{self, KeyError, SigningKeys};
use canary_release::manifest::{self, Options, ReleaseInstance};
use canary_release::moved_users::Destination;
use canary_release::preflight::{Alternative, CheckFailed, PreflightCheck};
use canary_release::spec::{Local, Mode, Release, Routes};
use clap::{ArgAction, Args, Subcommand};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Print the Kubernetes objects of a release, or write the files of a local Envoy
#[derive(Clone, Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "For GitOps: what `apply` checks on the cluster is not checked.

Examples:
  canary-ctl generate --signing-keys signing-keys.json
  # two releases of one gateway
  canary-ctl generate -f shop.yaml -f api.yaml --signing-keys signing-keys.json
  # the files of a local Envoy, not written
  canary-ctl generate -f examples/local/canary.yaml --dry-run
  canary-ctl generate rbac --user alice | kubectl apply -f -"
)]
pub(super) struct Generate {
    #[command(subcommand)]
    pub(super) instead: Option<Instead>,
    /// The file that describes the release; several share what they have in common (of one local Envoy: module,
    /// addresses, cookies, debug header)
    #[arg(short, long = "file", value_name = "FILE", default_value = "canary.yaml")]
    pub(super) files: Vec<PathBuf>,
    /// The keys that sign and verify, as `init` draws them (not for the local target, which has its own)
    #[arg(long = "signing-keys", value_name = "FILE", env = "CANARY_CTL_SIGNING_KEYS")]
    pub(super) keys: Option<PathBuf>,
    /// The canary's share in percent, instead of the file's
    #[arg(long, value_name = "PERCENT")]
    pub(super) weight: Option<Weight>,
    /// The generation that the proxies report back (not for the local target, which counts automatically)
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) generation: u64,
    /// Print what would be written, keys redacted, and write nothing
    #[arg(long, value_name = "WHERE", action = ArgAction::Set, value_parser = only_client, num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none", hide_default_value = true)]
    pub(super) dry_run: bool,
    /// Write the files of a local Envoy although an edit moves users to another version or process
    #[arg(long = "skip-check", value_name = "CHECK", value_parser = [PreflightCheck::MovesUsers.name()])]
    pub(super) skipped: Vec<String>,
}

/// Other objects of a release that can be printed.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum Instead {
    /// Print the routes alone, for a chart or a repository that owns them; needs no signing keys
    Routes(RouteFiles),
    /// Print the rights that steering a release needs, as roles and their bindings
    Rbac(Rbac),
    /// Print a policy for the API server that refuses a Helm upgrade without the post-renderer
    AdmissionPolicy(AdmissionPolicy),
    /// Print what a controller needs in a cluster: definitions, rights, a Deployment of two replicas
    Controller(Install),
    /// Print the definition of canary.yaml as a kind of Kubernetes, so that a release can be an object of a cluster
    Crd(Crd),
}

/// Print the routes alone, for a chart or a repository that owns them; needs no signing keys
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl generate routes                 for route objects of yours
  canary-ctl generate routes --gateway-api | kubectl apply -f -
  canary-ctl generate routes --gateway-api --port 9000")]
pub(super) struct RouteFiles {
    /// Print routes of the Gateway API: each version needs a Service of its own, since they know no subsets
    #[arg(long)]
    pub(super) gateway_api: bool,
    /// Another port of the Service that is called inside the mesh (may be repeated): a route of the Gateway API is for one port
    #[arg(long = "port", value_name = "PORT", requires = "gateway_api", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) ports: Vec<u16>,
    /// The file that describes the release (may be repeated)
    #[arg(short, long = "file", value_name = "FILE", default_value = "canary.yaml")]
    pub(super) files: Vec<PathBuf>,
}

pub(super) async fn run(arguments: &Generate, printer: &mut Printer) -> Result<Outcome, Error> {
    match &arguments.instead {
        Some(Instead::Rbac(arguments)) => return super::rbac::run(arguments, printer),
        Some(Instead::AdmissionPolicy(arguments)) => {
            return super::admission_policy::run(arguments, printer);
        }
        Some(Instead::Controller(arguments)) => return super::controller::install(arguments, printer),
        Some(Instead::Crd(arguments)) => return super::crd::run(*arguments, printer),
        Some(Instead::Routes(of)) => return print_routes(&read(&of.files)?, of, printer),
        None => {}
    }
    let mut releases = read(&arguments.files)?;
    for release in &mut releases {
        release.weight = arguments.weight.unwrap_or(release.weight);
    }
    let local = releases.iter().filter(|release| release.delivery.mode == Mode::Local).count();
    if local == releases.len() {
        for (environment, group) in by_directory(&releases)? {
            generate_local(&environment, &group, arguments, printer).await?;
        }
        return Ok(Outcome::Done);
    }
    if local > 0 {
        return Err(Error::usage(
            "expected releases of one kind, found some with `delivery.mode: local` and some without",
            "generate them with two calls",
        ));
    }
    check_routes(&releases)?;
    print_manifests(&releases, arguments, printer)
}

fn read(files: &[PathBuf]) -> Result<Vec<Release>, Error> {
    files.iter().map(|file| Ok(module::load(file)?.release)).collect()
}

/// Refuses releases whose routes cannot be worked out from the file.
fn check_routes(releases: &[Release]) -> Result<(), Error> {
    let is_found = |routes: &&Routes| matches!(routes, Routes::Inject | Routes::GatewayApi);
    let Some(routes) = releases.iter().filter_map(|release| release.routes.as_ref()).find(is_found) else {
        return Ok(());
    };
    let found = routes.name();
    let from = if *routes == Routes::Inject { "what it is injected into" } else { "what it is beside" };
    Err(Error::usage(
        format!("expected `routes: managed` or `external`, found `{found}`: {from} is on the cluster"),
        "`canary-ctl diff` shows it, and `canary-ctl apply` does it",
    ))
}

/// Routes name versions and no secret: no keys are needed, and none are drawn.
fn print_routes(releases: &[Release], of: &RouteFiles, printer: &mut Printer) -> Result<Outcome, Error> {
    if releases.iter().any(|release| release.delivery.mode == Mode::Local) {
        return Err(Error::usage(
            "expected releases for a cluster, found one with `delivery.mode: local`: it has no route objects",
            "`canary-ctl generate` writes the routes of a local Envoy",
        ));
    }
    let members: Vec<_> = releases.iter().map(|release| ReleaseInstance::first(release, 1)).collect();
    let is_beside = releases.iter().any(|release| release.routes == Some(Routes::GatewayApi));
    if of.gateway_api && !is_beside {
        printer.yaml(&manifest::http_routes(&members, &of.ports.iter().copied().collect())?)?;
        return Ok(Outcome::Done);
    }
    check_routes(releases)?;
    let (keys, nothing, no_names) = (SigningKeys::placeholder(), BTreeMap::new(), BTreeMap::new());
    let options = Options { keys: &keys, show_keys: false, held: &nothing, resource_names: &no_names };
    let manifests = manifest::manifests(&members, options)?;
    let routes = manifests.iter().filter(|manifest| manifest.stage.is_route());
    printer.yaml(&routes.flat_map(|manifest| ["---\n", &manifest.text]).collect::<String>())?;
    Ok(Outcome::Done)
}

/// No keys are drawn here: keys that sign have to be kept to verify later. A dry run shows none and needs none.
fn print_manifests(
    releases: &[Release],
    arguments: &Generate,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let keys = match &arguments.keys {
        Some(path) => SigningKeys::read(path),
        None if arguments.dry_run => Ok(SigningKeys::placeholder()),
        None => Err(KeyError::Missing),
    };
    let keys = keys.map_err(config::Error::from)?;
    let nothing = BTreeMap::new();
    let options = Options {
        keys: &keys,
        show_keys: !arguments.dry_run,
        held: &nothing,
        resource_names: &BTreeMap::new(),
    };
    let members: Vec<_> =
        releases.iter().map(|release| ReleaseInstance::first(release, arguments.generation)).collect();
    printer.yaml(&manifest::documents(&members, options)?)?;
    Ok(Outcome::Done)
}

/// The releases by their directories, both in the order of the command line: what those of one directory share can change
/// only with all of them.
fn by_directory(releases: &[Release]) -> Result<Vec<(Environment, Vec<&Release>)>, Error> {
    let mut groups: Vec<(Environment, Vec<&Release>)> = Vec::new();
    for release in releases {
        let environment = Environment::of(release)?;
        let directory = environment.layout().directory();
        match groups.iter_mut().find(|(other, _)| other.layout().directory() == directory) {
            Some((_, group)) => group.push(release),
            None => groups.push((environment, vec![release])),
        }
    }
    Ok(groups)
}

async fn generate_local(
    environment: &Environment,
    releases: &[&Release],
    arguments: &Generate,
    printer: &mut Printer,
) -> Result<(), Error> {
    let Some(local) = releases.first().and_then(|release| release.delivery.local.as_ref()) else {
        return Ok(());
    };
    if arguments.dry_run {
        let plan = environment.dry_plan(releases)?;
        check_moved_users(environment, &plan, arguments)?;
        return preview(environment.layout(), local, &plan, printer);
    }
    let lock = Lock::take(environment.layout()).await?;
    let plan = environment.plan_all(releases)?;
    check_moved_users(environment, &plan, arguments)?;
    let restarts = environment.write_bootstrap(&Bootstrap::new(local.listen, local.admin))?;
    let applied = environment.apply(&lock, &plan).await?;
    let directory = environment.layout().directory();
    for release in releases {
        let generation = plan.generation(&release.name);
        printer.message(&format!(
            "{}: generation {generation} written to {}",
            release.name,
            directory.display()
        ));
    }
    match (applied.running, restarts) {
        (true, true) => printer.hint("envoy.yaml has changed: restart Envoy"),
        (false, _) => {
            let bootstrap = directory.join("envoy.yaml").display().to_string();
            let start = ShellCommand::new("envoy --config-path").quoted(&bootstrap, "FILE");
            printer.hint(&format!("{start} starts Envoy"));
        }
        (true, false) => {}
    }
    Ok(())
}

fn check_moved_users(environment: &Environment, plan: &Plan, arguments: &Generate) -> Result<(), Error> {
    let moved = environment.moved_users(plan)?;
    let Some(first) = moved.first().filter(|_| arguments.skipped.is_empty()) else { return Ok(()) };
    let alternative = match first.to {
        Destination::Version => Alternative::EndCanary,
        Destination::Pod => Alternative::EndSessions { deployments: Vec::new() },
    };
    let message = moved.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    Err(CheckFailed { check: PreflightCheck::MovesUsers, message, alternative }.into())
}

/// Prints the files as documents of one stream, each under its name.
fn preview(layout: &Layout, local: &Local, plan: &Plan, printer: &mut Printer) -> Result<(), Error> {
    let boot = bootstrap(layout, &Bootstrap::new(local.listen, local.admin))?;
    for (name, text) in std::iter::once(("envoy.yaml", boot)).chain(plan.preview()?) {
        printer.yaml(&format!("---\n# {name}\n{text}"))?;
    }
    Ok(())
}
