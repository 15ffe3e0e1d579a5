//! Everything that is wrong with a release and its cluster is found at once, and nothing is written.

use canary_operations::Cluster;
use canary_release::doctor::{Area, Severity, findings};
use canary_release::spec::Release;
use fake_api_server::fixture::{apply, release, run, shop};
use serde_json::{Value, json};

const WRITTEN: [&str; 6] =
    ["ConfigMap", "Secret", "DestinationRule", "VirtualService", "EnvoyFilter", "Lease"];

/// Severity, area and text of each finding.
async fn found(cluster: &Cluster, release: &Release) -> Vec<(Severity, Area, String)> {
    let diagnosis = cluster.diagnose(release).await;
    assert!(diagnosis.errors.is_empty(), "{:?}", diagnosis.errors);
    let found = findings(release, &diagnosis.examination).into_iter();
    found.map(|finding| (finding.severity(), finding.area(), finding.to_string())).collect()
}

#[test]
fn a_healthy_release_is_examined_before_and_after_its_first_apply() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        let before = found(&cluster, &release).await;
        let expected = (Severity::Info, Area::Service, "the release is not on this cluster yet".to_owned());
        assert_eq!(before, [expected]);
        assert_eq!(api.state().store.names(&WRITTEN), Vec::<String>::new());
        apply(&cluster, &release).await.unwrap();
        assert_eq!(found(&cluster, &release).await, []);
    });
}

#[test]
fn routes_of_others_that_ours_would_replace_are_found_before_the_first_apply() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        api.state().create(&json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
            "metadata": {"name": "site", "namespace": "web"},
            "spec": {"hosts": ["*.example.com"], "gateways": ["ingress/gateway"], "http": []}}));
        let cluster = api.cluster().await;
        let is_it = |(severity, _, text): &(Severity, Area, String)| {
            *severity == Severity::Error && text.contains("those of VirtualService web/site")
        };
        let before = found(&cluster, &release).await;
        assert!(before.iter().any(is_it), "{before:?}");
        api.state().access.deny_lists_of_all("virtualservices");
        let unseen = found(&cluster, &release).await;
        assert!(!unseen.iter().any(is_it), "of a namespace that may not be listed: {unseen:?}");
    });
}

#[test]
fn a_claim_as_a_user_key_needs_an_object_that_verifies_tokens() {
    run(async {
        let (api, release) =
            (shop(), release(&json!({"identifyBy": [{"jwt": {"claim": "sub"}}, {"cookie": "JSESSIONID"}]})));
        let cluster = api.cluster().await;
        let is_it = |found: Vec<(Severity, Area, String)>| {
            found.iter().any(|(_, _, text)| {
                text.contains("expected a RequestAuthentication for the proxies in namespace `ingress`")
            })
        };
        assert!(is_it(found(&cluster, &release).await));
        let applied = apply(&cluster, &release).await.unwrap();
        assert!(applied.unreached.iter().any(|finding| finding.id() == "unverified-tokens"), "{applied:?}");
        let object = json!({"apiVersion": "security.istio.io/v1", "kind": "RequestAuthentication",
            "metadata": {"name": "id", "namespace": "ingress"},
            "spec": {"selector": {"matchLabels": {"istio": "gateway"}}, "jwtRules": [{"issuer": "https://id.example.com"}]}});
        api.state().create(&object);
        assert!(!is_it(found(&cluster, &release).await));
    });
}

#[test]
fn everything_that_is_wrong_is_found_at_once() {
    run(async {
        let broken = json!({
            "service": {"name": "shop", "port": 81},
            "hosts": ["shop.example.org"],
            "delivery": {"module": "oci://registry.example.com/filter:1"},
        });
        let (api, release) = (shop(), release(&broken));
        api.state().access.refuse("envoyfilters");
        api.state().access.deny("update", "leases");
        api.state().store.edit("Pod", "shop-v2", |pod| pod["metadata"]["labels"] = json!({"app": "shop"}));
        let all = found(&api.cluster().await, &release).await;
        let texts: Vec<&str> = all.iter().map(|(_, _, text)| text.as_str()).collect();
        for expected in [
            "expected port 81 of Service `shop`, found 80",
            "expected the address of the module",
            "expected host `shop.example.org` at a server of Gateway `ingress/gateway`, found none",
            "missing: 2 rights",
            "ValidatingAdmissionPolicy 'platform' denied request: ask us",
            "expected label `version` at all pods behind Service `shop`, found 1 pod without it",
            "version `v2` has no ready pod yet",
        ] {
            assert!(
                texts.iter().any(|text| text.contains(expected)),
                "expected `{expected}`, found {texts:#?}"
            );
        }
        assert_eq!(api.state().store.names(&WRITTEN), Vec::<String>::new());
    });
}

#[test]
fn what_may_not_be_read_is_a_missing_right_and_the_rest_is_examined() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        api.state().access.deny("get", "pods/proxy");
        api.state().access.deny("get", "pods/portforward");
        api.state().store.remove("Gateway", "gateway");
        let cluster = api.cluster().await;
        let diagnosis = cluster.diagnose(&release).await;
        assert_eq!(diagnosis.errors.iter().map(|(area, _)| *area).collect::<Vec<_>>(), [Area::Proxies]);
        let found: Vec<Area> = findings(&release, &diagnosis.examination)
            .iter()
            .map(canary_release::doctor::ClusterFinding::area)
            .collect();
        assert_eq!(found, [Area::Gateways, Area::Rights, Area::Service]);
    });
}

#[test]
fn clusters_that_istiod_reads_too_are_named_where_their_secrets_may_be_listed() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        for (name, labels, annotations) in [
            ("west", json!({"istio/multiCluster": "true"}), json!({"networking.istio.io/cluster": "west-1"})),
            ("other", json!({}), json!({})),
        ] {
            let metadata = json!({"namespace": "istio-system", "name": name, "labels": labels, "annotations": annotations});
            let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata});
            api.state().store.create_as("istioctl", &secret);
        }
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let text =
            "istiod reads other clusters (west-1): gateways there are not seen, and nothing waits for them";
        assert_eq!(found(&cluster, &release).await, [(Severity::Warning, Area::Clusters, text.to_owned())]);
        let stored = cluster.get_record(&release.name).await.unwrap();
        let observed = async || cluster.observe_status(&release.name, &stored).await.unwrap().remote_clusters;
        assert_eq!(observed().await, ["west-1".to_owned()].into(), "and by `status`");

        api.state().access.deny("list", "secrets");
        assert_eq!(
            found(&cluster, &release).await,
            [],
            "who may not list them is not told of a missing right"
        );
        assert_eq!(observed().await, [].into());
    });
}
