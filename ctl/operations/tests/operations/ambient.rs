//! Ambient workloads are told as what they are, and not as pods without a sidecar whose port is closed.

use canary_operations::Error;
use canary_release::doctor::findings;
use canary_release::preflight::{Alternative, CheckFailed, PreflightCheck};
use canary_release::spec::Release;
use canary_release::status::ProxyFault;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{SHOP, apply, pod, release, run, shop};
use serde_json::{Value, json};

fn create_namespace(api: &FakeApi, labels: &Value) {
    api.state().create(&json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": SHOP, "labels": labels}}));
}

/// A pod without a proxy.
fn bare_pod(name: &str, labels: &Value) -> Value {
    let mut pod = pod(SHOP, name, labels);
    pod["spec"]["containers"] = json!([{"name": "app", "image": "app:1"}]);
    pod["status"]["containerStatuses"] = json!([]);
    pod
}

fn ambient() -> Value {
    json!({"istio.io/dataplane-mode": "ambient"})
}

/// The shop with callers in the mesh whose sidecars decide.
fn with_sidecars() -> Release {
    release(&json!({"sidecars": [{"namespace": SHOP, "selector": {"app": "web"}}]}))
}

#[test]
fn other_pods_in_an_ambient_mesh_are_told_apart_from_those_without_a_sidecar() {
    run(async {
        let cron = || vec!["cron".to_owned()];
        let redirected = json!({"ambient.istio.io/redirection": "enabled"});
        for (annotations, unmeshed, in_ambient) in [(json!({}), cron(), vec![]), (redirected, vec![], cron())]
        {
            let (api, release) = (shop(), release(&Value::Null));
            let mut pod = bare_pod("cron", &json!({"app": "cron"}));
            pod["metadata"]["annotations"] = annotations.clone();
            api.state().create(&pod);
            let cluster = api.cluster().await;
            let coverage = apply(&cluster, &release).await.unwrap().coverage;
            assert_eq!(
                (coverage.unmeshed_pods.0, coverage.ambient_pods.0),
                (unmeshed, in_ambient),
                "{annotations}"
            );
        }
    });
}

#[test]
fn an_apply_for_sidecars_of_ambient_pods_is_refused_with_what_can_be_done() {
    run(async {
        let (api, release) = (shop(), with_sidecars());
        create_namespace(&api, &ambient());
        api.state().create(&bare_pod("web-1", &json!({"app": "web"})));
        let cluster = api.cluster().await;
        let error = apply(&cluster, &release).await.unwrap_err();
        let Error::Preflight(CheckFailed { check, message, alternative }) = error else {
            panic!("expected a failed check, found {error:?}")
        };
        assert_eq!(check, PreflightCheck::UnseenProxies);
        let expected = Alternative::GiveSidecar { namespace: SHOP.to_owned(), pod: "web-1".to_owned() };
        assert_eq!(alternative, expected);
        assert!(message.contains("shop/web-1 is ambient and has no sidecar"), "{message}");
        let written = api.state().store.names(&["ConfigMap", "Secret", "EnvoyFilter"]);
        assert_eq!(written, Vec::<String>::new());
        let examination = cluster.diagnose(&release).await.examination;
        let found: Vec<String> = findings(&release, &examination).iter().map(ToString::to_string).collect();
        let expected = "shop/web-1 is ambient and has no sidecar: EnvoyFilters do not apply to ztunnel, so nothing decides what it sends";
        assert!(found.iter().any(|text| text == expected), "expected `{expected}`, found {found:#?}");
    });
}

#[test]
fn status_says_of_a_proxy_that_it_is_ambient() {
    run(async {
        let (api, release) = (shop(), with_sidecars());
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        // The namespace moves to ambient afterwards.
        let labels = json!({"app": "web", "istio.io/dataplane-mode": "ambient"});
        api.state().create(&bare_pod("web-1", &labels));
        let stored = cluster.get_record(&release.name).await.unwrap();
        let observation = cluster.observe_status(&release.name, &stored).await.unwrap();
        let faults: Vec<_> = observation.proxies.iter().filter_map(|proxy| proxy.fault.clone()).collect();
        assert_eq!(faults, [ProxyFault::Ambient]);
    });
}
