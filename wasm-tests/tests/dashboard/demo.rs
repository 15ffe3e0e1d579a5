//! The demo, live: the dashboard of its release is served beside its shop, and ends with it.

use browser::{Kind, User, Visit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use programs::artifact;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::time::timeout;

/// Longer than a start on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(1);

#[tokio::test]
async fn the_demo_serves_the_dashboard_of_its_release_beside_the_shop() {
    let mut demo = Command::new(artifact::canary_ctl().unwrap().with_file_name("demo"));
    demo.arg("--envoy").arg(artifact::envoy("1.40").unwrap());
    demo.arg("--filter").arg(artifact::filter().unwrap());
    let mut child = demo.stdout(Stdio::piped()).stdin(Stdio::null()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = async {
        loop {
            let line = lines.next_line().await.unwrap().expect("a line with the page's URL");
            if let Some((_, url)) = line.split_once("move with the weight: ") {
                return url.to_owned();
            }
        }
    };
    let url = timeout(TIMEOUT, said).await.expect("the demo is up");

    let (host, fragment) = url.strip_prefix("http://").unwrap().split_once("/#token=").unwrap();
    let token = fragment.split('&').next().unwrap();
    let address: SocketAddr = host.parse().unwrap();
    let visit = Visit::new(Kind::Fetch, "/api/releases/shop/shop".to_owned());
    let visit = visit.header("authorization", format!("Bearer {token}"));
    let view = User::http1(address, host).send(&visit).await.unwrap().json();
    let roles: Vec<_> = view["versions"].as_array().unwrap().iter().map(|version| &version["role"]).collect();
    assert_eq!(roles, ["stable", "canary"], "{view}");

    let pid = i32::try_from(child.id().unwrap()).unwrap();
    kill(Pid::from_raw(pid), Signal::SIGINT).unwrap();
    let ended = timeout(TIMEOUT, child.wait()).await.expect("the demo ends").unwrap();
    assert!(ended.success(), "{ended}");
    assert!(TcpStream::connect(address).await.is_err(), "the dashboard has ended, too");
}
