//! The shop in the lab's mesh: in a namespace behind a gateway of its own, with releases for it.
//!
//! ```text
//! shop_env        the shop and a gateway, for one test
//! catalog         a second service, which the shop calls
//! shoppers        users of the shop who come until they are stopped, and what they met
//! paced_shoppers  the same, each of whom stays for a while
//! peer            the controllers of Flagger and Argo Rollouts
//! temporary       namespaces that end with their test
//! ```

mod catalog;
mod paced_shoppers;
mod peer;
mod shop_env;
mod shoppers;
mod temporary;

pub use paced_shoppers::{Pace, PacedReport, PacedShoppers};
pub use peer::PeerController;
pub use shop_env::{ShopEnv, ShopEnvOptions};
pub use shoppers::{ShopperReport, Shoppers};
pub use temporary::{delete_namespaces, ends_with_the_test};
