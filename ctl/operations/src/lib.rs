//! Operations on the canary releases of a Kubernetes cluster: the only code that names `kube`.
//!
//! ```text
//! client            the API server: requests, retries, objects, pods      Access, Change  -> JSON
//! cluster           a cluster with its stores, and the user              Access          -> Cluster
//! error, protected  why an operation failed, as data                     Error
//! backoff           how long to wait after a conflict                    attempt         -> Duration
//! record_store      one sealed ConfigMap for each release                Record          -> ConfigMap
//! stored_record     a record that may be obeyed, and its object           ConfigMap       -> StoredRecord
//! sealed_record     whether seals are genuine                           ConfigMap       -> FoundRecord
//! record_key_store  the Secrets of its seals                             namespaces      -> RecordKeys
//! recover           a record that was deleted, from the objects         ReleaseName     -> StoredRecord
//! releases          the releases of a cluster, by their records         namespaces      -> Record
//! key_store         the Secrets of signing keys                          namespaces      -> SigningKeys
//! lease_manager     one operator at a time                               places          -> Lease
//! apply             the desired state of a release, make before break    Release         -> Applied
//! checks            preflight checks that need the cluster               Record          -> CheckFailed
//! emergency         a rollback and the like, whatever becomes of the record  Record          -> StoredRecord
//! dry_run           the API server validates a plan                      Plan            -> Refused
//! set_weight        checks and writes a weight, and nothing else         WeightRequest   -> WeightUpdate
//! role_change       promotion, rollback, end of a drain, with checks     Record          -> RoleChanged
//! rollout           a rollout that goes by itself: its driver and its verbs Record   -> RolloutReport
//! effective_config  the configuration that the proxies have              Record          -> EffectiveSettings
//! train             the releases of a train, and their roles in one go      name            -> Train
//! pause             freezes a release                                    Record          -> StoredRecord
//! rotate            a new signing key                                    Release         -> Rotated
//! rights            the rights that the user lacks                     Release         -> Right
//! prepare, restart  restarts proxies without V8                          Release         -> Preparation
//! readiness         until the pods of a version are ready              VersionLabel    -> VersionReady
//! adopt             the version label for running pods                 Deployment      -> Adoption
//! secret_reader     single keys of Secrets                           namespace       -> text
//! uninstall         deletes our objects and fields                       Record          -> Plan
//! discover          the objects for a first canary.yaml                  Service         -> Objects
//! doctor            everything that is wrong, at once                 Release         -> Diagnosis
//! coverage, routes  routes to the pods: ours, and those that bypass them Record          -> Coverage
//! exposure          Gateways of a release, their pods and hosts        Release         -> Exposure
//! rules             DestinationRules in force                            Record          -> HostRules
//! metrics_reader    metrics of a pod, by pods/proxy, port-forward, scrape PodName         -> ProxyMetrics
//! proxies           what the proxies report: generations, requests       Record          -> ProxyStatus, Traffic
//! wait              until every proxy runs a generation                  Record          -> Arrival
//! unseen_proxies    proxies that cannot be asked: refused, or waited for  Record          -> CheckFailed
//! subsets           clusters that the proxies were given                 Desired         -> counts
//! runtimes          V8 in the proxies                                    pods            -> ProxyRuntimes
//! status            what is observed of a release                        Record          -> Observation
//! ```

#![warn(clippy::missing_errors_doc)]

mod adopt;
mod apply;
mod backoff;
mod checks;
mod client;
mod cluster;
mod coverage;
mod discover;
mod doctor;
mod dry_run;
mod effective_config;
mod emergency;
mod error;
mod exposure;
mod key_store;
mod lease_manager;
mod metrics_reader;
mod pause;
mod prepare;
mod protected;
mod proxies;
mod readiness;
mod record_key_store;
mod record_store;
mod recover;
mod releases;
mod remote_clusters;
mod restart;
mod rights;
mod role_change;
mod role_change_checks;
mod rollout;
mod rotate;
mod routes;
mod rules;
mod runtimes;
mod sealed_record;
mod secret_reader;
mod set_weight;
mod status;
mod stored_record;
mod subsets;
mod train;
mod uninstall;
mod unseen_proxies;
mod wait;

pub use adopt::{AdoptOptions, Adoption, ObjectIdentity, WorkloadIdentity};
pub use apply::{Applied, ApplyOptions};
pub use client::Access;
pub use cluster::{Cluster, WriteOptions};
pub use doctor::Diagnosis;
pub use effective_config::EffectiveSettings;
pub use error::Error;
pub use lease_manager::LeaseTiming;
pub use metrics_reader::ScrapedMetrics;
pub use prepare::{Preparation, PrepareOptions, Restart};
pub use protected::Protected;
pub use readiness::{ReadinessError, ReadinessOptions, VersionReady};
pub use recover::config_objects;
pub use releases::FoundRelease;
pub use role_change::RoleChanged;
pub use role_change_checks::{
    CheckedFinish, CheckedPromotion, CheckedRollback, PromoteOptions, RollbackOptions,
};
pub use rollout::{
    AlertSender, FailedDelivery, GroupCounters, HookCaller, LastAlerts, MetricSource, RolloutDriver,
    RolloutReport, SendError,
};
pub use rotate::{RotateOptions, Rotated};
pub use secret_reader::SecretReader;
pub use set_weight::{CheckedWeight, WeightRequest, WeightUpdate};
pub use stored_record::StoredRecord;
pub use train::{
    CheckedTrain, CheckedTrainFinish, CheckedTrainPromotion, CheckedTrainRollback, LeftReason, Train,
    TrainChange, TrainChanged, TrainRelease, TrainStep,
};
pub use uninstall::{UninstallOptions, Uninstalled};
pub use wait::{Arrival, WaitOptions};
