//! The catalog as a process: one pod of one version, until SIGTERM or Ctrl-C.

use std::net::SocketAddr;

use clap::Parser;
use demo_shop::process::{PodArgs, Process, listen};

/// The service behind the demo shop. It says who it is and which of a decision's headers reached it, over HTTP and
/// gRPC.
#[derive(Debug, Parser)]
#[command(
    disable_version_flag = true,
    after_help = "Example: demo-catalog --listen 127.0.0.1:9101 --version v1 --pod catalog-v1-a"
)]
struct Args {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:9101", env = "SHOP_LISTEN", value_name = "ADDRESS")]
    listen: SocketAddr,
    #[command(flatten)]
    pod: PodArgs,
    /// The share of responses over HTTP that fail with 500, in percent: a broken version
    #[arg(long, default_value = "0", env = "SHOP_FAIL_PERCENT", value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(..=100))]
    fail_percent: u8,
}

/// One thread: several pods share a machine.
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let config = args.pod.config()?;
    let mut process = Process::new("demo-catalog", &config)?;
    let catalog = demo_shop::serve_failing_catalog(listen(args.listen).await?, config, args.fail_percent)?;
    process.until_told(catalog.local_addr()).await;
    process.ended(catalog.stop().await);
    Ok(())
}
