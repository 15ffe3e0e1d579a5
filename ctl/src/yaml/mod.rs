//! YAML with places: where each value stands in its file.
//!
//! `serde` stops at the first fault and forgets where values stood. A person who edits `canary.yaml` wants every fault
//! with its line and column, and a manifest wants its comments kept; both need the tree.

mod edit;
mod section;
mod tree;

pub(crate) use edit::block;
pub use edit::{EditError, Template};
pub use section::{Fault, Faults, Section};
pub use tree::{Entry, Node, Place, SyntaxError, Value, documents, parse};
