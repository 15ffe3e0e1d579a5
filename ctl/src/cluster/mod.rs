//! A Kubernetes cluster: the only code that names `kube`.
//!
//! ```text
//! connect    kubeconfig and context, as kubectl has them     Access           -> Cluster
//! objects    reads, applies and deletes objects of any kind  Change           -> API calls
//! refusal    what the API server says no to, and why         its answer       -> Error
//! state      one ConfigMap for each release, with history    Record          <-> ConfigMap
//! keys       what signs: a Secret, drawn once                namespaces       -> KeyRing
//! desired    what a release should be now                    Release+Record   -> objects
//! apply      brings it all to what a release asks for        Release          -> Applied
//! make       carries out its plan, make before break
//! weigh      writes a weight, and nothing else               Record           -> Weighed
//! turn       promotions and rollbacks                     Record           -> Turned
//! uninstall  takes everything away that is ours
//! pods       which pods are ready                            labels           -> counts
//! proxies    what the proxies run, by their own metrics      Record           -> Proxies
//! traffic    who is still on a version, by their counters Record           -> Traffic
//! wait       until every proxy runs a generation
//! ```

mod apply;
mod connect;
mod desired;
mod error;
mod keys;
mod make;
mod objects;
mod pods;
mod proxies;
mod refusal;
mod routes;
mod state;
mod traffic;
mod turn;
mod uninstall;
mod wait;
mod weigh;

pub use apply::{Applied, Applying};
pub use connect::{Access, Cluster, Writing};
pub use error::Error;
pub use pods::Ready;
pub use proxies::Proxy;
pub use state::Stored;
pub use traffic::{Part, Traffic};
pub use turn::{Manner, TakingBack, Turned};
pub use wait::{Arrival, Waiting};
pub use weigh::{Asked, Weighed};
