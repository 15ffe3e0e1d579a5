//! Objects of the Kubernetes API as JSON: names, owners of fields, differences.
//!
//! ```text
//! stage           what an object is for, and its text
//! reference       name and body of an object                         text               -> Object
//! managed_fields  owners of fields, as the API server keeps them     managedFields      -> Owners
//! restore         former owners of `spec.http`, and its return       managedFields     <-> managedFields
//! fields          differences field by field                         two objects        -> Field
//! route_alignment which route of a list is which of another          two lists          -> Aligned
//! redaction       what of a field is shown: no key, no module        Value              -> Value
//! ```
//!
//! Source: Kubernetes, *Server-Side Apply*, "Conflicts" and "Transferring ownership between managers".

pub(crate) mod fields;
mod managed_fields;
mod redaction;
mod reference;
pub(crate) mod restore;
mod route_alignment;
mod stage;

pub use fields::Field;
pub use managed_fields::Owners;
pub(crate) use managed_fields::{applicable, merge};
pub use reference::{Object, ObjectError, Reference};
pub use restore::restore_ownership;
pub use stage::{Manifest, NamespacedName, Stage};

/// The field manager of everything that we write.
pub const FIELD_MANAGER: &str = "canary-ctl";
/// Names the field managers from which `spec.http` was taken. Removed with our last route.
pub(crate) const TAKEN_FROM: &str = "canary-ctl.io/routes-taken-from";
/// The text in a key's place.
pub(crate) const REDACTED: &str = "(redacted)";
/// The field that contains a module in base64 (`envoy.config.core.v3.DataSource`).
pub(crate) const MODULE_BYTES: &str = "inline_bytes";

/// Labels and annotations by which tools know their objects.
pub(crate) const TOOL_MARKERS: [(&str, &str, &str); 7] = [
    ("annotations", "meta.helm.sh/release-name", "Helm"),
    ("annotations", "argocd.argoproj.io/tracking-id", "Argo CD"),
    ("labels", "argocd.argoproj.io/instance", "Argo CD"),
    ("labels", "kustomize.toolkit.fluxcd.io/name", "Flux"),
    ("labels", "helm.toolkit.fluxcd.io/name", "Flux"),
    ("labels", "config.k8s.io/owning-inventory", "a kpt inventory"),
    ("annotations", "kapp.k14s.io/identity", "kapp"),
];
