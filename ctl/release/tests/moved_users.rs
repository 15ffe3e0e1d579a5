//! What an edit of each field does to users while half of them are on the canary.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

use assignment::contract::{FilterConfig, Position, Role, Weight};
use canary_release::config::{ProxySettings, SigningKeys, filter_config, release_config};
use canary_release::file;
use canary_release::moved_users::{Destination, Edit, MovedUsers, moved_users};
use canary_release::spec::Release;
use canary_release::state::ReleaseState;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const NOW: u64 = 1_800_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moves {
    Nobody,
    /// To another version, by this field.
    Version(&'static str),
    /// To another pod, by this field.
    Pod(&'static str),
}
use Moves::{Nobody, Pod, Version};

/// A field, the value of its edit, and who moves where sessions are pinned and where each user is decided by the bucket.
type Row = (&'static str, fn() -> Value, Moves, Moves);

const EDITS: [Row; 31] = [
    ("hosts", || json!(["shop.example.org"]), Version("hosts"), Version("hosts")),
    ("hosts", || json!(["shop.example.org", "www.example.org", "m.example.org"]), Nobody, Version("hosts")),
    ("paths", || json!(["/shop/"]), Version("paths"), Version("paths")),
    ("paths", || json!(["/", "/shop/"]), Nobody, Nobody),
    ("stickiness", || json!(null), Version("stickiness"), Version("stickiness")), // the other one
    ("session.cookie", || json!("OTHER"), Nobody, Nobody),
    ("session.adopt", || json!(false), Nobody, Nobody),
    ("session.adoptFor", || json!("1h"), Nobody, Nobody),
    ("session.maxAge", || json!("1h"), Nobody, Nobody),
    ("session.idle", || json!("1h"), Nobody, Nobody),
    ("identifyBy", || json!([{"header": "x-user"}]), Nobody, Version("identifyBy")),
    ("identifyBy", || json!([{"query": "user"}]), Nobody, Version("identifyBy")),
    ("identifyBy", || json!([{"jwt": {"claim": "sub"}}]), Nobody, Version("identifyBy")),
    ("identifyBy", || json!([{"cookie": "JSESSIONID"}, {"header": "x-user"}]), Nobody, Nobody),
    ("mint", || json!("never"), Nobody, Nobody),
    ("mint", || json!("always"), Nobody, Nobody),
    ("fallback", || json!("client-address"), Nobody, Nobody),
    ("identity", || json!("keyed"), Nobody, Version("identity")),
    ("salt", || json!("another"), Nobody, Version("salt")),
    ("train", || json!("spring"), Nobody, Version("salt")),
    ("override", || json!("off"), Nobody, Nobody),
    ("override", || json!("open"), Nobody, Nobody),
    ("cookies.tls", || json!(false), Version("cookies"), Version("cookies")),
    ("cookies.sameSite", || json!("None"), Nobody, Nobody),
    ("cookies.domain", || json!("example.org"), Version("cookies"), Version("cookies")),
    ("sessionAffinity", || json!("identity"), Pod("sessionAffinity"), Pod("sessionAffinity")),
    ("cacheControl", || json!("private"), Nobody, Nobody),
    ("latencyHistogram", || json!(true), Nobody, Nobody),
    ("fuse", || json!(true), Nobody, Nobody),
    ("delivery.debugHeader", || json!("x-debug"), Nobody, Nobody),
    ("delivery.filterState", || json!(true), Nobody, Nobody),
];

/// Fields that say nothing to the filter of a proxy that keeps the release, and what holds for their edits.
const NOT_OF_THE_FILTER: [(&str, &str); 14] = [
    ("uid", "drawn once: that of the record counts"),
    ("service", "another Service has other pods: `apply` names it"),
    ("versions", "a change of roles, which has checks of its own"),
    ("gateways", "a gateway that loses the release: below"),
    ("sidecars", "sidecars that lose the release: below"),
    ("weight", "the first weight; later `weight` sets it"),
    ("maxStep", "a limit for operators"),
    ("onExpiry", "what the next `weight --for` writes"),
    ("rollout", "for the driver of a rollout"),
    ("routes", "who writes the routes"),
    ("delivery.mode", "which object has the same configuration"),
    ("delivery.module", "a new module is rolled out alone"),
    ("delivery.sha256", "as the module"),
    ("delivery.local", "files of one Envoy"),
];

fn document(stickiness: &str) -> Value {
    json!({
        "apiVersion": "canary-ctl.io/v1alpha1",
        "kind": "Release",
        "metadata": {"name": "shop", "namespace": "shop", "uid": "shopzzzzzzzz"},
        "spec": {
            "service": {"name": "shop", "port": 80},
            "versions": {"stable": "v1", "canary": "v2"},
            "hosts": ["shop.example.org", "www.example.org"],
            "gateways": [{"name": "ingress/gateway", "selector": {"istio": "gateway"}}],
            "stickiness": stickiness,
            "session": {"cookie": "JSESSIONID"},
            "identifyBy": [{"cookie": "JSESSIONID"}],
            "override": "token",
            "cookies": {"tls": true},
        },
    })
}

fn release(document: &Value) -> Release {
    file::parse(Path::new("canary.yaml"), &document.to_string()).unwrap().release
}

fn edited(document: &Value, field: &str, value: Value) -> Value {
    let mut document = document.clone();
    if field == "stickiness" {
        let other = if document["spec"]["stickiness"] == "session" { "user" } else { "session" };
        document["spec"]["stickiness"] = json!(other);
        return document;
    }
    let mut place = &mut document["spec"];
    for part in field.split('.') {
        place = &mut place[part];
    }
    *place = value;
    document
}

fn proxy(release: &Release, weight: Weight, position: Position) -> FilterConfig {
    let mut state = ReleaseState::first(release, "shopzzzzzzzz".to_owned());
    state.weight = weight;
    state.installed_at_seconds = NOW - 60;
    let releases = BTreeMap::from([(release.name.clone(), release_config(release, &state, position))]);
    filter_config(&ProxySettings::of(release, position), &SigningKeys::placeholder(), releases).unwrap()
}

fn half() -> Weight {
    Weight::new(5_000).unwrap()
}

fn moved(before: &Value, after: &Value, (weight, peak): (Weight, Weight)) -> Vec<MovedUsers> {
    let [deployed, edited] =
        [before, after].map(|document| proxy(&release(document), weight, Position::Edge));
    let edit = Edit { release: "shop/shop", deployed: &deployed, edited: Some(&edited), peak, now: NOW };
    moved_users(edit).unwrap()
}

fn verdict(users: &[MovedUsers]) -> Moves {
    match users.iter().min_by_key(|users| users.to) {
        None => Nobody,
        Some(users) if users.to == Destination::Pod => Pod(users.fields.first().copied().unwrap()),
        Some(users) => Version(users.fields.first().copied().unwrap()),
    }
}

#[test]
fn an_edit_of_each_field_moves_whom_the_table_says() {
    let mut wrong = Vec::new();
    for (field, value, of_sessions, of_users) in EDITS {
        for (stickiness, expected) in [("session", of_sessions), ("user", of_users)] {
            let before = document(stickiness);
            let users = moved(&before, &edited(&before, field, value()), (half(), half()));
            if verdict(&users) != expected {
                wrong.push(format!(
                    "{stickiness}: {field} = {}: expected {expected:?}, found {users:?}",
                    value()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_field_of_the_file_has_a_row() {
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string("../../docs/canary.schema.json").unwrap()).unwrap();
    let mut fields = BTreeSet::new();
    leaves(&schema["properties"]["spec"], String::new(), &mut fields);
    let rows: BTreeSet<&str> =
        EDITS.iter().map(|row| row.0).chain(NOT_OF_THE_FILTER.iter().map(|row| row.0)).collect();
    let has_row = |field: &&String| {
        rows.iter()
            .any(|row| *field == row || field.strip_prefix(row).is_some_and(|rest| rest.starts_with('.')))
    };
    let missing: Vec<&String> = fields.iter().filter(|field| !has_row(field)).collect();
    assert!(fields.len() > 50 && missing.is_empty(), "fields without a row: {missing:?}");
}

fn leaves(schema: &Value, path: String, found: &mut BTreeSet<String>) {
    let Some(properties) = schema["properties"].as_object() else {
        found.insert(path);
        return;
    };
    for (name, field) in properties {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        leaves(field, path, found);
    }
}

#[test]
fn sessions_of_an_earlier_weight_and_of_a_draining_version_count() {
    let before = document("session");
    let other_cookies = edited(&before, "cookies.tls", json!(false));
    assert_eq!(
        moved(&before, &other_cookies, (Weight::ZERO, Weight::ZERO)),
        [],
        "no session is on the canary"
    );
    let users = moved(&before, &other_cookies, (Weight::ZERO, half()));
    assert_eq!(verdict(&users), Version("cookies"), "the weight was higher: {users:?}");
    assert!(users.iter().all(|users| users.version == "v2" && users.percent == 48), "{users:?}");
}

/// The users of a canary that has left the file are on a version that drains, and an edit is judged by these.
#[test]
fn without_a_canary_an_edit_is_judged_by_the_version_that_drains() {
    let mut before = document("session");
    before["spec"]["versions"].as_object_mut().unwrap().remove("canary");
    let mut deployed = proxy(&release(&before), Weight::ZERO, Position::Edge);
    let versions = &mut deployed.releases.get_mut("shop/shop").unwrap().versions;
    let mut draining = versions[0].clone();
    (draining.name, draining.role) = ("v2".to_owned(), Role::Draining);
    versions.push(draining);
    let mut edited = deployed.clone();
    edited.releases.get_mut("shop/shop").unwrap().hosts = vec!["new.example.com".to_owned()];
    let edit =
        Edit { release: "shop/shop", deployed: &deployed, edited: Some(&edited), peak: half(), now: NOW };
    let users = moved_users(edit).unwrap();
    assert!(users.iter().any(|users| users.version == "v2"), "{users:?}");
}

#[test]
fn a_proxy_that_loses_the_release_moves_all_users_of_the_canary() {
    for (position, field) in [(Position::Edge, "gateways"), (Position::Mesh, "sidecars")] {
        let deployed = proxy(&release(&document("session")), half(), position);
        let edit = Edit { release: "shop/shop", deployed: &deployed, edited: None, peak: half(), now: NOW };
        let users = moved_users(edit).unwrap();
        let all = MovedUsers {
            version: "v2".to_owned(),
            percent: 100,
            to: Destination::Version,
            fields: vec![field],
        };
        assert_eq!(users, [all]);
    }
}

#[test]
fn the_message_names_the_fields_that_move_users_and_no_other() {
    let before = document("session");
    let mut after = edited(&before, "cookies.tls", json!(false));
    after["spec"]["fuse"] = json!(true);
    let users = moved(&before, &after, (half(), half()));
    let said: Vec<String> = users.iter().map(ToString::to_string).collect();
    assert!(
        said.contains(&"`cookies` moves 48% of the users of version `v2` to another version".to_owned()),
        "{said:?}"
    );
}
