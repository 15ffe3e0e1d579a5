//! A Kubernetes cluster: the only code that names `kube`.
//!
//! ```text
//! connect    kubeconfig and context, as kubectl has them     Access           -> Cluster
//! objects    reads, applies and deletes objects of any kind  Change           -> API calls
//! retry      which failed calls are made again, and when
//! refusal    what the API server says no to, and why         its answer       -> Error
//! state      one ConfigMap for each release, with history    Record          <-> ConfigMap
//! lease      one operator at a time                         places           -> Lease
//! keys       what signs: a Secret, drawn once                namespaces       -> KeyRing
//! desired    what a release should be now                    Release+Record   -> objects
//! apply      brings it all to what a release asks for        Release          -> Applied
//! make       carries out its plan, make before break
//! module     a new module, before anything else
//! weigh      writes a weight, and nothing else               Record           -> Weighed
//! turn       promotions and rollbacks                     Record           -> Turned
//! hint       what a person can do about an error         Error            -> text
//! guards     what is looked at before users are moved        Record           -> Refusal
//! coverage   the ways to the pods past our routes
//! pause      stops a release from changing, and lets it      Record           -> Stored
//! uninstall  takes everything away that is ours
//! rules      the DestinationRules that are in force
//! survey     what a first canary.yaml can be made of         Service          -> Objects
//! pods       which pods are ready                            labels           -> counts
//! prepare    restarts proxies that would not survive     Release          -> Prepared
//! restart    a Deployment's pods, and waits for V8
//! proxies    what the proxies run, by their own metrics      Record           -> Proxies
//! runtimes   whether they survive a first Wasm filter     Record           -> ProxyRuntimes
//! subsets    whether they have the clusters of new subsets  Picture          -> counts
//! traffic    who is still on a version, by their counters Record           -> Traffic
//! wait       until every proxy runs a generation
//! ```

mod apply;
mod connect;
mod coverage;
mod desired;
mod error;
mod guards;
mod hint;
mod keys;
mod lease;
mod make;
mod module;
mod objects;
mod pause;
mod pods;
mod prepare;
mod proxies;
mod refusal;
mod restart;
mod retry;
mod rotate;
mod routes;
mod rules;
mod runtimes;
mod state;
mod subsets;
mod survey;
mod traffic;
mod turn;
mod uninstall;
mod wait;
mod weigh;

pub use apply::{Applied, Applying};
pub use connect::{Access, Cluster, Writing};
pub use error::Error;
pub use lease::Patience;
pub use pods::Ready;
pub use prepare::{Preparation, PrepareOptions, Restart};
pub use proxies::Proxy;
pub use rotate::{Rotated, Rotating};
pub use state::Stored;
pub use traffic::{Part, Traffic};
pub use turn::{Manner, TakingBack, Turned};
pub use wait::{Arrival, Waiting};
pub use weigh::{Asked, Weighed};
