//! A stand-in for scheduler, kubelet and container runtime: pods of the API server become processes.
//!
//! ```text
//! node         the Node object                                  (there is one)
//! watch        pods are created, changed and deleted            -> one task a pod
//! hosts        services' names, in the place of a cluster's DNS
//! pod          bind, init containers, containers, and termination with its grace period
//! prepare      network and volumes of a pod; files, program and user of a container
//! image        which files of this machine an image stands for
//! field        values of the downward API
//! environment  the variables of a container
//! volume       what is mounted: empty folders, ConfigMaps, Secrets, tokens, the downward API
//! container    started, probed, restarted, stopped
//! probe        HTTP, TCP and commands, with their periods and thresholds
//! status       the status that is reported to the API server
//! port_forward the kubelet's own server, for port-forwarding    -> a port in a pod's network
//! ```
//!
//! Not implemented: limits of CPU and memory, images, a cluster's DNS for names that are no services, `exec`
//! and `kubectl logs` (a kubelet's own server), `kubectl port-forward` (it speaks SPDY or tunnels it; a client that speaks the channels of a WebSocket
//! is served), and later changes of what is mounted.

mod container;
mod environment;
mod field;
mod hosts;
mod image;
mod networks;
mod node;
mod pod;
mod port_forward;
mod prepare;
mod probe;
mod status;
mod volume;
mod watch;

pub(super) use image::Images;
pub use image::{FILTER, Image, proxy_image};
pub(super) use networks::Networks;
pub(super) use node::NODE_NAME;
pub(super) use watch::Kubelet;
