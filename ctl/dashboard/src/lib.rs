//! The dashboard: a page on the loopback interface that shows releases as they are and changes them, and the JSON that it reads.
//!
//! ```text
//! view     what the page shows of a release             Observation  -> ReleaseView
//! rollout  what it shows of its rollout                Record       -> RolloutProgress
//! failures failures of both versions over time          record, counts -> FailureInterval
//! crowd    users by version, as far as counters say it  counts       -> dots
//! change   what the page asks to change                  JSON         -> ChangeRequest
//! route    what a request asks for                      method, path -> DashboardRoute
//! access   who may ask for it                           head         -> Rejection
//! assets   the files of the page, part of the binary    name         -> bytes
//! respond  responses, each with the security headers    view         -> Response
//! server   connections                                  listener, ReleaseSource
//! ```
//!
//! All but `server` is pure. Where the views come from is a [`ReleaseSource`]: `ctl/src/command/dashboard/`.
//!
//! The threats are other sites in the same browser and other users of the same machine. A request has to name this server in `Host`
//! (DNS rebinding), and, for data and changes, carry a random token in `Authorization`: no other site can add that header without a preflight
//! request, which this server refuses. The token is no cookie, because cookies of `127.0.0.1` are sent to every port of it.

mod access;
mod assets;
mod change;
mod crowd;
mod failures;
mod respond;
mod rollout;
mod route;
mod server;
mod source;
mod view;

pub use access::{AccessToken, Rejection, RequestCheck};
pub use change::{ChangeKind, ChangeReport, ChangeRequest};
pub use crowd::{CROWD, crowd};
pub use rollout::{EvidenceView, RolloutProgress, StepView};
pub use route::DashboardRoute;
pub use server::serve;
pub use source::{ApiError, ReleaseRow, ReleaseSource};
pub use view::{HistoryView, ProblemView, ProxyView, ReleaseView, VersionView};
