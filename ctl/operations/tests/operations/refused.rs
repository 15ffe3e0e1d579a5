//! What an operation refuses before its first write.

use assignment::contract::Until;
use canary_operations::{Cluster, Error, Protected, WeightRequest};
use canary_release::preflight::PreflightCheck;
use canary_release::record::Expiry;
use canary_release::spec::{Release, Seconds};
use fake_api_server::fixture::{
    INGRESS, apply, edit_record, finish, gateway, pod, promote, release, run, set_weight, shop, weight,
};
use serde_json::{Value, json};

/// Sets 20 % for an hour; returns its end.
async fn set_expiring_weight(cluster: &Cluster, release: &Release) -> Option<Until> {
    let stored = cluster.get_record(&release.name).await.unwrap();
    let request = WeightRequest {
        weight: weight("20"),
        expires_in: Seconds::new(3600).map(Expiry::After),
        expected_generation: None,
        skipped: &[],
    };
    let checked = cluster.check_weight(&release.name, stored, request).await.unwrap();
    cluster.set_weight(checked).await.unwrap().stored.record.state.until
}

#[test]
fn a_weight_is_refused_if_the_release_is_at_another_generation_than_expected() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let request = |expected| WeightRequest {
            weight: weight("10"),
            expires_in: None,
            expected_generation: Some(expected),
            skipped: &[],
        };
        let stored = cluster.get_record(&release.name).await.unwrap();
        let refused = cluster.check_weight(&release.name, stored.clone(), request(7)).await;
        assert!(matches!(refused, Err(Error::Generation { expected: 7, found: 1, .. })), "{refused:?}");
        cluster.check_weight(&release.name, stored, request(1)).await.unwrap();
    });
}

#[test]
fn a_step_is_measured_from_zero_once_a_weight_has_expired() {
    run(async {
        let (api, release) = (shop(), release(&json!({"maxStep": 20})));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        set_expiring_weight(&cluster, &release).await;
        set_weight(&cluster, &release, "20").await.unwrap();
        // An hour later: the record has the expiry.
        edit_record(&api, |record| record["state"]["until"] = json!({"atSeconds": 1, "action": "stop"}));
        let refused = set_weight(&cluster, &release, "40").await;
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("found 0% to 40%"), "{message}");
    });
}

#[test]
fn a_first_apply_is_refused_with_a_port_or_a_service_that_does_not_exist() {
    run(async {
        let api = shop();
        let cluster = api.cluster().await;
        let named = |name: &str, port: u16| release(&json!({"service": {"name": name, "port": port}}));
        let refused = apply(&cluster, &named("shop", 81)).await.unwrap_err().to_string();
        assert_eq!(refused, "expected port 81 of Service `shop`, found 80");
        let refused = apply(&cluster, &named("shopp", 80)).await.unwrap_err().to_string();
        assert_eq!(refused, "expected Service `shopp` in namespace `shop`, found none");
        assert_eq!(api.state().store.names(&["ConfigMap", "VirtualService"]), Vec::<String>::new());
        apply(&cluster, &named("shop", 80)).await.unwrap();
    });
}

/// Before anything is written.
#[test]
fn a_release_that_users_cannot_reach_as_its_file_says_is_refused() {
    run(async {
        let selecting =
            |labels: Value| json!({"gateways": [{"name": "ingress/gateway", "selector": labels}]});
        let named = json!({"gateways": [{"name": "ingress/gatewayy", "selector": {"istio": "gateway"}}]});
        let module = json!({"delivery": {"module": "oci://registry.example.com/filter:1"}});
        let cases = [
            (named, PreflightCheck::NoGateway),
            (selecting(json!({"istio": "ingress"})), PreflightCheck::NoProxies),
            (selecting(json!({"istio": "gateway", "app": "one"})), PreflightCheck::SelectorMismatch),
            (json!({"hosts": ["shop.example.org"]}), PreflightCheck::HostNotServed),
            (module, PreflightCheck::PlaceholderModule),
        ];
        for (changes, expected) in cases {
            let api = shop();
            let one = json!({"istio": "gateway", "app": "one"});
            api.state().create(&pod(INGRESS, "gateway-2", &one));
            let refused = apply(&api.cluster().await, &release(&changes)).await;
            let Err(Error::Preflight(failed)) = &refused else {
                panic!("expected `{expected}` for {changes}, found {refused:?}");
            };
            assert_eq!(failed.check, expected, "{changes}: {failed}");
            assert_eq!(
                api.state().store.names(&["ConfigMap", "Secret", "EnvoyFilter"]),
                Vec::<String>::new()
            );
        }
    });
}

