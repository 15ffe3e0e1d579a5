//! The field managers of an object's fields, and when `canary-ctl` may take over or return fields.
//!
//! ```text
//! managed_fields  owners of fields, as the API server keeps them     managedFields  -> Owners
//! take_ownership  objects of other owners with our names             managedFields  -> managedFields
//! policy          owners whose objects are edited only on request    object         -> owner
//! restore         the former owners of `spec.http`, and its return   managedFields <-> managedFields
//! ```
//!
//! Source: Kubernetes, *Server-Side Apply*, "Conflicts" and "Transferring ownership between managers".

mod managed_fields;
pub(crate) mod policy;
pub(crate) mod restore;
pub(crate) mod take_ownership;

pub use managed_fields::Owners;
pub(crate) use managed_fields::merge;
pub(crate) use policy::TOOL_MARKERS;
pub use policy::{check_edits, default_routes, owning_tool};
pub use restore::restore_ownership;
pub use take_ownership::check_claims;

/// The field manager of everything that we write.
pub const FIELD_MANAGER: &str = "canary-ctl";
/// Names the field managers from which `spec.http` was taken. Removed with our last route.
pub(crate) const TAKEN_FROM: &str = "canary-ctl.io/routes-taken-from";
