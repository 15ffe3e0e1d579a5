//! East-west: the shop calls its catalog, and the sidecar of the shop's pod follows the edge's decision for the train.
//!
//! ```text
//! hops        the shop, the catalog behind it, a release of each in one train
//! mutual_tls  the only way into either of them
//! roles       who sees which role in both
//! forgery     what clients and foreign pods write into the carriers
//! ```

mod forgery;
mod hops;
mod mutual_tls;
mod roles;
