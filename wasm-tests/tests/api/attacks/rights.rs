//! A user with the printed Roles tries to become another user.

use crate::beside_an_api_server;
use serde_json::{Value, json};
use wasm_tests::api::rbac::printed;
use wasm_tests::api::release_fixture::ReleaseFixture;

const CLIMBER: &str = "restricted-climber";

/// Commands by which a user with the printed Roles could become more, each with its input.
fn climbs(ingress: &str) -> Vec<(Vec<String>, String)> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let token = |name: &str| {
        let annotations = json!({"kubernetes.io/service-account.name": "powerful"});
        json!({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token",
            "metadata": {"name": name, "namespace": ingress, "annotations": annotations}})
        .to_string()
    };
    let typed = [
        format!("create rolebinding more -n {ingress} --clusterrole=cluster-admin --user={CLIMBER}"),
        format!("create clusterrolebinding more --clusterrole=cluster-admin --user={CLIMBER}"),
        format!("create role more -n {ingress} --verb=* --resource=secrets"),
        format!("get secrets -n {ingress}"),
        format!("get secret of-others -n {ingress}"),
        format!("get secret canary-ctl-keys -n {ingress} --as=admin --as-group=system:masters"),
        format!("get secret of-others -n {ingress} --as=system:serviceaccount:{ingress}:powerful"),
        format!("create token powerful -n {ingress}"),
        format!("create serviceaccount more -n {ingress}"),
        format!("delete secret canary-ctl-keys -n {ingress}"),
        format!("run more -n {ingress} --image=evil"),
        format!("create deployment more -n {ingress} --image=evil"),
        format!("get --raw /api/v1/namespaces/{ingress}/services/any:80/proxy/"),
        "get --raw /api/v1/nodes/any/proxy/pods".to_owned(),
        format!("create --raw /api/v1/namespaces/{ingress}/pods/any:80/proxy/quitquitquit -f -"),
        "create namespace more".to_owned(),
        "certificate approve any".to_owned(),
    ];
    let mut all: Vec<_> = typed.iter().map(|line| (words(line), "{}".to_owned())).collect();
    for name in ["canary-ctl-keys", "canary-ctl-record-keys", "more"] {
        for verb in ["create -f -", "replace -f -", "replace --force -f -", "apply --server-side -f -"] {
            all.push((words(verb), token(name)));
        }
    }
    all
}

#[test]
fn a_user_with_the_printed_roles_becomes_no_other_user() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "climbed").await;
        let ingress = "climbed-ingress";
        api.kubectl(&["create", "serviceaccount", "powerful", "-n", ingress]).await.unwrap();
        let of_others = ["create", "secret", "generic", "of-others", "-n", ingress, "--from-literal=a=b"];
        api.kubectl(&of_others).await.unwrap();
        printed(&fixture, CLIMBER, &fixture.file("shop"), &[]).await;
        let own = ["get", "secret", "canary-ctl-keys", "-n", ingress, "-o", "json"];
        let may = async || api.kubectl_as(CLIMBER, &own, "").await.ok();
        let empty = api.until("the rights of the user", may).await.unwrap();
        for (line, input) in climbs(ingress) {
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            let refused = api.kubectl_as(CLIMBER, &line, &input).await;
            let refused = refused.err().unwrap_or_else(|| panic!("{line:?} with {input}")).to_string();
            let is_refused = ["orbidden", "field is immutable"].iter().any(|word| refused.contains(word));
            assert!(is_refused, "{line:?} with {input}: {refused}");
        }
        let mut written: Value = serde_json::from_str(&empty).unwrap();
        written["data"] = json!({"any": "Ynl0ZXM="});
        api.kubectl_as(CLIMBER, &["replace", "-f", "-"], &written.to_string())
            .await
            .expect("what `apply` does is allowed");
    });
}
