//! The shop as a process: one pod of one version, until SIGTERM or Ctrl-C.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use demo_shop::{ShopConfig, Stopped};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// A small stateful shop. Sessions and carts live in this process's memory, so a request that reaches another
/// version or pod finds its cart gone.
#[derive(Debug, Parser)]
#[command(
    disable_version_flag = true,
    after_help = "Example: demo-shop --listen 127.0.0.1:9001 --version v1 --pod v1-a"
)]
struct Args {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:9001", env = "SHOP_LISTEN", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Version this pod is of, in `x-shop-version`
    #[arg(long = "version", env = "SHOP_VERSION", value_name = "NAME")]
    name: String,
    /// Name of this pod, in `x-shop-pod`
    #[arg(long, env = "SHOP_POD", value_name = "NAME")]
    pod: String,
    /// Name of the session cookie
    #[arg(long, default_value = "JSESSIONID", env = "SHOP_SESSION_COOKIE", value_name = "NAME")]
    session_cookie: String,
    /// Seconds that requests in flight have to finish after SIGTERM
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    grace: u64,
}

/// One thread: several pods share a machine, and one shop is never the bottleneck.
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let config = ShopConfig::new(&args.name, &args.pod)?
        .with_session_cookie(&args.session_cookie)?
        .with_grace(Duration::from_secs(args.grace));

    // Before the address is printed: whoever reads it may send a signal at once.
    let mut terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("listen for Ctrl-C")?;
    let listener =
        TcpListener::bind(args.listen).await.with_context(|| format!("listen on {}", args.listen))?;
    let names = format!("demo-shop {} {}", config.version(), config.pod());
    let shop = demo_shop::serve(listener, config)?;
    say(&format!("{names}: listening on http://{}", shop.local_addr()));

    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    match shop.stop().await {
        Stopped::Clean => say(&format!("{names}: stopped")),
        Stopped::Cut => say(&format!("{names}: stopped, requests were still in flight")),
    }
    Ok(())
}

/// One line to stderr; a closed stderr is no reason to stop selling.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
