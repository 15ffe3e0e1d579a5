//! What `generate rbac` prints is enough for every verb, and each right of it is needed.

use super::desk::{Desk, Ran};
use super::faulty::{Fault, Faulty};
use super::theirs::{is_theirs_again, read, written};
use crate::support::in_the_mesh;
use canary_ctl::cluster::{Access, Cluster, LeaseTiming, WriteOptions};
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::process::Command;
use wasm_tests::artifact;

const USER: &str = "restricted";
/// Each test gives rights in the root namespace and takes some away, so each has a user of its own.
const EDITOR: &str = "restricted-editor";
const OTHER: &str = "restricted-too";

/// Everything that an operator does to a release, in order; `diff` says no.
const VERBS: [(&[&str], i32); 11] = [
    (&["diff"], 1),
    (&["apply", "--skip-check", "no-ready-pods"], 0),
    (&["apply", "--skip-check", "no-ready-pods"], 0),
    (&["status"], 0),
    (&["pause"], 0),
    (&["resume"], 0),
    (&["rotate-keys", "--skip-check", "no-ready-pods"], 0),
    (&["weight", "20", "--skip-check", "no-ready-pods"], 0),
    (&["promote", "--skip-check", "max-step", "--skip-check", "no-ready-pods"], 0),
    (&["rollback", "--now", "--skip-check", "no-ready-pods"], 0),
    (&["uninstall", "--skip-check", "moves-users"], 0),
];

/// One thing that a Role allows.
struct Right {
    namespace: String,
    resource: String,
    object: Option<String>,
    verb: String,
}

fn rights(roles: &[Value]) -> Vec<Right> {
    let mut all = Vec::new();
    for role in roles.iter().filter(|object| object["kind"] == "Role") {
        for rule in role["rules"].as_array().unwrap() {
            for verb in rule["verbs"].as_array().unwrap() {
                all.push(Right {
                    namespace: role["metadata"]["namespace"].as_str().unwrap().to_owned(),
                    resource: rule["resources"][0].as_str().unwrap().to_owned(),
                    object: rule["resourceNames"][0].as_str().map(str::to_owned),
                    verb: verb.as_str().unwrap().to_owned(),
                });
            }
        }
    }
    all
}

/// The same Roles but for one right.
fn without(roles: &[Value], right: &Right) -> Vec<Value> {
    let mut roles = roles.to_vec();
    let of_namespace = |role: &&mut Value| {
        role["kind"] == "Role" && role["metadata"]["namespace"] == right.namespace.as_str()
    };
    for rule in roles.iter_mut().filter(of_namespace).flat_map(|role| role["rules"].as_array_mut().unwrap()) {
        let is_same = rule["resources"][0] == right.resource.as_str()
            && rule["resourceNames"][0].as_str() == right.object.as_deref();
        if is_same {
            rule["verbs"].as_array_mut().unwrap().retain(|verb| verb != right.verb.as_str());
        }
    }
    // A rule without verbs is none.
    for role in roles.iter_mut().filter(|object| object["kind"] == "Role") {
        role["rules"].as_array_mut().unwrap().retain(|rule| !rule["verbs"].as_array().unwrap().is_empty());
    }
    roles
}

/// Gives the user these Roles, and returns when the API server goes by them.
async fn give(desk: &Desk<'_>, user: &str, roles: &[Value], right: &Right, allowed: bool) {
    let text = roles.iter().map(Value::to_string).collect::<Vec<_>>().join("\n---\n");
    desk.lab.kubectl_as("admin", &["replace", "-f", "-"], &text).await.unwrap();
    let (resource, subresource) = right.resource.split_once('/').unwrap_or((&right.resource, ""));
    let what = right.object.as_ref().map_or(resource.to_owned(), |name| format!("{resource}/{name}"));
    let subresource = format!("--subresource={subresource}");
    let ask = ["auth", "can-i", &right.verb, &what, "-n", &right.namespace, &subresource];
    desk.lab
        .until("the API server goes by the roles", async || {
            (desk.lab.kubectl_as(user, &ask, "").await.is_ok() == allowed).then_some(())
        })
        .await
        .unwrap();
}

