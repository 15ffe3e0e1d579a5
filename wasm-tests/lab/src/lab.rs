//! All of it together: started in order, entered by tests, ended with the value.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use kube::Client;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::control_plane::{API_PORT, Access, Account, ControlPlane, Site, client};
use super::error::LabError;
use super::kubelet::{Image, Images, Kubelet, Networks};
use super::space::{NODE, Network, Processes, allow_watchers, node, on_thread, tail};
use super::{binaries, istio, kubelet};

/// Set to keep the lab's folder, with all logs, when it ends.
const KEEP: &str = "LAB_KEEP";

/// What differs from lab to lab.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Accounts of the API server besides `admin`, which has all rights.
    pub accounts: Vec<Account>,
    /// Further settings for `istioctl` (`meshConfig.enableAutoMtls=false`).
    pub settings: Vec<String>,
    /// Further images, by the last part of their name without the tag.
    pub images: BTreeMap<String, Image>,
}

/// A running cluster with Istio in it. Dropping it ends everything; so does the end of the process, however it ends.
pub struct Lab {
    /// Kubelet and clients; its threads are in the lab's network. `None` only while the lab is being dropped.
    runtime: Option<Runtime>,
    kubelet: Option<JoinSet<()>>,
    control_plane: Option<ControlPlane>,
    client: Option<Client>,
    access: Access,
    networks: Arc<Networks>,
    site: Arc<Site>,
    folder: Option<TempDir>,
}

impl Lab {
    /// Where proxies find the filter as a file, for `file://` urls.
    pub const FILTER: &'static str = kubelet::FILTER;

    /// Where pods reach what a test itself listens on.
    pub const NODE: std::net::Ipv4Addr = NODE;

    /// Starts everything and waits until istiod is ready: some ten seconds.
    pub fn start(options: Options) -> Result<Self, LabError> {
        let start = Instant::now();
        let mut lab = Self::empty(&options.accounts)?;
        say("starting the control plane");
        let images = Images::new(options.images)?;
        lab.control_plane = Some(lab.enter(ControlPlane::start(&lab.site, &lab.access))?);
        let client = lab.enter(client(&lab.kubeconfig("admin")?))?;
        lab.client = Some(client.clone());
        let kubelet = Kubelet::start(client, Arc::clone(&lab.site), images, Arc::clone(&lab.networks));
        lab.kubelet = Some(lab.enter(kubelet)?);
        say(&format!("Kubernetes is up after {:.1} s; installing Istio", start.elapsed().as_secs_f32()));
        let manifests = istio::manifests(&lab.site.network, &options.settings)?;
        lab.enter(lab.install(&manifests))?;
        say(&format!("the lab is up after {:.1} s", start.elapsed().as_secs_f32()));
        Ok(lab)
    }

    fn empty(accounts: &[Account]) -> Result<Self, LabError> {
        if let Err(error) = allow_watchers() {
            say(&format!(
                "agents may run out of file watchers (sysctl fs.inotify.max_user_instances): {error}"
            ));
        }
        let made = LabError::system("make the lab's namespaces and folder");
        let parts = || {
            let folder = TempDir::with_prefix("lab-")?;
            std::fs::create_dir(folder.path().join("logs"))?;
            let network = node()?;
            let processes = Processes::start(&network)?;
            let runtime = runtime(&network)?;
            Ok((folder, network, processes, runtime))
        };
        let (folder, network, processes, runtime) = parts().map_err(made)?;
        let accounts: Vec<_> = std::iter::once(Account::admin()).chain(accounts.iter().cloned()).collect();
        let access = Access::write(folder.path().join("access"), &accounts);
        Ok(Self {
            runtime: Some(runtime),
            kubelet: None,
            control_plane: None,
            client: None,
            access: access.map_err(LabError::system("write tokens and keys"))?,
            networks: Arc::default(),
            site: Arc::new(Site {
                network,
                processes,
                folder: folder.path().to_owned(),
                ended: Mutex::default(),
            }),
            folder: Some(folder),
        })
    }

    async fn install(&self, manifests: &str) -> Result<(), LabError> {
        self.kubectl(&["create", "namespace", istio::SYSTEM]).await?;
        // Before istiod, which looks for them when it starts.
        let kinds = std::fs::read_to_string(binaries::gateway_api()?);
        self.apply(&kinds.map_err(LabError::system("read the kinds of the Gateway API"))?).await?;
        self.apply(manifests).await?;
        self.rolled_out(istio::SYSTEM, "deployment/istiod").await
    }

