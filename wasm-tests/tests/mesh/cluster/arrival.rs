//! A weight through a real gateway: when `wait` returns, the proxies do it.

use crate::support::in_the_mesh;
use canary_ctl::cluster::{Access, ApplyOptions, Asked, Cluster, Error, WaitOptions, WriteOptions};
use canary_ctl::plan::{CheckFailed, PreflightCheck};
use canary_ctl::spec::parse;
use std::path::Path;
use std::time::Duration;
use wasm_tests::lab::{Stage, StageOptions};

#[test]
fn a_weight_is_active_in_the_gateway_when_the_wait_is_over() {
    in_the_mesh(async |lab| {
        let stage = Stage::set_up(lab, "arrival", &StageOptions::default()).await.unwrap();
        let document = stage.release().unwrap().with("/spec/weight", "0");
        let release = parse(Path::new("canary.yaml"), &document.text()).unwrap().release;
        let access = Access { kubeconfig: Some(lab.kubeconfig("admin").unwrap()), ..Access::default() };
        let cluster = Cluster::connect(&access, WriteOptions::default()).await.unwrap();
        let mut counts = Vec::new();
        let mut progress = |running, all| counts.push((running, all));
        let mut waiting = WaitOptions { patience: Duration::from_mins(1), progress: &mut progress };
        let how = ApplyOptions {
            waiting: WaitOptions { patience: Duration::from_mins(1), progress: &mut |_, _| {} },
            wait: false,
            skipped: &[],
            again: false,
        };
        cluster.apply(&release, how).await.unwrap();
        lab.until("the way to the shop", async || {
            stage.user().navigate("/").await.is_ok_and(|answer| answer.status == 200).then_some(())
        })
        .await
        .unwrap();

        for (weight, version) in [("100", "v2"), ("0", "v1"), ("100", "v2")] {
            let stored = cluster.get_record(&release.name).await.unwrap();
            let asked = Asked { weight: weight.parse().unwrap(), until: None, why: "weight" };
            let stored = cluster.set_weight(&release.name, stored, asked).await.unwrap().stored;
            let arrival =
                cluster.wait(&release.name.to_string(), &stored.record, &mut waiting).await.unwrap();
            assert_eq!(arrival.proxies.len(), 1);
            eprintln!("weight {weight}: active after {:?}", arrival.waited);
            let answer = stage.user().navigate("/").await.unwrap();
            assert_eq!(answer.header("x-shop-version"), Some(version), "weight {weight}");
        }
        assert_eq!(counts.last(), Some(&(1, 1)));
    });
}

#[test]
fn the_first_generation_is_seen_in_a_gateway_that_nobody_has_used() {
    in_the_mesh(async |lab| {
        let stage = Stage::set_up(lab, "idle", &StageOptions::gateway()).await.unwrap();
        let document = stage.release().unwrap().with("/spec/weight", "100");
        let release = parse(Path::new("canary.yaml"), &document.text()).unwrap().release;
        let access = Access { kubeconfig: Some(lab.kubeconfig("admin").unwrap()), ..Access::default() };
        let cluster = Cluster::connect(&access, WriteOptions::default()).await.unwrap();
        let how = ApplyOptions {
            waiting: WaitOptions { patience: Duration::from_secs(20), progress: &mut |_, _| {} },
            wait: true,
            skipped: &[PreflightCheck::MaxStep],
            again: false,
        };
        let applied = cluster.apply(&release, how).await.unwrap();
        eprintln!(
            "the first generation of an idle gateway: {:?}",
            applied.arrival.map(|arrival| arrival.waited)
        );
    });
}

#[test]
fn nobody_is_sent_to_a_stable_version_without_ready_pods() {
    in_the_mesh(async |lab| {
        let desk = super::desk::Desk::new(lab, "unready").await;
        let cluster = desk.cluster().await;
        let how = ApplyOptions {
            waiting: WaitOptions { patience: Duration::from_secs(1), progress: &mut |_, _| {} },
            wait: false,
            skipped: &[],
            again: false,
        };
        let refused = cluster.apply(&desk.release("shop"), how).await;
        let Err(Error::Preflight(CheckFailed { message, .. })) = refused else { panic!("{refused:?}") };
        assert!(message.starts_with("version `v1` has no ready pod of 0"), "{message}");
        assert!(desk.versions().await.is_empty());
    });
}
