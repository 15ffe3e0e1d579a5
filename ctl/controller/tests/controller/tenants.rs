//! What the object of one namespace gets in those of others.

use crate::object::Fixture;
use canary_controller::Grant;
use fake_api_server::fixture::run;
use serde_json::{Value, json};

fn grant(spec: &Value) -> Grant {
    Grant::of(&json!({"metadata": {"name": "g", "namespace": "ingress"}, "spec": spec})).unwrap()
}

async fn refused(changes: &Value, grants: Vec<Grant>) -> Option<String> {
    let mut fixture = Fixture::new(changes);
    fixture.grants = grants;
    fixture.reconcile_once().await;
    let (status, reason) = fixture.condition("Stalled").unwrap();
    let is_refused = status == "True";
    assert_eq!(
        fixture.api.state().store.names(&["EnvoyFilter"]).is_empty(),
        is_refused,
        "{:#?}",
        fixture.status()
    );
    assert!(!is_refused || ["NotGranted", "Invalid"].contains(&reason.as_str()), "{reason}");
    is_refused.then(|| fixture.status().waiting_for.unwrap_or_default())
}

/// Request, grant, and a part of the refusal; nothing if it is carried out.
fn requests_and_grants() -> Vec<(Value, Value, &'static str)> {
    let module = ["oci://registry.test/filter:1"];
    let shop = |hosts: &str| json!({"from": ["shop"], "hosts": [hosts], "modules": module});
    let at =
        |gateway: &str| json!({"from": ["shop"], "hosts": ["*"], "gateways": [gateway], "modules": module});
    let own = json!([{"name": "shop/gateway", "namespace": "ingress", "selector": {"istio": "gateway"}}]);
    let no_labels = json!([{"name": "ingress/gateway"}]);
    vec![
        (json!({}), json!(null), "host `shop.example.com` at gateway `gateway`"),
        (json!({}), json!({"from": ["blog"], "hosts": ["*"]}), "namespace `shop`"),
        (json!({}), json!({"from": ["shop"]}), "host `shop.example.com`"),
        (json!({}), shop("*.example.org"), "host `shop.example.com`"),
        (json!({}), shop("example.com"), "host"),
        (json!({}), at("other"), "gateway `gateway`"),
        (json!({}), shop("*.example.com"), ""),
        (json!({}), at("gateway"), ""),
        (json!({}), json!({"from": ["shop"], "hosts": ["*"]}), "module `oci://registry.test/filter:1`"),
        (json!({}), json!({"from": ["shop"], "hosts": ["*"], "modules": ["oci://other/"]}), "module"),
        (json!({"gateways": own}), at("gateway"), "gateway `gateway`"),
        (json!({"gateways": no_labels}), shop("*"), "needs a `selector`"),
        (json!({"hosts": ["*"]}), shop("*.example.com"), "host `*`"),
        (json!({"hosts": ["*.com"]}), shop("*.example.com"), "host `*.com`"),
        (json!({"sidecars": [{"namespace": "ingress"}]}), shop("*"), "sidecars"),
        (json!({"sidecars": [{"namespace": "shop"}]}), shop("*"), "signing keys"),
        (json!({"train": {"name": "autumn", "namespaces": ["ingress"]}}), shop("*"), "train"),
    ]
}

#[test]
fn only_what_is_granted_is_written_to_another_namespace() {
    run(async {
        for (changes, granted, expected) in requests_and_grants() {
            let grants = if granted.is_null() { Vec::new() } else { vec![grant(&granted)] };
            let refusal = Box::pin(refused(&changes, grants)).await;
            let is_expected = match &refusal {
                Some(found) => !expected.is_empty() && found.contains(expected),
                None => expected.is_empty(),
            };
            assert!(is_expected, "{changes}, {granted}: expected `{expected}`, found {refusal:?}");
        }
    });
}

