//! One pod's life: bound, given a network and volumes, started in order, and ended with its grace period.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::select_all;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Binding, Container, ObjectReference, Pod};
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::container::{self, Restart, State, Stop, note};
use super::node::NODE_NAME;
use super::prepare::Sandbox;
use super::status::Report;
use super::watch::Kubelet;

/// How long until something that the API server refused is tried again.
const RETRY: Duration = Duration::from_millis(300);
/// Changes within this time are reported together.
const GATHER: Duration = Duration::from_millis(20);
/// The grace period of a pod that names none.
const GRACE: i64 = 30;

/// A container that has been started, or will be.
#[derive(Debug)]
struct Running {
    container: Container,
    state: watch::Sender<State>,
    token: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// A pod, and what the tasks about it share.
struct Life {
    kubelet: Arc<Kubelet>,
    sandbox: Sandbox,
    started: Timestamp,
    /// Init containers, then the others.
    first: Vec<Running>,
    containers: Vec<Running>,
    initialized: watch::Sender<bool>,
    deadline: watch::Sender<Option<Instant>>,
}

/// Runs the pod. Returns when the pod is deleted, or its object does not exist any more.
pub(super) async fn live(kubelet: Arc<Kubelet>, mut pod: watch::Receiver<Pod>) {
    let object = pod.borrow().clone();
    let api: Api<Pod> = Api::namespaced(kubelet.client.clone(), &object.namespace().unwrap_or_default());
    let sandbox = tokio::select! {
        sandbox = prepare(&kubelet, &api, &object) => Some(sandbox),
        () = deleted(&mut pod) => None,
    };
    if let Some(sandbox) = sandbox {
        let life = Arc::new(Life::new(Arc::clone(&kubelet), sandbox));
        tokio::select! {
            never = life.start() => match never {},
            () = life.report(&api) => {}
            () = deleted(&mut pod) => {}
        }
        let grace = pod.borrow().metadata.deletion_grace_period_seconds.unwrap_or(GRACE);
        tokio::select! { () = life.end(grace) => {}, () = life.report(&api) => {} }
    }
    remove(&api, &object).await;
}

/// Binds the pod and makes what its containers share; tries again until it succeeds, as a kubelet does.
async fn prepare(kubelet: &Arc<Kubelet>, api: &Api<Pod>, pod: &Pod) -> Sandbox {
    let log = kubelet.site.log(&format!("{}.{}", pod.namespace().unwrap_or_default(), pod.name_any()));
    while let Err(error) = bind(api, pod).await {
        note(&log, &format!("cannot bind: {error}"));
        sleep(RETRY).await;
    }
    let address = kubelet.address();
    loop {
        match Sandbox::make(kubelet, pod, address).await {
            Ok(sandbox) => return sandbox,
            Err(error) => note(&log, &format!("not yet: {error}")),
        }
        sleep(RETRY).await;
    }
}

async fn bind(api: &Api<Pod>, pod: &Pod) -> Result<(), kube::Error> {
    if pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some()) {
        return Ok(());
    }
    let target =
        ObjectReference { kind: Some("Node".into()), name: Some(NODE_NAME.into()), ..Default::default() };
    let mut binding = Binding { target, ..Binding::default() };
    binding.metadata.name = Some(pod.name_any());
    let parameters = PostParams::default();
    let response: serde_json::Value =
        api.create_subresource("binding", &pod.name_any(), &parameters, &binding).await?;
    drop(response);
    Ok(())
}

/// Returns when the pod is to be deleted, or its object was deleted.
async fn deleted(pod: &mut watch::Receiver<Pod>) {
    drop(pod.wait_for(|pod| pod.metadata.deletion_timestamp.is_some()).await);
}

/// Deletes the pod from the API server: all its processes have ended.
async fn remove(api: &Api<Pod>, pod: &Pod) {
    let this_one = Preconditions { uid: pod.uid(), resource_version: None };
    let parameters = DeleteParams::default().grace_period(0).preconditions(this_one);
    while let Err(error) = api.delete(&pod.name_any(), &parameters).await {
        // Deleted already, or there is a new one of the same name.
        if matches!(&error, kube::Error::Api(status) if status.code == 404 || status.code == 409) {
            return;
        }
        sleep(RETRY).await;
    }
}

impl Running {
    fn new(container: &Container) -> Self {
        let state = watch::Sender::new(State::new());
        Self { container: container.clone(), state, token: CancellationToken::new(), task: Mutex::default() }
    }

