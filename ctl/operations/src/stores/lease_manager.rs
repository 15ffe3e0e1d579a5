//! One operator at a time: a Lease for each release that is being changed, and for each object that releases share.
//!
//! An existing Lease is held; it is deleted when it is released. It is created and deleted, never emptied, so that two
//! holders never have the same object. Its holder renews it. A Lease that is not renewed for its `leaseDurationSeconds`
//! belongs to an ended process and is taken over. Each process measures that time with its own clock.

use crate::Error;
use crate::client::ApiRequest;
use crate::client::backoff::backoff;
use canary_release::object::{FIELD_MANAGER, Reference};
use canary_release::spec::ReleaseName;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::{DeleteParams, PostParams, Preconditions};
use kube::{Api, Client};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

/// Grace period in which an interrupted process releases its Leases.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

/// The longest wait for other operations of the same process: those of hundreds of releases behind one gateway.
const QUEUED: Duration = Duration::from_mins(10);

/// The validity of a Lease, and the wait of a process for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTiming {
    /// A Lease that was not renewed for this time is taken over. Whole seconds.
    pub lease: Duration,
    /// The longest wait for a Lease. Longer than `lease`; otherwise the wait ends before the Lease of an ended process
    /// can be taken over.
    pub wait: Duration,
}

impl Default for LeaseTiming {
    fn default() -> Self {
        Self { lease: Duration::from_secs(15), wait: Duration::from_secs(20) }
    }
}

/// Namespace and name of a Lease.
pub(crate) type NamespacedName = (String, String);

/// The operation under a Lease, for the messages of processes that wait for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    pub(crate) verb: &'static str,
    pub(crate) release: &'a ReleaseName,
}

impl Task<'_> {
    /// The Lease of the release itself.
    pub(crate) fn place(self) -> NamespacedName {
        (self.release.namespace.to_string(), format!("{}-canary", self.release.name))
    }
}

impl fmt::Display for Task<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.release)
    }
}

/// Leases that this process holds.
struct Held {
    leases: Vec<(Api<Lease>, Lease)>,
    every: Duration,
}

/// Hears that this process begins to wait for a Lease: an [`Error::Held`] that names its holder.
pub type LeaseWaitObserver = Arc<dyn Fn(&Error) + Send + Sync>;

/// Takes and gives back the Leases of one process.
pub(crate) struct LeaseManager {
    client: Client,
    user: String,
    timing: LeaseTiming,
    waits: Option<LeaseWaitObserver>,
    /// The operations of this process that need the same Lease, in the order in which they came: without requests, and none is starved.
    queues: Mutex<BTreeMap<NamespacedName, Arc<Queue>>>,
}

/// Its holder may take the Lease.
type Queue = tokio::sync::Mutex<()>;

impl LeaseManager {
    pub(crate) fn new(client: Client, user: String, timing: LeaseTiming) -> Self {
        Self { client, user, timing, waits: None, queues: Mutex::default() }
    }

    pub(crate) fn set_wait_observer(&mut self, waits: LeaseWaitObserver) {
        self.waits = Some(waits);
    }

    /// Runs `work` while no other process holds one of the same Leases. They are released however it ends, a dropped
    /// future (Ctrl-C) included.
    ///
    /// Fails if another process holds one for longer than [`LeaseTiming::wait`], or if one is lost meanwhile.
    pub(crate) async fn with_leases<T>(
        &self,
        mut places: Vec<NamespacedName>,
        task: impl fmt::Display,
        work: impl AsyncFnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        // All processes take Leases in the same order, so that no two wait for each other.
        places.sort();
        places.dedup();
        let holder = self.holder(&task);
        let mut turns = Vec::new();
        for place in &places {
            turns.push(self.turn(place, &holder).await?);
        }
        let mut held = Held { leases: Vec::new(), every: self.timing.lease / 3 };
        for (namespace, name) in places {
            let api: Api<Lease> = Api::namespaced(self.client.clone(), &namespace);
            match self.take(&api, (&namespace, &name), &holder).await {
                // Only a namespace that was deleted answers so, and no process can hold a Lease in it.
                Err(Error::Refused { code: 404, .. }) => {}
                taken => held.leases.push((api, taken?)),
            }
        }
        let done = tokio::select! {
            done = work() => done,
            lost = held.lost() => Err(lost),
        };
        for (api, lease) in std::mem::take(&mut held.leases) {
            give_back(&api, &lease).await?;
        }
        done
    }