    /// Runs the test in the lab's network, where its addresses are reachable, and its API server by
    /// [`Lab::kubeconfig`].
    ///
    /// When it panics, the place of the logs is printed. Errors of the lab contain the ends of the logs that may
    /// explain them.
    pub fn run<T: Send>(&self, test: impl AsyncFnOnce(&Self) -> T + Send) -> T {
        let _logs = LogsOfAFailure(self);
        on_thread(|| self.here(test(self))).unwrap_or_else(|error| no_thread(&error))
    }

    /// Drives a future that belongs to the lab itself.
    fn enter<T: Send>(&self, work: impl Future<Output = T> + Send) -> T {
        on_thread(|| self.here(work)).unwrap_or_else(|error| no_thread(&error))
    }

    /// Drives a future on the calling thread, which moves into the lab's network for good.
    fn here<T>(&self, work: impl Future<Output = T>) -> T {
        match (self.site.network.enter(), &self.runtime) {
            (Ok(()), Some(runtime)) => runtime.block_on(work),
            (Err(error), _) => no_thread(&error),
            (_, None) => no_thread(&std::io::Error::other("the lab has ended")),
        }
    }

    /// Does this in a pod's network, as a program of the pod would: a sidecar captures it. It blocks the calling thread.
    pub fn in_pod<T: Send>(
        &self,
        namespace: &str,
        pod: &str,
        work: impl AsyncFnOnce() -> T + Send,
    ) -> Result<T, LabError> {
        let network = self.networks.find(namespace, pod).ok_or_else(|| LabError::Unexpected {
            what: "pod",
            expected: "one that runs here",
            found: format!("{namespace}/{pod}"),
        })?;
        let inside = || {
            network.enter()?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            Ok(runtime.block_on(work()))
        };
        let done = tokio::task::block_in_place(|| on_thread(inside));
        done.and_then(|done| done).map_err(LabError::system("enter the pod's network"))
    }

    /// A client with all rights.
    pub fn client(&self) -> Result<Client, LabError> {
        self.client.clone().ok_or_else(|| LabError::Unexpected {
            what: "API server",
            expected: "one that runs",
            found: "none".to_owned(),
        })
    }

    /// A kubeconfig of this account (`admin`, or one of [`Options::accounts`]), for use in the lab's network.
    pub fn kubeconfig(&self, account: &str) -> Result<PathBuf, LabError> {
        self.kubeconfig_at(account, NODE, API_PORT)
    }

    /// A kubeconfig for an API server that is reached at another address.
    pub(super) fn kubeconfig_at(
        &self,
        account: &str,
        address: std::net::Ipv4Addr,
        port: u16,
    ) -> Result<PathBuf, LabError> {
        let account = Account { name: account.to_owned(), groups: Vec::new() };
        self.access.kubeconfig(&account, address, port).map_err(LabError::system("write a kubeconfig"))
    }

    /// A process in the lab's network, for `nsenter --net --target PID`.
    pub fn process(&self) -> u32 {
        self.site.processes.id()
    }

    /// The folder with the logs, `<namespace>.<pod>.<container>.log`; deleted with the lab, unless `LAB_KEEP` is set.
    pub fn logs(&self) -> PathBuf {
        self.site.folder.join("logs")
    }

    /// The proxies that ended by themselves since this was last called, a crash or a probe that failed, by the names of
    /// their logs and with their exit codes. What a test ends by deleting a pod is not among them.
    pub fn restarted_proxies(&self) -> Vec<String> {
        let mut ended = self.site.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let name = |log: &Path| log.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let all = ended.drain(..).map(|(log, code)| (name(&log), code));
        all.filter(|(log, _)| log.contains(".istio-proxy"))
            .map(|(log, code)| format!("{log}: {code}"))
            .collect()
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

impl Drop for Lab {
    fn drop(&mut self) {
        // First the kubelet, which would restart processes; the processes themselves end with `site`.
        drop(self.kubelet.take());
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
struct LogsOfAFailure<'a>(&'a Lab);

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

/// Prints progress to stderr.
#[expect(clippy::print_stderr, reason = "a lab takes seconds, and says what it is doing")]
pub(super) fn say(text: &str) {
    eprintln!("» {text}");
}
