//! One operator at a time: two releases of one gateway at once, holders that vanish, holders that live, Ctrl-C.

use super::desk::{Desk, apply, uninstall};
use super::faulty::{Fault, Faulty};
use crate::support::in_the_mesh;
use canary_ctl::cluster::{Access, Cluster, Error, LeaseTiming, WriteOptions};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use std::time::Duration;

/// Somebody else's Lease on the objects that all releases of the gateway share.
async fn held(desk: &Desk<'_>, seconds: u32) {
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "canary-gateway-config", "namespace": format!("{}-ingress", desk.namespace)},
        "spec": {
            "holderIdentity": "carol: apply shop/blog #00000000",
            "leaseDurationSeconds": seconds,
            "acquireTime": "2026-11-21T14:00:00.000000Z",
            "renewTime": "2026-11-21T14:00:00.000000Z",
        },
    });
    desk.lab.apply(&lease.to_string()).await.unwrap();
}

async fn leases(desk: &Desk<'_>) -> String {
    let mut names = String::new();
    for namespace in [desk.namespace.clone(), format!("{}-ingress", desk.namespace)] {
        names += &desk.lab.kubectl(&["get", "lease", "-n", &namespace, "-o", "name"]).await.unwrap();
    }
    names
}

#[test]
fn two_releases_that_come_to_one_gateway_at_the_same_moment_are_both_there() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "same-moment").await;
        let (one, other) = (desk.cluster().await, desk.cluster().await);
        let (shop, blog) = (desk.release("shop"), desk.release("blog"));
        for round in 0..5 {
            let (first, second) = tokio::join!(apply(&one, &shop), apply(&other, &blog));
            first.unwrap();
            second.unwrap();
            for release in [&shop, &blog] {
                let plan = one.plan(release).await.unwrap();
                assert!(plan.is_empty(), "round {round}: {}: {plan:?}", release.name);
            }
            let (first, second) = tokio::join!(uninstall(&one, &shop), uninstall(&other, &blog));
            first.unwrap();
            second.unwrap();
            assert_eq!(desk.versions().await.into_keys().collect::<Vec<_>>(), ["Secret canary-ctl-keys"]);
            lab.kubectl(&["delete", "secret", "canary-ctl-keys", "-n", "same-moment-ingress"]).await.unwrap();
        }
        assert_eq!(leases(&desk).await, "");
    });
}

#[test]
fn who_has_looked_and_not_yet_written_is_not_overtaken_by_another_release() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "looked").await;
        let way = Faulty::new(lab).await;
        let access = Access { kubeconfig: Some(way.kubeconfig()), ..Access::default() };
        let slow = Cluster::connect(&access, WriteOptions::default()).await.unwrap();
        let (shop, blog, other) = (desk.release("shop"), desk.release("blog"), desk.cluster().await);
        // Keys are there already, and the object that both releases share is not.
        apply(&other, &shop).await.unwrap();
        uninstall(&other, &shop).await.unwrap();
        let writes = |call: &str| call.starts_with("PATCH ") && call.ends_with("/canary-gateway-config");
        way.spoil(1, Fault::Slow(Duration::from_secs(2)), writes);
        let quick = async {
            let written = async || way.has_seen(writes).then_some(());
            lab.until("a write that is on its way", written).await.unwrap();
            apply(&other, &blog).await
        };
        let (first, second) = tokio::join!(apply(&slow, &shop), quick);
        first.unwrap();
        second.unwrap();
        for release in [&shop, &blog] {
            let plan = other.plan(release).await.unwrap();
            assert!(plan.is_empty(), "{}: {plan:?}", release.name);
        }
    });
}

#[test]
fn a_lease_whose_holder_has_vanished_is_taken_over() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "vanished").await;
        held(&desk, 1).await;
        apply(&desk.cluster().await, &desk.release("shop")).await.unwrap();
        assert_eq!(leases(&desk).await, "");
    });
}

#[test]
fn who_holds_a_lease_is_named_and_nothing_is_written() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "held").await;
        held(&desk, 3600).await;
        let patience = LeaseTiming { wait: Duration::from_millis(300), ..LeaseTiming::default() };
        let cluster = desk.cluster_that(WriteOptions { patience, ..WriteOptions::default() }).await;
        let error = apply(&cluster, &desk.release("shop")).await.unwrap_err();
        assert!(matches!(error, Error::Held { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            "lease held-ingress/canary-gateway-config is held by `carol: apply shop/blog #00000000` since 2026-11-21T14:00:00Z"
        );
        assert!(desk.versions().await.is_empty());
        assert_eq!(leases(&desk).await, "lease.coordination.k8s.io/canary-gateway-config\n", "carol's alone");
    });
}

#[test]
fn ctrl_c_gives_a_lease_back() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "interrupted").await;
        held(&desk, 3600).await;
        let file = desk.file("shop");
        let child =
            desk.command("admin", &file, &["apply", "--skip-check", "no-ready-pods"]).spawn().unwrap();
        let ours = "lease.coordination.k8s.io/shop-canary\n";
        lab.until("a lease of ours", async || leases(&desk).await.contains(ours).then_some(()))
            .await
            .unwrap();
        let id = Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap());
        kill(id, Signal::SIGINT).unwrap();
        let ended = child.wait_with_output().await.unwrap();
        assert_eq!(ended.status.code(), Some(130), "{ended:?}");
        assert!(!leases(&desk).await.contains(ours));
        assert!(desk.versions().await.is_empty());
    });
}
