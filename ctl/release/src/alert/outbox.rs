//! The alerts of a release that not all recipients have yet, as its record keeps them.
//!
//! A delivery is claimed by a write of the record and then sent, so of two drivers one sends. The claim is the backoff too: if no success is
//! recorded until it ends, the next driver sends the same alert under the same id. So a driver that dies in between, a receiver that does not
//! answer and a response that is lost are one case.

use super::Alert;
use crate::spec::{AlertReceiver, RolloutHook};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// The API server's name among the recipients.
const EVENTS: &str = "Kubernetes Events";
/// More alerts than this are not kept for a receiver that is down: a record is a ConfigMap.
const MAX_PENDING: usize = 32;
/// Of those that were given up, so many are kept.
const MAX_UNDELIVERED: usize = 10;
/// An alert is sent so often at most: over eight minutes.
const MAX_ATTEMPTS: u32 = 5;
/// After the first attempt; doubled after each further one. Longer than a request may take.
const FIRST_BACKOFF: SignedDuration = SignedDuration::from_secs(30);
/// No claim is longer: one that ends later is of a clock that was wrong.
const MAX_BACKOFF: SignedDuration = SignedDuration::from_secs(30 << MAX_ATTEMPTS);

/// The alerts that not all recipients have, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AlertOutbox {
    /// Those that are to be sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pending: Vec<PendingAlert>,
    /// The last ones that were given up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    undelivered: Vec<UndeliveredAlert>,
}

/// An alert, and who does not have it yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PendingAlert {
    /// The alert to send.
    pub alert: Alert,
    deliveries: Vec<Delivery>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Delivery {
    to: Recipient,
    #[serde(default)]
    attempts: u32,
    /// No driver sends it before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_at: Option<Timestamp>,
}

/// A recipient of an alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Recipient {
    /// The API server, as an Event of the record.
    Events,
    /// A receiver.
    Receiver(AlertReceiver),
    /// A webhook of a type that is notified of transitions.
    Hook(RolloutHook),
}

/// An alert that is to be sent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDelivery {
    /// What.
    pub alert: Alert,
    /// To whom.
    pub to: Recipient,
}

/// An alert that a recipient did not get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UndeliveredAlert {
    /// Its id.
    pub id: String,
    /// The name of the recipient.
    pub to: String,
    /// Why.
    pub reason: String,
}

impl Recipient {
    /// The name of the receiver. That of the API server is no label, so no receiver has it.
    pub fn name(&self) -> &str {
        match self {
            Self::Events => EVENTS,
            Self::Receiver(receiver) => &receiver.name,
            Self::Hook(hook) => &hook.name,
        }
    }
}

impl DueDelivery {
    /// The id of the alert and the name of the recipient.
    pub fn key(&self) -> (String, String) {
        (self.alert.id.clone(), self.to.name().to_owned())
    }
}

