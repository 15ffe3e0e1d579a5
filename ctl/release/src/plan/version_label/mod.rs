//! The version label of a running Deployment without a restart: into its template and that of its `ReplicaSet` while it
//! is paused, so that the two are the same when it is resumed.
//!
//! ```text
//! label     the label as an operator names it          text               -> VersionLabel
//! workload  Deployment, ReplicaSets and pods           objects            -> LabelledWorkload
//! refusal   what is refused before the first write     LabelledWorkload   -> LabelRefusal
//! steps     the writes and waits that are left         LabelledWorkload   -> LabelPlan
//! ```
//!
//! What is left follows from what is observed, so a call that was killed between any two writes is continued by the next.
//! The hash in the names and labels of `ReplicaSets` is computed once, when they are created: it stays.
//!
//! # Source
//! `FindNewReplicaSet` of k8s.io/kubernetes/pkg/controller/deployment/util: the new `ReplicaSet` of a Deployment is the oldest
//! with an equal template, the hash ignored.

#[cfg(test)]
mod fixture_tests;
mod label;
mod refusal;
#[cfg(test)]
mod refusal_tests;
mod steps;
#[cfg(test)]
mod steps_tests;
mod workload;

pub use label::{LabelDirection, VersionLabel, VersionLabelError};
pub use refusal::{LabelRefusal, VERSION_ANNOTATION};
pub use steps::{LabelAction, LabelNote, LabelPlan, LabelStep, LabelWrite};
pub use workload::{LabelledWorkload, uid};