    /// Waits for the operations of this process that came before.
    async fn turn(&self, place: &NamespacedName, holder: &str) -> Result<OwnedMutexGuard<()>, Error> {
        let queue = {
            let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
            queues.retain(|_, queue| Arc::strong_count(queue) > 1);
            Arc::clone(queues.entry(place.clone()).or_default())
        };
        let limit = QUEUED.max(self.timing.wait);
        tokio::time::timeout(limit, queue.lock_owned()).await.map_err(|_| {
            let (namespace, name) = place;
            Error::Held { lease: format!("{namespace}/{name}"), holder: holder.to_owned(), since: None }
        })
    }

    /// Refuses a namespace that does not exist: [`with_leases`](Self::with_leases) takes a missing one for deleted, and works without its Lease.
    pub(crate) async fn check_namespace(&self, (namespace, _): &NamespacedName) -> Result<(), Error> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        match namespaces.get_opt(namespace).await {
            Ok(None) => {
                let object = Reference::new("v1", "Namespace", namespace, "");
                Err(Error::Missing { object })
            }
            // Who may not read it hears of it by the Lease.
            _ => Ok(()),
        }
    }

    async fn take(
        &self,
        api: &Api<Lease>,
        (namespace, name): (&str, &str),
        holder: &str,
    ) -> Result<Lease, Error> {
        let how = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let begun = Instant::now();
        let mut watched: Option<(Option<String>, Instant)> = None;
        let mut announced = None;
        let mut attempt = 0;
        loop {
            let made = api.create(&how, &self.lease(name, holder)).await;
            match made.map_err(|error| tried("create", namespace, name).error(error)) {
                Err(Error::Stale { .. }) => {}
                done => return done,
            }
            let found = api.get_opt(name).await;
            let found = found.map_err(|error| tried("get", namespace, name).error(error))?;
            let Some(theirs) = found else { continue };
            let said = theirs.spec.clone().unwrap_or_default();
            if said.holder_identity.as_deref() == Some(holder) {
                // Created by an earlier request of this process, whose response was lost.
                return Ok(theirs);
            }
            let version = theirs.metadata.resource_version.clone();
            let since = watched.filter(|(seen, _)| *seen == version).map_or_else(Instant::now, |(_, at)| at);
            watched = Some((version.clone(), since));
            if since.elapsed() >= lasts(&said) {
                remove(api, &theirs, version)
                    .await
                    .map_err(|error| tried("delete", namespace, name).error(error))?;
                continue;
            }
            let held = held((namespace, name), &said);
            if begun.elapsed() >= self.timing.wait {
                return Err(held);
            }
            if announced != said.holder_identity {
                self.waits.iter().for_each(|waits| waits(&held));
                announced = said.holder_identity;
            }
            tokio::time::sleep(backoff(attempt)).await;
            attempt += 1;
        }
    }

    /// The holder identity: the user and the operation, for messages, and a nonce that distinguishes two processes of
    /// one user.
    fn holder(&self, task: &impl fmt::Display) -> String {
        let mut nonce = [0; 4];
        // Without randomness two processes of one user have the same identity; concurrent writes of the record still
        // conflict.
        getrandom::fill(&mut nonce).ok();
        format!("{}: {task} #{:08x}", self.user, u32::from_be_bytes(nonce))
    }

    fn lease(&self, name: &str, holder: &str) -> Lease {
        let now = MicroTime(jiff::Timestamp::now());
        let labels = BTreeMap::from([("app.kubernetes.io/managed-by".to_owned(), FIELD_MANAGER.to_owned())]);
        let metadata =
            ObjectMeta { name: Some(name.to_owned()), labels: Some(labels), ..ObjectMeta::default() };
        let spec = LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            acquire_time: Some(now.clone()),
            renew_time: Some(now),
            lease_duration_seconds: i32::try_from(self.timing.lease.as_secs()).ok(),
            ..LeaseSpec::default()
        };
        Lease { metadata, spec: Some(spec) }
    }
}

