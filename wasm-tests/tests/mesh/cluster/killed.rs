//! A call that ends between any two writes: the next one continues.

use super::desk::{BRIEF, Desk, apply, name, percent, uninstall};
use crate::support::in_the_mesh;
use canary_ctl::cluster::{Cluster, Error, WriteOptions};

/// More writes than any verb makes.
const ENOUGH: u32 = 20;

async fn stopping(desk: &Desk<'_>, writes: u32) -> Cluster {
    desk.cluster_that(WriteOptions { at_most: Some(writes), patience: BRIEF, ..WriteOptions::default() })
        .await
}

#[test]
fn an_apply_that_was_killed_after_any_write_is_continued() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "killed-apply").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        let mut points = 0;
        for writes in 0..ENOUGH {
            match apply(&stopping(&desk, writes).await, &release).await {
                Err(Error::Stopped { .. }) => points += 1,
                done => {
                    done.unwrap();
                    break;
                }
            }
            apply(&cluster, &release).await.unwrap();
            assert!(cluster.plan(&release).await.unwrap().is_empty(), "killed after {writes} writes");
            uninstall(&cluster, &release).await.unwrap();
            lab.kubectl(&["delete", "secret", "canary-ctl-keys", "-n", "killed-apply-ingress"])
                .await
                .unwrap();
        }
        assert_eq!(
            points, 16,
            "a kill at each write: keys, record, six objects, and four leases, twice each"
        );
    });
}

#[test]
fn a_weight_that_was_killed_after_the_record_is_carried_out_by_apply() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "killed-weight").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        let stopped = stopping(&desk, 1).await.set_weight(&name(&release), stored, percent("20")).await;
        assert!(matches!(stopped, Err(Error::Stopped { .. })), "{stopped:?}");
        let kept = cluster.get_record(&name(&release)).await.unwrap();
        assert_eq!(cluster.plan_weight(&name(&release), &kept).await.unwrap().changes.len(), 1);
        let continued = apply(&cluster, &release).await.unwrap();
        assert_eq!(continued.record.standing.generation, 2, "continued, not done again");
        let kept = cluster.get_record(&name(&release)).await.unwrap();
        assert!(cluster.plan_weight(&name(&release), &kept).await.unwrap().is_empty());
    });
}

#[test]
fn an_uninstall_that_was_killed_after_any_write_is_continued() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "killed-uninstall").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        let mut points = 0;
        for writes in 0..ENOUGH {
            apply(&cluster, &release).await.unwrap();
            match uninstall(&stopping(&desk, writes).await, &release).await {
                Err(Error::Stopped { .. }) => points += 1,
                done => {
                    done.unwrap();
                    break;
                }
            }
            match uninstall(&cluster, &release).await {
                // Killed after the record was gone: nothing was left to do.
                Err(Error::Unknown { .. }) => {}
                done => done.unwrap(),
            }
            assert_eq!(
                desk.versions().await.into_keys().collect::<Vec<_>>(),
                ["Secret canary-ctl-keys"],
                "killed after {writes} writes"
            );
        }
        assert_eq!(
            points, 13,
            "a kill at each write: those above without keys, and first a configuration without canary"
        );
    });
}
