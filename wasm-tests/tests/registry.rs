//! The image of `canary-ctl module save` in a real registry: Debian's `docker-registry`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use browser::{Kind, Response, User, Visit};
use envoy_kit::free_ports;
use programs::artifact;
use programs::child::LoggedChild;
use serde_json::json;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Longer than a registry starts on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);
const REPOSITORY: &str = "canary/filter";

/// A registry that keeps images in this folder.
fn start(folder: &Path) -> (LoggedChild, SocketAddr) {
    let [port] = free_ports();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let config = json!({
        "version": 0.1,
        "storage": {"filesystem": {"rootdirectory": folder.join("images")}},
        "http": {"addr": address.to_string()},
    });
    let path = folder.join("config.yaml");
    std::fs::write(&path, config.to_string()).unwrap(); // JSON is YAML
    let mut command = Command::new(artifact::docker_registry().unwrap());
    let process = LoggedChild::start("docker-registry", command.arg("serve").arg(path)).unwrap();
    let deadline = Instant::now() + TIMEOUT;
    while TcpStream::connect(address).is_err() {
        assert!(Instant::now() < deadline, "no registry at {address}:\n{}", process.log());
        std::thread::sleep(Duration::from_millis(50));
    }
    (process, address)
}

async fn get(address: SocketAddr, path: &str) -> Response {
    let visit = Visit::new(Kind::Api, path).header("accept", "application/vnd.oci.image.manifest.v1+json");
    User::http1(address, address.to_string()).send(&visit).await.unwrap()
}

#[tokio::test]
async fn a_registry_takes_the_saved_image_and_names_it_by_the_printed_digest() {
    let folder = tempfile::tempdir().unwrap();
    let layout = folder.path().join("image");
    let mut save = Command::new(artifact::canary_ctl().unwrap());
    let saved = save.args(["module", "save", "--oci-layout"]).arg(&layout).output().unwrap();
    let printed = String::from_utf8_lossy(&saved.stdout).into_owned();
    assert!(saved.status.success(), "{saved:?}");
    let (process, address) = start(folder.path());
    let digest = mesh_lab::push(address, &layout, REPOSITORY, "1.0").await.unwrap();
    assert!(printed.ends_with(&format!("image  {digest}\n")), "expected {digest}, found {printed}");
    for version in ["1.0", &digest] {
        let found = get(address, &format!("/v2/{REPOSITORY}/manifests/{version}")).await;
        assert_eq!(found.header("docker-content-digest"), Some(digest.as_str()), "{}", process.log_tail());
    }
    let module = std::fs::read(artifact::filter().unwrap()).unwrap();
    let blob = get(address, &format!("/v2/{REPOSITORY}/blobs/sha256:{}", mesh_lab::sha256(&module))).await;
    assert!(blob.status == 200 && blob.body == module, "{}: {} bytes", blob.status, blob.body.len());
}
