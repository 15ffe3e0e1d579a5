//! `spec.rollout.dependsOn`.

use crate::{HEAD, faults, parse};
use canary_release::file;
use canary_release::rbac::{add_rollout_rights, single_rights};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn a_dependency_is_of_the_releases_own_namespace_unless_it_names_one() {
    let spec = parse(
        "  rollout:
    dependsOn: [{name: api, stable: v2}, {name: search, namespace: back, stable: 2026-11-25}]
",
    );
    let found: Vec<String> = spec
        .unwrap()
        .depends_on
        .iter()
        .map(|dependency| format!("{} at {}", dependency.release, dependency.stable))
        .collect();
    assert_eq!(found, ["shop/api at v2", "back/search at 2026-11-25"]);
}

#[test]
fn the_faults_of_dependencies_are_told_at_their_places() {
    let found = faults(
        "  rollout:
    dependsOn:
      - {name: shop, stable: v2}
      - {name: Api, stable: v2}
      - {name: api}
",
    );
    assert_eq!(
        found,
        [
            "canary.yaml:14:9: expected another release, found the release itself",
            "canary.yaml:15:16: expected 1 to 63 of `a-z 0-9 -`, beginning and ending with a letter or digit, found `Api`",
            "canary.yaml:16:9: `spec.rollout.dependsOn[2].stable` is missing",
        ]
    );
}

#[test]
fn the_records_of_dependencies_may_be_read() {
    let text = format!("{HEAD}  rollout:\n    dependsOn: [{{name: search, namespace: back, stable: v2}}]\n");
    let release = file::parse(Path::new("canary.yaml"), &text).unwrap().release;
    let mut rules = BTreeMap::new();
    add_rollout_rights(&mut rules, &release);
    let rights: Vec<_> =
        single_rights(&rules).into_iter().filter(|right| right.namespace == "back").collect();
    let [right] = rights.as_slice() else { panic!("expected one right, found {rights:?}") };
    assert_eq!(
        (right.resource.as_str(), right.name.as_deref(), right.verb),
        ("configmaps", Some("search-canary"), "get")
    );
}

#[test]
fn a_release_of_a_train_has_the_right_to_find_the_others_and_no_other_release_has() {
    for (train, expected) in [("", 0), ("  train: autumn\n", 1)] {
        let release = file::parse(Path::new("canary.yaml"), &format!("{HEAD}{train}")).unwrap().release;
        let mut rules = BTreeMap::new();
        add_rollout_rights(&mut rules, &release);
        let rights = single_rights(&rules);
        let lists = rights.iter().filter(|right| right.resource == "configmaps" && right.verb == "list");
        assert_eq!(lists.count(), expected, "{train}: {rights:?}");
    }
}
