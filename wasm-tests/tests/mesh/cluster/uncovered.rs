//! Ready canary pods on a way that no route of ours covers: seen, refused, and told.

use super::desk::Desk;
use super::operator::Operator;
use super::rules::{LEADING, beside, to_shop};
use super::scene::Scene;
use crate::support::in_the_mesh;
use canary_ctl::cluster::{ApplyOptions, Error, WaitOptions};
use canary_ctl::plan::{CheckFailed, PreflightCheck};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const ADMIN: &str = "admin.example.com";

#[test]
fn a_canary_does_not_come_where_another_route_leads_to_its_ready_pods() {
    in_the_mesh(async |lab| {
        let scene = Scene::set_up(lab, "uncovered", beside).await;
        scene.routes(ADMIN, to_shop(None)).await;
        scene.answers(ADMIN).await;
        let mut seen = BTreeSet::new();
        for _ in 0..50 {
            let answer = scene.user_at(ADMIN).navigate("/").await.unwrap();
            seen.insert(answer.header("x-shop-version").map(str::to_owned));
        }
        assert_eq!(seen.len(), 2, "what it is about: anybody gets any version: {seen:?}");

        let desk = Desk { lab, namespace: "uncovered".to_owned() };
        let before = desk.versions().await;
        let refused = scene.apply_although(&[]).await;
        let Err(Error::Preflight(CheckFailed { check: PreflightCheck::Uncovered, message, .. })) = refused
        else {
            panic!("{refused:?}")
        };
        assert_eq!(
            message,
            "version `v2` has 2 ready pods, and VirtualService uncovered/theirs-uncovered leads to the Service without a \
             subset: whoever comes by it may get them"
        );
        assert_eq!(desk.versions().await, before);

        scene.apply_although(LEADING).await.unwrap();
        let operator = Operator::new(lab, &scene.document);
        let told = "VirtualService uncovered/theirs-uncovered leads to the Service without a subset";
        operator.is_told("status", 0, &[told, "let its route name the subset of the stable version"]).await;
        // Their subset is not asked for: any of ours does.
        scene.routes(ADMIN, to_shop(Some("v1"))).await;
        let said = operator.types("status").await;
        assert!(!said.data.contains("theirs-uncovered"), "{}", said.data);
    });
}

fn object(kind: &str, name: &str, labels: &Value, spec: &Value) -> Value {
    let metadata = json!({"namespace": "uncovered-yet", "name": name, "labels": labels});
    json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec})
}

#[test]
fn a_canary_without_ready_pods_comes_and_the_way_past_the_routes_is_told() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "uncovered-yet").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        let ingress = r#"{"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
            "metadata": {"name": "old", "namespace": "uncovered-yet"},
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
            // On a node that nobody runs: they stay what they are.
            let spec = json!({"nodeName": "elsewhere", "containers": containers});
            lab.apply(&object("Pod", name, &json!({"app": label}), &spec).to_string()).await.unwrap();
        }
        let waiting = WaitOptions { patience: Duration::from_secs(5), progress: &mut |_, _| {} };
        let how =
            ApplyOptions { waiting, wait: false, skipped: &[PreflightCheck::NoReadyPods], again: false };
        let applied = cluster.apply(&release, how).await.unwrap();
        assert_eq!(applied.coverage.outsiders.0, ["cron"]);
        let told: Vec<String> = applied.coverage.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["Ingress uncovered-yet/old leads to the Service past Istio's gateways"]);
    });
}
