//! What the studies of rollouts share: what is wrong with a version, and a rollout of it by `canary-ctl`.
//!
//! ```text
//! scenario  what is wrong with a version, and how its rollout has to end
//! release   the shop and a release of it, rolled out by canary-ctl      Scenario + RolloutPlan -> RolloutEnd
//! ```

mod release;
mod scenario;

pub use release::{Error, RolloutEnd, RolloutPlan, ShopRelease};
pub use scenario::{Addition, FAILING_USER, Scenario};