#[test]
fn a_gateway_without_tls_is_refused_until_the_file_says_who_speaks_it() {
    run(async {
        let api = shop();
        api.state().store.edit("Gateway", "gateway", |object| {
            object["spec"] = gateway(INGRESS, "HTTP", "*.example.com")["spec"].clone();
        });
        let cluster = api.cluster().await;
        let plan = cluster.plan(&release(&Value::Null)).await.unwrap();
        let notes: Vec<String> = plan.notes.iter().map(ToString::to_string).collect();
        assert!(notes.iter().any(|note| note.contains("found plain HTTP")), "{notes:?}");
        match apply(&cluster, &release(&Value::Null)).await {
            Err(Error::Preflight(failed)) => assert_eq!(failed.check, PreflightCheck::NoTls, "{failed}"),
            other => panic!("expected `no-tls`, found {other:?}"),
        }
        apply(&cluster, &release(&json!({"cookies": {"tls": true}}))).await.unwrap();
    });
}

#[test]
fn a_pod_that_is_terminating_counts_as_none() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        api.state().store.edit("Pod", "shop-v1", |pod| {
            pod["metadata"]["deletionTimestamp"] = json!("2026-11-24T00:00:00Z");
        });
        let refused = apply(&api.cluster().await, &release).await.unwrap_err().to_string();
        assert_eq!(refused, "version `v1` has no pod behind Service `shop`");
    });
}

/// The same cause from each verb.
#[test]
fn a_service_that_selects_one_version_is_named_by_every_verb() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        api.state().store.edit("Service", "shop", |service| {
            service["spec"]["selector"]["version"] = json!("v1");
        });
        let cause = "Service `shop` selects `version: v1` alone";
        let weight = set_weight(&cluster, &release, "10").await.unwrap_err();
        assert_eq!(weight.to_string(), format!("version `v2` gets no requests: {cause}"));
        let found = cluster.diagnose(&release).await;
        let findings = canary_release::doctor::findings(&release, &found.examination);
        let texts: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(texts.contains(&format!("{cause}: no pod of the canary is behind it")), "{texts:?}");
        assert!(!texts.iter().any(|text| text.contains("no ready pod yet")), "{texts:?}");
        let stored = cluster.get_record(&release.name).await.unwrap();
        let status = cluster.observe_status(&release.name, &stored).await.unwrap();
        assert_eq!(status.narrow.unwrap().to_string(), cause);
    });
}

#[test]
fn a_promotion_and_a_raise_are_refused_while_another_user_has_paused_the_release() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        edit_record(&api, |record| record["paused"] = json!({"at": "2026-11-24T00:00:00Z", "by": "bob"}));
        for refused in
            [promote(&cluster, &release).await.map(drop), set_weight(&cluster, &release, "1").await]
        {
            let message = refused.unwrap_err().to_string();
            assert!(message.starts_with("the release is paused by `bob`"), "{message}");
        }
        let record = cluster.get_record(&release.name).await.unwrap().record;
        assert_eq!(
            (record.state.generation, record.role_change.is_some()),
            (1, false),
            "nothing was written"
        );
    });
}

#[test]
fn a_promotion_is_refused_without_a_ready_pod_of_the_canary() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        api.state().store.remove("Pod", "shop-v2");
        let refused = promote(&cluster, &release).await;
        assert!(matches!(refused, Err(Error::Preflight(_))), "{refused:?}");
        let record = cluster.get_record(&release.name).await.unwrap().record;
        assert_eq!(record.state.generation, 1, "nothing was written");
    });
}

