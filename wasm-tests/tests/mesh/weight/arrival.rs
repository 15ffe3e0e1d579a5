//! A weight through a real gateway: when `wait` returns, the proxies do it.

use crate::support::in_the_mesh;
use crate::support::release_fixture::set_weight;
use canary_operations::{Access, ApplyOptions, Cluster, Error, WaitOptions, WriteOptions};
use canary_release::file::parse;
use canary_release::preflight::{CheckFailed, PreflightCheck};
use std::path::Path;
use std::time::Duration;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

#[test]
fn a_weight_is_active_in_the_gateway_when_the_wait_is_over() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "arrival", &ShopEnvOptions::default()).await.unwrap();
        let document = env.release().unwrap().with("/spec/weight", "0");
        let release = parse(Path::new("canary.yaml"), &document.text()).unwrap().release;
        let access = Access { kubeconfig: Some(lab.kubeconfig("admin").unwrap()), ..Access::default() };
        let cluster = Cluster::connect(&access, WriteOptions::default()).await.unwrap();
        let mut counts = Vec::new();
        let mut progress = |running, all| counts.push((running, all));
        let mut waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut progress };
        let how = ApplyOptions {
            waiting: WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} },
            wait: false,
            skipped: &[],
            allow_rolled_back: false,
        };
        cluster.apply(&release, how).await.unwrap();
        lab.until("the way to the shop", async || {
            env.user().navigate("/").await.is_ok_and(|response| response.status == 200).then_some(())
        })
        .await
        .unwrap();

        for (weight, version) in [("100", "v2"), ("0", "v1"), ("100", "v2")] {
            let stored = cluster.get_record(&release.name).await.unwrap();
            let stored = set_weight(&cluster, &release.name, stored, weight).await.unwrap().stored;
            let arrival = cluster.wait(&release.name, &stored.record, &mut waiting).await.unwrap();
            assert_eq!(arrival.proxies.len(), 1);
            eprintln!("weight {weight}: active after {:?}", arrival.waited);
            let response = env.user().navigate("/").await.unwrap();
            assert_eq!(response.header("x-shop-version"), Some(version), "weight {weight}");
        }
        assert_eq!(counts.last(), Some(&(1, 1)));
    });
}

#[test]
fn the_first_generation_is_reported_by_a_gateway_without_traffic() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "idle", &ShopEnvOptions::gateway()).await.unwrap();
        let document = env.release().unwrap().with("/spec/weight", "100");
        let release = parse(Path::new("canary.yaml"), &document.text()).unwrap().release;
        let access = Access { kubeconfig: Some(lab.kubeconfig("admin").unwrap()), ..Access::default() };
        let cluster = Cluster::connect(&access, WriteOptions::default()).await.unwrap();
        let how = ApplyOptions {
            waiting: WaitOptions { timeout: Duration::from_secs(20), progress: &mut |_, _| {} },
            wait: true,
            skipped: &[PreflightCheck::MaxStep],
            allow_rolled_back: false,
        };
        let applied = cluster.apply(&release, how).await.unwrap();
        eprintln!(
            "the first generation of an idle gateway: {:?}",
            applied.arrival.map(|arrival| arrival.waited)
        );
    });
}

#[test]
fn a_stable_version_without_ready_pods_gets_no_users() {
    in_the_mesh(async |lab| {
        let fixture = crate::support::release_fixture::ReleaseFixture::new(lab, "unready").await;
        let service = ["create", "service", "clusterip", "shop", "--tcp=80:80", "-n", "unready"];
        lab.kubectl(&service).await.unwrap();
        let cluster = fixture.cluster().await;
        let how = ApplyOptions {
            waiting: WaitOptions { timeout: Duration::from_secs(1), progress: &mut |_, _| {} },
            wait: false,
            skipped: &[],
            allow_rolled_back: false,
        };
        let refused = cluster.apply(&fixture.release("shop"), how).await;
        let Err(Error::Preflight(CheckFailed { message, .. })) = refused else { panic!("{refused:?}") };
        assert!(message.starts_with("version `v1` has no pod"), "{message}");
        let written = fixture.versions().await;
        assert!(written.is_empty(), "{written:?}");
    });
}
