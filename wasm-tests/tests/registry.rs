//! `canary-ctl module` and a real registry: Debian's `docker-registry`, with a password and without.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

use envoy_kit::free_ports;
use programs::artifact;
use programs::child::LoggedChild;
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than a registry starts on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

/// bcrypt of the password `U*U`, which is how this registry keeps them: a test vector of `crypt_blowfish`.
const HTPASSWD: &str = "ci:$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW\n";
const PASSWORD: &str = "U*U";

/// A registry that keeps images in a folder of its own.
struct Registry {
    process: LoggedChild,
    address: SocketAddr,
    folder: TempDir,
}

impl Registry {
    fn start(has_password: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [port] = free_ports();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut config = json!({
            "version": 0.1,
            "storage": {"filesystem": {"rootdirectory": folder.path().join("images")}},
            "http": {"addr": address.to_string()},
        });
        if has_password {
            let path = folder.path().join("htpasswd");
            std::fs::write(&path, HTPASSWD).unwrap();
            config["auth"] = json!({"htpasswd": {"realm": "registry", "path": path}});
        }
        let path = folder.path().join("config.yaml");
        std::fs::write(&path, config.to_string()).unwrap(); // JSON is YAML
        let mut command = Command::new(artifact::docker_registry().unwrap());
        let process = LoggedChild::start("docker-registry", command.arg("serve").arg(path)).unwrap();
        let registry = Self { process, address, folder };
        let deadline = Instant::now() + TIMEOUT;
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < deadline, "no registry at {address}:\n{}", registry.process.log());
            std::thread::sleep(Duration::from_millis(50));
        }
        registry
    }

    /// Runs `canary-ctl module VERB` on an image of it, with this on stdin; the exit code and all that is printed.
    fn run(&self, verb: &str, version: &str, flags: &str, stdin: &str) -> (Option<i32>, String, String) {
        let input = self.folder.path().join("stdin");
        std::fs::write(&input, stdin).unwrap();
        let mut command = Command::new(artifact::canary_ctl().unwrap());
        command.args(["module", verb, &format!("oci://{}/canary/filter{version}", self.address)]);
        command.args(flags.split_whitespace()).current_dir(self.folder.path());
        command.env("HOME", self.folder.path()).env_remove("DOCKER_CONFIG");
        let output = command.stdin(Stdio::from(std::fs::File::open(input).unwrap())).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// Pushes, and returns what is printed as JSON.
    fn push(&self, flags: &str, stdin: &str) -> Value {
        let (code, stdout, stderr) = self.run("push", ":1.0", &format!("-o json {flags}"), stdin);
        assert_eq!(code, Some(0), "{stderr}\n{}", self.process.log_tail());
        serde_json::from_str(&stdout).unwrap()
    }

    /// The number of files that it keeps.
    fn count(&self) -> usize {
        count(&self.folder.path().join("images"))
    }
}

fn count(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap()
}

#[test]
fn a_push_is_found_by_tag_and_digest_and_is_the_same_image_in_every_registry() {
    let (registry, other) = (Registry::start(false), Registry::start(false));
    let dry = registry.push("--dry-run", "");
    assert_eq!(registry.count(), 0, "a dry run leaves nothing");
    let pushed = registry.push("", "");
    assert_eq!(text(&dry, "digest"), text(&pushed, "digest"));
    let by_digest = format!("@{}", text(&pushed, "digest"));
    assert!(text(&pushed, "deliveryModule").ends_with(&by_digest), "{pushed}");
    for version in [":1.0", &by_digest] {
        let (code, stdout, stderr) = registry.run("verify", version, "", "");
        assert_eq!(code, Some(0), "{version}: {stdout}{stderr}");
        assert!(
            stdout.contains("the module of this tool") && stdout.contains(text(&pushed, "digest")),
            "{stdout}"
        );
    }
    let count = registry.count();
    let again = registry.push("", "");
    assert_eq!((registry.count(), &again["tagged"]), (count, &json!(false)), "nothing is sent twice");
    assert_eq!(text(&other.push("", ""), "digest"), text(&pushed, "digest"));
}

#[test]
fn a_registry_with_passwords_takes_the_one_of_stdin_and_that_of_docker_s_login() {
    let registry = Registry::start(true);
    let (code, _, stderr) = registry.run("push", ":1.0", "", "");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("asks for credentials, found none: UNAUTHORIZED"), "{stderr}");
    let (code, _, stderr) = registry.run("push", ":1.0", "--username ci", "wrong");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("refuses the credentials (401)") && !stderr.contains("wrong"), "{stderr}");
    assert_eq!(registry.count(), 0, "who is refused leaves nothing");

    registry.push("--username ci", PASSWORD);
    // What `docker login` writes: `ci:U*U` in base64.
    let config = json!({"auths": {registry.address.to_string(): {"auth": "Y2k6VSpV"}}});
    std::fs::create_dir(registry.folder.path().join(".docker")).unwrap();
    std::fs::write(registry.folder.path().join(".docker/config.json"), config.to_string()).unwrap();
    let (code, stdout, stderr) = registry.run("verify", ":1.0", "", "");
    assert_eq!(code, Some(0), "{stdout}{stderr}");
}

#[test]
fn a_blob_that_is_damaged_in_the_registry_is_found() {
    let registry = Registry::start(false);
    let pushed = registry.push("", "");
    let digest = text(&pushed["blobs"][2], "digest").strip_prefix("sha256:").unwrap();
    let blobs = "images/docker/registry/v2/blobs/sha256";
    let path = registry.folder.path().join(format!("{blobs}/{}/{digest}/data", digest.split_at(2).0));
    let mut bytes = std::fs::read(&path).unwrap();
    for byte in &mut bytes {
        *byte ^= 1;
    }
    std::fs::write(&path, bytes).unwrap();
    let (code, stdout, stderr) = registry.run("verify", ":1.0", "", "");
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert!(stderr.contains(&format!("expected sha256:{digest}")), "{stderr}");
}