    fn is_sidecar(&self) -> bool {
        self.container.restart_policy.as_deref() == Some("Always")
    }

    /// Waits until it has ended; one that was never started has.
    async fn ended(&self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            // An error is a panic of the task, which is an end as well.
            drop(task.await);
        }
    }
}

impl Life {
    fn new(kubelet: Arc<Kubelet>, sandbox: Sandbox) -> Self {
        let spec = sandbox.pod.spec.clone().unwrap_or_default();
        let first = spec.init_containers.iter().flatten().map(Running::new).collect();
        let containers = spec.containers.iter().map(Running::new).collect();
        let (initialized, deadline) = (watch::Sender::new(false), watch::Sender::new(None));
        Self { kubelet, sandbox, started: Timestamp::now(), first, containers, initialized, deadline }
    }

    /// Starts everything in order, and then never returns: each container runs on its own.
    async fn start(&self) -> std::convert::Infallible {
        for init in &self.first {
            let restart = if init.is_sidecar() { Restart::Always } else { Restart::OnFailure };
            self.launch(init, restart).await;
            if init.is_sidecar() {
                // The sender lives as long as the pod.
                drop(init.state.subscribe().wait_for(|state| state.started).await);
            } else {
                init.ended().await;
            }
        }
        self.initialized.send_replace(true);
        for container in &self.containers {
            self.launch(container, self.restart()).await;
        }
        std::future::pending().await
    }

    fn restart(&self) -> Restart {
        match self.sandbox.pod.spec.as_ref().and_then(|spec| spec.restart_policy.as_deref()) {
            Some("Never") => Restart::Never,
            Some("OnFailure") => Restart::OnFailure,
            _ => Restart::Always,
        }
    }

    async fn launch(&self, running: &Running, restart: Restart) {
        let place = loop {
            match self.sandbox.place(&self.kubelet, &running.container).await {
                Ok(place) => break place,
                Err(error) => {
                    note(&self.sandbox.log(&self.kubelet, &running.container.name), &error.to_string());
                }
            }
            sleep(RETRY).await;
        };
        let stop = Stop { token: running.token.clone(), deadline: self.deadline.subscribe() };
        let task = tokio::spawn(container::live(place, restart, stop, running.state.clone()));
        *running.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    /// Ends the containers, then the sidecars in reverse, all within this many seconds.
    async fn end(&self, grace: i64) {
        let grace = Duration::from_secs(u64::try_from(grace).unwrap_or(0));
        self.deadline.send_replace(Some(Instant::now() + grace));
        for container in &self.containers {
            container.token.cancel();
        }
        for container in &self.containers {
            container.ended().await;
        }
        for init in self.first.iter().rev() {
            init.token.cancel();
            init.ended().await;
        }
    }

    /// Reports every change to the API server, and returns when the pod has ended.
    async fn report(&self, api: &Api<Pod>) {
        let mut states: Vec<_> =
            self.first.iter().chain(&self.containers).map(|running| running.state.subscribe()).collect();
        let (mut initialized, mut deadline) = (self.initialized.subscribe(), self.deadline.subscribe());
        loop {
            for state in &mut states {
                state.mark_unchanged();
            }
            let report = self.seen();
            let patch = Patch::Merge(json!({"status": report.status()}));
            let name = self.sandbox.pod.name_any();
            if api.patch_status(&name, &PatchParams::default(), &patch).await.is_err() {
                // The pod was deleted, or the API server is not reachable; the watch reports which.
                sleep(RETRY).await;
                continue;
            }
            if matches!(report.phase(), "Succeeded" | "Failed") {
                return std::future::pending().await;
            }
            let mut changes = Vec::with_capacity(states.len());
            for state in &mut states {
                changes.push(Box::pin(state.changed()));
            }
            tokio::select! {
                _ = select_all(changes) => {}
                _ = initialized.changed() => {}
                _ = deadline.changed() => {}
            }
            sleep(GATHER).await;
        }
    }

    fn seen(&self) -> Report<'_> {
        Report {
            address: self.sandbox.address,
            started: self.started,
            first: self.first.iter().map(|one| (&one.container, one.state.borrow().clone())).collect(),
            containers: self
                .containers
                .iter()
                .map(|one| (&one.container, one.state.borrow().clone()))
                .collect(),
            initialized: *self.initialized.borrow(),
            ends: self.restart() != Restart::Always,
            going: self.deadline.borrow().is_some(),
        }
    }
}
