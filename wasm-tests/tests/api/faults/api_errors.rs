//! An API server that is slow, overloaded, broken, or rejects our credentials: which requests are retried, the errors,
//! and the remaining state.

use crate::beside_an_api_server;
use canary_ctl::hint::Hint as _;
use canary_operations::{Access, Cluster, Error, LeaseTiming, WriteOptions};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use wasm_tests::api::fault_proxy::{Fault, FaultProxy, writes};
use wasm_tests::api::release_fixture::{ReleaseFixture, apply, name, set_weight, uninstall};

async fn through(proxy: &FaultProxy, writing: WriteOptions) -> Cluster {
    let access = Access { kubeconfig: Some(proxy.kubeconfig()), ..Access::default() };
    Cluster::connect(&access, writing).await.unwrap()
}

/// Meant is the call with this number, of those that write.
fn write(number: u32) -> impl Fn(&str) -> bool + Send + 'static {
    let counted = AtomicU32::new(0);
    move |call| writes(call) && counted.fetch_add(1, Ordering::SeqCst) == number
}

#[test]
fn every_failed_read_is_retried() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "failing-reads").await;
        let (proxy, release) = (FaultProxy::new(api).await, fixture.release("shop"));
        let cluster = through(&proxy, WriteOptions::default()).await;
        for fault in [Fault::Status(500), Fault::Status(503), Fault::DropsRequest, Fault::DropsResponse] {
            // Every second read fails.
            let count = AtomicU32::new(0);
            let is_meant = move |call: &str| {
                call.starts_with("GET ") && count.fetch_add(1, Ordering::SeqCst).is_multiple_of(2)
            };
            proxy.inject(u32::MAX, fault, is_meant);
            apply(&cluster, &release).await.unwrap();
            uninstall(&cluster, &release).await.unwrap();
            proxy.is_done();
            fixture.delete_keys().await;
        }
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_failed_write_is_retried_or_reported_and_then_continued() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "failing-writes").await;
        let (proxy, release) = (FaultProxy::new(api).await, fixture.release("shop"));
        let lease_timing = LeaseTiming { lease: Duration::from_secs(1), ..LeaseTiming::default() };
        let sane = fixture.cluster().await;
        let cluster = through(&proxy, WriteOptions { lease_timing, ..WriteOptions::default() }).await;
        let faults = [Fault::Status(409), Fault::Status(500), Fault::DropsRequest, Fault::DropsResponse];
        for (fault, may_fail) in faults.into_iter().map(|fault| (fault, true)).chain([(Fault::Busy, false)]) {
            let mut reported = 0;
            for number in 0.. {
                proxy.calls();
                proxy.inject(1, fault, write(number));
                let done = apply(&cluster, &release).await;
                let was_injected = proxy.is_done();
                let failed = proxy.calls().into_iter().filter(|call| writes(call)).nth(number as usize);
                if let Err(error) = done {
                    let makes_something = failed.is_some_and(|call| call.starts_with("POST "));
                    assert!(may_fail && makes_something, "{fault:?} of write {number}: {error:?}");
                    assert!(error.hint().is_some(), "{error:?}");
                    reported += 1;
                    apply(&sane, &release).await.unwrap();
                }
                assert!(sane.plan(&release).await.unwrap().is_empty(), "{fault:?} of write {number}");
                uninstall(&sane, &release).await.unwrap();
                fixture.delete_keys().await;
                if !was_injected {
                    println!("{fault:?}: {reported} of {number} writes reported, the others made again");
                    break;
                }
            }
        }
    });
}

#[test]
fn a_weight_whose_record_was_written_and_not_acknowledged_is_no_strangers() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "lost-answer").await;
        let (proxy, release) = (FaultProxy::new(api).await, fixture.release("shop"));
        let cluster = through(&proxy, WriteOptions::default()).await;
        apply(&cluster, &release).await.unwrap();
        proxy.inject(1, Fault::DropsResponse, |call| {
            call.starts_with("PUT ") && call.contains("/configmaps/")
        });
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        let weighed = set_weight(&cluster, &name(&release), stored, "20").await.unwrap();
        assert!(proxy.is_done());
        assert_eq!(weighed.stored.record.state.generation, 2);
        let kept = cluster.get_record(&name(&release)).await.unwrap();
        assert_eq!(cluster.plan_weight(&name(&release), &kept).await.unwrap().changes, []);
    });
}

#[test]
fn an_api_server_that_stays_broken_is_reported_before_anything_is_written() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "broken").await;
        let (proxy, release) = (FaultProxy::new(api).await, fixture.release("shop"));
        let cluster = through(&proxy, WriteOptions::default()).await;
        proxy.inject(u32::MAX, Fault::Status(500), |call| call.contains("/secrets/"));
        let error = apply(&cluster, &release).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the API server could not get secrets broken-ingress/canary-ctl-keys: 500 a fault of the test's"
        );
        proxy.is_done();
        proxy.inject(u32::MAX, Fault::DropsRequest, |call| call.contains("/secrets/"));
        let error = apply(&cluster, &release).await.unwrap_err();
        assert_eq!(error.to_string(), "no response to: get secrets broken-ingress/canary-ctl-keys");
        assert_eq!(
            error.hint().unwrap(),
            "`canary-ctl status` says what was done; the same command again continues it"
        );
        let written = fixture.versions().await;
        assert!(written.is_empty(), "{written:?}");
    });
}

#[test]
fn expired_credentials_are_reported_as_rejected() {
    beside_an_api_server(async |api| {
        let proxy = FaultProxy::new(api).await;
        let access = Access { kubeconfig: Some(proxy.kubeconfig_with("expired")), ..Access::default() };
        let Err(error) = Cluster::connect(&access, WriteOptions::default()).await else {
            panic!("connected")
        };
        assert!(matches!(error, Error::Unauthorized { .. }), "{error:?}");
        assert_eq!(
            error.hint().unwrap(),
            "the credentials in the kubeconfig have expired or are wrong: log in again"
        );
    });
}

#[test]
fn a_slow_api_server_takes_time_and_the_lease_is_renewed_meanwhile() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "slow").await;
        let (proxy, release) = (FaultProxy::new(api).await, fixture.release("shop"));
        let lease = Duration::from_secs(1);
        let lease_timing = LeaseTiming { lease, wait: Duration::from_secs(3) };
        let slow = through(&proxy, WriteOptions { lease_timing, ..WriteOptions::default() }).await;
        let other = fixture.cluster_that(WriteOptions { lease_timing, ..WriteOptions::default() }).await;
        proxy.inject(u32::MAX, Fault::Slow(Duration::from_millis(500)), |call| !call.contains("/leases"));
        let second = async {
            api.until("the lease", async || {
                let found = api.kubectl(&["get", "lease", "-n", "slow", "-o", "name"]).await.ok()?;
                (!found.is_empty()).then_some(())
            })
            .await
            .unwrap();
            apply(&other, &release).await
        };
        let (first, second) = tokio::join!(apply(&slow, &release), second);
        first.unwrap();
        let Err(Error::Held { holder, .. }) = second else { panic!("{second:?}") };
        assert!(holder.starts_with("admin: apply slow/shop #"), "{holder}");
    });
}
