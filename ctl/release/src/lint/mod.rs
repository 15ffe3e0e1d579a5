//! What is legal in a release and still dangerous, with its place and what to do about it.

mod findings;
mod rollout_rules;
mod rules;

pub use findings::{Finding, Findings, Level};

use crate::file::Document;

/// Checks a release by every rule.
pub fn lint(document: &Document) -> Findings {
    let raised = |(id, rule): &(&'static str, rules::LintRule)| {
        let id = *id;
        rule(&document.release).into_iter().map(move |finding| (id, finding))
    };
    let older = rules::an_object_has_another_uid(document.origin.has("metadata.uid"));
    let older = older.into_iter().map(|finding| ("object-uid", finding));
    Findings::new(&document.origin, older.chain(rules::ALL.iter().flat_map(raised)))
}

#[cfg(test)]
mod tests {
    use super::rules::ALL;
    use std::collections::BTreeSet;

    #[test]
    fn each_rule_has_an_identifier_of_its_own() {
        let ids: BTreeSet<&str> = ALL.iter().map(|(id, _)| *id).collect();
        let is_id = |id: &&str| id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        assert_eq!((ids.len(), ids.iter().find(|id| !is_id(id))), (ALL.len(), None));
    }
}
