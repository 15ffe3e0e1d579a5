//! Sends the alerts of a rollout. What is to be sent stands in the record, and so does who sends it; requests are made beside the rollout, which
//! waits for none of them.

use super::hooks::HookCaller;
use super::send_error::{FailedDelivery, SendError};
use crate::client::ApiRequest;
use crate::observe::secret_reader::SecretReader;
use crate::{Cluster, Error, StoredRecord};
use canary_release::alert::{AlertMessage, AlertOutbox, DueDelivery, Payload, Recipient, kubernetes_event};
use canary_release::hook::{HookError, HookPayload};
use canary_release::spec::{AlertReceiver, ReceiverEndpoint, ReleaseName, SecretSource, SecretUrl};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use k8s_openapi::api::events::v1::Event;
use kube::api::PostParams;
use kube::{Api, Client};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::task::JoinSet;

/// Sends requests to receivers. This library has no HTTP client for them; a driver without a sender leaves their alerts in the record.
pub trait AlertSender: Send + Sync {
    /// The endpoint of the receiver of that name, by the driver's file; `None` if the file does not have it, and then it is sent nothing. A record
    /// has names alone: who may write one chooses neither to whom a driver posts nor which secrets it reads.
    fn endpoint(&self, receiver: &str) -> Option<&ReceiverEndpoint>;

    /// The URL of a receiver, unless it is in a Secret.
    ///
    /// # Errors
    ///
    /// If there is none at that place.
    fn url(&self, endpoint: &ReceiverEndpoint) -> Result<SecretUrl, SendError>;

    /// Sends a payload, and waits for the response for a bounded time. `id` is the same however often it is sent.
    ///
    /// The future fails if no response says that it was accepted.
    fn send<'a>(
        &'a self,
        url: &'a SecretUrl,
        payload: &'a Payload,
        id: &'a str,
    ) -> BoxFuture<'a, Result<(), SendError>>;
}

/// The id of an alert, and the name of a recipient.
type DeliveryKey = (String, String);

/// The requests in flight, and what became of earlier ones.
pub(super) struct AlertDispatcher {
    client: Client,
    release: ReleaseName,
    sender: Option<Arc<dyn AlertSender>>,
    hooks: Option<Arc<dyn HookCaller>>,
    tasks: JoinSet<()>,
    in_flight: BTreeSet<DeliveryKey>,
    results: tokio::sync::mpsc::UnboundedReceiver<DeliveryResult>,
    report: tokio::sync::mpsc::UnboundedSender<DeliveryResult>,
    /// Results that the record does not have yet.
    unrecorded: BTreeMap<DeliveryKey, Result<(), SendError>>,
    /// Failures that the caller does not know yet.
    failures: Vec<FailedDelivery>,
    /// Whether the caller knows that there are no Events.
    has_told_no_events: bool,
}

/// The result of a delivery; `None` if the one before it failed, and it was not sent.
type DeliveryResult = (DeliveryKey, Option<Result<(), SendError>>);

impl AlertDispatcher {
    pub(super) fn new(client: Client, release: ReleaseName) -> Self {
        let (report, results) = tokio::sync::mpsc::unbounded_channel();
        Self {
            client,
            release,
            sender: None,
            hooks: None,
            tasks: JoinSet::new(),
            in_flight: BTreeSet::new(),
            results,
            report,
            unrecorded: BTreeMap::new(),
            failures: Vec::new(),
            has_told_no_events: false,
        }
    }

    pub(super) fn set_sender(&mut self, sender: Arc<dyn AlertSender>) {
        self.sender = Some(sender);
    }

    pub(super) fn set_hooks(&mut self, hooks: Arc<dyn HookCaller>) {
        self.hooks = Some(hooks);
    }

