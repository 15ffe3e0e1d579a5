//! What is wrong, or will be, with a release and its cluster: what was observed becomes findings, all at once.
//!
//! ```text
//! examination  what was observed                      Service, Gateways, rights, proxies, keys
//! finding      what is wrong, the worst first         Release, Examination -> ClusterFinding
//! ```

mod examination;
mod finding;

pub use examination::{Area, Examination, KeyState, ProxyExamination, Refusal, ServiceExamination};
pub use finding::{ClusterFinding, Severity, findings};
