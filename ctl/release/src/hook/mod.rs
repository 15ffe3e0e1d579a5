//! Webhooks of a rollout, with Flagger's types and payload. Pure: who calls them gets what is to be sent, and says what came back.
//!
//! A response decides; none decides nothing. A gate that is closed and an endpoint that is away are waited for; what counts against the canary is a
//! response that says so.
//!
//! ```text
//! payload  what a hook is sent                              release, phase    -> HookPayload
//! alert_payload  what a hook is sent of an alert          AlertMessage      -> HookPayload
//! call     a call that is to be made, and what became of it  HookRequest       -> HookResult
//! state    responses in a row, as the record keeps them      HookResult        -> finding
//! ```

mod alert_payload;
mod call;
mod payload;
mod state;

pub use call::{HookError, HookRequest, HookResult};
pub(crate) use payload::checksum;
pub use payload::{CanaryPhase, HookPayload};
pub use state::{HookReport, HookState};
