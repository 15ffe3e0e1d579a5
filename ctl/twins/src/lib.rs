//! Two versions of one unmodified Helm chart beside each other, in one namespace.
//!
//! A pure function: the objects that are deployed, the objects of a new render of the chart, and rules; out come the objects to
//! deploy, their references rewritten, with the decisions and their reasons, or refusals with the names of their checks.
//!
//! The modules in the order in which a chart passes them:
//!
//! ```text
//! scalar      plain scalars as Kubernetes reads them (YAML 1.1)        text               -> JSON
//! manifest    rendered YAML, within limits                             text               <-> objects
//! object      kind, name, and the annotations of a twin                JSON               -> Object
//! reference   which fields name another object                         object             -> references
//! custom_reference  the same in custom resources, by their form        object             -> references
//! selector    label selectors and the pods that they match
//! comparison  what counts as a difference between two versions         two objects        -> differing fields
//! rules       what the operator has decided
//! deployed    the objects of stable among those that are deployed      objects            -> Deployed
//! names       the names that the candidate's objects get               both               -> Names
//! twin        a workload or its autoscaler as a twin                   object, names      -> Object
//! checks      what is refused, and what is warned of                   both               -> refusals
//! warnings    what may be wrong                                        decisions          -> texts
//! plan        the whole function                                       both, rules        -> TwinPlan
//! ```

#![warn(missing_docs, clippy::missing_errors_doc)]

mod checks;
mod comparison;
mod custom_reference;
mod deployed;
mod manifest;
mod names;
mod object;
mod plan;
mod reference;
mod rules;
mod scalar;
mod selector;
mod twin;
mod warnings;

pub use checks::{Check, Refusal};
pub use comparison::{Difference, differences, random_configuration};
pub use manifest::{MAX_MANIFEST_BYTES, ManifestError, read_manifest, write_manifest};
pub use object::{CHART_NAME, Object, VERSION};
pub use plan::{Action, TwinDecision, TwinPlan, plan};
pub use reference::{OBJECT_REFERENCES, POD_REFERENCES, Reference, Target};
pub use rules::{HookAnswer, Phase, Rules};
