//! The rights to observe the other releases of a train.

use crate::HEAD;
use canary_release::file;
use canary_release::rbac::{add_rollout_rights, single_rights};
use std::collections::BTreeMap;
use std::path::Path;

/// The rights that a rollout needs in the namespace of the release, with this in its file.
fn rights(spec: &str) -> Vec<(String, &'static str)> {
    let release = file::parse(Path::new("canary.yaml"), &format!("{HEAD}{spec}")).unwrap().release;
    let mut rules = BTreeMap::new();
    add_rollout_rights(&mut rules, &release);
    let rights = single_rights(&rules).into_iter().filter(|right| right.namespace == "shop");
    rights.map(|right| (right.resource, right.verb)).collect()
}

#[test]
fn a_release_behind_gateways_finds_the_others_of_its_train_and_reads_who_calls_them() {
    let alone = [("events".to_owned(), "create")];
    assert_eq!(rights(""), alone);
    let in_train = rights("  train: autumn\n");
    assert!(in_train.contains(&("configmaps".to_owned(), "list")), "{in_train:?}");
    assert!(in_train.contains(&("pods/proxy".to_owned(), "get")), "{in_train:?}");
    assert!(in_train.contains(&("secrets".to_owned(), "get")), "the keys of their records: {in_train:?}");
    assert_eq!(in_train.len(), 5, "{in_train:?}");
}
