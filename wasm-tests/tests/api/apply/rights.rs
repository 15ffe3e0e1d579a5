//! What `generate rbac` prints is enough for every verb, and each right of it is needed but that of Events.

use crate::beside_an_api_server;
use crate::virtual_service::{is_theirs_again, read, written};
use canary_ctl::hint::Hint as _;
use canary_operations::{Access, Cluster, LeaseTiming, WriteOptions};
use mesh_lab::Kubernetes;
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::NamedTempFile;
use wasm_tests::api::fault_proxy::{Fault, FaultProxy};
use wasm_tests::api::rbac::printed;
use wasm_tests::api::release_fixture::{CliOutput, ReleaseFixture};

const USER: &str = "restricted";
/// Each test gives rights in the root namespace and takes some away, so each has a user of its own.
const EDITOR: &str = "restricted-editor";
const OTHER: &str = "restricted-too";

/// Everything that an operator does to a release, in order; `diff` ends with exit code 1.
const VERBS: [(&[&str], i32); 11] = [
    (&["diff"], 1),
    (&["apply", "--skip-check", "no-ready-pods", "--skip-check", "no-proxies"], 0),
    (&["apply", "--skip-check", "no-ready-pods", "--skip-check", "no-proxies"], 0),
    (&["status"], 0),
    (&["pause"], 0),
    (&["resume"], 0),
    (&["rotate-keys", "--skip-check", "no-ready-pods", "--skip-check", "no-proxies"], 0),
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

/// Gives the user these Roles, and returns when the API server applies them.
async fn give(fixture: &ReleaseFixture<'_>, user: &str, roles: &[Value], right: &Right, allowed: bool) {
    // The Secrets have keys by now.
    let rights = roles.iter().filter(|object| object["kind"] != "Secret");
    let text = rights.map(Value::to_string).collect::<Vec<_>>().join("\n---\n");
    fixture.api.kubectl_as("admin", &["replace", "-f", "-"], &text).await.unwrap();
    let (resource, subresource) = right.resource.split_once('/').unwrap_or((&right.resource, ""));
    let what = right.object.as_ref().map_or(resource.to_owned(), |name| format!("{resource}/{name}"));
    let subresource = format!("--subresource={subresource}");
    let ask = ["auth", "can-i", &right.verb, &what, "-n", &right.namespace, &subresource];
    fixture
        .api
        .until("the API server goes by the roles", async || {
            (fixture.api.kubectl_as(user, &ask, "").await.is_ok() == allowed).then_some(())
        })
        .await
        .unwrap();
}

/// Leases of an ended process: taking one over is part of the operations.
async fn abandoned(fixture: &ReleaseFixture<'_>) {
    let ingress = format!("{}-ingress", fixture.namespace);
    for (namespace, name) in [(&fixture.namespace, "shop-canary"), (&ingress, "canary-gateway-config")] {
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"holderIdentity": "carol", "leaseDurationSeconds": 1},
        });
        fixture.api.apply(&lease.to_string()).await.unwrap();
    }
}

/// Does all of it; the first call that does not end as it should.
async fn day(fixture: &ReleaseFixture<'_>, user: &str, file: &NamedTempFile) -> Option<CliOutput> {
    for (arguments, code) in VERBS {
        let ran = fixture.run(user, file, arguments).await;
        if ran.code != code {
            return Some(ran);
        }
    }
    None
}

