//! One operator at a time: two releases of one gateway at once, holders that vanish, holders that live, Ctrl-C.

use crate::beside_an_api_server;
use canary_operations::{Access, Cluster, Error, LeaseTiming, WriteOptions};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use std::time::Duration;
use wasm_tests::api::fault_proxy::{Fault, FaultProxy};
use wasm_tests::api::release_fixture::{KEYS, ReleaseFixture, apply, uninstall};

/// Another holder's Lease on the objects that all releases of the gateway share.
async fn held(fixture: &ReleaseFixture<'_>, seconds: u32) {
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "canary-gateway-config", "namespace": format!("{}-ingress", fixture.namespace)},
        "spec": {
            "holderIdentity": "carol: apply shop/blog #00000000",
            "leaseDurationSeconds": seconds,
            "acquireTime": "2026-11-21T14:00:00.000000Z",
            "renewTime": "2026-11-21T14:00:00.000000Z",
        },
    });
    fixture.api.apply(&lease.to_string()).await.unwrap();
}

async fn leases(fixture: &ReleaseFixture<'_>) -> String {
    let mut names = String::new();
    for namespace in [fixture.namespace.clone(), format!("{}-ingress", fixture.namespace)] {
        names += &fixture.api.kubectl(&["get", "lease", "-n", &namespace, "-o", "name"]).await.unwrap();
    }
    names
}

#[test]
fn two_releases_applied_to_one_gateway_at_once_are_both_installed() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "same-moment").await;
        let (one, other) = (fixture.cluster().await, fixture.cluster().await);
        let (shop, blog) = (fixture.release("shop"), fixture.release("blog"));
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
            let left: Vec<_> = fixture.versions().await.into_keys().collect();
            assert_eq!(left, KEYS.map(|name| format!("Secret {name}")));
            fixture.delete_keys().await;
        }
        assert_eq!(leases(&fixture).await, "");
    });
}

#[test]
fn an_apply_that_has_read_a_shared_object_holds_its_lease_until_it_has_written() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "looked").await;
        let proxy = FaultProxy::new(api).await;
        let access = Access { kubeconfig: Some(proxy.kubeconfig()), ..Access::default() };
        let slow = Cluster::connect(&access, WriteOptions::default()).await.unwrap();
        let (shop, blog, other) = (fixture.release("shop"), fixture.release("blog"), fixture.cluster().await);
        // The keys exist already, and the object that both releases share does not.
        apply(&other, &shop).await.unwrap();
        uninstall(&other, &shop).await.unwrap();
        let writes = |call: &str| call.starts_with("PATCH ") && call.ends_with("/canary-gateway-config");
        proxy.inject(1, Fault::Slow(Duration::from_secs(2)), writes);
        let quick = async {
            let written = async || proxy.has_seen(writes).then_some(());
            api.until("a write that is on its way", written).await.unwrap();
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
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "vanished").await;
        held(&fixture, 1).await;
        apply(&fixture.cluster().await, &fixture.release("shop")).await.unwrap();
        assert_eq!(leases(&fixture).await, "");
    });
}

#[test]
fn a_held_lease_is_an_error_that_names_the_holder_and_nothing_is_written() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "held").await;
        held(&fixture, 3600).await;
        let lease_timing = LeaseTiming { wait: Duration::from_millis(300), ..LeaseTiming::default() };
        let cluster = fixture.cluster_that(WriteOptions { lease_timing, ..WriteOptions::default() }).await;
        let error = apply(&cluster, &fixture.release("shop")).await.unwrap_err();
        assert!(matches!(error, Error::Held { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            "lease held-ingress/canary-gateway-config is held by `carol: apply shop/blog #00000000` since 2026-11-21T14:00:00Z"
        );
        let written = fixture.versions().await;
        assert!(written.is_empty(), "{written:?}");
        assert_eq!(
            leases(&fixture).await,
            "lease.coordination.k8s.io/canary-gateway-config\n",
            "carol's alone"
        );
    });
}

#[test]
fn ctrl_c_gives_a_lease_back() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "interrupted").await;
        held(&fixture, 3600).await;
        let file = fixture.file("shop");
        let child = fixture
            .command(
                "admin",
                &file,
                &["apply", "--skip-check", "no-ready-pods", "--skip-check", "no-proxies"],
            )
            .spawn()
            .unwrap();
        let ours = "lease.coordination.k8s.io/shop-canary\n";
        api.until("a lease of ours", async || leases(&fixture).await.contains(ours).then_some(()))
            .await
            .unwrap();
        let id = Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap());
        kill(id, Signal::SIGINT).unwrap();
        let ended = child.wait_with_output().await.unwrap();
        assert_eq!(ended.status.code(), Some(130), "{ended:?}");
        let left = leases(&fixture).await;
        assert!(!left.contains(ours), "{left}");
        let written = fixture.versions().await;
        assert!(written.is_empty(), "{written:?}");
    });
}