#[test]
fn no_secret_of_the_controller_is_read_for_an_object() {
    run(async {
        let grants = || vec![grant(&json!({"from": ["shop"], "hosts": ["*"], "modules": ["oci://"]}))];
        let token = "/var/run/secrets/kubernetes.io/serviceaccount/token";
        for rollout in [
            json!({"alerts": [{"name": "a", "type": "webhook", "urlFrom": {"file": token}}]}),
            json!({"alerts": [{"name": "a", "type": "webhook", "urlFrom": {"env": "TOKEN"}}]}),
            json!({"hooks": [{"name": "a", "type": "rollout", "url": "http://x.test/", "signatureKeyFrom": {"file": token}}]}),
            json!({"hooks": [{"name": "a", "type": "rollout", "urlFrom": {"env": "TOKEN"}}]}),
            json!({"prometheus": {"address": "http://x.test", "bearerTokenFrom": {"file": token}}}),
        ] {
            let refusal = Box::pin(refused(&json!({"rollout": rollout}), grants())).await;
            assert!(
                refusal.as_ref().is_some_and(|why| why.contains("expected a Secret")),
                "{rollout}: {refusal:?}"
            );
        }
    });
}

/// A label by which a GitOps tool knows its objects would make it delete ours.
#[test]
fn no_marker_of_a_tool_reaches_our_objects() {
    run(async {
        let fixture = Fixture::new(&json!({}));
        fixture.edit(|object| {
            object["metadata"]["labels"] = json!({"team": "web", "app.kubernetes.io/instance": "shop",
                "kustomize.toolkit.fluxcd.io/name": "shop"});
            object["metadata"]["annotations"] = json!({"argocd.argoproj.io/tracking-id": "shop:x",
                "kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "ours"});
        });
        fixture.reconcile_once().await;
        let state = fixture.api.state();
        for kind in ["DestinationRule", "EnvoyFilter", "VirtualService"] {
            for object in state.store.of_kind(kind) {
                let metadata = &object["metadata"];
                let found = metadata["labels"].to_string() + &metadata["annotations"].to_string();
                for marker in ["instance", "fluxcd", "argoproj", "last-applied", "team", "note"] {
                    assert!(!found.contains(marker), "{marker}: {found}");
                }
            }
        }
    });
}

/// `retry` applies the object as it is by now.
#[test]
fn no_request_applies_what_is_not_granted() {
    run(async {
        let fixture = Fixture::new(&json!({}));
        fixture.reconcile_once().await;
        fixture.ask(&json!({"action": "rollback"}));
        fixture.reconcile_once().await;
        fixture.edit(|object| object["spec"]["hosts"] = json!(["bank.example.com"]));
        fixture.ask(&json!({"action": "retry"}));
        fixture.reconcile_once().await;
        let answer = fixture.object()["status"]["lastRequest"].clone();
        assert_eq!(answer["result"], "Refused", "{answer}");
        let state = fixture.api.state();
        let written = state.store.of_kind("EnvoyFilter").map(ToString::to_string).collect::<String>();
        assert!(!written.contains("bank.example.com"), "a host without a grant");
    });
}

/// A user who may write objects need not be allowed to read Secrets.
#[test]
fn a_secret_is_used_where_its_owner_says_so() {
    run(async {
        let rollout = json!({"plans": {"default": [{"weight": 1}]},
            "alerts": [{"name": "a", "type": "webhook", "urlFrom": {"secret": {"name": "chat", "key": "url"}}}]});
        let fixture = Fixture::new(&json!({"rollout": rollout}));
        let mut secret = json!({"apiVersion": "v1", "kind": "Secret", "data": {},
            "metadata": {"name": "chat", "namespace": "shop", "labels": {}}});
        fixture.api.state().create(&secret);
        fixture.reconcile_once().await;
        let refused = fixture.status().waiting_for.unwrap();
        assert!(
            refused.contains("expected label `canary-ctl.io/for-releases: true` at Secret `chat`"),
            "{refused}"
        );
        fixture.api.state().store.remove("Secret", "chat");
        secret["metadata"]["labels"] = json!({"canary-ctl.io/for-releases": "true"});
        fixture.api.state().create(&secret);
        fixture.reconcile_once().await;
        assert_eq!(fixture.condition("Stalled").unwrap().0, "False", "{:#?}", fixture.status());
    });
}
