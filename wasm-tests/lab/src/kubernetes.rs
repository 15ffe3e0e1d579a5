//! Kubernetes without nodes: etcd, API server and controller manager; and how a test is run beside them.

use std::io::Write as _;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use kube::Client;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::control_plane::{Access, Account, Addresses, ControlPlane, Site, client};
use super::error::LabError;
use super::objects::Kinds;
use super::space::{Network, Processes, on_thread, tail};
use super::{binaries, istio};

/// Set to keep the lab's folder, with all logs, when it ends.
const KEEP: &str = "LAB_KEEP";

/// A running API server. Dropping it ends everything; so does the end of the process, however it ends.
pub struct Kubernetes {
    /// Clients; its threads are in the lab's network. `None` only while the value is being dropped.
    runtime: Option<Runtime>,
    control_plane: Option<ControlPlane>,
    client: Option<Client>,
    pub(super) kinds: Kinds,
    access: Access,
    site: Arc<Site>,
    folder: Option<TempDir>,
}

impl Kubernetes {
    /// Starts an API server on the loopback interface, with the kinds of Istio and of the Gateway API and without Istio
    /// itself, in a few seconds. It needs no root.
    ///
    /// # Errors
    ///
    /// A program is missing, or does not become ready in time.
    pub fn start(accounts: &[Account]) -> Result<Self, LabError> {
        let addresses = Addresses::on_loopback().map_err(LabError::system("find free ports"))?;
        let kubernetes = Self::start_at(
            addresses,
            Network::of_the_machine(),
            |_| Ok(Processes::of_the_machine()),
            accounts,
        )?;
        kubernetes.enter(kubernetes.add_kinds())?;
        Ok(kubernetes)
    }

    pub(super) fn start_at(
        addresses: Addresses,
        network: Network,
        processes: impl FnOnce(&Network) -> std::io::Result<Processes>,
        accounts: &[Account],
    ) -> Result<Self, LabError> {
        let start = Instant::now();
        let mut new = Self::empty(addresses, network, processes, accounts)?;
        say("starting the control plane");
        new.control_plane = Some(new.enter(ControlPlane::start(&new.site, &new.access))?);
        new.client = Some(new.enter(client(&new.kubeconfig("admin")?))?);
        say(&format!("Kubernetes is up after {:.1} s", start.elapsed().as_secs_f32()));
        Ok(new)
    }

    fn empty(
        addresses: Addresses,
        network: Network,
        processes: impl FnOnce(&Network) -> std::io::Result<Processes>,
        accounts: &[Account],
    ) -> Result<Self, LabError> {
        let parts = || {
            let folder = TempDir::with_prefix("lab-")?;
            std::fs::create_dir(folder.path().join("logs"))?;
            let processes = processes(&network)?;
            let runtime = runtime(&network)?;
            Ok((folder, processes, runtime))
        };
        let (folder, processes, runtime) =
            parts().map_err(LabError::system("make the lab's processes and folder"))?;
        let accounts: Vec<_> = std::iter::once(Account::admin()).chain(accounts.iter().cloned()).collect();
        let access = Access::write(folder.path().join("access"), &accounts);
        let site =
            Site { addresses, network, processes, folder: folder.path().to_owned(), ended: Mutex::default() };
        Ok(Self {
            runtime: Some(runtime),
            control_plane: None,
            client: None,
            kinds: Kinds::default(),
            access: access.map_err(LabError::system("write tokens and keys"))?,
            site: Arc::new(site),
            folder: Some(folder),
        })
    }

    /// Adds the kinds of the Gateway API and of Istio, and Istio's namespace.
    async fn add_kinds(&self) -> Result<(), LabError> {
        self.kubectl(&["create", "namespace", istio::SYSTEM]).await?;
        self.add_gateway_api().await?;
        self.apply(&istio::kinds()?).await?;
        let wait = ["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"];
        self.kubectl(&wait).await.map(drop)
    }

    /// Adds the kinds of the Gateway API.
    pub(super) async fn add_gateway_api(&self) -> Result<(), LabError> {
        let kinds = std::fs::read_to_string(binaries::gateway_api()?);
        self.apply(&kinds.map_err(LabError::system("read the kinds of the Gateway API"))?).await
    }

    /// Runs the test in the lab's network, where its addresses are reachable, and its API server by
    /// [`Kubernetes::kubeconfig`].
    ///
    /// When it panics, the place of the logs is printed. Errors of the lab contain the ends of the logs that may
    /// explain them.
    pub fn run<T: Send>(&self, test: impl AsyncFnOnce(&Self) -> T + Send) -> T {
        let _logs = LogsOfAFailure(self);
        let start = Instant::now();
        let done = self.enter_with(|| test(self));
        print_time(start);
        done
    }

