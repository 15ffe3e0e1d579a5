//! `routes: edit`: our routes in a `VirtualService` of somebody else, on a real API server, which knows who owns what.

use super::desk::{Desk, apply, name, percent, uninstall};
use super::theirs::{by_hand, is_theirs_again, read, written};
use crate::support::in_the_mesh;
use canary_ctl::cluster::{Cluster, Error, WriteOptions};
use canary_ctl::plan::{CheckFailed, PreflightCheck, Why};
use canary_ctl::spec::{Release, Routes};
use serde_json::json;

fn editing(desk: &Desk<'_>) -> Release {
    Desk::read(&desk.document("shop").with("/spec/routes", "edit"))
}

#[test]
fn an_object_is_given_back_as_it_was_whoever_had_written_it() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "edit-undone").await;
        let (cluster, release) = (desk.cluster().await, editing(&desk));
        let ways: [&[&str]; 3] =
            [&["apply", "-f", "-"], &["apply", "--server-side", "-f", "-"], &["create", "-f", "-"]];
        for way in ways {
            written(&desk, way, "3s").await;
            let before = read(&desk).await;
            apply(&cluster, &release).await.unwrap();
            let edited = read(&desk).await;
            assert_eq!(edited["spec"]["http"].as_array().unwrap().len(), 6, "{way:?}: {edited}");
            assert_eq!(edited["spec"]["http"][1]["timeout"], "3s");
            assert!(cluster.plan(&release).await.unwrap().is_empty(), "{way:?}");
            assert!(
                desk.objects().await.iter().any(|object| object["metadata"]["name"] == "shop-canary-mesh")
            );
            let stored = cluster.get_record(&name(&release)).await.unwrap();
            cluster.set_weight(&name(&release), stored, percent("20")).await.unwrap();
            uninstall(&cluster, &release).await.unwrap();
            is_theirs_again(&before, &read(&desk).await);
            if way[0] == "apply" {
                written(&desk, way, "5s").await;
                assert_eq!(read(&desk).await["spec"]["http"][0]["timeout"], "5s");
            }
            lab.kubectl(&["delete", "virtualservice", "by-hand", "-n", "edit-undone"]).await.unwrap();
        }
    });
}

#[test]
fn what_the_owner_applies_is_reported_and_the_next_apply_merges_it() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "edit-lost").await;
        let document = desk.document("shop").with("/spec/routes", "edit");
        let (cluster, release) = (desk.cluster().await, Desk::read(&document));
        let file = Desk::file_of(&document);
        written(&desk, &["apply", "-f", "-"], "3s").await;
        apply(&cluster, &release).await.unwrap();
        written(&desk, &["apply", "-f", "-"], "5s").await;

        let status = desk.run("admin", &file, &["status"]).await;
        let lost = "problem: VirtualService edit-lost/by-hand has lost routes of ours: kubectl-client-side-apply has written it";
        assert!(status.stdout.contains(lost), "{}", status.stdout);
        assert!(status.stdout.contains("hint: `canary-ctl apply` puts them into what is there now"));
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        let to = "20".parse().unwrap();
        let judged =
            cluster.check_weight(&release.name, &stored.record, to, &[PreflightCheck::NoReadyPods]).await;
        let Err(Error::Preflight(CheckFailed { check: PreflightCheck::NoRoutes, .. })) = judged else {
            panic!("{judged:?}")
        };

        let plan = cluster.plan(&release).await.unwrap();
        let [change] = plan.changes.as_slice() else { panic!("{plan:?}") };
        assert_eq!(change.why, Why::Repair { by: vec!["kubectl-client-side-apply".to_owned()] });
        apply(&cluster, &release).await.unwrap();
        let merged = read(&desk).await;
        assert_eq!(merged["spec"]["http"][1]["timeout"], "5s");
        assert!(!desk.run("admin", &file, &["status"]).await.stdout.contains("has lost"));
        uninstall(&cluster, &release).await.unwrap();
        let after = read(&desk).await;
        assert_eq!(after["spec"], by_hand(&desk, "5s")["spec"]);
        assert!(!after.to_string().contains("canary-ctl"), "{after}");
    });
}