#[test]
fn a_subset_stays_while_a_route_of_others_leads_to_it() {
    run(async {
        let (api, release) = (shop(), release(&json!({"routes": "external"})));
        let cluster = api.cluster().await;
        let theirs = |subset: &str| {
            json!([{"name": subset, "route": [{"destination": {"host": "shop", "subset": subset}}],
            "match": [{"headers": {"x-canary-version": {"exact": format!("shop/shop/{subset}")}}}]}])
        };
        let mut routes = theirs("v1").as_array().unwrap().clone();
        routes.extend(theirs("v2").as_array().unwrap().clone());
        api.state().create(&json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
            "metadata": {"name": "theirs", "namespace": "shop"},
            "spec": {"hosts": ["shop.example.com"], "gateways": ["ingress/gateway"], "http": routes}}));
        apply(&cluster, &release).await.unwrap();
        promote(&cluster, &release).await.unwrap();
        let refused = finish(&cluster, &release).await;
        assert!(matches!(refused, Err(Error::Protected(Protected::RoutedVersion { .. }))), "{refused:?}");
        let subsets = |api: &fake_api_server::FakeApi| -> Vec<String> {
            let state = api.state();
            let rule = state.store.find("DestinationRule", "shop-canary").unwrap();
            let subsets = rule["spec"]["subsets"].as_array().unwrap().clone();
            subsets.iter().map(|subset| subset["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(subsets(&api), ["v1", "v2"]);
        api.state().store.edit("VirtualService", "theirs", |object| object["spec"]["http"] = theirs("v2"));
        finish(&cluster, &release).await.unwrap();
        assert_eq!(subsets(&api), ["v2"], "once no route names it, the next call takes the subset away");
    });
}

#[test]
fn a_promotion_by_file_is_a_step_to_everyone_too() {
    run(async {
        let (api, first) = (shop(), release(&json!({"maxStep": 50})));
        let cluster = api.cluster().await;
        apply(&cluster, &first).await.unwrap();
        set_weight(&cluster, &first, "10").await.unwrap();
        let promoted = json!({"maxStep": 50, "versions": {"stable": "v2"}});
        let refused = apply(&cluster, &release(&promoted)).await.unwrap_err().to_string();
        assert_eq!(refused, "expected a step of at most 50%, found 10% to 100%");
        set_weight(&cluster, &first, "50").await.unwrap();
        let applied = apply(&cluster, &release(&promoted)).await.unwrap();
        assert!(applied.record.draining.contains_key("v1"), "{:?}", applied.record.draining);
    });
}

#[test]
fn a_corrected_weight_ends_when_the_weight_before_would_have() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let until = set_expiring_weight(&cluster, &release).await;
        set_weight(&cluster, &release, "25").await.unwrap();
        let record = cluster.get_record(&release.name).await.unwrap().record;
        assert!(until.is_some() && record.state.until == until, "{until:?}, then {:?}", record.state.until);
    });
}

/// Istio would give the host to ours alone: the more exact name of it wins.
#[test]
fn routes_of_others_that_ours_would_replace_are_named_until_they_name_the_host_too() {
    run(async {
        let api = shop();
        let site = |hosts: Value| {
            json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
                "metadata": {"name": "site", "namespace": "web", "creationTimestamp": "2026-01-01T00:00:00Z"},
                "spec": {"hosts": hosts, "gateways": ["ingress/gateway"],
                    "http": [{"match": [{"uri": {"prefix": "/api/"}}], "route": [{"destination": {"host": "web"}}]}]}})
        };
        api.state().create(&site(json!(["*.example.com"])));
        let (cluster, release) = (api.cluster().await, release(&Value::Null));
        let expected = "expected no other routes for host `shop.example.com` at Gateway `ingress/gateway`, found those of VirtualService \
                        web/site, which has `*.example.com`: Istio would use ours alone, which name the host more exactly";
        let plan = cluster.plan(&release).await.unwrap();
        let notes: Vec<String> = plan.notes.iter().map(ToString::to_string).collect();
        assert!(notes.contains(&format!("check `host-taken` fails: {expected}")), "{notes:?}");
        match apply(&cluster, &release).await {
            Err(Error::Preflight(failed)) => assert_eq!(failed.to_string(), expected),
            other => panic!("expected `host-taken`, found {other:?}"),
        }
        assert_eq!(api.state().store.names(&["ConfigMap", "EnvoyFilter", "Secret"]), [""; 0]);
        api.state().store.edit("VirtualService", "site", |object| {
            object["spec"]["hosts"] = json!(["*.example.com", "shop.example.com"]);
        });
        apply(&cluster, &release).await.unwrap();
        // Ours have the host now, and what others write later is not lost by it.
        api.state().store.edit("VirtualService", "site", |object| {
            object["spec"]["hosts"] = json!(["*.example.com"]);
        });
        apply(&cluster, &self::release(&json!({"maxStep": 30}))).await.unwrap();
    });
}
