//! The shop as a process: one pod of one version, until SIGTERM or Ctrl-C.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Parser;
use demo_shop::process::{PodArgs, Process, listen};
use demo_shop::{CatalogAt, Propagate, ShopConfig};

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
    #[command(flatten)]
    pod: PodArgs,
    /// Name of the session cookie
    #[arg(long, default_value = "JSESSIONID", env = "SHOP_SESSION_COOKIE", value_name = "NAME")]
    session_cookie: String,
    /// The share of pages that fail with 500, in percent: a broken version
    #[arg(long, default_value = "0", env = "SHOP_FAIL_PERCENT", value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(..=100))]
    fail_percent: u8,
    /// The share of pages that are never answered, in percent
    #[arg(long, default_value = "0", env = "SHOP_HANG_PERCENT", value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(..=100))]
    hang_percent: u8,
    /// The share of pages that are answered half a second later, in percent
    #[arg(long, default_value = "0", env = "SHOP_SLOW_PERCENT", value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(..=100))]
    slow_percent: u8,
    /// The share of pages whose session is forgotten, in percent: the client gets a new one, and its cart is gone
    #[arg(long, default_value = "0", env = "SHOP_FORGET_PERCENT", value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(..=100))]
    forget_percent: u8,
    /// The user whose pages all fail with 500, once logged in by this name
    #[arg(long, env = "SHOP_FAIL_USER", value_name = "NAME")]
    fail_user: Option<String>,
    /// The share of pages for clients without a session that fail with 500, in percent: a slow login, a cold cache
    #[arg(long, default_value = "0", env = "SHOP_FAIL_NEW_PERCENT", value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(..=100))]
    fail_new_percent: u8,
    /// Pages fail, hang and are slow by chance, instead of spread evenly over all
    #[arg(long, env = "SHOP_RANDOM_FAULTS")]
    random_faults: bool,
    /// Seconds after which a session ends; without them it lives as long as the process
    #[arg(long, env = "SHOP_SESSION_SECONDS", value_name = "SECONDS")]
    session_seconds: Option<u64>,
    /// Pages open a session in the place of an unknown one, as those of most frameworks do
    #[arg(long, env = "SHOP_REOPEN_SESSIONS")]
    reopen_sessions: bool,
    /// For so many of each thirty seconds pages have to wait: a pod that collects garbage
    #[arg(long, default_value_t = 0, env = "SHOP_PAUSE_SECONDS", value_name = "SECONDS")]
    pause_seconds: u64,
    /// Catalog to ask, http://HOST:PORT; without it none is asked
    #[arg(long, env = "SHOP_CATALOG", value_name = "URL")]
    catalog: Option<String>,
    /// Connect to this address instead of where the catalog's name leads; the name is still asked for
    #[arg(long, env = "SHOP_CATALOG_ADDRESS", value_name = "ADDRESS", requires = "catalog")]
    catalog_address: Option<SocketAddr>,
    /// The home page does without a catalog that does not answer, instead of failing
    #[arg(long, env = "SHOP_CATALOG_OPTIONAL", requires = "catalog")]
    catalog_optional: bool,
    /// What is passed on from a request to the catalog
    #[arg(long, default_value = "headers", env = "SHOP_PROPAGATE", value_name = "WHAT")]
    propagate: Propagate,
}

impl Args {
    fn config(&self) -> anyhow::Result<ShopConfig> {
        let config = ShopConfig::from(self.pod.config()?).with_session_cookie(&self.session_cookie)?;
        let config = config.with_fail_percent(self.fail_percent).with_hang_percent(self.hang_percent);
        let config = config.with_slow_percent(self.slow_percent).with_forget_percent(self.forget_percent);
        let config =
            config.with_fail_new_percent(self.fail_new_percent).with_random_faults(self.random_faults);
        let config = config
            .with_session_life(self.session_seconds.map(Duration::from_secs))
            .with_reopened_sessions(self.reopen_sessions)
            .with_pause(Duration::from_secs(self.pause_seconds));
        let config = match &self.fail_user {
            Some(user) => config.with_fail_user(user),
            None => config,
        };
        let Some(url) = &self.catalog else { return Ok(config) };
        let mut catalog = CatalogAt::new(url)?.with_propagate(self.propagate);
        if let Some(address) = self.catalog_address {
            catalog = catalog.with_address(address);
        }
        Ok(config.with_catalog(catalog).with_optional_catalog(self.catalog_optional))
    }
}

/// One thread: several pods share a machine, and one shop is never the bottleneck.
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let config = args.config()?;
    let mut process = Process::new("demo-shop", config.pod_config())?;
    let shop = demo_shop::serve(listen(args.listen).await?, config)?;
    process.until_told(shop.local_addr()).await;
    process.ended(shop.stop().await);
    Ok(())
}
