//! `docs/five-minutes.md`, typed as it stands there, from an archive to a canary at 20 % and back.

use browser::{Kind, User, Visit};
use canary_release::file::Document as Parsed;
use mesh_lab::Lab;
use programs::artifact;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

use crate::support::{in_a_mesh_of_its_own, with};

const USERS: u32 = 100;

/// A person's terminal, in a folder with what the page takes for granted.
struct Terminal {
    folder: TempDir,
    kubeconfig: PathBuf,
    /// What earlier commands have exported.
    exports: Vec<String>,
    commands: u32,
    start: Instant,
}

impl Terminal {
    fn new(lab: &Lab) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (kubeconfig, start) = (lab.kubeconfig("admin").unwrap(), Instant::now());
        Self { folder, kubeconfig, exports: Vec::new(), commands: 0, start }
    }

    fn shell(&self, line: &str) -> Command {
        let kubectl = artifact::root().join(".tools/lab/bin");
        let mut shell = Command::new("sh");
        shell
            .args(["-ec", &[self.exports.join("\n").as_str(), line].join("\n")])
            .current_dir(self.folder.path())
            .env("KUBECONFIG", &self.kubeconfig)
            .env("PATH", format!("{}:{}", kubectl.display(), std::env::var("PATH").unwrap()))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        shell
    }

    /// Types a block of commands; the result is what the last one has printed.
    async fn types(&mut self, block: &str) -> String {
        let mut stdout = String::new();
        for line in block.lines() {
            self.commands += 1;
            let output = self.shell(line).output().await.unwrap();
            stdout = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{line}: {stdout}{}", String::from_utf8_lossy(&output.stderr));
            if line.starts_with("export ") {
                self.exports.push(line.to_owned());
            }
        }
        stdout
    }

    /// Types a command that runs until Ctrl-C; the result is its first line, too.
    async fn leaves_running(&mut self, line: &str) -> (Child, String) {
        self.commands += 1;
        let mut child = self.shell(&format!("exec {line}")).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        (child, lines.next_line().await.unwrap().unwrap())
    }
}

#[test]
fn the_page_leads_from_an_archive_to_a_canary_and_back() {
    in_a_mesh_of_its_own(async |lab| {
        let env = ShopEnv::of_the_examples(lab, &ShopEnvOptions::default()).await.unwrap();
        let shop = mesh_lab::Objects::read("shop", &env.namespace).unwrap().text();
        lab.kubectl(&["delete", "deployment", "shop-v2", "-n", &env.namespace]).await.unwrap();
        lab.until("only v1", async || lab.pods("shop", "version=v2").await.unwrap().is_empty().then_some(()))
            .await
            .unwrap();
        let before = objects(lab).await;

        let mut terminal = Terminal::new(lab);
        std::fs::write(terminal.folder.path().join("shop-v2.yaml"), with(&shop, "shop-v2")).unwrap();
        let blocks = blocks();
        let [install, init, prepare, doctor, apply, tester, weight, dashboard, removal] = blocks.as_slice()
        else {
            panic!("expected nine blocks, found {blocks:?}")
        };
        archive(install, terminal.folder.path()).await;
        assert_eq!(terminal.types(install).await, format!("canary-ctl {}\n", env!("CARGO_PKG_VERSION")));
        for block in [init, prepare, doctor, apply] {
            terminal.types(block).await;
        }
        assert_written(&terminal);

        let link = terminal.types(tester).await;
        opens(lab, &env, link.trim()).await;
        assert_eq!(new_users_on_v2(&env).await, 0, "at weight 0");

        let status = terminal.types(weight).await;
        assert!(status.contains("20"), "{status}");
        let share = new_users_on_v2(&env).await;
        assert!((6..=36).contains(&share), "{share} of {USERS} at 20 %");
        let (mut server, url) = terminal.leaves_running(dashboard.trim()).await;
        assert_eq!(shown(&url).await["weight"], 2_000, "in basis points");
        let took = terminal.start.elapsed();
        println!("{} commands in {:.1} s", terminal.commands, took.as_secs_f64());
        assert_eq!(terminal.commands, 13, "as README says");
        assert!(took < Duration::from_mins(5), "the page's title: {took:?}");
        server.kill().await.unwrap();

        terminal.types(removal).await;
        assert_eq!(objects(lab).await, before, "Istio's objects are as they were");
    });
}

/// The commands of the page, by block.
fn blocks() -> Vec<String> {
    let page = std::fs::read_to_string(artifact::root().join("docs/five-minutes.md")).unwrap();
    page.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

/// Puts the archive that the page names into the folder: that of `CANARY_ARCHIVE` (`./x test` sets it), else one of the binary under test.
async fn archive(install: &str, folder: &Path) {
    let name = install.lines().next().unwrap().split(' ').next_back().unwrap();
    if let Some(path) = std::env::var_os("CANARY_ARCHIVE") {
        std::fs::copy(path, folder.join(name)).unwrap();
        return;
    }
    let content = name.strip_suffix(".tar.gz").unwrap();
    std::fs::create_dir(folder.join(content)).unwrap();
    std::fs::copy(artifact::canary_ctl().unwrap(), folder.join(content).join("canary-ctl")).unwrap();
    let tar = Command::new("tar").args(["-I", "gzip -1", "-cf", name, content]).current_dir(folder).status();
    assert!(tar.await.unwrap().success(), "tar");
    std::fs::remove_dir_all(folder.join(content)).unwrap();
}

/// `init` has written what a second reader understands.
fn assert_written(terminal: &Terminal) {
    let Parsed { release, .. } =
        canary_release::file::load(&terminal.folder.path().join("canary.yaml")).unwrap();
    assert_eq!((release.name.to_string().as_str(), release.cookies.tls), ("shop/shop", true));
}

/// A tester opens the link. Ready pods are a moment ahead of the gateway's endpoints, and a version without endpoints counts as gone for
/// ten seconds: a person takes longer to send a link.
async fn opens(lab: &Lab, env: &ShopEnv, link: &str) {
    let path = link.strip_prefix("https://shop.example.com").unwrap();
    lab.until("a tester on v2", async || {
        let response = env.user().navigate(path).await.unwrap();
        (response.status == 200 && response.header("x-shop-version") == Some("v2")).then_some(())
    })
    .await
    .unwrap();
}

async fn new_users_on_v2(env: &ShopEnv) -> u32 {
    let mut on_v2 = 0;
    for _ in 0..USERS {
        let response = env.user().navigate("/").await.unwrap();
        assert_eq!(response.status, 200, "{response:?}");
        on_v2 += u32::from(response.header("x-shop-version") == Some("v2"));
    }
    on_v2
}

/// What the page of the dashboard reads.
async fn shown(url: &str) -> Value {
    let (host, fragment) = url.trim().strip_prefix("http://").unwrap().split_once("/#token=").unwrap();
    let (token, release) = fragment.split_once("&release=").unwrap();
    let address: SocketAddr = host.parse().unwrap();
    let visit = Visit::new(Kind::Fetch, format!("/api/releases/{release}"));
    let visit = visit.header("authorization", format!("Bearer {token}"));
    User::http1(address, host).send(&visit).await.unwrap().json()
}

/// Istio's objects of the application and of its gateway.
async fn objects(lab: &Lab) -> String {
    let kinds = "virtualservices,destinationrules,envoyfilters,gateways.networking.istio.io";
    let mut all = String::new();
    for namespace in ["shop", "istio-ingress"] {
        all += &lab.kubectl(&["get", kinds, "-n", namespace, "-o", "yaml"]).await.unwrap();
    }
    all
}
