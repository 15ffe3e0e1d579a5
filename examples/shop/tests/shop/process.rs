//! The binaries: say where they listen, serve, and end by SIGTERM with exit code 0.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

use crate::browser::{Browser, Protocol};
use crate::caller::watch;

const TIMEOUT: Duration = Duration::from_secs(10);
const SHOP: &str = env!("CARGO_BIN_EXE_demo-shop");
const CATALOG: &str = env!("CARGO_BIN_EXE_demo-catalog");

/// A process that has printed its address.
struct Running {
    process: Child,
    lines: Lines<BufReader<ChildStderr>>,
    base: String,
}

impl Running {
    /// Starts `program` on a free port with these further arguments.
    async fn start(program: &str, args: &[&str]) -> Result<Self> {
        let mut process = command(program, args).spawn()?;
        let mut lines = BufReader::new(process.stderr.take().context("no stderr")?).lines();
        let ready = timeout(TIMEOUT, lines.next_line()).await??.context("it said nothing")?;
        let (_, base) = ready.split_once("listening on ").with_context(|| format!("no address: {ready}"))?;
        Ok(Self { process, lines, base: base.to_owned() })
    }

    fn address(&self) -> &str {
        self.base.trim_start_matches("http://")
    }

    /// Ends it by SIGTERM; answers its last words.
    async fn terminate(mut self) -> Result<String> {
        let pid = self.process.id().context("it has ended")?.to_string();
        let killed = Command::new("kill").args(["-TERM", &pid]).status().await?;
        assert!(killed.success(), "kill -TERM {pid}: {killed}");
        let ended = timeout(TIMEOUT, self.process.wait()).await??;
        assert!(ended.success(), "the program: {ended}");
        self.lines.next_line().await?.context("it said nothing")
    }
}

fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(["--listen", "127.0.0.1:0"]).args(args).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

#[tokio::test]
async fn the_process_serves_until_sigterm() -> Result<()> {
    let shop = Running::start(SHOP, &["--version", "v2", "--pod", "v2-b", "--session-cookie", "sid"]).await?;
    let probe = format!("{}/healthz", shop.base).parse()?;
    assert_eq!(Browser::new(Protocol::Http2).status(probe).await?, 200);
    assert_eq!(shop.terminate().await?, "demo-shop v2 v2-b: stopped");
    Ok(())
}

#[tokio::test]
async fn the_shop_finds_its_catalog_by_address_and_by_name() -> Result<()> {
    let catalog = Running::start(CATALOG, &["--version", "v1", "--pod", "c-1"]).await?;
    let named =
        ["--catalog", "http://catalog.shop.svc.cluster.local:9101", "--catalog-address", catalog.address()];
    let by_name = catalog.base.replace("127.0.0.1", "localhost");
    for place in [&named[..], &["--catalog", &by_name]] {
        let args = [&["--version", "v1", "--pod", "s-1", "--propagate", "baggage"], place].concat();
        let shop = Running::start(SHOP, &args).await?;
        for via in ["http", "grpc"] {
            let both = format!("{}/catalog?via={via}", shop.base).parse()?;
            assert_eq!(Browser::new(Protocol::Http1).status(both).await?, 200, "{place:?} via {via}");
        }
        assert_eq!(shop.terminate().await?, "demo-shop v1 s-1: stopped");
    }
    assert_eq!(catalog.terminate().await?, "demo-catalog v1 c-1: stopped");
    Ok(())
}

#[tokio::test]
async fn sigterm_ends_an_open_stream_with_status_ok() -> Result<()> {
    for program in [SHOP, CATALOG] {
        let pod = Running::start(program, &["--version", "v1", "--pod", "a"]).await?;
        let mut ticks = watch(pod.address().parse()?).await?;
        ticks.message().await?.context("ended before its time")?;
        let end = tokio::spawn(async move {
            while ticks.message().await?.is_some() {}
            anyhow::Ok(())
        });
        let last = pod.terminate().await?;
        assert!(last.ends_with("v1 a: stopped"), "{last}");
        end.await??;
    }
    Ok(())
}

#[tokio::test]
async fn a_bad_name_or_place_ends_the_process_before_it_listens() -> Result<()> {
    let bad: [(&[&str], &str); 3] = [
        (&["--version", "v 2", "--pod", "v2-b"], "version: expected"),
        (&["--version", "v2", "--pod", "v2-b", "--catalog", "catalog:9101"], "catalog: expected http://"),
        (&["--version", "v2", "--pod", "v2-b", "--catalog-address", "127.0.0.1:9"], "--catalog <URL>"),
    ];
    for (args, reason) in bad {
        let output = timeout(TIMEOUT, command(SHOP, args).output()).await??;
        assert!(!output.status.success(), "{args:?}: {output:?}");
        let said = String::from_utf8(output.stderr)?;
        assert!(said.contains(reason), "{said}");
    }
    Ok(())
}
