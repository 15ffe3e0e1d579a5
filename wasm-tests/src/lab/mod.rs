//! A real Kubernetes and a real Istio as child processes, without containers, in a corner of the machine of their own.
//!
//! ```text
//! binaries       what ./x lab-tools has built
//! space          network, process and mount namespaces, and programs in them
//! control_plane  etcd, API server, controller manager, kube-proxy
//! kubelet        pods become processes
//! istio          istiod and its webhooks, as istioctl renders them
//! lab            all of it together, and how a test is run in it
//! kubectl, helm  what a test does to the cluster
//! stage          the shop and a gateway, for one test
//! catalog        a second service, which the shop calls
//! registry       images of the filter, and where the agents fetch them
//! forward        ways in from outside, for a person
//! ```
//!
//! What is real and what stands in for something is in `docs/istio.md`.

mod binaries;
mod catalog;
mod control_plane;
mod error;
mod forward;
mod helm;
mod istio;
mod kubectl;
mod kubelet;
#[expect(clippy::module_inception, reason = "the lab itself, beside its parts")]
mod lab;
mod manifest;
mod registry;
mod space;
mod stage;

pub use control_plane::Account;
pub use error::LabError;
pub use helm::Helm;
pub use kubelet::Image;
pub use lab::{Lab, Options};
pub use registry::{Pushed, Registry, sha256};
pub use stage::{Stage, StageOptions};
