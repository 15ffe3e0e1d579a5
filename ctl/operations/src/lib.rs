//! Operations on the canary releases of a Kubernetes cluster: the only code that names `kube`.
//!
//! The rooms, the lowest first: each imports rooms below it alone (`wasm-tests/tests/architecture/floors.rs`). Operations are
//! methods of [`Cluster`].
//!
//! ```text
//! error           why an operation failed, as data
//! client          the API server: requests, retries, objects, pods           Access, Change  -> JSON
//! metrics_reader  metrics of a pod, by pods/proxy, port-forward, scrape      PodName         -> ProxyMetrics
//! stores          records with their seals, keys, Leases                     ReleaseName     -> StoredRecord
//! cluster         a cluster with its stores, and the user                    Access          -> Cluster
//! proxies         what the proxies run, and waits until they run it          Record          -> Arrival
//! observe         objects of others, and the state that objects say          Record          -> rules, routes, Exposure
//! write           writes that operations share                               Plan            -> ()
//! operation       the operations: checks, then writes in their order         Release, Record -> Applied, RoleChanged …
//! report          the status of a release, and what is wrong with it         Record          -> Observation, Diagnosis
//! rollout         automated rollouts: the driver, and the verbs              Record          -> RolloutReport
//! uninstall       deletes our objects and fields                             Record          -> Plan
//! ```

#![warn(missing_docs, clippy::missing_errors_doc)]

mod client;
mod cluster;
mod error;
mod metrics_reader;
mod observe;
mod operation;
mod proxies;
mod report;
mod rollout;
mod stores;
mod uninstall;
mod write;

pub use client::{Access, ApiRequestDone, Impersonated, RequestObserver, Silence, SilenceObserver};
pub use cluster::{Cluster, WriteOptions};
pub use error::{
    CredentialError, Error, KubeconfigError, Obstacle, Protected, ReadinessError, RequestFailure,
};
pub use metrics_reader::ScrapedMetrics;
pub use observe::effective_config::EffectiveSettings;
pub use observe::peer::PeerObjects;
pub use observe::recover::config_objects;
pub use observe::secret_reader::SecretReader;
pub use operation::adopt::{AdoptOptions, Adoption, ObjectIdentity, WorkloadIdentity};
pub use operation::apply::{Applied, ApplyOptions};
pub use operation::prepare::{Preparation, PrepareOptions, Restart};
pub use operation::readiness::{ReadinessOptions, VersionReady};
pub use operation::role_change::RoleChanged;
pub use operation::role_change_checks::{
    CheckedFinish, CheckedPromotion, CheckedRollback, PromoteOptions, RollbackOptions,
};
pub use operation::rotate::{RotateOptions, Rotated};
pub use operation::set_weight::{CheckedWeight, WeightRequest, WeightUpdate};
pub use operation::train::{
    CheckedTrain, CheckedTrainFinish, CheckedTrainPromotion, CheckedTrainRollback, LeftReason, Train,
    TrainChange, TrainChanged, TrainRelease, TrainStep,
};
pub use proxies::wait::{Arrival, WaitOptions};
pub use report::doctor::Diagnosis;
pub use rollout::{
    AlertSender, FailedDelivery, GroupCounters, HookCaller, LastAlerts, MetricSource, RolloutDriver,
    RolloutReport, SendError,
};
pub use stores::lease_manager::{LeaseTiming, LeaseWaitObserver};
pub use stores::releases::{FoundRelease, ListedRelease};
pub use stores::stored_record::StoredRecord;
pub use uninstall::{UninstallOptions, Uninstalled};
