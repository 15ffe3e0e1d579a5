//! The binary: says where it listens, serves, and ends by SIGTERM with exit code 0.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::browser::{Browser, Protocol};

const PATIENCE: Duration = Duration::from_secs(10);

fn shop(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_demo-shop"));
    command.args(args).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

#[tokio::test]
async fn the_process_serves_until_sigterm() -> Result<()> {
    let args = ["--listen", "127.0.0.1:0", "--version", "v2", "--pod", "v2-b", "--session-cookie", "sid"];
    let mut process = shop(&args).spawn()?;
    let mut lines = BufReader::new(process.stderr.take().context("no stderr")?).lines();
    let ready = timeout(PATIENCE, lines.next_line()).await??.context("it said nothing")?;
    let (_, base) = ready.split_once("listening on ").with_context(|| format!("no address: {ready}"))?;

    assert_eq!(Browser::new(Protocol::Http2).status(format!("{base}/healthz").parse()?).await?, 200);
    let pid = process.id().context("it has ended")?.to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().await?.success());
    assert!(timeout(PATIENCE, process.wait()).await??.success());
    assert_eq!(lines.next_line().await?.as_deref(), Some("demo-shop v2 v2-b: stopped"));
    Ok(())
}

#[tokio::test]
async fn a_bad_name_ends_the_process_before_it_listens() -> Result<()> {
    let output = shop(&["--listen", "127.0.0.1:0", "--version", "v 2", "--pod", "v2-b"]).output();
    let output = timeout(PATIENCE, output).await??;
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr)?.contains("version: expected"));
    Ok(())
}