    /// Drives a future that belongs to the lab itself.
    pub(super) fn enter<T: Send>(&self, work: impl Future<Output = T> + Send) -> T {
        self.enter_with(|| work)
    }

    /// Drives this future on a thread of its own, in the lab's network.
    pub(super) fn enter_with<T: Send, F: Future<Output = T>>(&self, work: impl FnOnce() -> F + Send) -> T {
        on_thread(|| self.here(work())).unwrap_or_else(|error| no_thread(&error))
    }

    /// Drives a future on the calling thread, which moves into the lab's network for good.
    fn here<T>(&self, work: impl Future<Output = T>) -> T {
        match (self.site.network.enter(), &self.runtime) {
            (Ok(()), Some(runtime)) => runtime.block_on(work),
            (Err(error), _) => no_thread(&error),
            (_, None) => no_thread(&std::io::Error::other("the lab has ended")),
        }
    }

    /// A client with all rights.
    ///
    /// # Errors
    ///
    /// The API server does not run.
    pub fn client(&self) -> Result<Client, LabError> {
        self.client.clone().ok_or_else(|| LabError::Unexpected {
            what: "API server",
            expected: "one that runs",
            found: "none".to_owned(),
        })
    }

    /// A kubeconfig of this account (`admin`, or one of those that it was started with), for use in the lab's network.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn kubeconfig(&self, account: &str) -> Result<PathBuf, LabError> {
        self.kubeconfig_at(account, self.site.addresses.host, self.site.addresses.api)
    }

    /// A kubeconfig for an API server that is reached at another address.
    pub(super) fn kubeconfig_at(
        &self,
        account: &str,
        address: Ipv4Addr,
        port: u16,
    ) -> Result<PathBuf, LabError> {
        let account = Account { name: account.to_owned(), groups: Vec::new() };
        self.access.kubeconfig(&account, address, port).map_err(LabError::system("write a kubeconfig"))
    }

    /// The folder with the logs, `<namespace>.<pod>.<container>.log`; deleted with the lab, unless `LAB_KEEP` is set.
    pub fn logs(&self) -> PathBuf {
        self.site.folder.join("logs")
    }

    /// The ends of the logs whose names begin like this.
    pub fn log_tails(&self, prefix: &str) -> String {
        let files = std::fs::read_dir(self.logs()).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
        paths.sort();
        let wanted =
            |path: &&PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
        paths.iter().filter(wanted).map(|path| tail(path)).collect()
    }

    pub(super) fn site(&self) -> Arc<Site> {
        Arc::clone(&self.site)
    }

    /// The ends of the control plane's logs.
    pub(super) fn control_plane_logs(&self) -> String {
        self.control_plane.as_ref().map(ControlPlane::logs).unwrap_or_default()
    }

    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            drop(runtime.spawn(work));
        }
    }
}

impl Drop for Kubernetes {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        if std::env::var_os(KEEP).is_some()
            && let Some(folder) = self.folder.take()
        {
            say(&format!("kept: {}", folder.keep().display()));
        }
    }
}

/// A runtime whose threads are all in this network: threads are born where their parent is.
fn runtime(network: &Network) -> std::io::Result<Runtime> {
    on_thread(|| {
        network.enter()?;
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
    })?
}

/// Prints the place of the logs when its test fails.
struct LogsOfAFailure<'a>(&'a Kubernetes);

impl Drop for LogsOfAFailure<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let logs = self.0.logs();
            say(&format!("the logs are in {}; they are kept where LAB_KEEP is set", logs.display()));
        }
    }
}

#[expect(clippy::panic, reason = "a test cannot go on, and its closure returns no error of ours")]
fn no_thread<T>(error: &std::io::Error) -> T {
    panic!("cannot enter the lab: {error}")
}

/// Prints what the calling test took, past the capture of its output: libtest prints no times.
fn print_time(start: Instant) {
    let thread = std::thread::current();
    if let Some(test) = thread.name().filter(|name| name.contains("::")) {
        let line = format!("» {:.1} s: {test}\n", start.elapsed().as_secs_f32());
        // Without a terminal or a file to print to, nothing reads it.
        drop(std::io::stderr().write_all(line.as_bytes()));
    }
}

/// Prints progress to stderr.
#[expect(clippy::print_stderr, reason = "a lab takes seconds, and says what it is doing")]
pub(super) fn say(text: &str) {
    eprintln!("» {text}");
}
