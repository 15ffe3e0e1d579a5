//! The shop in the lab's mesh: in a namespace behind a gateway of its own, with releases for it.
//!
//! ```text
//! shop_env  the shop and a gateway, for one test
//! catalog   a second service, which the shop calls
//! shoppers  users of the shop who come until they are stopped, and what they met
//! ```

mod catalog;
mod shop_env;
mod shoppers;

pub use shop_env::{ShopEnv, ShopEnvOptions};
pub use shoppers::{ShopperReport, Shoppers};
