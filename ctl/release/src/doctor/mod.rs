//! What is wrong, or will be, with a release and its cluster: what was observed becomes findings, all at once.
//!
//! ```text
//! control_plane  versions of istiod and proxies, and whether they go together
//! examination  what was observed                      Service, Gateways, rights, proxies, keys
//! finding      what may be wrong, as data
//! findings     what is wrong, the worst first         Release, Examination -> ClusterFinding
//! ```

mod control_plane;
mod examination;
mod finding;
mod findings;

pub use control_plane::{ControlPlane, Istiod};
pub use examination::{
    Area, Examination, KeyState, NamedTarget, ProxyExamination, Refusal, ServiceExamination,
};
pub use finding::{ClusterFinding, Severity};
pub use findings::{findings, service_findings};
