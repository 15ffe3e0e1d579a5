//! The status of a release on a cluster: what was observed of it, and what is wrong.
//!
//! ```text
//! proxy        what one proxy runs                                       metrics              -> ProxyStatus
//! proxy_fault  why a proxy does not report it
//! observation  record, pods, objects, routes and proxies at one moment
//! window       requests between two observations                         Traffic              -> WindowTraffic
//! share        the canary's share of them, with its interval             WindowTraffic        -> ObservedShare
//! lost_cookies clients that do not return the filter's cookies           WindowTraffic        -> LostCookies
//! session_cookie  a session cookie that the application does not set    WindowTraffic        -> WrongCookie
//! open_fuse    proxies that send new sessions to stable               Observation          -> OpenFuse
//! embedded_at_scale  an embedded module where a registry is better   Observation -> EmbeddedAtScale
//! summary      what the record alone says, in one line                   Record               -> ReleaseSummary
//! readiness    whether the pods of a version are ready, and why not      Deployments, pods    -> VersionReadiness
//! adopted_template  what the pods were when they got the version label  ReplicaSets
//! template_drift  pods of a version that another template replaces    Deployments          -> TemplateDrift
//! lost_subsets      versions without a subset
//! next_step    what comes next in the usual course                  Observation          -> NextStep
//! unfinished_deployment  what a promotion leaves to Helm, Argo CD or Flux  Deployments -> UnfinishedDeployment
//! controller   what a controller that carries the release out says of it   Record, object -> ControllerStatus
//! problem      what may be wrong, as data
//! problems     what is wrong, the worst first                            Observation, share   -> Problem
//! ```

mod adopted_template;
mod controller;
mod embedded_at_scale;
mod lost_cookies;
mod lost_subsets;
mod next_step;
mod observation;
mod open_fuse;
mod problem;
mod problems;
mod proxy;
mod proxy_fault;
mod readiness;
mod session_cookie;
mod share;
mod summary;
mod template_drift;
mod unfinished_deployment;
mod window;

pub use controller::ControllerStatus;
pub use embedded_at_scale::EmbeddedAtScale;
pub use lost_cookies::LostCookies;
pub use lost_subsets::{LostSubset, lost_subsets};
pub use next_step::NextStep;
pub use observation::{ObjectStatus, Observation, ReadyPods};
pub use open_fuse::OpenFuse;
pub use problem::Problem;
pub use problems::problems;
pub use proxy::ProxyStatus;
pub use proxy_fault::ProxyFault;
pub use readiness::{ReadinessFailure, VersionReadiness};
pub use session_cookie::{SessionCookie, WrongCookie};
pub use share::{ObservedShare, Share};
pub use summary::{Condition, ReleaseSummary};
use template_drift::HELM_RELEASE;
pub use template_drift::{TemplateDrift, Workloads};
pub use unfinished_deployment::{HelmRelease, UnfinishedDeployment};
pub use window::{TrafficWindow, WindowTraffic};
