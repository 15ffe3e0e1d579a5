//! East-west: the shop calls its catalog, and the sidecar of the shop's pod follows the edge's decision for the train.
//!
//! ```text
//! hops        the shop, the catalog behind it, a release of each in one train
//! mutual_tls  required by both of them
//! roles       the role that users get in both
//! forgery     forged carriers of clients and foreign pods
//! ```

mod forgery;
mod hops;
mod mutual_tls;
mod roles;
