//! Whether each version that users may be sent to has its subset: without it their requests would lead nowhere, and with
//! the pods of another version in it they are answered by that.

use crate::object::{Owners, Reference, Stage};
use crate::record::Record;
use crate::spec::version_subset;
use serde_json::Value;
use std::collections::BTreeMap;

/// A live version whose subset in our `DestinationRule` is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostSubset {
    /// The version.
    pub version: String,
    /// Our rule.
    pub rule: Reference,
    /// Other field managers that have written its subsets.
    pub by: Vec<String>,
}

/// The live versions without their subsets. A missing rule is not listed here: it is reported separately.
pub fn lost_subsets(record: &Record, observed: &BTreeMap<Reference, Value>) -> Vec<LostSubset> {
    let mut lost = Vec::new();
    if record.service.per_version {
        // Each version has a Service of its own.
        return lost;
    }
    for (_, rule) in record.objects.iter().filter(|(stage, _)| *stage == Stage::Subsets) {
        let Some(body) = observed.get(rule) else { continue };
        for version in &record.state.versions {
            if !has(body, &record.service.label, &version.name) {
                let owners = Owners::of(body);
                let by = owners.others(&["spec", "subsets"]).into_iter().map(str::to_owned).collect();
                lost.push(LostSubset { version: version.name.clone(), rule: rule.clone(), by });
            }
        }
    }
    lost
}

fn has(rule: &Value, label: &str, version: &str) -> bool {
    let name = version_subset(version);
    let subsets = rule.pointer("/spec/subsets").and_then(Value::as_array).into_iter().flatten();
    let is_it = |subset: &&Value| subset.get("name").and_then(Value::as_str) == Some(&name);
    let pods = |subset: &Value| subset.get("labels")?.get(label)?.as_str().map(|found| found == version);
    subsets.into_iter().find(is_it).and_then(pods) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_version_has_its_subset_where_that_has_its_pods() {
        let rule =
            |version: &str| json!({"spec": {"subsets": [{"name": "v2", "labels": {"version": version}}]}});
        assert!(has(&rule("v2"), "version", "v2"));
        assert!(!has(&rule("v1"), "version", "v2"), "the pods of another version");
        assert!(!has(&rule("v2"), "version", "v1"), "none of its name");
    }
}