/// Somebody's Leases, whose process has vanished: taking one over is part of what an operator does.
async fn abandoned(desk: &Desk<'_>) {
    let ingress = format!("{}-ingress", desk.namespace);
    for (namespace, name) in [(&desk.namespace, "shop-canary"), (&ingress, "canary-gateway-config")] {
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"holderIdentity": "carol", "leaseDurationSeconds": 1},
        });
        desk.lab.apply(&lease.to_string()).await.unwrap();
    }
}

/// Does all of it; the first call that does not end as it should.
async fn day(desk: &Desk<'_>, user: &str, file: &NamedTempFile) -> Option<Ran> {
    for (arguments, code) in VERBS {
        let ran = desk.run(user, file, arguments).await;
        if ran.code != code {
            return Some(ran);
        }
    }
    None
}

/// What a day leaves or has left undone, taken away by somebody who may.
async fn clean(desk: &Desk<'_>, file: &NamedTempFile) {
    let ingress = format!("{}-ingress", desk.namespace);
    for namespace in [&desk.namespace, &ingress] {
        let all = ["delete", "lease", "--all", "-n", namespace];
        desk.lab.kubectl(&all).await.unwrap();
    }
    desk.run("admin", file, &["uninstall", "--skip-check", "moves-users", "--skip-check", "paused"]).await;
    let keys = ["delete", "secret", "canary-ctl-keys", "-n", &ingress, "--ignore-not-found"];
    desk.lab.kubectl(&keys).await.unwrap();
}

/// A Lease is renewed when its holder takes long: an `apply` through an API server that does.
async fn slowly(desk: &Desk<'_>, way: &Faulty) -> Result<(), String> {
    let access = Access { kubeconfig: Some(way.kubeconfig_with("token-of-restricted")), ..Access::default() };
    let patience = LeaseTiming { lease: Duration::from_secs(1), ..LeaseTiming::default() };
    let cluster =
        Cluster::connect(&access, WriteOptions { patience, ..WriteOptions::default() }).await.unwrap();
    way.spoil(u32::MAX, Fault::Slow(Duration::from_millis(200)), |call| !call.contains("/leases"));
    let done = super::desk::apply(&cluster, &desk.release("shop")).await;
    way.is_done();
    done.map(drop).map_err(|error| format!("error: {error}\n  hint: {}\n", error.hint().unwrap()))
}

fn is_named(said: &str, right: &Right) -> bool {
    let Right { namespace, resource, verb, .. } = right;
    said.contains(&format!("error: not allowed to {verb} {resource} in namespace `{namespace}`\n"))
        && said.contains(&format!("  hint: add to a Role in `{namespace}`: {{apiGroups: ["))
        && said.contains(&format!("resources: [\"{resource}\"], verbs: [\"{verb}\"]}}"))
}

/// Gives a user the rights that `generate rbac` prints with these further arguments.
pub(super) async fn printed(desk: &Desk<'_>, user: &str, file: &NamedTempFile, more: &[&str]) -> Vec<Value> {
    let mut command = Command::new(artifact::canary_ctl().unwrap());
    command.args(["generate", "rbac", "--user", user, "-f"]).arg(file.path()).args(more);
    let printed = command.output().await.unwrap();
    assert!(printed.status.success(), "{printed:?}");
    let text = String::from_utf8(printed.stdout).unwrap();
    desk.lab.apply(&text).await.unwrap();
    serde_saphyr::from_multiple(&text).unwrap()
}

