//! The line of `docs/operations.md` that stops a canary without `canary-ctl`, as it stands there.

use crate::support::in_the_mesh;
use canary_ctl::cluster::{Access, Applied, ApplyOptions, Asked, Cluster, Error, WaitOptions, WriteOptions};
use canary_ctl::spec::{Release, parse};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use wasm_tests::artifact;
use wasm_tests::lab::{Lab, Stage, StageOptions};

/// The one command of the page's section, for the release of `examples/session-cookie`.
fn line() -> String {
    let page = std::fs::read_to_string(artifact::root().join("docs/operations.md")).unwrap();
    let section = page.split("\n## Without canary-ctl\n").nth(1).unwrap();
    section.split("```sh\n").nth(1).unwrap().split("```").next().unwrap().to_owned()
}

async fn cluster(lab: &Lab, force_conflicts: bool) -> Cluster {
    let access = Access { kubeconfig: Some(lab.kubeconfig("admin").unwrap()), ..Access::default() };
    Cluster::connect(&access, WriteOptions { force_conflicts, ..WriteOptions::default() }).await.unwrap()
}

async fn apply(cluster: &Cluster, release: &Release) -> Result<Applied, Error> {
    let waiting = WaitOptions { patience: Duration::from_mins(1), progress: &mut |_, _| {} };
    cluster.apply(release, ApplyOptions { waiting, wait: false, skipped: &[], again: false }).await
}

/// Asks until a new user is answered by this version; every answer on the way has to be one.
async fn until_new_users_get(lab: &Lab, stage: &Stage, version: &str) {
    lab.until(&format!("new users on {version}"), async || {
        let answer = stage.user().navigate("/").await.unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        (answer.header("x-shop-version") == Some(version)).then_some(())
    })
    .await
    .unwrap();
}

#[test]
fn the_line_of_the_manual_moves_everybody_to_stable_without_a_failed_request() {
    in_the_mesh(async |lab| {
        let stage = Stage::of_the_examples(lab, &StageOptions::default()).await.unwrap();
        let document = stage.release().unwrap().with("/spec/maxStep", 100);
        let release = parse(Path::new("canary.yaml"), &document.text()).unwrap().release;
        let operator = cluster(lab, false).await;
        apply(&operator, &release).await.unwrap();
        lab.until("the way to the shop", async || {
            stage.user().navigate("/").await.is_ok_and(|answer| answer.status == 200).then_some(())
        })
        .await
        .unwrap();
        let stored = operator.get_record(&release.name).await.unwrap();
        let asked = Asked { weight: "100".parse().unwrap(), until: None, why: "weight" };
        operator.set_weight(&release.name, stored, asked).await.unwrap();
        until_new_users_get(lab, &stage, "v2").await;
        let mut pinned = stage.user();
        let answer = pinned.navigate("/cart/add?item=tea").await.unwrap();
        assert_eq!(answer.header("x-shop-version"), Some("v2"));

        let done = Command::new("sh")
            .args(["-c", &line()])
            .env("KUBECONFIG", lab.kubeconfig("admin").unwrap())
            .env("PATH", format!("{}:{}", programs().display(), std::env::var("PATH").unwrap()))
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        until_new_users_get(lab, &stage, "v1").await;
        let answer = pinned.fetch("/cart").await.unwrap();
        assert_eq!((answer.status, answer.header("x-shop-version")), (200, Some("v1")), "pinned to v2");

        let refused = apply(&operator, &release).await;
        let Err(Error::Conflict { conflicts, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(conflicts, [("spec.subsets".to_owned(), "kubectl-patch".to_owned())]);
        apply(&cluster(lab, true).await, &release).await.unwrap();
        until_new_users_get(lab, &stage, "v2").await;
    });
}

/// Where the lab's `kubectl` is.
fn programs() -> std::path::PathBuf {
    artifact::root().join(".tools/lab/bin")
}