/// Cleans up after a run of all operations, with an administrator's rights.
async fn clean(fixture: &ReleaseFixture<'_>, file: &NamedTempFile) {
    let ingress = format!("{}-ingress", fixture.namespace);
    for namespace in [&fixture.namespace, &ingress] {
        let all = ["delete", "lease", "--all", "-n", namespace];
        fixture.api.kubectl(&all).await.unwrap();
    }
    fixture.run("admin", file, &["uninstall", "--skip-check", "moves-users", "--skip-check", "paused"]).await;
    // As `generate rbac` prints them: nobody has the right to create Secrets.
    for name in ["canary-ctl-keys", "canary-ctl-record-keys"] {
        let emptied = ["patch", "secret", name, "-n", &ingress, "--type", "merge", "-p", r#"{"data": null}"#];
        fixture.api.kubectl(&emptied).await.unwrap();
    }
}

/// A Lease is renewed when its holder takes long: an `apply` through an API server that does.
async fn slowly(fixture: &ReleaseFixture<'_>, proxy: &FaultProxy) -> Result<(), String> {
    let access =
        Access { kubeconfig: Some(proxy.kubeconfig_with("token-of-restricted")), ..Access::default() };
    let lease_timing = LeaseTiming { lease: Duration::from_secs(1), ..LeaseTiming::default() };
    let cluster =
        Cluster::connect(&access, WriteOptions { lease_timing, ..WriteOptions::default() }).await.unwrap();
    proxy.inject(u32::MAX, Fault::Slow(Duration::from_millis(200)), |call| !call.contains("/leases"));
    let done = wasm_tests::api::release_fixture::apply(&cluster, &fixture.release("shop")).await;
    proxy.is_done();
    done.map(drop).map_err(|error| format!("error: {error}\n  hint: {}\n", error.hint().unwrap()))
}

fn is_named(said: &str, right: &Right) -> bool {
    let Right { namespace, resource, verb, .. } = right;
    let of_one = said.contains(&format!("  hint: add to a Role in `{namespace}`: {{apiGroups: ["))
        && said.contains(&format!("resources: [\"{resource}\"], verbs: [\"{verb}\"]}}"));
    // A right for several objects is missing for each of them.
    let of_several = said.contains("  hint: `canary-ctl generate rbac --user ")
        && said.contains(&format!("in `{namespace}`: "))
        && said.contains(&format!("{verb} {resource} "));
    said.contains(&format!("error: not allowed to {verb} {resource} in namespace `{namespace}`\n"))
        && (of_one || of_several)
}

/// Without these a verb sees less of the mesh, and says so: rights in the application's and the gateway's namespaces are enough.
fn is_good_to_have(right: &Right) -> bool {
    right.namespace == "istio-system"
        || ["sidecars", "serviceentries", "workloadentries"].contains(&right.resource.as_str())
        || (right.resource == "services" && right.verb == "list")
}

async fn is_told(fixture: &ReleaseFixture<'_>, file: &NamedTempFile, right: &Right) {
    let Right { namespace, resource, .. } = right;
    let (verb, said) = match (namespace.as_str(), resource.as_str()) {
        ("istio-system", "destinationrules") => {
            ("diff", "not allowed to list DestinationRules in `istio-system`".to_owned())
        }
        ("istio-system", _) => {
            ("doctor", "not allowed to list DestinationRules and Sidecars in `istio-system`".to_owned())
        }
        _ => ("doctor", format!("list {resource}")),
    };
    let told = fixture.run(USER, file, &[verb]).await;
    let text = told.stdout + &told.stderr;
    assert!(
        text.contains(&said),
        "expected `{said}` of `{verb}` without list {resource} in {namespace}: {text}"
    );
}

/// The release of a user with the printed rights alone, after a day of all operations.
async fn after_a_day<'a>(
    api: &'a Kubernetes,
    namespace: &str,
) -> (ReleaseFixture<'a>, NamedTempFile, FaultProxy, Vec<Value>) {
    let fixture = ReleaseFixture::new(api, namespace).await;
    let (file, proxy) = (fixture.file("shop"), FaultProxy::new(api).await);
    fixture.create_service("shop").await;
    let roles = printed(&fixture, USER, &file, &[]).await;
    give(&fixture, USER, &roles, rights(&roles).last().unwrap(), true).await;
    abandoned(&fixture).await;
    let failed = day(&fixture, USER, &file).await;
    assert!(failed.is_none(), "{}", failed.unwrap().stderr);
    clean(&fixture, &file).await;
    slowly(&fixture, &proxy).await.unwrap();
    (fixture, file, proxy, roles)
}

#[test]
fn the_printed_rights_are_enough() {
    beside_an_api_server(async |api| {
        after_a_day(api, "rights").await;
    });
}