impl Held {
    /// Renews them, and ends only when one is lost: taken over, or not renewed for as long as it holds.
    async fn lost(&self) -> Error {
        let mut leases = self.leases.clone();
        let mut renewed = Instant::now();
        loop {
            tokio::time::sleep(self.every).await;
            let mut all = true;
            for (api, lease) in &mut leases {
                if let Some(spec) = &mut lease.spec {
                    spec.renew_time = Some(MicroTime(jiff::Timestamp::now()));
                }
                let name = lease.metadata.name.clone().unwrap_or_default();
                match renew(api, &name, lease).await {
                    Ok(Some(newer)) => *lease = newer,
                    Ok(None) => return Error::LostLease { lease: name },
                    Err(kube::Error::Api(status)) if status.is_forbidden() => {
                        let namespace = lease.metadata.namespace.clone().unwrap_or_default();
                        return tried("update", &namespace, &name).error(kube::Error::Api(status));
                    }
                    Err(_) => all = false,
                }
                if renewed.elapsed() >= self.every * 3 {
                    return Error::LostLease { lease: name };
                }
            }
            if all {
                renewed = Instant::now();
            }
        }
    }
}

impl Drop for Held {
    /// The process is about to end if the work was dropped: it stays for as long as an API call takes.
    fn drop(&mut self) {
        let leases = std::mem::take(&mut self.leases);
        let Some(runtime) = Handle::try_current().ok().filter(|_| !leases.is_empty()) else { return };
        let (done, given_back) = mpsc::channel();
        drop(runtime.spawn(async move {
            for (api, lease) in &leases {
                // A Lease that cannot be released expires.
                give_back(api, lease).await.ok();
            }
            done.send(()).ok();
        }));
        given_back.recv_timeout(RELEASE_TIMEOUT).ok();
    }
}

/// Renews our Lease; `None` if it is no longer ours. The uid identifies it: if only the version has changed, a response
/// of the API server was lost.
async fn renew(api: &Api<Lease>, name: &str, lease: &Lease) -> Result<Option<Lease>, kube::Error> {
    match api.replace(name, &PostParams::default(), lease).await {
        Ok(newer) => Ok(Some(newer)),
        Err(kube::Error::Api(status)) if status.is_conflict() || status.is_not_found() => {
            let found = api.get_opt(name).await?;
            Ok(found.filter(|found| found.metadata.uid == lease.metadata.uid))
        }
        Err(error) => Err(error),
    }
}

/// Deletes our Lease, whatever its version; another holder's is another object.
async fn give_back(api: &Api<Lease>, lease: &Lease) -> Result<(), Error> {
    let namespace = lease.metadata.namespace.clone().unwrap_or_default();
    let name = lease.metadata.name.clone().unwrap_or_default();
    remove(api, lease, None).await.map_err(|error| tried("delete", &namespace, &name).error(error))
}

/// Deletes this Lease (by its uid), at this version if one is given. That another process has deleted or changed it is
/// no error.
async fn remove(api: &Api<Lease>, lease: &Lease, version: Option<String>) -> Result<(), kube::Error> {
    let condition = Preconditions { uid: lease.metadata.uid.clone(), resource_version: version };
    let name = lease.metadata.name.clone().unwrap_or_default();
    match api.delete(&name, &DeleteParams::default().preconditions(condition)).await {
        Err(kube::Error::Api(status)) if status.is_conflict() || status.is_not_found() => Ok(()),
        done => done.map(drop),
    }
}

/// That another process holds a Lease.
fn held((namespace, name): (&str, &str), said: &LeaseSpec) -> Error {
    let since = said.acquire_time.as_ref().map(|time| time.0);
    let holder = said.holder_identity.clone().unwrap_or_else(|| "an unknown holder".to_owned());
    Error::Held { lease: format!("{namespace}/{name}"), holder, since }
}

/// The time for which it holds without a sign of life.
fn lasts(lease: &LeaseSpec) -> Duration {
    let seconds = lease.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    seconds.map_or(LeaseTiming::default().lease, Duration::from_secs)
}

fn tried<'a>(verb: &'static str, namespace: &'a str, name: &'a str) -> ApiRequest<'a> {
    ApiRequest { verb, resource: "leases", group: "coordination.k8s.io", namespace, name }
}
