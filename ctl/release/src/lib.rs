//! A sticky canary release on Istio, as data: its specification, its record, its Kubernetes objects, its filter
//! configuration, and the plan of changes. Pure: no network, no clock; `canary-operations` executes the plans.
//!
//! The rooms, the lowest first: each imports rooms below it alone (`wasm-tests/tests/architecture/floors.rs`).
//!
//! ```text
//! format            human-readable quantities
//! stats             the interval of an observed share, and tests against the expected one
//! label_selector    which labels a selector matches
//! redaction         secrets are taken out of texts of servers
//! input_file        the text of a file, up to a limit
//! embedded_module   a module that travels in the configuration, and its digest
//! moved_users       users that an edit of the file moves                  FilterConfig × 2    -> MovedUsers
//! data_plane        how the requests of a pod go through the mesh         Pod                 -> DataPlane
//! object            objects of the API: names, owners of fields           JSON                -> Object
//! spec              the fields of canary.yaml                             tree                -> Release
//! resource          canary.yaml as a kind of Kubernetes: its CustomResourceDefinition
//! prometheus        responses of Prometheus                               JSON                -> numbers, series
//! destination_rule  the `DestinationRule` in force, and ours beside it    rules               -> Object
//! routing           where routes lead, and the lists of route objects     objects             -> RouteTargets
//! discover          values of a first canary.yaml, from a cluster         objects             -> Survey
//! metrics           what proxies report, as Prometheus text               text                -> ProxyMetrics
//! evidence          whether the canary fails more often than stable       counters            -> Evidence
//! state             versions, weight and generation of a release          Release             -> ReleaseState
//! alert             messages about a rollout, and their outbox            Alert               -> Payload
//! analysis          values of queries beside what is expected             RolloutMetric       -> Measurement
//! config            the filter's configuration                            Release, state      -> FilterConfig
//! delivery          the object that contains the configuration, a file for each mode
//! file              canary.yaml, every fault with its line and column     text                -> Document
//! hook              Flagger's webhooks: payload, and responses            HookResult          -> HookState
//! assessment        one verdict of evidence, metrics and hooks            Evidence            -> Assessment
//! import            a first canary.yaml from Flagger or Argo Rollouts     objects             -> Import
//! lint              what is legal in a release and still dangerous        Release             -> findings
//! manifest          the Kubernetes objects                                Release             -> YAML documents
//! rollout           the next step of a rollout, and why                   Rollout             -> Decision
//! record            what is kept of a release between two calls           ConfigMap           -> Record
//! preflight         checks that fail before the first write               Record              -> CheckFailed
//! train             which release is promoted before which                Record              -> order
//! plan              what would be written, and why                        desired, observed   -> Plan
//! rbac              rights that the operations need                       Release             -> rules
//! status            what was observed, and what is wrong with it          Observation         -> Problems
//! doctor            everything that is wrong, before and after apply      Examination         -> findings
//! ```

#![warn(missing_docs, clippy::missing_errors_doc)]

pub mod alert;
pub mod analysis;
pub mod assessment;
pub mod config;
pub mod data_plane;
pub mod delivery;
pub mod destination_rule;
pub mod discover;
pub mod doctor;
mod embedded_module;
pub mod evidence;
pub mod file;
pub mod format;
pub mod hook;
pub mod import;
pub mod input_file;
pub mod label_selector;
pub mod lint;
pub mod manifest;
pub mod metrics;
pub mod moved_users;
pub mod object;
pub mod plan;
pub mod preflight;
pub mod prometheus;
pub mod rbac;
pub mod record;
pub mod redaction;
pub mod resource;
pub mod rollout;
pub mod routing;
pub mod spec;
pub mod state;
pub mod stats;
pub mod status;
pub mod train;

pub use embedded_module::{EmbeddedModule, ModuleDigest};
