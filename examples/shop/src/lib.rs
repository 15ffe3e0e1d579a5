//! A small stateful shop, one pod of one version per [`serve`]: what a sticky canary must not break.
//!
//! Sessions and carts live in this process's memory and nowhere else. A request that reaches another version or another
//! pod than the one before has an unknown session and an empty cart, and the response reports it (`"lost": true`,
//! header `x-shop-session: lost`). The README lists the endpoints.
//!
//! It can have a catalog behind it ([`serve_catalog`]), which returns the decision headers that reach a second service.
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

mod catalog;
mod config;
mod cookie;
mod grpc;
mod hop;
mod http;
mod life;
mod pod;
pub mod process;
pub mod proto;
mod refusal;
mod response;
mod routes;
mod serve;
mod session;
mod shop;
mod visit;
mod ws;

pub use catalog::{serve_catalog, serve_failing_catalog};
pub use config::ShopConfig;
pub use hop::{CatalogAt, CatalogAtError, Propagate};
pub use life::Stopped;
pub use pod::{ConfigError, PodConfig};
pub use serve::RunningPod;
pub use session::Session;
pub use shop::{Inspector, RunningShop, Stats, serve};
