//! YAML with places: the line and column of each value.
//!
//! `serde` stops at the first fault and drops the places of values. `canary.yaml` needs every fault with its line and
//! column, and manifests keep their comments; both need the tree.

#![warn(missing_docs, clippy::missing_errors_doc)]

mod comments;
mod dialect;
mod edit;
mod limits;
mod parse;
mod read;
mod section;
mod tree;

pub use edit::{EditError, Template, block};
pub use parse::{SyntaxError, documents, documents_within, manifest_documents, parse};
pub use section::{Fault, Faults, Section};
pub use tree::{Entry, Node, Place, Value};
