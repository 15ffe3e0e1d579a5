//! `controller`: the process that carries out `Release` objects.

use super::arguments::{ClusterAccess, Output, only_client};
use super::{rollout, target};
use crate::hint::ShellCommand;
use crate::report::{self, Format, PlanReport, Printer, Report, escape};
use crate::{Error, Outcome, module};
use canary_controller::{
    Gauges, Host, Installation, NAME, Options, Preview, PreviewAction, is_defined, preview,
    run as run_controller, serve,
};
use canary_operations::{Access, Cluster, RolloutDriver};
use canary_release::resource::crd;
use canary_release::spec::{Label, Release, Seconds};
use clap::{ArgAction, Args};
use placed_yaml as yaml;
use serde::Serialize;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// Carry out the Release objects of a cluster, as a process in it
#[derive(Clone, Debug, Args)]
#[command(after_help = "`canary-ctl generate controller` prints what it needs in a cluster: the
definitions of Release and ReleaseGrant, rights and a Deployment. One replica
works, the others wait for its Lease.

Examples:
  canary-ctl controller          every namespace, from a terminal
  canary-ctl controller -n shop  the objects of one namespace
  canary-ctl controller --dry-run  print what each release would get now")]
pub(super) struct Controller {
    /// The namespace of the Lease of the replica that works
    #[arg(long, value_name = "NAMESPACE", env = "POD_NAMESPACE", default_value = "default")]
    lease_namespace: Label,
    /// The time between two observations of a rollout
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    interval: Seconds,
    /// Serve probes and metrics on this address
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Print what each release would get now, and write nothing
    #[arg(long, value_name = "WHERE", action = ArgAction::Set, value_parser = only_client, num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none", hide_default_value = true)]
    dry_run: bool,
    #[command(flatten)]
    cluster: ClusterAccess,
    #[command(flatten)]
    output: Output,
}

/// The previews of releases.
#[derive(Clone, Debug, Serialize)]
struct PreviewReport {
    releases: Vec<Preview>,
}

impl Report for PreviewReport {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for Preview { release, action, reason, request, plan } in &self.releases {
            if let Some(request) = request {
                writeln!(out, "{release}: first the request `{}`", request.as_str())?;
            }
            let does = match action {
                PreviewAction::Nothing => "nothing",
                PreviewAction::Apply => "apply",
                PreviewAction::StartRollout => "start",
                PreviewAction::Drive => "drive",
                PreviewAction::Finish => "finish the drain",
                PreviewAction::Wait => "wait",
                PreviewAction::Refuse => "refuse",
                PreviewAction::Remove => "stable for all users, then uninstall",
            };
            let reason =
                if reason.is_empty() { String::new() } else { format!(": {}", escape::line(reason)) };
            writeln!(out, "{}: {does}{reason}", escape::line(release))?;
            if let Some(plan) = plan {
                PlanReport::written(plan, false).text(out)?;
            }
        }
        Ok(())
    }
}

/// The HTTP clients of this program, and its module.
struct Program;

impl Host for Program {
    fn embed_module(&self, release: &mut Release) {
        release.delivery.module.embed(module::carried());
    }

    fn driver<'c>(&self, cluster: &'c Cluster, release: &Release) -> RolloutDriver<'c> {
        rollout::driver(cluster, &release.name, release.rollout.clone(), TIMEOUT)
    }
}

/// The wait for proxies at a promotion or a rollback; the next observation continues.
const TIMEOUT: Duration = Duration::from_mins(1);

pub(super) async fn run(arguments: &Controller, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let cluster = target::connect(&arguments.cluster).await?;
    // A watch is silent while nothing changes.
    let access = Access { on_silence: None, ..arguments.cluster.access() };
    let client = access.client().await?;
    let namespace = arguments.cluster.namespace.as_ref().map(Label::as_str);
    if !is_defined(&client, namespace).await.map_err(Error::Objects)? {
        let list = ShellCommand::new("canary-ctl list -n").name(namespace.unwrap_or("default"), "NAMESPACE");
        return Err(Error::usage(
            "expected the definition of Release (canary-ctl.io) in the cluster, found none",
            format!("`canary-ctl generate controller` prints it; {list} shows releases without a controller"),
        ));
    }
    if arguments.dry_run {
        let releases = preview(&client, &cluster, Program, namespace).await.map_err(Error::Objects)?;
        printer.report(&PreviewReport { releases })?;
        return Ok(Outcome::Done);
    }
    let gauges = Arc::new(Gauges::default());
    let options = options(arguments, printer.format, &gauges);
    let probes = async {
        match arguments.listen {
            Some(address) => {
                let listener =
                    TcpListener::bind(address).await.map_err(|source| Error::Listen { address, source })?;
                serve(listener, gauges).await;
                Ok::<(), Error>(())
            }
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        done = Box::pin(run_controller(client, &cluster, Program, options)) => done?,
        done = probes => done?,
        // The end of a pod. The Lease is given back, so that another replica works at once.
        () = terminated() => {}
    }
    Ok(Outcome::Done)
}

fn options(arguments: &Controller, format: Format, gauges: &Arc<Gauges>) -> Options {
    let log = move |line: &str| {
        let mut printer = Printer::of_process();
        printer.format = format;
        printer.message(&format!("{:.0} {line}", jiff::Timestamp::now()));
    };
    Options {
        namespace: arguments.cluster.namespace.as_ref().map(ToString::to_string),
        lease: (arguments.lease_namespace.to_string(), NAME.to_owned()),
        identity: rollout::process_name(),
        interval: Duration::from_secs(arguments.interval.get()),
        log: Box::new(log),
        gauges: Arc::clone(gauges),
    }
}

async fn terminated() {
    match signal(SignalKind::terminate()) {
        Ok(mut terminated) => drop(terminated.recv().await),
        Err(_) => std::future::pending().await,
    }
}

/// Print what a controller needs in a cluster: definitions, rights, a Deployment of two replicas
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl generate controller --image registry.example.com/canary-ctl:1 \\
    | kubectl apply --server-side -f -
  canary-ctl generate controller --image IMAGE --only shop")]
pub(super) struct Install {
    /// The image with this tool: `canary-ctl module save` is not it
    #[arg(long, value_name = "IMAGE")]
    image: String,
    /// The namespace of the controller
    #[arg(long, value_name = "NAMESPACE", default_value = "canary-system")]
    namespace: String,
    /// The namespace of the objects that it carries out (default: all)
    #[arg(long, value_name = "NAMESPACE")]
    only: Option<String>,
}

pub(super) fn install(arguments: &Install, printer: &mut Printer) -> Result<Outcome, Error> {
    let Install { image, namespace, only } = arguments;
    let mut text = String::new();
    let installation = Installation { namespace, image, only: only.as_deref() };
    for object in std::iter::once(crd()).chain(installation.objects()) {
        text += "---\n";
        text += &yaml::block(&object).map_err(report::Error::Yaml)?;
    }
    printer.yaml(&text)?;
    Ok(Outcome::Done)
}
