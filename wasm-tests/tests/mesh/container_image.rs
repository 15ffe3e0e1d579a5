//! The container image of the tool: a Job in the cluster changes a weight by the service account of its pod.

use std::path::{Path, PathBuf};
use std::process::Command;

use mesh_lab::Image;
use programs::artifact;
use serde_json::json;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

use crate::support::cli::Cli;
use crate::support::in_the_mesh;

const NAMESPACE: &str = "job";
/// The only program of the image.
const PROGRAM: &str = "/canary-ctl";
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

#[test]
fn a_job_of_the_image_changes_a_weight_with_the_printed_rights_of_its_service_account() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, NAMESPACE, &ShopEnvOptions::gateway()).await.unwrap();
        let release = env.release().unwrap().with("/spec/weight", "0").with("/spec/maxStep", "100");
        let cli = Cli::new(lab, &release);
        cli.expect("apply --wait", 0, &[]).await;
        lab.kubectl(&["create", "serviceaccount", "deployer", "-n", NAMESPACE]).await.unwrap();
        lab.apply(&job(&release.text()).to_string()).await.unwrap();
        let complete = ["wait", "--for=condition=complete", "job/weight", "-n", NAMESPACE, "--timeout=5s"];
        assert!(lab.kubectl(&complete).await.is_err(), "without rights");

        let rights = cli.expect("generate rbac --service-account job/deployer", 0, &[]).await;
        lab.apply(&rights.stdout).await.unwrap();
        let complete = ["wait", "--for=condition=complete", "job/weight", "-n", NAMESPACE, "--timeout=60s"];
        let done = lab.kubectl(&complete).await;
        assert!(done.is_ok(), "{done:?}: {}", lab.log_tails("job.weight"));
        cli.expect("status", 0, &["weight 20%", "1 of 1 proxies run it"]).await;
    });
}

/// The image of `CANARY_IMAGE` (an OCI archive; `./x test` sets it), unpacked as a node does it; else the binary under test in its place.
pub(crate) fn image() -> Image {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("canary-ctl-image");
    let Some(archive) = std::env::var_os("CANARY_IMAGE") else {
        let files = vec![(artifact::canary_ctl().unwrap(), PathBuf::from(PROGRAM))];
        return Image { entrypoint: vec![PROGRAM.to_owned()], files };
    };
    let [layout, root] = ["layout", "root"].map(|name| folder.join(name));
    // Of an earlier run.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&layout).unwrap();
    let unpack = [Command::new("tar").arg("-C").arg(&layout).arg("-xf").arg(archive).status(), {
        let tag = format!("{}:{}", layout.display(), env!("CARGO_PKG_VERSION"));
        Command::new("umoci").args(["raw", "unpack", "--image", &tag]).arg(&root).status()
    }];
    assert!(
        unpack.iter().all(|status| status.as_ref().is_ok_and(std::process::ExitStatus::success)),
        "{unpack:?}"
    );
    let file = |path: &str| (root.join(path.trim_start_matches('/')), PathBuf::from(path));
    Image { entrypoint: vec![PROGRAM.to_owned()], files: [PROGRAM, CERTIFICATES].map(file).to_vec() }
}

/// A Job that is tried again until it has the rights, and the release that it reads.
fn job(release: &str) -> serde_json::Value {
    let container = json!({
        "name": "canary-ctl",
        "image": "registry.example.com/canary/canary-ctl:0.1.0",
        "args": ["weight", "20", "--wait", "--file", "/etc/canary/canary.yaml"],
        "securityContext": {"runAsUser": 65532, "runAsGroup": 65532, "runAsNonRoot": true},
        "volumeMounts": [{"name": "release", "mountPath": "/etc/canary"}],
    });
    let pod = json!({
        "serviceAccountName": "deployer",
        "restartPolicy": "OnFailure",
        "containers": [container],
        "volumes": [{"name": "release", "configMap": {"name": "release"}}],
    });
    json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "release", "namespace": NAMESPACE},
         "data": {"canary.yaml": release}},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "weight", "namespace": NAMESPACE},
         "spec": {"backoffLimit": 20, "template": {"spec": pod}}},
    ]})
}
