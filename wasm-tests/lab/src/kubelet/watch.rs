//! The watch loop: each pod has a task of its own.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::api::Api;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{Config, Event, watcher};
use kube::{Client, ResourceExt as _};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::super::control_plane::Site;
use super::super::error::LabError;
use super::hosts::Hosts;
use super::image::Images;
use super::networks::Networks;
use super::node::NODE_NAME;
use super::{node, pod, port_forward};

/// What all pods share.
pub(crate) struct Kubelet {
    pub(super) client: Client,
    pub(super) site: Arc<Site>,
    pub(super) images: Images,
    pub(super) hosts: Arc<Hosts>,
    pub(super) networks: Arc<Networks>,
    /// Counts the addresses that were given away. None is given twice, as a cluster avoids it for as long as it can.
    addresses: AtomicU16,
}

impl Kubelet {
    /// Registers the node and works until the task is dropped.
    pub(crate) async fn start(
        client: Client,
        site: Arc<Site>,
        images: Images,
        networks: Arc<Networks>,
    ) -> Result<JoinSet<()>, LabError> {
        node::register(&client).await?;
        let hosts = Hosts::create(site.folder.join("hosts")).map_err(LabError::system("make a folder"))?;
        let hosts = Arc::new(hosts);
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&hosts).follow(client.clone()));
        let listener = port_forward::listen().await.map_err(LabError::system("listen as kubelet"))?;
        tasks.spawn(port_forward::serve(listener, Arc::clone(&networks)));
        let kubelet = Self { client, site, images, hosts, networks, addresses: AtomicU16::new(1) };
        tasks.spawn(Arc::new(kubelet).watch());
        Ok(tasks)
    }

    /// The next address of a pod, from 10.244.0.0/16.
    pub(super) fn address(&self) -> Ipv4Addr {
        let [third, fourth] = self.addresses.fetch_add(1, Ordering::Relaxed).wrapping_add(1).to_be_bytes();
        Ipv4Addr::new(10, 244, third, fourth)
    }

    async fn watch(self: Arc<Self>) {
        let pods: Api<Pod> = Api::all(self.client.clone());
        let mut events = Box::pin(watcher(pods, Config::default()).default_backoff());
        let mut lives: HashMap<String, watch::Sender<Pod>> = HashMap::new();
        let mut tasks = JoinSet::new();
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::Apply(pod) | Event::InitApply(pod)) => {
                    match lives.get(&pod.uid().unwrap_or_default()) {
                        // Fails when the pod's task has ended: its object is about to go.
                        Some(life) => drop(life.send(pod)),
                        None if is_over(&pod) || !is_of_this_node(&pod) => {}
                        None => {
                            let uid = pod.uid().unwrap_or_default();
                            let (tell, life) = watch::channel(pod);
                            tasks.spawn(pod::live(Arc::clone(&self), life));
                            lives.insert(uid, tell);
                        }
                    }
                }
                // The sender is dropped: the pod's task sees the closed channel, and ends what it started.
                Ok(Event::Delete(pod)) => drop(lives.remove(&pod.uid().unwrap_or_default())),
                // The watcher itself tries again.
                Ok(Event::Init | Event::InitDone) | Err(_) => {}
            }
        }
    }
}

/// Whether the pod is bound to the lab's node, or to none yet. What a test says of a pod on another node is left as it is.
fn is_of_this_node(pod: &Pod) -> bool {
    pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).is_none_or(|node| node == NODE_NAME)
}

/// Whether the pod has ended for good.
fn is_over(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}
