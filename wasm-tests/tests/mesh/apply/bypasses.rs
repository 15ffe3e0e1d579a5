//! Ready canary pods that can be reached by a bypass of our routes: detected, refused, and reported.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;
use crate::support::other_owner::{LEADING, beside, to_shop};
use crate::support::release_fixture::{ReleaseFixture, WITHOUT_PODS};
use canary_operations::{ApplyOptions, Error, WaitOptions};
use canary_release::preflight::{CheckFailed, PreflightCheck};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const ADMIN: &str = "admin.example.com";

#[test]
fn a_canary_with_ready_pods_on_a_bypassing_route_is_refused() {
    in_the_mesh(async |lab| {
        let loaded = LoadedFixture::set_up(lab, "routes-bypassed", beside).await;
        loaded.routes(ADMIN, to_shop(None)).await;
        loaded.answers(ADMIN).await;
        let mut seen = BTreeSet::new();
        for _ in 0..50 {
            let response = loaded.user_at(ADMIN).navigate("/").await.unwrap();
            seen.insert(response.header("x-shop-version").map(str::to_owned));
        }
        assert_eq!(seen.len(), 2, "what it is about: anybody gets any version: {seen:?}");

        let fixture = ReleaseFixture { api: lab, namespace: "routes-bypassed".to_owned() };
        let before = fixture.versions().await;
        let refused = loaded.apply_although(&[]).await;
        let Err(Error::Preflight(CheckFailed { check: PreflightCheck::RoutesBypassed, message, .. })) =
            refused
        else {
            panic!("{refused:?}")
        };
        assert_eq!(
            message,
            "version `v2` has 2 ready pods, and VirtualService routes-bypassed/theirs-routes-bypassed leads to the Service without a \
             subset: such requests may get them"
        );
        assert_eq!(fixture.versions().await, before);

        loaded.apply_although(LEADING).await.unwrap();
        let cli = Cli::new(lab, &loaded.document);
        let told =
            "VirtualService routes-bypassed/theirs-routes-bypassed leads to the Service without a subset";
        cli.expect("status", 0, &[told, "let its route name the subset of the stable version"]).await;
        // Any of our subsets is accepted in their route.
        loaded.routes(ADMIN, to_shop(Some("v1"))).await;
        let said = cli.run("status").await;
        assert!(!said.stdout.contains("theirs-routes-bypassed"), "{}", said.stdout);
    });
}

fn object(kind: &str, name: &str, labels: &Value, spec: &Value) -> Value {
    let metadata = json!({"namespace": "routes-bypassed-yet", "name": name, "labels": labels});
    json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec})
}

#[test]
fn a_canary_without_ready_pods_is_applied_and_the_bypassing_route_is_reported() {
    in_the_mesh(async |lab| {
        let fixture = ReleaseFixture::new(lab, "routes-bypassed-yet").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        let ingress = r#"{"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
            "metadata": {"name": "old", "namespace": "routes-bypassed-yet"},
            "spec": {"defaultBackend": {"service": {"name": "shop", "port": {"number": 80}}}}}"#;
        lab.apply(ingress).await.unwrap();
        let service = json!({"selector": {"app": "shop"}, "ports": [{"port": 80}]});
        lab.apply(&object("Service", "shop", &json!({}), &service).to_string()).await.unwrap();
        for (name, label, containers) in [
            ("cron", "cron", json!([{"name": "cron", "image": "none"}])),
            (
                "in-the-mesh",
                "cart",
                json!([{"name": "cart", "image": "none"}, {"name": "istio-proxy", "image": "none"}]),
            ),
            ("shop-v2", "shop", json!([{"name": "shop", "image": "none"}])),
        ] {
            // On a node without a kubelet: their status does not change.
            let spec = json!({"nodeName": "elsewhere", "containers": containers});
            lab.apply(&object("Pod", name, &json!({"app": label}), &spec).to_string()).await.unwrap();
        }
        let waiting = WaitOptions { timeout: Duration::from_secs(5), progress: &mut |_, _| {} };
        let how = ApplyOptions { waiting, wait: false, skipped: &WITHOUT_PODS, allow_rolled_back: false };
        let applied = cluster.apply(&release, how).await.unwrap();
        assert_eq!(applied.coverage.unmeshed_pods.0, ["cron"]);
        let told: Vec<String> = applied.coverage.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["Ingress routes-bypassed-yet/old leads to the Service past Istio's gateways"]);
    });
}
