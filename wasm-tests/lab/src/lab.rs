//! All of it together: started in order, entered by tests, ended with the value.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use tokio::task::JoinSet;

use super::control_plane::{Account, Addresses};
use super::error::LabError;
use super::istio;
use super::kubelet::{self, Image, Images, Kubelet, Networks};
use super::kubernetes::{Kubernetes, say};
use super::space::{NODE, Processes, allow_watchers, node, on_thread};

/// What differs from lab to lab.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Accounts of the API server besides `admin`, which has all rights.
    pub accounts: Vec<Account>,
    /// Further values of Istio's charts (`meshConfig.enableAutoMtls=false`).
    pub settings: Vec<String>,
    /// Further images, by the last part of their name without the tag.
    pub images: BTreeMap<String, Image>,
}

/// A running cluster with Istio in it. Dropping it ends everything; so does the end of the process, however it ends.
pub struct Lab {
    // Dropped first: it would restart processes.
    _kubelet: JoinSet<()>,
    networks: Arc<Networks>,
    kubernetes: Kubernetes,
}

impl Deref for Lab {
    type Target = Kubernetes;

    fn deref(&self) -> &Kubernetes {
        &self.kubernetes
    }
}

impl Lab {
    /// Where proxies find the filter as a file, for `file://` urls.
    pub const FILTER: &'static str = kubelet::FILTER;

    /// Where pods reach what a test itself listens on.
    pub const NODE: std::net::Ipv4Addr = NODE;

    /// Starts everything and waits until istiod is ready: some ten seconds.
    pub fn start(options: Options) -> Result<Self, LabError> {
        if let Err(error) = allow_watchers() {
            say(&format!(
                "agents may run out of file watchers (sysctl fs.inotify.max_user_instances): {error}"
            ));
        }
        let start = Instant::now();
        let images = Images::new(options.images)?;
        let network = node().map_err(LabError::system("make the lab's network"))?;
        let kubernetes =
            Kubernetes::start_at(Addresses::of_a_node(), network, Processes::start, &options.accounts)?;
        let networks = Arc::default();
        let kubelet = Kubelet::start(kubernetes.client()?, kubernetes.site(), images, Arc::clone(&networks));
        let kubelet = kubernetes.enter(kubelet)?;
        let lab = Self { _kubelet: kubelet, networks, kubernetes };
        say("installing Istio");
        let manifests = istio::manifests(&lab.site().network, &options.settings)?;
        lab.enter(lab.install(&manifests))?;
        say(&format!("the lab is up after {:.1} s", start.elapsed().as_secs_f32()));
        Ok(lab)
    }

    async fn install(&self, manifests: &str) -> Result<(), LabError> {
        self.kubectl(&["create", "namespace", istio::SYSTEM]).await?;
        // Before istiod, which looks for them when it starts.
        self.add_gateway_api().await?;
        self.apply(manifests).await?;
        self.rolled_out(istio::SYSTEM, "istiod").await
    }

    /// Runs the test as [`Kubernetes::run`] does.
    pub fn run<T: Send>(&self, test: impl AsyncFnOnce(&Self) -> T + Send) -> T {
        self.kubernetes.run(async |_: &Kubernetes| test(self).await)
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

    /// A process in the lab's network, for `nsenter --net --target PID`.
    pub fn process(&self) -> u32 {
        self.site().processes.id()
    }

    /// The proxies that ended by themselves since this was last called, a crash or a probe that failed, by the names of
    /// their logs and with their exit codes. What a test ends by deleting a pod is not among them.
    pub fn restarted_proxies(&self) -> Vec<String> {
        let site = self.site();
        let mut ended = site.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let name = |log: &Path| log.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let all = ended.drain(..).map(|(log, code)| (name(&log), code));
        all.filter(|(log, _)| log.contains(".istio-proxy"))
            .map(|(log, code)| format!("{log}: {code}"))
            .collect()
    }
}
