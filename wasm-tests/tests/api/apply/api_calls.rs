//! How many calls of the API server a verb makes, and that none of them is for what belongs to others.

use crate::beside_an_api_server;
use canary_operations::{Access, Cluster, WriteOptions};
use canary_release::preflight::PreflightCheck;
use serde_json::{Value, json};
use wasm_tests::api::fault_proxy::FaultProxy;
use wasm_tests::api::release_fixture::{ReleaseFixture, apply, name, uninstall, weight_request};

/// The calls of each verb, one after the other.
async fn counted(
    fixture: &ReleaseFixture<'_>,
    proxy: &FaultProxy,
    release: &str,
) -> Vec<(&'static str, usize)> {
    // A Gateway that others of this API server have for the same host would be read.
    let document = fixture.document(release).with("/spec/hosts", json!(["calls.example.com"]));
    let release = ReleaseFixture::read(&document);
    let access = Access { kubeconfig: Some(proxy.kubeconfig()), ..Access::default() };
    let mut counts = Vec::new();
    proxy.calls();
    let cluster = Cluster::connect(&access, WriteOptions::default()).await.unwrap();
    let mut count = |verb| counts.push((verb, proxy.calls().len()));
    count("connect");
    cluster.plan(&release).await.unwrap();
    count("diff");
    apply(&cluster, &release).await.unwrap();
    count("apply, the first");
    apply(&cluster, &release).await.unwrap();
    count("apply, nothing to do");
    let stored = cluster.get_record(&name(&release)).await.unwrap();
    let request = weight_request("20", &[PreflightCheck::NoReadyPods]);
    let checked = cluster.check_weight(&release.name, stored, request).await.unwrap();
    cluster.set_weight(checked).await.unwrap();
    count("weight");
    let stored = cluster.get_record(&name(&release)).await.unwrap();
    let stored = cluster.pause(&name(&release), stored, None, &[]).await.unwrap();
    cluster.resume(&name(&release), stored, &[]).await.unwrap();
    count("pause and resume");
    uninstall(&cluster, &release).await.unwrap();
    count("uninstall");
    counts
}

fn unrelated(kind: &str, api_version: &str, namespace: &str, spec: &Value) -> String {
    let object = |number: u32| {
        let metadata =
            json!({"name": format!("other-{number}"), "namespace": namespace, "labels": {"app": "other"}});
        let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
        if !spec.is_null() {
            object["spec"] = spec.clone();
        }
        format!("---\n{object}\n")
    };
    (0..50).map(object).collect()
}

#[test]
fn a_verb_makes_as_many_calls_however_much_belongs_to_others() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "calls").await;
        let proxy = FaultProxy::new(api).await;
        let before = Box::pin(counted(&fixture, &proxy, "shop")).await;
        println!("calls of the API server: {before:?}");
        let networking = "networking.istio.io/v1";
        let route = json!({"hosts": ["other.example.com"], "http": [{"route": [{"destination": {"host": "other"}}]}]});
        let filter = json!({"workloadSelector": {"labels": {"app": "other"}}, "configPatches": []});
        // On a node without a kubelet, so that their status does not change.
        let pod = json!({"nodeName": "elsewhere", "containers": [{"name": "other", "image": "other"}]});
        for namespace in ["calls", "calls-ingress"] {
            let text = unrelated("VirtualService", networking, namespace, &route)
                + &unrelated("EnvoyFilter", "networking.istio.io/v1alpha3", namespace, &filter)
                + &unrelated("ConfigMap", "v1", namespace, &Value::Null)
                + &unrelated("Pod", "v1", namespace, &pod);
            api.apply(&text).await.unwrap();
        }
        fixture.delete_keys().await;
        assert_eq!(Box::pin(counted(&fixture, &proxy, "shop")).await, before);
        let most = |verb: &str| before.iter().find(|(name, _)| *name == verb).unwrap().1;
        assert!(most("apply, the first") <= 56, "{before:?}");
        assert!(most("apply, nothing to do") <= 12, "{before:?}");
        assert!(most("weight") <= 15, "{before:?}");
    });
}
