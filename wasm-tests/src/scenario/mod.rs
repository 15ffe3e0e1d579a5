//! The environment of a test: one real Envoy configured by `canary-ctl`'s own local target, and a stateful shop behind
//! it.
//!
//! ```text
//! pods              two versions of the shop, two processes each
//! document          a canary.yaml, as a user would write it
//! envoy_fixture     Envoy with the files that canary-ctl writes; weights, edits, broken configurations
//! crowd             users who send requests during a change
//! disruption_check  Envoy's statistics that must not change: drains, listener updates, errors
//! signer            genuine pins, ids and tokens
//! attempts          what `canary-ctl verify` forges, and more, as the requests of a client
//! sessions          users with carts who must not be moved
//! ```

mod attempts;
mod crowd;
mod disruption_check;
mod document;
mod envoy_fixture;
mod error;
mod pods;
mod sessions;
mod signer;

pub use attempts::{Attempts, received};
pub use crowd::Crowd;
pub use disruption_check::DisruptionCheck;
pub use document::Document;
pub use envoy_fixture::{EnvoyFixture, EnvoySetup, HOST, InitialConfig};
pub use error::ScenarioError;
pub use pods::Pods;
pub use sessions::{Faults, LoadHandle, Sessions};
pub use signer::{Signer, now_seconds};
