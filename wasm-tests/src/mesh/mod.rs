//! The shop in the lab's mesh: in a namespace behind a gateway of its own, with releases for it.
//!
//! ```text
//! shop_env  the shop and a gateway, for one test
//! catalog   a second service, which the shop calls
//! ```

mod catalog;
mod shop_env;

pub use shop_env::{ShopEnv, ShopEnvOptions};
