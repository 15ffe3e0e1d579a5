//! `spec.rollout.hooks`.

use crate::HEAD;
use canary_release::file;
use canary_release::rbac::{add_rollout_rights, single_rights};
use canary_release::spec::{HookType, SecretSource};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The text of hooks, beside a receiver of alerts.
fn rollout(hooks: &str) -> String {
    format!(
        "  rollout:\n    alerts: [{{name: team, type: slack, urlFrom: {{env: TEAM}}}}]\n    hooks:\n{hooks}"
    )
}

#[test]
fn a_hook_has_flaggers_types_and_what_the_record_keeps_names_nobody_who_is_called() {
    let found = crate::parse(&rollout(
        "      - {name: gate, type: confirm-rollout, url: \"http://tester.test/gate/secret\"}
      - name: load
        type: rollout
        urlFrom: {secret: {name: hooks, key: load}}
        timeout: 30s
        retries: 2
        interval: 90s
        failureThreshold: 5
        metadata: {type: cmd, cmd: \"hey -z 1m http://shop.shop:8080/\"}
        signatureKeyFrom: {secret: {name: keys, key: load}}
",
    ))
    .unwrap()
    .hooks;
    let [gate, load] = &found.hooks[..] else { panic!("{found:?}") };
    assert_eq!((gate.kind, gate.interval.get(), gate.failure_threshold), (HookType::ConfirmRollout, 60, 3));
    assert_eq!((load.kind, load.interval.get(), load.failure_threshold), (HookType::Rollout, 90, 5));
    let endpoint = &found.endpoints["gate"];
    assert_eq!(
        (&endpoint.url_from, endpoint.timeout.get(), endpoint.retries),
        (&SecretSource::Inline, 10, 0)
    );
    assert_eq!(endpoint.url.as_ref().unwrap().expose(), "http://tester.test/gate/secret");
    let endpoint = &found.endpoints["load"];
    assert_eq!((endpoint.timeout.get(), endpoint.retries, endpoint.url.is_none()), (30, 2, true));
    let keys = SecretSource::Secret { name: "keys".to_owned(), key: "load".to_owned() };
    assert_eq!(endpoint.signature_key_from.as_ref(), Some(&keys));
    assert_eq!(endpoint.metadata["cmd"], "hey -z 1m http://shop.shop:8080/");
    assert!(!format!("{found:?}").contains("secret\""), "a URL is printed nowhere: {found:?}");
    let recorded = serde_json::to_string(&found.hooks).unwrap();
    assert!(
        !recorded.contains("hey") && !recorded.contains("tester") && !recorded.contains("keys"),
        "{recorded}"
    );
}

#[test]
fn the_secrets_of_urls_and_of_keys_may_be_read() {
    let hook = "      - {name: a, type: event, urlFrom: {secret: {name: urls, key: a}}, signatureKeyFrom: {secret: {name: keys, key: a}}}";
    let text = format!("{HEAD}{}", rollout(&format!("{hook}\n")));
    let release = file::parse(Path::new("canary.yaml"), &text).unwrap().release;
    let mut rules = BTreeMap::new();
    add_rollout_rights(&mut rules, &release);
    let rights = single_rights(&rules).into_iter().filter(|right| right.resource == "secrets");
    let names: BTreeSet<Option<String>> = rights.map(|right| right.name).collect();
    assert_eq!(names, ["urls", "keys"].map(|name| Some(name.to_owned())).into());
}

#[test]
fn a_fault_of_a_hook_is_told_at_its_place_and_repeats_no_url() {
    let found = crate::faults(&rollout(
        "      - {name: a, type: after, url: \"http://a/\"}
      - {name: b, type: event, url: \"a/secret\"}
      - {name: c, type: event}
      - {name: d, type: event, url: \"http://a/\", interval: 30s, failureThreshold: 2, retries: 1, timeout: 30s}
      - {name: e, type: rollback, url: \"http://a/\", failureThreshold: 2}
      - {name: f, type: rollout, url: \"http://a/\", interval: 1s, timeout: 2h, retries: 11, failureThreshold: 0}
      - {name: team, type: rollout, url: \"http://a/\"}
      - {name: g, type: rollout, url: \"http://a/\"}
      - {name: g, type: rollout, url: \"http://a/\", metadata: [x]}
      - {name: h, type: event, url: \"http://a/\", signatureKeyFrom: {file: key}}
      - {name: i, type: event, url: \"http://a/\", signatureKeyFrom: whsec_c2VjcmV0}
",
    ));
    let expected = [
        "15:25: expected `confirm-rollout`, `pre-rollout`, `rollout`, `confirm-traffic-increase`, `confirm-promotion`, `post-rollout`, `rollback` or `event`, found `after`",
        "16:37: expected a URL without a user that begins with `https://` or `http://`, found another text",
        "17:9: expected `url` or `urlFrom`, found neither",
        "18:60: expected `interval` beside `pre-rollout`, `rollout` or `rollback`, found `event`",
        "18:83: expected `failureThreshold` beside `pre-rollout` or `rollout`, found `event`",
        "18:95: expected `retries` beside a type that is not `post-rollout` or `event`, found `event`",
        "18:107: expected at most 20s, found `30s`",
        "19:71: expected `failureThreshold` beside `pre-rollout` or `rollout`, found `rollback`",
        "20:62: expected at least 10s, found `1s`",
        "20:75: expected at most 1h, found `2h`",
        "20:88: expected at most 10, found `11`",
        "20:110: expected 1 to 100, found `0`",
        "21:9: expected the name of no receiver of `rollout.alerts`, found `team`",
        "23:9: expected a hook of another name, found `g` twice",
        "23:62: expected a mapping, found a list",
        "24:75: expected an absolute path, found another text",
        "25:68: expected a mapping, found a value",
        "25:68: expected one of `env`, `file` and `secret`, found 0 of them",
    ];
    assert_eq!(found, expected.map(|fault| format!("canary.yaml:{fault}")));
}
