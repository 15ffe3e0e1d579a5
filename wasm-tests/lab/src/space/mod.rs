//! The isolation of a lab: namespaces of the kernel, and processes that start in them.
//!
//! No name is visible to another lab, and nothing outlives the test: the process namespace ends with its first process,
//! which ends when the test's end of a pipe closes, also when the test is killed; networks are kept by open files.

mod exec;
mod limits;
mod network;
mod pod_network;
mod process;
mod processes;
mod root;
mod thread;

pub(super) use exec::exec;
pub(super) use limits::allow_watchers;
pub(super) use network::Network;
pub(super) use pod_network::{node, pod};
pub(super) use process::{Ended, Process, tail};
pub(super) use processes::Processes;
pub(super) use root::{Mount, Root};
pub(super) use thread::on_thread;

/// The address of the lab's node: API server, kubelet, and the next hop of every pod.
pub(super) const NODE: std::net::Ipv4Addr = std::net::Ipv4Addr::new(10, 244, 0, 1);

/// Addresses of services; pods are in 10.244.0.0/16.
pub(super) const SERVICES: &str = "10.96.0.0/16";