#[test]
fn an_object_that_has_changed_since_it_was_seen_is_not_written() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "edit-race").await;
        let (cluster, release) = (desk.cluster().await, editing(&desk));
        written(&desk, &["apply", "-f", "-"], "3s").await;
        let plan = cluster.plan(&release).await.unwrap();
        written(&desk, &["apply", "-f", "-"], "5s").await;
        let rehearsed = cluster.server_dry_run(&plan).await;
        assert!(matches!(rehearsed, Err(Error::Stale { .. })), "{rehearsed:?}");
    });
}

async fn refusal(cluster: &Cluster, release: &Release) -> (String, String) {
    let error = apply(cluster, release).await.unwrap_err();
    (error.to_string(), error.hint().unwrap())
}

#[test]
fn whoever_owns_an_object_decides_who_writes_its_routes() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "edit-owners").await;
        let (cluster, silent) = (desk.cluster().await, desk.release("shop"));
        written(&desk, &["apply", "-f", "-"], "3s").await;
        let (message, hint) = refusal(&cluster, &silent).await;
        let object = "VirtualService edit-owners/by-hand";
        assert_eq!(
            message,
            format!("{object} leads to the Service, and the file does not say who writes its routes")
        );
        assert!(hint.starts_with("set `routes: edit`"), "{hint}");

        let label = ["label", "virtualservice", "by-hand", "-n", "edit-owners"];
        lab.kubectl(&[&label[..], &["app.kubernetes.io/managed-by=Helm"]].concat()).await.unwrap();
        let (message, hint) = refusal(&cluster, &editing(&desk)).await;
        assert_eq!(message, format!("cannot edit {object}: it belongs to Helm"));
        assert!(hint.contains("`apply --take-over`"), "{hint}");
        let taking = desk.cluster_that(WriteOptions { take_over: true, ..WriteOptions::default() }).await;
        apply(&taking, &editing(&desk)).await.unwrap();
        assert!(apply(&cluster, &editing(&desk)).await.unwrap().plan.is_empty(), "asked once");
        uninstall(&cluster, &silent).await.unwrap();

        let applied = apply(&cluster, &silent).await.unwrap();
        assert_eq!(applied.plan.notes, [format!("routes: external, because Helm owns {object}")]);
        assert_eq!(applied.record.routes, Routes::External);
        assert!(!read(&desk).await.to_string().contains("canary-ctl"));
        uninstall(&cluster, &silent).await.unwrap();

        lab.kubectl(&["delete", "virtualservice", "by-hand", "-n", "edit-owners"]).await.unwrap();
        assert_eq!(apply(&cluster, &silent).await.unwrap().record.routes, Routes::Own);
    });
}

#[test]
fn one_of_ours_is_not_put_where_istio_would_never_come_to_it() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "edit-order").await;
        let own = Desk::read(&desk.document("shop").with("/spec/routes", "own"));
        let cluster = desk.cluster().await;
        written(&desk, &["apply", "-f", "-"], "3s").await;
        let (message, _) = refusal(&cluster, &own).await;
        assert_eq!(
            message,
            "Istio would not come to the routes of VirtualService edit-order/shop-canary for host `shop.example.com`: VirtualService edit-order/by-hand is older, and leads to the Service before the filter's header is looked at"
        );
        let mut elsewhere = by_hand(&desk, "3s");
        elsewhere["spec"]["http"] =
            json!([{"match": [{"uri": {"prefix": "/blog"}}], "route": [{"destination": {"host": "blog"}}]}]);
        lab.kubectl_as("admin", &["apply", "-f", "-"], &elsewhere.to_string()).await.unwrap();
        let plan = cluster.plan(&own).await.unwrap();
        assert_eq!(
            plan.notes,
            [
                "shop.example.com at edit-order-ingress/gateway: routes of VirtualService edit-order/by-hand, then VirtualService edit-order/shop-canary"
            ]
        );
    });
}
