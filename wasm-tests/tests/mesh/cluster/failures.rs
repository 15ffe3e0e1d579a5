//! An API server that is slow, busy, broken, or does not know us: what is made again, what is said, and what is left.

use super::desk::{Desk, apply, name, percent, uninstall};
use super::faulty::{Fault, Faulty, writes};
use crate::support::in_the_mesh;
use canary_ctl::cluster::{Access, Cluster, Error, LeaseTiming, WriteOptions};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

async fn through(way: &Faulty, writing: WriteOptions) -> Cluster {
    let access = Access { kubeconfig: Some(way.kubeconfig()), ..Access::default() };
    Cluster::connect(&access, writing).await.unwrap()
}

/// Meant is the call with this number, of those that write.
fn write(number: u32) -> impl Fn(&str) -> bool + Send + 'static {
    let counted = AtomicU32::new(0);
    move |call| writes(call) && counted.fetch_add(1, Ordering::SeqCst) == number
}

#[test]
fn every_read_that_fails_is_made_again() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "failing-reads").await;
        let (way, release) = (Faulty::new(lab).await, desk.release("shop"));
        let cluster = through(&way, WriteOptions::default()).await;
        for fault in [Fault::Says(500), Fault::Says(503), Fault::LosesRequest, Fault::LosesAnswer] {
            // Every second read fails.
            let count = AtomicU32::new(0);
            let is_meant = move |call: &str| {
                call.starts_with("GET ") && count.fetch_add(1, Ordering::SeqCst).is_multiple_of(2)
            };
            way.spoil(u32::MAX, fault, is_meant);
            apply(&cluster, &release).await.unwrap();
            uninstall(&cluster, &release).await.unwrap();
            way.is_done();
            lab.kubectl(&["delete", "secret", "canary-ctl-keys", "-n", "failing-reads-ingress"])
                .await
                .unwrap();
        }
    });
}

#[test]
fn a_write_that_fails_is_made_again_or_reported_and_then_continued() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "failing-writes").await;
        let (way, release) = (Faulty::new(lab).await, desk.release("shop"));
        let patience = LeaseTiming { lease: Duration::from_secs(1), ..LeaseTiming::default() };
        let sane = desk.cluster().await;
        let cluster = through(&way, WriteOptions { patience, ..WriteOptions::default() }).await;
        let faults = [Fault::Says(409), Fault::Says(500), Fault::LosesRequest, Fault::LosesAnswer];
        for (fault, may_fail) in faults.into_iter().map(|fault| (fault, true)).chain([(Fault::Busy, false)]) {
            let mut reported = 0;
            for number in 0.. {
                way.calls();
                way.spoil(1, fault, write(number));
                let done = apply(&cluster, &release).await;
                let was_spoiled = way.is_done();
                let spoiled = way.calls().into_iter().filter(|call| writes(call)).nth(number as usize);
                if let Err(error) = done {
                    let makes_something = spoiled.is_some_and(|call| call.starts_with("POST "));
                    assert!(may_fail && makes_something, "{fault:?} of write {number}: {error:?}");
                    assert!(error.hint().is_some(), "{error:?}");
                    reported += 1;
                    apply(&sane, &release).await.unwrap();
                }
                assert!(sane.plan(&release).await.unwrap().is_empty(), "{fault:?} of write {number}");
                uninstall(&sane, &release).await.unwrap();
                lab.kubectl(&["delete", "secret", "canary-ctl-keys", "-n", "failing-writes-ingress"])
                    .await
                    .unwrap();
                if !was_spoiled {
                    println!("{fault:?}: {reported} of {number} writes reported, the others made again");
                    break;
                }
            }
        }
    });
}

#[test]
fn a_weight_whose_record_was_written_and_not_acknowledged_is_no_strangers() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "lost-answer").await;
        let (way, release) = (Faulty::new(lab).await, desk.release("shop"));
        let cluster = through(&way, WriteOptions::default()).await;
        apply(&cluster, &release).await.unwrap();
        way.spoil(1, Fault::LosesAnswer, |call| call.starts_with("PUT ") && call.contains("/configmaps/"));
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        let weighed = cluster.set_weight(&name(&release), stored, percent("20")).await.unwrap();
        assert!(way.is_done());
        assert_eq!(weighed.stored.record.standing.generation, 2);
        let kept = cluster.get_record(&name(&release)).await.unwrap();
        assert!(cluster.plan_weight(&name(&release), &kept).await.unwrap().is_empty());
    });
}

#[test]
fn an_api_server_that_stays_broken_is_reported_before_anything_is_written() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "broken").await;
        let (way, release) = (Faulty::new(lab).await, desk.release("shop"));
        let cluster = through(&way, WriteOptions::default()).await;
        way.spoil(u32::MAX, Fault::Says(500), |call| call.contains("/secrets/"));
        let error = apply(&cluster, &release).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the API server could not get secrets broken-ingress/canary-ctl-keys: 500 a fault of the test's"
        );
        way.is_done();
        way.spoil(u32::MAX, Fault::LosesRequest, |call| call.contains("/secrets/"));
        let error = apply(&cluster, &release).await.unwrap_err();
        assert_eq!(error.to_string(), "no answer to: get secrets broken-ingress/canary-ctl-keys");
        assert_eq!(
            error.hint().unwrap(),
            "`canary-ctl status` says what was done; `canary-ctl apply` continues it"
        );
        assert!(desk.versions().await.is_empty());
    });
}

#[test]
fn credentials_that_have_expired_are_said_to_be() {
    in_the_mesh(async |lab| {
        let way = Faulty::new(lab).await;
        let access = Access { kubeconfig: Some(way.kubeconfig_with("expired")), ..Access::default() };
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
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "slow").await;
        let (way, release) = (Faulty::new(lab).await, desk.release("shop"));
        let lease = Duration::from_secs(1);
        let patience = LeaseTiming { lease, wait: Duration::from_secs(3) };
        let slow = through(&way, WriteOptions { patience, ..WriteOptions::default() }).await;
        let other = desk.cluster_that(WriteOptions { patience, ..WriteOptions::default() }).await;
        way.spoil(u32::MAX, Fault::Slow(Duration::from_millis(500)), |call| !call.contains("/leases"));
        let second = async {
            lab.until("the lease", async || {
                let found = lab.kubectl(&["get", "lease", "-n", "slow", "-o", "name"]).await.ok()?;
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
