//! `controller`: the process that carries out `Release` objects.

use super::arguments::ClusterAccess;
use super::{rollout, target};
use crate::hint::ShellCommand;
use crate::report::{self, Printer};
use crate::{Error, Outcome, module};
use canary_controller::{
    Gauges, Host, Installation, NAME, Options, is_defined, run as run_controller, serve,
};
use canary_operations::{Access, Cluster, RolloutDriver};
use canary_release::resource::crd;
use canary_release::spec::{Label, Release, Seconds};
use canary_release::yaml;
use clap::Args;
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
  canary-ctl controller -n shop  the objects of one namespace")]
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
    #[command(flatten)]
    cluster: ClusterAccess,
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

pub(super) async fn run(arguments: &Controller, printer: &Printer) -> Result<Outcome, Error> {
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
    let gauges = Arc::new(Gauges::default());
    let format = printer.format;
    let log = move |line: &str| {
        let mut printer = Printer::of_process();
        printer.format = format;
        printer.message(&format!("{:.0} {line}", jiff::Timestamp::now()));
    };
    let options = Options {
        namespace: arguments.cluster.namespace.as_ref().map(ToString::to_string),
        lease: (arguments.lease_namespace.to_string(), NAME.to_owned()),
        identity: std::env::var("POD_NAME").unwrap_or_else(|_| format!("process {}", std::process::id())),
        interval: Duration::from_secs(arguments.interval.get()),
        log: Box::new(log),
        gauges: Arc::clone(&gauges),
    };
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
