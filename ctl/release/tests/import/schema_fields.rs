//! The tables of fields beside the schemas of the peers, whose paths `tools/import-fields.sh` has listed.

use canary_release::import::{FieldRule, covers, field_tables};
use std::collections::BTreeMap;

const FLAGGER: &str = include_str!("fields/flagger.txt");
const ARGO: &str = include_str!("fields/argo-rollouts.txt");

/// Fields that schemas do not have any more, and objects still do.
const DEPRECATED: [&str; 1] = ["spec.canaryAnalysis"];

fn schemas() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut schemas: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in [FLAGGER, ARGO].iter().flat_map(|text| text.lines()).filter(|line| !line.starts_with('#')) {
        let (kind, path) = line.split_once(' ').unwrap();
        schemas.entry(kind).or_default().push(path);
    }
    schemas
}

#[test]
fn every_field_of_a_schema_has_a_rule_and_every_rule_a_field() {
    let schemas = schemas();
    let mut faults = Vec::new();
    for (kind, table) in field_tables() {
        let paths = &schemas[kind];
        assert!(paths.len() > 5, "{kind}: {paths:?}");
        let rules: Vec<&str> = table.iter().flat_map(FieldRule::paths).collect();
        let missing = paths.iter().filter(|path| !rules.iter().any(|rule| covers(rule, path)));
        faults.extend(missing.map(|path| format!("{kind}: no rule for `{path}`")));
        let without = rules.iter().filter(|rule| !paths.iter().any(|path| covers(rule, path)));
        let without = without.filter(|rule| !DEPRECATED.contains(rule));
        faults.extend(without.map(|rule| format!("{kind}: no field for the rule `{rule}`")));
        let twice = rules.iter().filter(|rule| rules.iter().filter(|other| other == rule).count() > 1);
        faults.extend(twice.map(|rule| format!("{kind}: two rules for `{rule}`")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