#[test]
fn the_printed_rights_are_enough_and_none_is_too_many() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "rights").await;
        let (file, way) = (desk.file("shop"), Faulty::new(lab).await);
        let service = json!({"selector": {"app": "shop"}, "ports": [{"port": 80}]});
        let metadata = json!({"name": "shop", "namespace": desk.namespace});
        let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": service});
        lab.apply(&service.to_string()).await.unwrap();
        let roles = printed(&desk, USER, &file, &[]).await;
        let rights = rights(&roles);
        give(&desk, USER, &roles, rights.last().unwrap(), true).await;
        abandoned(&desk).await;
        let failed = day(&desk, USER, &file).await;
        assert!(failed.is_none(), "{}", failed.unwrap().stderr);
        clean(&desk, &file).await;
        slowly(&desk, &way).await.unwrap();

        // What proxies say is asked for where there are some: the last test of this file.
        for right in rights.iter().filter(|right| right.resource != "pods/proxy") {
            clean(&desk, &file).await;
            give(&desk, USER, &without(&roles, right), right, false).await;
            let said = match (right.resource.as_str(), right.verb.as_str()) {
                ("leases", "update") => slowly(&desk, &way).await.err(),
                ("leases", "get" | "delete") => {
                    abandoned(&desk).await;
                    day(&desk, USER, &file).await.map(|ran| ran.stderr)
                }
                _ => day(&desk, USER, &file).await.map(|ran| ran.stderr),
            };
            let Right { namespace, resource, verb, .. } = right;
            if namespace == "istio-system" {
                // Good to have: rights in the application's and the gateway's namespaces are enough.
                let failed = said.unwrap_or_default();
                assert_eq!(failed, "", "without {verb} {resource} in {namespace}");
                let told = desk.run(USER, &file, &["diff"]).await;
                assert!(
                    told.stdout.contains("not allowed to list DestinationRules in `istio-system`"),
                    "{}",
                    told.stdout
                );
                continue;
            }
            let said = said.unwrap_or_else(|| panic!("nobody needs to {verb} {resource} in {namespace}"));
            assert!(is_named(&said, right), "without {verb} {resource} in {namespace}: {said}");
        }
        println!("{} rights, each needed but the one in the root namespace", rights.len());
    });
}

#[test]
fn an_edit_needs_the_rights_to_list_read_and_patch_what_others_have_written() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "rights-edit").await;
        let file = Desk::file_of(&desk.document("shop").with("/spec/routes", "edit"));
        written(&desk, &["apply", "-f", "-"], "3s").await;
        let before = read(&desk).await;
        let roles = printed(&desk, EDITOR, &file, &[]).await;
        let rights = rights(&roles);
        give(&desk, EDITOR, &roles, rights.last().unwrap(), true).await;
        let failed = day(&desk, EDITOR, &file).await;
        assert!(failed.is_none(), "{}", failed.unwrap().stderr);
        is_theirs_again(&before, &read(&desk).await);

        let mut verbs = Vec::new();
        for right in rights.iter().filter(|right| right.resource == "virtualservices") {
            clean(&desk, &file).await;
            give(&desk, EDITOR, &without(&roles, right), right, false).await;
            let said = day(&desk, EDITOR, &file).await.map(|ran| ran.stderr);
            let Right { verb, object, .. } = right;
            let said = said.unwrap_or_else(|| panic!("nobody needs to {verb} {object:?}"));
            assert!(is_named(&said, right), "without {verb} {object:?}: {said}");
            verbs.push(verb.as_str());
        }
        verbs.sort_unstable();
        assert_eq!(verbs, ["create", "delete", "get", "list", "list", "patch"], "listed in both namespaces");
    });
}

#[test]
fn without_the_right_to_ask_proxies_the_error_names_it() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "rights-proxy").await;
        let file = desk.file("shop");
        let ran = desk.run("admin", &file, &["apply", "--skip-check", "no-ready-pods"]).await;
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ready_gateway(&desk).await;
        let roles = printed(&desk, OTHER, &file, &[]).await;
        let rights = rights(&roles);
        let right = rights.iter().find(|right| right.resource == "pods/proxy").unwrap();
        give(&desk, OTHER, &roles, right, true).await;
        let ran = desk.run(OTHER, &file, &["status"]).await;
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        give(&desk, OTHER, &without(&roles, right), right, false).await;
        let ran = desk.run(OTHER, &file, &["status"]).await;
        assert!(is_named(&ran.stderr, right), "{}{}", ran.stdout, ran.stderr);
    });
}

/// Of this test alone: pods of a node that is not there yet are collected, those that come with it too.
const NODE: &str = "node-of-rights";

/// A gateway that is ready by its object alone, on a node that nobody runs.
async fn ready_gateway(desk: &Desk<'_>) {
    let namespace = format!("{}-ingress", desk.namespace);
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}});
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "gateway", "namespace": namespace, "labels": {"istio": "gateway"}},
        "spec": {"nodeName": NODE, "containers": [{"name": "istio-proxy", "image": "none"}]},
    });
    desk.lab.apply(&format!("---\n{node}\n---\n{pod}\n")).await.unwrap();
    let status = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    let patch =
        ["patch", "pod", "gateway", "-n", &namespace, "--subresource=status", "-p", &status.to_string()];
    desk.lab.kubectl(&patch).await.unwrap();
}