    /// Writes what became of deliveries into an outbox that was just read. Whether it changed.
    pub(super) fn record_results(&mut self, outbox: &mut AlertOutbox) -> bool {
        while let Ok(result) = self.results.try_recv() {
            self.take(result);
        }
        // What the record says already needs no further write.
        self.unrecorded.retain(|(id, to), _| outbox.has(id, to));
        let mut has_changed = false;
        for ((id, to), result) in &self.unrecorded {
            has_changed |= match result {
                Ok(()) => outbox.confirm(id, to),
                Err(error) => outbox.give_up(id, to, &error.reason),
            };
        }
        has_changed
    }

    /// Claims what is to be sent now, for the write of the record that follows; what is for receivers that the driver's file does not have is given
    /// up with it.
    pub(super) fn claim(&mut self, outbox: &mut AlertOutbox, now: Timestamp) -> Vec<DueDelivery> {
        self.give_up_unknown(outbox);
        let is_skipped = |id: &str, to: &Recipient| {
            let key = (id.to_owned(), to.name().to_owned());
            let has_no_sender = match to {
                Recipient::Events => false,
                Recipient::Receiver(_) => self.sender.is_none(),
                Recipient::Hook(_) => self.hooks.is_none(),
            };
            has_no_sender || self.in_flight.contains(&key) || self.unrecorded.contains_key(&key)
        };
        outbox.claim(now, is_skipped)
    }

    fn give_up_unknown(&mut self, outbox: &mut AlertOutbox) {
        let Some(sender) = &self.sender else { return };
        let unknown = |to: &Recipient| match to {
            Recipient::Receiver(receiver) if sender.endpoint(&receiver.name).is_none() => {
                Some(not_in_file(receiver))
            }
            _ => None,
        };
        let mut given_up = Vec::new();
        for pending in outbox.pending() {
            let unknown =
                pending.recipients().filter_map(|(to, _)| Some((to.name().to_owned(), unknown(to)?)));
            given_up.extend(unknown.map(|(to, error)| ((pending.alert.id.clone(), to), error)));
        }
        for (key, error) in given_up {
            let (id, to) = key.clone();
            outbox.give_up(&id, &to, &error.reason);
            // Told once, also where the write is repeated.
            if self.unrecorded.insert(key, Err(error.clone())).is_none() {
                self.failures.push(FailedDelivery { id, to, error });
            }
        }
    }

    /// Sends what was claimed and recorded: to each recipient one after the other, until one fails.
    pub(super) fn send(&mut self, due: Vec<DueDelivery>, stored: &StoredRecord) {
        let mut by_recipient: BTreeMap<String, Vec<DueDelivery>> = BTreeMap::new();
        for delivery in due {
            self.in_flight.insert(delivery.key());
            by_recipient.entry(delivery.to.name().to_owned()).or_default().push(delivery);
        }
        for deliveries in by_recipient.into_values() {
            let context = DeliveryContext {
                client: self.client.clone(),
                release: self.release.clone(),
                sender: self.sender.clone(),
                hooks: self.hooks.clone(),
                record_uid: stored.uid().map(str::to_owned),
            };
            let report = self.report.clone();
            self.tasks.spawn(async move {
                let mut has_failed = false;
                for delivery in deliveries {
                    let result = if has_failed { None } else { Some(context.deliver(&delivery).await) };
                    has_failed |= !matches!(result, Some(Ok(())));
                    // The channel is closed where the driver has ended.
                    let _closed = report.send((delivery.key(), result));
                }
            });
        }
    }

    /// Waits until no request is in flight.
    pub(super) async fn settle(&mut self) {
        while self.tasks.join_next().await.is_some() {}
        while let Ok(result) = self.results.try_recv() {
            self.take(result);
        }
        // Those of a task that has panicked.
        self.in_flight.clear();
    }

    /// The deliveries that failed since the last call.
    pub(super) fn failures(&mut self) -> Vec<FailedDelivery> {
        std::mem::take(&mut self.failures)
    }

