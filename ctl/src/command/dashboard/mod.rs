//! `dashboard`: connect, listen on loopback, print the URL, serve until Ctrl-C.
//!
//! ```text
//! cluster   the releases of a cluster       records, proxies  -> ReleaseView
//! local     those of a local Envoy          state, statistics -> ReleaseView
//! change    what the page changes           ChangeRequest     -> ChangeReport
//! ```

mod change;
mod cluster;
mod local;

use super::arguments::{ClusterAccess, ReleaseArguments};
use super::target;
use crate::command::named_release::{self, InvalidFile};
use crate::local::Environment;
use crate::report::{Printer, with_causes};
use crate::{Error, Outcome};
use canary_dashboard::{AccessToken, ApiError, ReleaseSource, RequestCheck, serve};
use canary_operations::Error as Operation;
use canary_release::spec::ReleaseName;
use clap::Args;
use cluster::ClusterSource;
use hyper::StatusCode;
use local::LocalSource;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;

/// Show and change releases on a page on this machine: versions, users, responses, proxies, problems
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl dashboard              the release of canary.yaml
  canary-ctl dashboard blog/web     another release
  canary-ctl dashboard --all        all that the kubeconfig may see
  canary-ctl dashboard --read-only  without buttons
  canary-ctl dashboard --port 8001  through `ssh -L 8001:127.0.0.1:8001`

The page is served on 127.0.0.1 until Ctrl-C. Its URL contains a random token,
without which there are no data. It reads what `status` reads, with the rights
of the kubeconfig. Its buttons do what `weight`, `pause`, `resume`, `rollback`
and the verbs of `rollout` do: the page shows what will happen, and asks.")]
pub(super) struct Dashboard {
    #[command(flatten)]
    pub(super) of: ReleaseArguments,
    /// All visible releases, or with `--namespace` those in it
    #[arg(short, short_alias = 'A', long, alias = "all-namespaces", conflicts_with_all = ["release", "named"])]
    pub(super) all: bool,
    /// Show no buttons, and refuse every change
    #[arg(long)]
    pub(super) read_only: bool,
    /// The port of 127.0.0.1; 0 is a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(super) port: u16,
    #[command(flatten)]
    pub(super) cluster: ClusterAccess,
}

pub(super) async fn run(arguments: &Dashboard, printer: &mut Printer) -> Result<Outcome, Error> {
    if arguments.all {
        let cluster = target::connect(&arguments.cluster).await?;
        let namespaces = arguments.cluster.namespace.iter().map(ToString::to_string).collect();
        return show(arguments, None, ClusterSource::of_all(cluster, namespaces), printer).await;
    }
    let found = named_release::find(&arguments.of, &arguments.cluster, InvalidFile::Ignored)?;
    let name = &found.name;
    if let Some(document) = found.local() {
        let environment = Environment::of(&document.release)?;
        target::without_cluster(document, &arguments.cluster)?;
        environment.state()?.release(environment.layout(), &format!("{name}"))?;
        return show(arguments, Some(name), LocalSource::new(environment), printer).await;
    }
    let cluster = target::connect(&arguments.cluster).await?;
    // A release that does not exist is an error of the command and no empty page.
    let named = target::config_objects(found.document.as_ref())?;
    cluster.show_record(name, &named).await?;
    let source = ClusterSource::of_one(cluster, name.clone(), named);
    show(arguments, Some(name), source, printer).await
}

/// Serves the page. The URL names the release that it opens with.
async fn show(
    arguments: &Dashboard,
    release: Option<&ReleaseName>,
    source: impl ReleaseSource + 'static,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let listen = async || {
        let listener = TcpListener::bind(address).await?;
        let port = listener.local_addr()?.port();
        Ok((listener, port))
    };
    let (listener, port) = listen().await.map_err(|source| Error::Listen { address, source })?;
    let token = AccessToken::random().map_err(canary_release::config::Error::from)?;
    let release = release.map(|name| format!("&release={name}")).unwrap_or_default();
    printer.data(&format!("http://127.0.0.1:{port}/#token={}{release}\n", token.as_str()))?;
    printer.message("the dashboard is served on this machine until Ctrl-C; who has the URL has your rights");
    let check = RequestCheck::new(token, port);
    let check = if arguments.read_only { check.read_only() } else { check };
    serve(listener, check, source).await;
    Ok(Outcome::Done)
}

/// An error as the page shows it.
fn api_error(error: &Error) -> ApiError {
    let status = match error {
        Error::Cluster(Operation::Forbidden { .. }) => StatusCode::FORBIDDEN,
        Error::Cluster(Operation::Generation { .. } | Operation::Preflight(_) | Operation::Rollout(_))
        | Error::Preflight(_)
        | Error::Local(crate::local::Error::ConcurrentChange { .. })
        | Error::Usage { .. } => StatusCode::CONFLICT,
        _ => StatusCode::BAD_GATEWAY,
    };
    ApiError { status, error: with_causes(error), hint: error.hint() }
}
