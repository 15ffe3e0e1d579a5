//! A running world to test in: one real Envoy steered by `canary-ctl`'s own local target, and a stateful shop behind it.
//!
//! ```text
//! pods      two versions of the shop, two processes each
//! document  a canary.yaml, as a user would write it
//! world     Envoy on the files that canary-ctl makes of it; weights, edits, broken configurations
//! crowd     users who keep asking while something changes
//! calm      Envoy's statistics that must not move: drains, listener updates, errors
//! forge     signed texts, genuine and not
//! attempts  all that a client can try
//! sessions  users with carts who may not be moved
//! ```

mod attempts;
mod calm;
mod crowd;
mod document;
mod error;
mod forge;
mod pods;
mod sessions;
mod world;

pub use attempts::{Attempts, received};
pub use calm::Calm;
pub use crowd::Crowd;
pub use document::Document;
pub use error::ScenarioError;
pub use forge::{Forge, now_seconds};
pub use pods::Pods;
pub use sessions::{Faults, Moving, Sessions};
pub use world::{BeginsWith, HOST, Story, World};
