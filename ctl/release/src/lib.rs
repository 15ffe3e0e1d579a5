//! A sticky canary release on Istio, as data: its specification, its record, its Kubernetes objects, its filter
//! configuration, and the plan of changes. Pure: no network, no clock; `canary-operations` executes the plans.
//!
//! The modules in the order in which a release passes them:
//!
//! ```text
//! yaml              YAML with positions, and edits that keep comments
//! object            objects of the API: names, owners of fields        JSON               -> Object
//! spec              canary.yaml, every fault with its line and column   file               -> Release
//! lint              what is legal in a release and still dangerous      Release            -> findings
//! config            the filter's configuration                          Release, state     -> FilterConfig
//! delivery          the object that contains the configuration, a file for each mode
//! manifest          the Kubernetes objects                              Release            -> YAML documents
//! record            what is kept of a release between two calls         ConfigMap          -> Record
//! routing           routes, and the lists of route objects              Record, objects    -> changes
//! destination_rule  the `DestinationRule` in force, and ours beside it  rules              -> Object
//! plan              what would be written, and why                      desired, observed  -> Plan
//! preflight         checks that fail before the first write             Record             -> CheckFailed
//! rbac              rights that the operations need                     Release            -> rules
//! discover          values of a first canary.yaml, from a cluster       objects            -> Survey
//! doctor            everything that is wrong, before and after apply  Examination        -> findings
//! metrics           what proxies report, as Prometheus text             text               -> ProxyMetrics
//! status            what was observed, and what is wrong with it      Observation        -> Problems
//! alert             what people are told of a rollout, until they have it  Alert   -> Payload
//! evidence          whether the canary fails more often than stable   counters           -> Assessment
//! analysis          values of queries beside what is expected      RolloutMetric      -> Measurement
//! hook              Flagger's webhooks: payload, and what responses say HookResult     -> HookState
//! rollout           what a rollout does next, and why                  Record, observation -> Decision
//! train             which release is promoted before which            Record             -> order
//! data_plane        how the requests of a pod go through the mesh       Pod                -> DataPlane
//! stats             the interval of an observed share, and tests against the expected one
//! label_selector    which labels a selector matches
//! format            human-readable quantities
//! input_file        the text of a file, up to a limit
//! redaction         secrets are taken out of texts of servers
//! embedded_module   a module that travels in the configuration, and its digest
//! ```

#![warn(clippy::missing_errors_doc)]

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
pub mod format;
pub mod hook;
pub mod input_file;
pub mod label_selector;
pub mod lint;
pub mod manifest;
pub mod metrics;
pub mod object;
pub mod plan;
pub mod preflight;
pub mod prometheus;
pub mod rbac;
pub mod record;
pub mod redaction;
pub mod rollout;
pub mod routing;
pub mod spec;
pub mod state;
pub mod stats;
pub mod status;
pub mod train;
pub mod yaml;

pub use embedded_module::{EmbeddedModule, ModuleDigest};
