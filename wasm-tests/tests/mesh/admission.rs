//! A policy of the cluster's owner: its own words reach the operator before anything is written, and `doctor` says it among all else.

use mesh_lab::Lab;
use serde_json::{Value, json};
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use crate::support::release_fixture::{KINDS, objects_of};

const NAME: &str = "admission";
const WORDS: &str = "EnvoyFilter is not allowed here: ask the platform team (PLAT-7)";

#[test]
fn a_policy_refuses_before_the_first_write_and_doctor_finds_it_with_everything_else() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, NAME, &ShopEnvOptions::gateway()).await.unwrap();
        let release = env.release().unwrap().with("/spec/weight", "0");
        let admin = Cli::new(lab, &release);
        let before = objects(lab, &env).await;
        lab.apply(&policy(&env)).await.unwrap();
        forbidden(lab, &env, true).await;

        let quoted = [WORDS, "ValidatingAdmissionPolicy 'no-envoy-filters' with binding 'no-envoy-filters'"];
        let refused = admin.expect("apply --skip-check moves-users", 2, &quoted).await;
        assert!(!refused.stderr.contains("add to a Role"), "no right is missing: {}", refused.stderr);
        assert_eq!(objects(lab, &env).await, before, "nothing is left behind");

        lab.apply(&rights()).await.unwrap();
        let mut gateways = release.get("/spec/gateways");
        gateways[0]["selector"] = json!({"istio": "another"});
        let broken = release.clone().with("/spec/service/port", 81).with("/spec/gateways", gateways);
        let everything = [
            "expected port 81 of Service `shop`",
            "expected pods with labels `istio: another`",
            "missing: ",
            "leases",
            WORDS,
            "the release is not on this cluster yet",
        ];
        Cli::of(lab, &broken, "restricted-doctor").expect("doctor", 1, &everything).await;
        assert_eq!(objects(lab, &env).await, before, "doctor writes nothing");

        lab.delete(&policy(&env)).await.unwrap();
        forbidden(lab, &env, false).await;
        admin.expect("apply --skip-check moves-users --wait", 0, &[]).await;
        admin.expect("doctor", 0, &["admission/shop: 0 errors, 0 warnings"]).await;
    });
}

/// Names and versions of what `apply` could have written.
async fn objects(lab: &Lab, env: &ShopEnv) -> String {
    let kinds = [&KINDS[..], &[("apis/coordination.k8s.io/v1", "leases")]].concat();
    let objects = objects_of(lab, &[&env.namespace, &env.ingress], &kinds).await;
    let line = |object: &Value| {
        let metadata = &object["metadata"];
        format!("{} {} {}\n", object["kind"], metadata["name"], metadata["resourceVersion"])
    };
    objects.iter().map(line).collect()
}

/// Returns when the API server enforces the policy, or does not any more.
async fn forbidden(lab: &Lab, env: &ShopEnv, expected: bool) {
    let filter = json!({"apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": "probe", "namespace": env.ingress}, "spec": {"configPatches": []}});
    lab.until("the policy", async || {
        let line = ["create", "--dry-run=server", "-f", "-"];
        let done = lab.kubectl_as("admin", &line, &filter.to_string()).await;
        (done.is_err() == expected).then_some(())
    })
    .await
    .unwrap();
}

/// Forbids every `EnvoyFilter` in the gateway's namespace.
fn policy(env: &ShopEnv) -> String {
    let rule = json!({"apiGroups": ["networking.istio.io"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"],
        "resources": ["envoyfilters"]});
    let namespace = json!({"matchLabels": {"kubernetes.io/metadata.name": env.ingress}});
    let metadata = json!({"name": "no-envoy-filters"});
    let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
    "metadata": metadata, "spec": {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule], "namespaceSelector": namespace},
        "validations": [{"expression": "false", "message": WORDS, "reason": "Forbidden"}],
    }});
    let binding = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": metadata, "spec": {"policyName": "no-envoy-filters", "validationActions": ["Deny"]}});
    format!("---\n{policy}\n---\n{binding}\n")
}

/// All that an operator needs but Leases.
fn rights() -> String {
    let allow = |group: &str, resources: &[&str], verbs: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
    "metadata": {"name": "restricted-doctor"}, "rules": [
        allow("*", &["*"], &["get", "list"]),
        allow("networking.istio.io", &["*"], &["create", "patch", "delete"]),
        allow("", &["configmaps", "secrets", "pods/proxy", "pods/portforward"], &["*"]),
    ]});
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "restricted-doctor"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "restricted-doctor"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "restricted-doctor"}]});
    format!("---\n{role}\n---\n{binding}\n")
}