#[test]
#[ignore = "each right in turn: ./x test long"]
fn no_printed_right_is_too_many() {
    beside_an_api_server(async |api| {
        let (fixture, file, proxy, roles) = after_a_day(api, "each-right").await;
        let rights = rights(&roles);

        // Metrics of proxies are read only if there are proxies: in the last test of this file. Events are written by rollouts, which go on
        // without them.
        let is_tried = |right: &&Right| !["pods/proxy", "events"].contains(&right.resource.as_str());
        for right in rights.iter().filter(is_tried) {
            clean(&fixture, &file).await;
            give(&fixture, USER, &without(&roles, right), right, false).await;
            let said = match (right.resource.as_str(), right.verb.as_str()) {
                ("leases", "update") => slowly(&fixture, &proxy).await.err(),
                ("leases", "get" | "delete") => {
                    abandoned(&fixture).await;
                    day(&fixture, USER, &file).await.map(|ran| ran.stderr)
                }
                _ => day(&fixture, USER, &file).await.map(|ran| ran.stderr),
            };
            let Right { namespace, resource, verb, .. } = right;
            if is_good_to_have(right) {
                assert_eq!(said.unwrap_or_default(), "", "without {verb} {resource} in {namespace}");
                is_told(&fixture, &file, right).await;
                continue;
            }
            let said = said.unwrap_or_else(|| panic!("nobody needs to {verb} {resource} in {namespace}"));
            assert!(is_named(&said, right), "without {verb} {resource} in {namespace}: {said}");
        }
        println!(
            "{} rights, each needed but that of Events and those that show more of the mesh",
            rights.len()
        );
    });
}

#[test]
fn an_injection_needs_the_rights_to_list_get_and_patch_virtual_services_of_others() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "rights-edit").await;
        let file = ReleaseFixture::file_of(&fixture.document("shop").with("/spec/routes", "inject"));
        written(&fixture, &["apply", "-f", "-"], "3s").await;
        let before = read(&fixture).await;
        let roles = printed(&fixture, EDITOR, &file, &[]).await;
        let rights = rights(&roles);
        give(&fixture, EDITOR, &roles, rights.last().unwrap(), true).await;
        let failed = day(&fixture, EDITOR, &file).await;
        assert!(failed.is_none(), "{}", failed.unwrap().stderr);
        is_theirs_again(&before, &read(&fixture).await);

        let mut verbs = Vec::new();
        for right in rights.iter().filter(|right| right.resource == "virtualservices") {
            clean(&fixture, &file).await;
            give(&fixture, EDITOR, &without(&roles, right), right, false).await;
            let said = day(&fixture, EDITOR, &file).await.map(|ran| ran.stderr);
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
fn without_the_right_to_ask_proxies_a_status_names_it_and_a_wait_is_refused() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "rights-proxy").await;
        let file = fixture.file("shop");
        let ran = fixture
            .run("admin", &file, &["apply", "--skip-check", "no-ready-pods", "--skip-check", "no-proxies"])
            .await;
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ready_gateway(&fixture).await;
        let roles = printed(&fixture, OTHER, &file, &[]).await;
        let rights = rights(&roles);
        let right = rights.iter().find(|right| right.resource == "pods/proxy").unwrap();
        give(&fixture, OTHER, &roles, right, true).await;
        let ran = fixture.run(OTHER, &file, &["status"]).await;
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        give(&fixture, OTHER, &without(&roles, right), right, false).await;
        let ran = fixture.run(OTHER, &file, &["status"]).await;
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains("the proxies cannot be asked what they run"), "{}", ran.stdout);
        assert!(ran.stdout.contains("found no right to get pods/proxy in namespace"), "{}", ran.stdout);
        let ran = fixture
            .run(OTHER, &file, &["promote", "--skip-check", "no-ready-pods", "--skip-check", "max-step"])
            .await;
        assert!(is_named(&ran.stderr, right), "{}{}", ran.stdout, ran.stderr);
    });
}

/// Of this test alone: pods of a node that is not there yet are collected, those that come with it too.
const NODE: &str = "node-of-rights";

/// A gateway that is ready by its object alone, on a node without a kubelet.
async fn ready_gateway(fixture: &ReleaseFixture<'_>) {
    let namespace = format!("{}-ingress", fixture.namespace);
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}});
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "gateway", "namespace": namespace, "labels": {"istio": "gateway"}},
        "spec": {"nodeName": NODE, "containers": [{"name": "istio-proxy", "image": "none"}]},
    });
    fixture.api.apply(&format!("---\n{node}\n---\n{pod}\n")).await.unwrap();
    let status = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    let patch =
        ["patch", "pod", "gateway", "-n", &namespace, "--subresource=status", "-p", &status.to_string()];
    fixture.api.kubectl(&patch).await.unwrap();
}