impl AlertOutbox {
    /// Whether there is nothing to say of it.
    pub const fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.undelivered.is_empty()
    }

    /// The alerts that are to be sent, the oldest first.
    pub fn pending(&self) -> &[PendingAlert] {
        &self.pending
    }

    /// The last alerts that were given up, the oldest first.
    pub fn undelivered(&self) -> &[UndeliveredAlert] {
        &self.undelivered
    }

    /// The alerts that are lost once the record is deleted: those given up, and those to be sent. Events are optional, so none of them.
    pub fn lost(&self) -> Vec<UndeliveredAlert> {
        let mut lost = self.undelivered.clone();
        for PendingAlert { alert, deliveries } in &self.pending {
            let recipients = deliveries.iter().filter(|delivery| delivery.to != Recipient::Events);
            lost.extend(recipients.map(|delivery| UndeliveredAlert {
                id: format!("{} ({})", alert.id, alert.kind.as_str()),
                to: delivery.to.name().to_owned(),
                reason: "the release was uninstalled before".to_owned(),
            }));
        }
        lost
    }

    /// Whether an alert is to be sent to a recipient of that name.
    pub fn has(&self, id: &str, to: &str) -> bool {
        let pending = self.pending.iter().find(|pending| pending.alert.id == id);
        pending.is_some_and(|pending| pending.deliveries.iter().any(|delivery| delivery.to.name() == to))
    }

    /// Adds an alert for the API server, for each receiver that wants one so severe, and for these hooks.
    pub(crate) fn push(&mut self, alert: Alert, receivers: &[AlertReceiver], hooks: &[RolloutHook]) {
        let severity = alert.kind.severity();
        let wants = |receiver: &&AlertReceiver| severity >= receiver.severity;
        let receivers = receivers.iter().filter(wants).cloned().map(Recipient::Receiver);
        let new = |to| Delivery { to, attempts: 0, retry_at: None };
        let hooks = hooks.iter().cloned().map(Recipient::Hook);
        let deliveries = std::iter::once(Recipient::Events).chain(receivers).chain(hooks).map(new).collect();
        self.pending.push(PendingAlert { alert, deliveries });
        while self.pending.len() > MAX_PENDING {
            let PendingAlert { alert, deliveries } = self.pending.remove(0);
            for delivery in deliveries {
                let reason = format!("{MAX_PENDING} later alerts were waiting for it");
                self.note_undelivered(&alert.id, delivery.to.name(), reason);
            }
        }
    }

    /// Claims what is to be sent now, for whoever writes the record with it; what was sent too often is given up. What `is_skipped` names is
    /// left alone: the caller is about to say what became of it, or cannot send it.
    ///
    /// Each recipient gets its alerts in their order. An alert that was tried before is claimed alone, so that those behind it lose no attempt.
    pub fn claim(
        &mut self,
        now: Timestamp,
        is_skipped: impl Fn(&str, &Recipient) -> bool,
    ) -> Vec<DueDelivery> {
        self.give_up_tired(now, &is_skipped);
        let mut waiting = BTreeSet::new();
        let mut due = Vec::new();
        for PendingAlert { alert, deliveries } in &mut self.pending {
            for delivery in deliveries {
                let name = delivery.to.name().to_owned();
                if waiting.contains(&name) {
                    continue;
                }
                let is_due = delivery.is_due(now) && !is_skipped(&alert.id, &delivery.to);
                if !is_due || delivery.attempts > 0 {
                    waiting.insert(name);
                }
                if is_due {
                    delivery.attempts += 1;
                    delivery.retry_at = now.checked_add(backoff(delivery.attempts)).ok();
                    due.push(DueDelivery { alert: alert.clone(), to: delivery.to.clone() });
                }
            }
        }
        due
    }

    /// Notes that a recipient has an alert. Whether it was new.
    pub fn confirm(&mut self, id: &str, to: &str) -> bool {
        let had = self.has(id, to);
        for pending in self.pending.iter_mut().filter(|pending| pending.alert.id == id) {
            pending.deliveries.retain(|delivery| delivery.to.name() != to);
        }
        self.pending.retain(|pending| !pending.deliveries.is_empty());
        had
    }

    /// Notes that a recipient will not get an alert. Whether it was new.
    pub fn give_up(&mut self, id: &str, to: &str, reason: &str) -> bool {
        let had = self.confirm(id, to);
        if had {
            self.note_undelivered(id, to, Alert::bounded(reason));
        }
        had
    }

    fn give_up_tired(&mut self, now: Timestamp, is_skipped: impl Fn(&str, &Recipient) -> bool) {
        let mut tired = Vec::new();
        for PendingAlert { alert, deliveries } in &self.pending {
            let is_tired = |delivery: &&Delivery| {
                delivery.attempts >= MAX_ATTEMPTS
                    && delivery.is_due(now)
                    && !is_skipped(&alert.id, &delivery.to)
            };
            let names = deliveries.iter().filter(is_tired).map(|delivery| delivery.to.name().to_owned());
            tired.extend(names.map(|name| (alert.id.clone(), name)));
        }
        for (id, to) in tired {
            self.give_up(&id, &to, &format!("it was sent {MAX_ATTEMPTS} times without success"));
        }
    }

    fn note_undelivered(&mut self, id: &str, to: &str, reason: String) {
        let surplus = (self.undelivered.len() + 1).saturating_sub(MAX_UNDELIVERED);
        self.undelivered.drain(..surplus);
        self.undelivered.push(UndeliveredAlert { id: id.to_owned(), to: to.to_owned(), reason });
    }
}

impl PendingAlert {
    /// The recipients that do not have it, and how often it was sent there.
    pub fn recipients(&self) -> impl Iterator<Item = (&Recipient, u32)> {
        self.deliveries.iter().map(|delivery| (&delivery.to, delivery.attempts))
    }
}

impl Delivery {
    fn is_due(&self, now: Timestamp) -> bool {
        self.retry_at.is_none_or(|at| at <= now || at.duration_since(now) > MAX_BACKOFF)
    }
}

fn backoff(attempts: u32) -> SignedDuration {
    let doubled = 1_i32.checked_shl(attempts.saturating_sub(1)).unwrap_or(i32::MAX);
    FIRST_BACKOFF.checked_mul(doubled).unwrap_or(MAX_BACKOFF).min(MAX_BACKOFF)
}

impl fmt::Display for UndeliveredAlert {
    /// `alert shopshopshop-1-3 did not reach ops: 404 Not Found`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, to, reason } = self;
        write!(f, "alert {id} did not reach {to}: {reason}")
    }
}

#[cfg(test)]
#[path = "outbox_tests.rs"]
mod tests;
