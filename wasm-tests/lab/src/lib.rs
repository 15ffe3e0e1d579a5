//! A real Kubernetes and a real Istio as child processes, without containers, in namespaces of the kernel.
//!
//! ```text
//! binaries       what ./x lab-tools has built
//! space          network, process and mount namespaces, and programs in them
//! control_plane  etcd, API server, controller manager, kube-proxy
//! kubernetes     the control plane alone, and how a test is run beside it
//! kubelet        pods become processes
//! istio          istiod and its webhooks, as its charts render them
//! lab            all of it together
//! objects, kubectl, helm   what a test does to the cluster
//! registry       where the agents fetch images of the filter
//! forward        forwarded ports, for interactive use
//! ```
//!
//! What is real and what stands in for something is in `docs/istio.md`.

mod binaries;
mod control_plane;
mod error;
mod forward;
mod helm;
mod istio;
mod kubectl;
mod kubelet;
mod kubernetes;
mod lab;
mod manifest;
mod objects;
mod registry;
mod space;

pub use control_plane::Account;
pub use error::LabError;
pub use helm::Helm;
pub use kubelet::{FILTER, Image, proxy_image};
pub use kubernetes::Kubernetes;
pub use lab::{Lab, Options};
pub use manifest::{Objects, documents, parse};
pub use registry::{Registry, push, sha256};
