//! A small stateful shop, one pod of one version per [`serve`]: what a sticky canary must not break.
//!
//! Sessions and carts live in this process's memory and nowhere else. A request that reaches another
//! version or another pod than the one before finds its session unknown and its cart gone, and says so
//! (`"lost": true`, header `x-shop-session: lost`). The README lists the endpoints.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! let shop = demo_shop::serve(listener, demo_shop::ShopConfig::new("v1", "v1-a")?)?;
//! let inspector = shop.inspector();
//! // … send requests to shop.local_addr() …
//! assert_eq!(inspector.stats().lost, 0);
//! shop.stop().await;
//! # Ok(()) }
//! ```

mod answer;
mod config;
mod cookie;
mod http;
mod refusal;
mod routes;
mod serve;
mod session;
mod shop;
mod visit;
mod ws;

pub use config::{ConfigError, ShopConfig};
pub use serve::{RunningShop, Stopped, serve};
pub use session::Session;
pub use shop::{Inspector, Stats};
