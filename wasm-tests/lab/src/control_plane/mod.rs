//! A real control plane: etcd, API server, controller manager and kube-proxy. The scheduler and the kubelet are `kubelet`.
//!
//! There is one node, so nothing is left to schedule; the kubelet binds what is new.

mod access;
mod start;

pub(super) use access::Access;
pub use access::Account;
pub(super) use start::{Addresses, ControlPlane, Site, client};
