//! The line of `docs/operations.md` that stops a canary without `canary-ctl`, as it stands there.

use crate::support::in_the_mesh;
use crate::support::release_fixture::set_weight;
use canary_operations::{Access, Applied, ApplyOptions, Cluster, Error, WaitOptions, WriteOptions};
use canary_release::file::parse;
use canary_release::spec::Release;
use mesh_lab::Lab;
use programs::artifact;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

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
    let waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} };
    cluster
        .apply(release, ApplyOptions { waiting, wait: false, skipped: &[], allow_rolled_back: false })
        .await
}

/// Sends requests of new users until one gets this version; every response until then has to be valid.
async fn until_new_users_get(lab: &Lab, env: &ShopEnv, version: &str) {
    lab.until(&format!("new users on {version}"), async || {
        let response = env.user().navigate("/").await.unwrap();
        assert_eq!(response.status, 200, "{response:?}");
        (response.header("x-shop-version") == Some(version)).then_some(())
    })
    .await
    .unwrap();
}

#[test]
fn the_kubectl_line_of_the_manual_moves_all_users_to_stable_without_a_failed_request() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::of_the_examples(lab, &ShopEnvOptions::default()).await.unwrap();
        let document = env.release().unwrap().with("/spec/maxStep", 100);
        let release = parse(Path::new("canary.yaml"), &document.text()).unwrap().release;
        let cli = cluster(lab, false).await;
        apply(&cli, &release).await.unwrap();
        lab.until("the way to the shop", async || {
            env.user().navigate("/").await.is_ok_and(|response| response.status == 200).then_some(())
        })
        .await
        .unwrap();
        let stored = cli.get_record(&release.name).await.unwrap();
        set_weight(&cli, &release.name, stored, "100").await.unwrap();
        until_new_users_get(lab, &env, "v2").await;
        let mut pinned = env.user();
        let response = pinned.navigate("/cart/add?item=tea").await.unwrap();
        assert_eq!(response.header("x-shop-version"), Some("v2"));

        let done = Command::new("sh")
            .args(["-c", &line()])
            .env("KUBECONFIG", lab.kubeconfig("admin").unwrap())
            .env("PATH", format!("{}:{}", programs().display(), std::env::var("PATH").unwrap()))
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        until_new_users_get(lab, &env, "v1").await;
        let response = pinned.fetch("/cart").await.unwrap();
        assert_eq!((response.status, response.header("x-shop-version")), (200, Some("v1")), "pinned to v2");

        let refused = apply(&cli, &release).await;
        let Err(Error::Conflict { conflicts, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(conflicts, [("spec.subsets".to_owned(), "kubectl-patch".to_owned())]);
        apply(&cluster(lab, true).await, &release).await.unwrap();
        until_new_users_get(lab, &env, "v2").await;
    });
}

/// Where the lab's `kubectl` is.
fn programs() -> std::path::PathBuf {
    artifact::root().join(".tools/lab/bin")
}
