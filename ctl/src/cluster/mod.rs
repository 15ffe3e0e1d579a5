//! A Kubernetes cluster: the only code that names `kube`.
//!
//! ```text
//! connect      kubeconfig and context, as kubectl has them         Access           -> Cluster
//! objects      reads, applies and deletes objects of any kind      Change           -> API calls
//! retry        which failed calls are made again                   API error        -> RetryPolicy
//! refusal      maps an API status to an error                      Status           -> Error
//! error        why a cluster cannot be changed
//! hint         what an operator can do about an error              Error            -> text
//! records      one ConfigMap for each release                      Record           -> ConfigMap
//! lease        one operator at a time                              places           -> Lease
//! keys         the Secret of signing keys                          namespaces       -> KeyRing
//! rotate       a new signing key                                   Release          -> Rotated
//! desired      observed state and desired state                    Release, Record  -> Reconciliation
//! apply        what a release asks for, make before break          Release          -> Applied
//! execute      writes a plan stage by stage, and prunes            Plan             -> API calls
//! module       rolls out a new module before anything else         Trial            -> API calls
//! set_weight   writes a weight, and nothing else                   Record           -> WeightUpdate
//! role_change  promotion and rollback                              Record           -> RoleChanged
//! checks       preflight checks that need the cluster              Record           -> CheckFailed
//! coverage     ways to the pods that bypass our routes             Record           -> Coverage
//! routes       VirtualServices that lead to a release              namespace        -> objects
//! rules        DestinationRules in force                           Record           -> HostRules
//! pause        freezes a release                                   Record           -> StoredRecord
//! uninstall    deletes what is ours                                Record           -> Plan
//! survey       what a first canary.yaml is made of                 Service          -> Objects
//! pods         ready pods                                          labels           -> counts
//! prepare      restarts proxies without V8                         Release          -> Preparation
//! restart      rolling update of one Deployment                    Deployment       -> RolloutStatus
//! runtimes     V8 in the proxies                                   pods             -> ProxyRuntimes
//! proxies      generations that the proxies run                    Record           -> Proxies
//! subsets      clusters that the proxies were given                Reconciliation   -> counts
//! traffic      requests per version, by proxy counters             Record           -> Traffic
//! wait         until every proxy runs a generation                 Record           -> Arrival
//! ```

mod apply;
mod checks;
mod connect;
mod coverage;
mod desired;
mod error;
mod execute;
mod hint;
mod keys;
mod lease;
mod module;
mod objects;
mod pause;
mod pods;
mod prepare;
mod proxies;
mod records;
mod refusal;
mod restart;
mod retry;
mod role_change;
mod rotate;
mod routes;
mod rules;
mod runtimes;
mod set_weight;
mod subsets;
mod survey;
mod traffic;
mod uninstall;
mod wait;

pub use apply::{Applied, ApplyOptions};
pub use connect::{Access, Cluster, WriteOptions};
pub use error::Error;
pub use lease::LeaseTiming;
pub use pods::Ready;
pub use prepare::{Preparation, PrepareOptions, Restart};
pub use proxies::Proxy;
pub use records::StoredRecord;
pub use role_change::{EffectiveSettings, RoleChanged, RollbackOptions};
pub use rotate::{RotateOptions, Rotated};
pub use set_weight::{Asked, WeightUpdate};
pub use traffic::{Part, Traffic};
pub use wait::{Arrival, WaitOptions};
