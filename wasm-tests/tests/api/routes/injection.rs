//! `routes: inject`: our routes in a `VirtualService` of another owner, on a real API server with its managed fields.

use crate::beside_an_api_server;
use crate::virtual_service::{by_hand, is_theirs_again, read, written};
use canary_ctl::hint::Hint as _;
use canary_operations::{Cluster, Error, WriteOptions};
use canary_release::plan::{ChangeReason, PlanNote};
use canary_release::preflight::{CheckFailed, PreflightCheck};
use canary_release::spec::{Release, Routes};
use serde_json::json;
use wasm_tests::api::release_fixture::{ReleaseFixture, apply, name, set_weight, uninstall, weight_request};

fn editing(fixture: &ReleaseFixture<'_>) -> Release {
    ReleaseFixture::read(&fixture.document("shop").with("/spec/routes", "inject"))
}

#[test]
fn uninstall_restores_an_injected_object_of_every_kind_of_owner() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "edit-undone").await;
        let (cluster, release) = (fixture.cluster().await, editing(&fixture));
        let ways: [&[&str]; 3] =
            [&["apply", "-f", "-"], &["apply", "--server-side", "-f", "-"], &["create", "-f", "-"]];
        for way in ways {
            written(&fixture, way, "3s").await;
            let before = read(&fixture).await;
            apply(&cluster, &release).await.unwrap();
            let edited = read(&fixture).await;
            assert_eq!(edited["spec"]["http"].as_array().unwrap().len(), 6, "{way:?}: {edited}");
            assert_eq!(edited["spec"]["http"][1]["timeout"], "3s");
            assert!(cluster.plan(&release).await.unwrap().is_empty(), "{way:?}");
            let objects = fixture.objects().await;
            let names: Vec<_> = objects.iter().map(|object| object["metadata"]["name"].as_str()).collect();
            assert!(names.contains(&Some("shop-canary-mesh")), "{way:?}: {names:?}");
            let stored = cluster.get_record(&name(&release)).await.unwrap();
            set_weight(&cluster, &name(&release), stored, "20").await.unwrap();
            uninstall(&cluster, &release).await.unwrap();
            is_theirs_again(&before, &read(&fixture).await);
            if way[0] == "apply" {
                written(&fixture, way, "5s").await;
                assert_eq!(read(&fixture).await["spec"]["http"][0]["timeout"], "5s");
            }
            api.kubectl(&["delete", "virtualservice", "by-hand", "-n", "edit-undone"]).await.unwrap();
        }
    });
}

#[test]
fn a_later_change_of_the_owner_is_reported_and_the_next_apply_merges_it() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "edit-lost").await;
        let document = fixture.document("shop").with("/spec/routes", "inject");
        let (cluster, release) = (fixture.cluster().await, ReleaseFixture::read(&document));
        let file = ReleaseFixture::file_of(&document);
        written(&fixture, &["apply", "-f", "-"], "3s").await;
        apply(&cluster, &release).await.unwrap();
        written(&fixture, &["apply", "-f", "-"], "5s").await;

        let status = fixture.run("admin", &file, &["status"]).await;
        let lost = "problem: VirtualService edit-lost/by-hand has lost routes of ours: kubectl-client-side-apply has written it";
        assert!(status.stdout.contains(lost), "{}", status.stdout);
        assert!(status.stdout.contains("hint: `canary-ctl apply` injects them again"), "{}", status.stdout);
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        let request = weight_request("20", &[PreflightCheck::NoReadyPods]);
        let judged = cluster.check_weight(&release.name, stored, request).await;
        let Err(Error::Preflight(CheckFailed { check: PreflightCheck::NoRoutes, .. })) = judged else {
            panic!("{judged:?}")
        };

        let plan = cluster.plan(&release).await.unwrap();
        let [change] = plan.changes.as_slice() else { panic!("{plan:?}") };
        assert_eq!(change.why, ChangeReason::Repair { by: vec!["kubectl-client-side-apply".to_owned()] });
        apply(&cluster, &release).await.unwrap();
        let merged = read(&fixture).await;
        assert_eq!(merged["spec"]["http"][1]["timeout"], "5s");
        let status = fixture.run("admin", &file, &["status"]).await;
        assert!(!status.stdout.contains("has lost"), "{}", status.stdout);
        uninstall(&cluster, &release).await.unwrap();
        let after = read(&fixture).await;
        assert_eq!(after["spec"], by_hand(&fixture, "5s")["spec"]);
        assert!(!after.to_string().contains("canary-ctl"), "{after}");
    });
}

