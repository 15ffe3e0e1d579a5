//! Alerts of a rollout: one for each transition, with the numbers of both versions. Pure: who sends them gets what is to be sent, and says
//! what became of it.
//!
//! An alert is written into the record together with the transition that it tells, so neither is without the other; then it is sent. Before a
//! request is sent the record says that it will be, so of two drivers one sends. A driver that is killed in between leaves the alert in the record,
//! and the next one sends it under the same id: at least once, and a receiver that knows the id sees it once.
//!
//! ```text
//! kind              transitions of a rollout, and its results          AlertKind, RolloutResult
//! counts            what was counted of both versions                  Evidence     -> KindCounts
//! message           what an alert says                                 Alert
//! outbox            the alerts that not everybody has yet              AlertOutbox  -> DueDelivery
//! payload           an alert in the format of a receiver, a file each  AlertMessage -> Payload
//! kubernetes_event  an alert as an Event of the record's ConfigMap     AlertMessage -> JSON
//! ```

mod counts;
mod kind;
mod kubernetes_event;
mod message;
mod outbox;
mod payload;

pub use counts::{KindCounts, VersionCount};
pub use kind::{AlertKind, RolloutResult};
pub use kubernetes_event::kubernetes_event;
pub use message::{Alert, AlertMessage, AlertStep};
pub use outbox::{AlertOutbox, DueDelivery, PendingAlert, Recipient, UndeliveredAlert};
pub use payload::Payload;
