//! The local target: one Envoy on this machine, steered by files.
//!
//! ```text
//! layout       which files there are            directory              -> paths
//! state        what every release is now        state.json            <-> State
//! bootstrap    envoy.yaml                       options                -> text
//! clusters     cds.yaml                         State                  -> text
//! routes       rds.yaml                         State                  -> text
//! ecds         ecds.yaml                        FilterConfig           -> text
//! keys         the signing keys              SigningKeys                -> file
//! apply        writes them, in an order in which every state between is safe
//! admin, stats statistics of the running Envoy
//! wait         until it runs what was written
//! environment  all of it as a library: tests use it without a command line
//! ```

mod admin;
mod apply;
mod bootstrap;
mod clusters;
mod ecds;
mod environment;
mod error;
mod files;
mod keys;
mod layout;
mod lock;
mod prototype;
mod routes;
mod state;
mod stats;
mod wait;

pub use admin::Admin;
pub use apply::{Applied, Plan, apply};
pub use bootstrap::{Bootstrap, Filter, bootstrap};
pub use ecds::{EMPTY_ECDS, RESOURCE_NAME, ecds};
pub use environment::Environment;
pub use error::Error;
pub use files::{Readers, replace, replace_for};
pub use keys::{read_own_keys, write_keys};
pub use layout::Layout;
pub use lock::Lock;
pub use state::{Entry, State, Upstream};
pub use stats::Stats;
pub use wait::{Arrival, wait_for_generation};