#[test]
fn an_object_that_has_changed_since_it_was_seen_is_not_written() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "edit-race").await;
        let (cluster, release) = (fixture.cluster().await, editing(&fixture));
        written(&fixture, &["apply", "-f", "-"], "3s").await;
        let plan = cluster.plan(&release).await.unwrap();
        written(&fixture, &["apply", "-f", "-"], "5s").await;
        let rehearsed = cluster.server_dry_run(&plan).await;
        assert!(matches!(rehearsed, Err(Error::Stale { .. })), "{rehearsed:?}");
    });
}

async fn refusal(cluster: &Cluster, release: &Release) -> (String, String) {
    let error = apply(cluster, release).await.unwrap_err();
    (error.to_string(), error.hint().unwrap())
}

#[test]
fn the_owner_of_a_virtual_service_decides_the_default_of_routes() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "edit-owners").await;
        let (cluster, silent) = (fixture.cluster().await, fixture.release("shop"));
        written(&fixture, &["apply", "-f", "-"], "3s").await;
        let (message, hint) = refusal(&cluster, &silent).await;
        let object = "VirtualService edit-owners/by-hand";
        assert_eq!(
            message,
            format!("{object} leads to the Service, and the file does not say who writes its routes")
        );
        assert!(hint.starts_with("set `routes: inject`"), "{hint}");

        let label = ["label", "virtualservice", "by-hand", "-n", "edit-owners"];
        api.kubectl(&[&label[..], &["app.kubernetes.io/managed-by=Helm"]].concat()).await.unwrap();
        let (message, hint) = refusal(&cluster, &editing(&fixture)).await;
        assert_eq!(message, format!("cannot edit {object}: it belongs to Helm"));
        assert!(hint.contains("`apply --take-ownership`"), "{hint}");
        let taking =
            fixture.cluster_that(WriteOptions { take_ownership: true, ..WriteOptions::default() }).await;
        apply(&taking, &editing(&fixture)).await.unwrap();
        assert!(apply(&cluster, &editing(&fixture)).await.unwrap().plan.is_empty(), "asked once");
        uninstall(&cluster, &silent).await.unwrap();

        let applied = apply(&cluster, &silent).await.unwrap();
        let because = format!("routes: external, because Helm owns {object}");
        assert_eq!(applied.plan.notes, [PlanNote::Routes(because)]);
        assert_eq!(applied.record.routes, Routes::External);
        let text = read(&fixture).await.to_string();
        assert!(!text.contains("canary-ctl"), "{text}");
        uninstall(&cluster, &silent).await.unwrap();

        api.kubectl(&["delete", "virtualservice", "by-hand", "-n", "edit-owners"]).await.unwrap();
        assert_eq!(apply(&cluster, &silent).await.unwrap().record.routes, Routes::Managed);
    });
}

#[test]
fn a_route_that_istio_would_never_reach_is_refused() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "edit-order").await;
        let own = ReleaseFixture::read(&fixture.document("shop").with("/spec/routes", "managed"));
        let cluster = fixture.cluster().await;
        written(&fixture, &["apply", "-f", "-"], "3s").await;
        let (message, _) = refusal(&cluster, &own).await;
        assert_eq!(
            message,
            "Istio would not come to the routes of VirtualService edit-order/shop-canary for host `shop.example.com`: VirtualService edit-order/by-hand is older, and leads to the Service before the filter's header is looked at"
        );
        let mut elsewhere = by_hand(&fixture, "3s");
        elsewhere["spec"]["http"] =
            json!([{"match": [{"uri": {"prefix": "/blog"}}], "route": [{"destination": {"host": "blog"}}]}]);
        api.kubectl_as("admin", &["apply", "-f", "-"], &elsewhere.to_string()).await.unwrap();
        let plan = cluster.plan(&own).await.unwrap();
        let routes: Vec<_> =
            plan.notes.into_iter().filter(|note| matches!(note, PlanNote::Routes(_))).collect();
        assert_eq!(
            routes,
            [PlanNote::Routes(
                "shop.example.com at edit-order-ingress/gateway: routes of VirtualService edit-order/by-hand, then VirtualService edit-order/shop-canary".to_owned()
            )]
        );
    });
}
