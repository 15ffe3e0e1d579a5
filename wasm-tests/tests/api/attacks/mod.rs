//! A user who may write ConfigMaps beside a release, and an operator who has the printed Roles, on a real API server.
//!
//! `ctl/operations/tests/operations/untrusted_records/` has every field of a record under every operation.

mod records;
mod rights;
mod trains;

use mesh_lab::Kubernetes;

const ATTACKER: &str = "restricted-attacker";

/// Of each call: there are neither pods nor a second look of a person.
const SKIPPED: [&str; 8] = [
    "--skip-check",
    "no-ready-pods",
    "--skip-check",
    "no-proxies",
    "--skip-check",
    "max-step",
    "--skip-check",
    "moves-users",
];

/// Gives a user all rights on ConfigMaps of these namespaces, and no others.
async fn give_config_maps(api: &Kubernetes, user: &str, namespaces: &[&str]) {
    for namespace in namespaces {
        let role = ["create", "role", user, "-n", namespace, "--verb=*", "--resource=configmaps"];
        api.kubectl(&role).await.unwrap();
        let (role, user) = (format!("--role={user}"), format!("--user={user}"));
        api.kubectl(&["create", "rolebinding", ATTACKER, "-n", namespace, &role, &user]).await.unwrap();
    }
    let may = async || api.kubectl_as(user, &["get", "configmaps", "-n", namespaces[0]], "").await.ok();
    api.until("the rights of the attacker", may).await.unwrap();
}
