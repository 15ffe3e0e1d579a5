//! A paused release: which operators can still change it, and how.

use crate::beside_an_api_server;
use canary_operations::{Error, LastAlerts, PromoteOptions, UninstallOptions, WaitOptions, WriteOptions};
use canary_release::preflight::PreflightCheck;
use std::time::Duration;
use wasm_tests::api::release_fixture::{
    ReleaseFixture, WITHOUT_PODS, apply, apply_although, check_weight, name, refused,
};

/// What pods and routes would say is another test's.
const PODS: [PreflightCheck; 1] = [PreflightCheck::NoReadyPods];
const PAUSED: [PreflightCheck; 2] = [PreflightCheck::NoReadyPods, PreflightCheck::Paused];

#[track_caller]
fn is_paused(done: &Result<impl std::fmt::Debug, Error>) -> String {
    refused(PreflightCheck::Paused, done)
}

#[test]
fn a_paused_release_changes_for_its_pauser_alone() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "paused").await;
        let (admin, release) = (fixture.cluster().await, fixture.release("shop"));
        let bob = fixture.cluster_of("bob", WriteOptions::default()).await;
        apply(&admin, &release).await.unwrap();
        let stored = admin.get_record(&name(&release)).await.unwrap();
        let why = Some("the p99 looks odd".to_owned());
        admin.pause(&name(&release), stored, why, &[]).await.unwrap();

        let message = is_paused(&check_weight(&bob, &release, "20", &PODS).await);
        assert!(message.starts_with("the release is paused by `admin` since 20"), "{message}");
        assert!(message.ends_with(": the p99 looks odd"), "{message}");
        check_weight(&bob, &release, "0", &[]).await.unwrap();
        let stored = bob.get_record(&name(&release)).await.unwrap();
        let options = PromoteOptions { drain: None, skipped: &PODS };
        is_paused(&bob.check_promotion(&name(&release), stored.clone(), options).await);
        let waiting = WaitOptions { timeout: Duration::from_secs(5), progress: &mut |_, _| {} };
        let options = UninstallOptions { skipped: &[], waiting, alerts: LastAlerts::default() };
        is_paused(&bob.uninstall(&name(&release), stored, options).await);
        check_weight(&bob, &release, "20", &PAUSED).await.unwrap();
        check_weight(&admin, &release, "20", &PODS).await.unwrap();

        let stored = bob.get_record(&name(&release)).await.unwrap();
        is_paused(&bob.resume(&name(&release), stored.clone(), &[]).await);
        is_paused(&bob.pause(&name(&release), stored.clone(), None, &[]).await);
        let stored = admin.resume(&name(&release), stored, &[]).await.unwrap();
        assert_eq!(stored.record.paused, None);
        let last = stored.record.last().unwrap();
        assert!(last.starts_with("admin: resume, weight 0% (generation 1) at "), "{last}");
        check_weight(&bob, &release, "20", &PODS).await.unwrap();
    });
}

#[test]
fn on_a_paused_release_others_repair_and_do_not_move_users() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "paused-apply").await;
        let (admin, release) = (fixture.cluster().await, fixture.release("shop"));
        let bob = fixture.cluster_of("bob", WriteOptions::default()).await;
        apply(&admin, &release).await.unwrap();
        let stored = admin.get_record(&name(&release)).await.unwrap();
        admin.pause(&name(&release), stored, None, &[]).await.unwrap();

        api.kubectl(&["delete", "destinationrule", "shop-canary", "-n", "paused-apply"]).await.unwrap();
        assert_eq!(apply(&bob, &release).await.unwrap().plan.changes.len(), 1);
        let other = ReleaseFixture::read(&fixture.document("shop").with("/spec/versions/canary", "v3"));
        let before = fixture.versions().await;
        is_paused(&apply(&bob, &other).await);
        assert_eq!(fixture.versions().await, before);
        let skipped = [&WITHOUT_PODS[..], &[PreflightCheck::Paused]].concat();
        apply_although(&bob, &other, &skipped).await.unwrap();
    });
}

#[test]
fn status_shows_who_paused_a_release_and_the_reason() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "paused-status").await;
        apply(&fixture.cluster().await, &fixture.release("shop")).await.unwrap();
        let file = fixture.file("shop");
        let ran = fixture.run("bob", &file, &["pause", "--reason", "lunch"]).await;
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
        assert!(ran.stderr.starts_with("paused-status/shop: paused at 0%;"), "{}", ran.stderr);
        let ran = fixture.run("admin", &file, &["status"]).await;
        assert!(ran.stdout.contains("\npaused by `bob` since 20"), "{}", ran.stdout);
        let ran = fixture.run("admin", &file, &["weight", "20", "--skip-check", "no-ready-pods"]).await;
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        assert!(
            ran.stderr.contains(": lunch\n  hint: ask `bob`, or give `--skip-check paused`\n"),
            "{}",
            ran.stderr
        );
        let ran = fixture.run("bob", &file, &["resume"]).await;
        let resumed = "paused-status/shop: goes on at 0%; it was paused by `bob`";
        assert!(ran.stderr.starts_with(resumed), "{}", ran.stderr);
    });
}
