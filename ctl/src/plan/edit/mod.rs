//! `routes: edit`: our routes within the `VirtualService`s of others, and out of them again.
//!
//! ```text
//! ways        what a release asks of every list of routes   Record        -> Ways
//! routes     ours before theirs, and theirs again           spec.http    <-> spec.http
//! object     the same for an object, with its owners        object        -> Object, Change
//! owners     from whom `spec.http` was taken, and back      managedFields -> managedFields
//! consent    whose objects are not edited without asking    object        -> owner
//! order      which Istio tries first, where it merges       objects       -> notes
//! ```
//!
//! `spec.http` is one atomic list: who writes a route owns them all. So the list is taken from its owner, who is kept in
//! an annotation, and given back by `uninstall`. What it takes to undo an edit stands in the names of our routes, beside
//! the routes that they belong to: however the owner rearranges the list meanwhile, their part of it is theirs.

mod consent;
mod object;
mod order;
mod owners;
mod routes;
mod ways;

pub(super) use consent::MARKS;
pub use consent::{check_edits, choose, tool};
pub use object::{covers_mesh, edits, is_lost};
pub use order::order;
pub use owners::handed_back;
pub use ways::Ways;

pub(super) use object::{edited, lost_to, undone, was_edited};

/// Says from whom `spec.http` was taken. Gone with our last route.
pub(super) const TAKEN_FROM: &str = "canary-ctl.io/routes-taken-from";