    fn take(&mut self, (key, result): DeliveryResult) {
        while self.tasks.try_join_next().is_some() {}
        self.in_flight.remove(&key);
        let Some(mut result) = result else { return };
        if let Err(error) = result.clone() {
            // Events are optional: a driver that may not write any says so once.
            let is_no_event = error.is_final && key.1 == Recipient::Events.name();
            if !is_no_event || !std::mem::replace(&mut self.has_told_no_events, true) {
                let (id, to) = key.clone();
                self.failures.push(FailedDelivery { id, to, error });
            }
            if is_no_event {
                result = Ok(());
            }
        }
        // One that may be accepted later stays in the record, and is claimed again after its backoff.
        if result.as_ref().err().is_none_or(|error| error.is_final) {
            self.unrecorded.insert(key, result);
        }
    }
}

/// The inputs of a delivery.
struct DeliveryContext {
    client: Client,
    release: ReleaseName,
    sender: Option<Arc<dyn AlertSender>>,
    hooks: Option<Arc<dyn HookCaller>>,
    record_uid: Option<String>,
}

impl DeliveryContext {
    async fn deliver(&self, DueDelivery { alert, to }: &DueDelivery) -> Result<(), SendError> {
        let message = AlertMessage { release: &self.release, alert };
        match to {
            Recipient::Events => self.create_event(message).await,
            Recipient::Receiver(receiver) => {
                let sender = self.sender.as_deref().ok_or_else(|| SendError::later("no sender of alerts"))?;
                let endpoint = sender.endpoint(&receiver.name).ok_or_else(|| not_in_file(receiver))?;
                let url = receiver_url(&self.client, &self.release, endpoint, sender).await?;
                sender.send(&url, &message.payload(endpoint.format), &alert.id).await
            }
            Recipient::Hook(hook) => {
                let hooks = self.hooks.as_deref().ok_or_else(|| SendError::later("no caller of hooks"))?;
                let called =
                    hooks.call(hook, HookPayload::of_alert(message, hook.kind), Some(&alert.id)).await;
                called.map_err(|HookError { reason, is_final, .. }| SendError { reason, is_final })
            }
        }
    }

    async fn create_event(&self, message: AlertMessage<'_>) -> Result<(), SendError> {
        let event = kubernetes_event(message, self.record_uid.as_deref());
        let event: Event =
            serde_json::from_value(event).map_err(|error| SendError::last(error.to_string()))?;
        let name = event.metadata.name.clone().unwrap_or_default();
        let namespace = self.release.namespace.as_str();
        let api: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let request =
            ApiRequest { verb: "create", resource: "events", group: "events.k8s.io", namespace, name: &name };
        match api.create(&PostParams::default(), &event).await.map_err(|error| request.error(error)) {
            // It is there already: the name follows from the id.
            Ok(_) | Err(Error::Stale { .. }) => Ok(()),
            Err(error) => Err(SendError::from(error)),
        }
    }
}

impl Cluster {
    /// The URL of a receiver, wherever it stands.
    ///
    /// # Errors
    ///
    /// If there is none at that place, or the Secret may not be read.
    pub async fn receiver_url(
        &self,
        release: &ReleaseName,
        endpoint: &ReceiverEndpoint,
        sender: &dyn AlertSender,
    ) -> Result<SecretUrl, SendError> {
        receiver_url(&self.client.client, release, endpoint, sender).await
    }
}

/// A further attempt of the same driver finds none either.
fn not_in_file(AlertReceiver { name, .. }: &AlertReceiver) -> SendError {
    SendError::last(format!("expected receiver `{name}` in the driver's file, found none"))
}

async fn receiver_url(
    client: &Client,
    release: &ReleaseName,
    endpoint: &ReceiverEndpoint,
    sender: &dyn AlertSender,
) -> Result<SecretUrl, SendError> {
    let SecretSource::Secret { name, key } = &endpoint.url_from else { return sender.url(endpoint) };
    let secrets = SecretReader::new(client.clone(), release.namespace.as_str());
    let missing = || {
        let namespace = secrets.namespace();
        SendError::last(format!("expected {} in namespace `{namespace}`, found none", endpoint.url_from))
    };
    let text = secrets.read(name, key).await?.ok_or_else(missing)?;
    text.parse::<SecretUrl>().map_err(|error| SendError::last(format!("{}: {error}", endpoint.url_from)))
}
