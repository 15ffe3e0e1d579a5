//! What is legal in a release and still dangerous, with its place and what to do about it.

mod findings;
mod rollout_rules;
mod rules;

pub use findings::{Finding, Findings, Level};

use crate::file::Document;

/// Checks a release by every rule.
pub fn lint(document: &Document) -> Findings {
    let raised = rules::ALL.iter().flat_map(|rule| rule(&document.release));
    let older = rules::an_object_has_another_uid(document.origin.has("metadata.uid"));
    Findings::new(&document.origin, older.into_iter().chain(raised))
}
