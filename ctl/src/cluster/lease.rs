//! One operator at a time: a Lease for each release that is being changed, and for each object that releases share.
//!
//! A Lease that is there is held, and is gone when it is given back: it is created and deleted, never emptied, so that
//! two holders never are the same object. Its holder renews it; one that is not renewed for as long as it says belongs to
//! a process that is gone, and is taken over. How long that is, everybody judges by their own clock.

use super::refusal::Attempt;
use super::set_weight::pause;
use super::{Cluster, Error};
use crate::plan::FIELD_MANAGER;
use crate::spec::ReleaseName;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::Api;
use kube::api::{DeleteParams, PostParams, Preconditions};
use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// How long an interrupted process stays to give its Leases back.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a Lease holds, and how long one is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTiming {
    /// After so long without a sign of life its holder is gone. Whole seconds.
    pub lease: Duration,
    /// After so long whoever wants it gives up. Longer than `lease`, or nobody outlives a holder that is gone.
    pub wait: Duration,
}

impl Default for LeaseTiming {
    fn default() -> Self {
        Self { lease: Duration::from_secs(15), wait: Duration::from_secs(20) }
    }
}

/// Namespace and name of a Lease.
pub(super) type Place = (String, String);

/// What is done under a Lease, for those who wait for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task<'a> {
    pub(super) verb: &'static str,
    pub(super) release: &'a ReleaseName,
}

impl Task<'_> {
    /// The Lease of the release itself.
    pub(super) fn place(self) -> Place {
        (self.release.namespace.to_string(), format!("{}-canary", self.release.name))
    }
}

/// Leases that are ours.
struct Held {
    leases: Vec<(Api<Lease>, Lease)>,
    every: Duration,
}

impl Cluster {
    /// Does this while nobody else does anything under one of the same Leases. They are given back however it ends, a
    /// dropped future (Ctrl-C) included.
    ///
    /// Fails where somebody else holds one for longer than is waited for, and where one is lost meanwhile.
    pub(super) async fn with_leases<T>(
        &self,
        mut places: Vec<Place>,
        task: Task<'_>,
        work: impl AsyncFnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        // Everybody in the same order, so that nobody waits for somebody who waits for them.
        places.sort();
        places.dedup();
        let holder = self.holder(task);
        let mut held = Held { leases: Vec::new(), every: self.writing.patience.lease / 3 };
        for (namespace, name) in places {
            let api: Api<Lease> = Api::namespaced(self.client.clone(), &namespace);
            let lease = self.take(&api, (&namespace, &name), &holder).await?;
            held.leases.push((api, lease));
        }
        let done = tokio::select! {
            done = work() => done,
            lost = held.lost() => Err(lost),
        };
        if matches!(done, Err(Error::Stopped { .. })) {
            // As if the process had been killed: nobody gives anything back.
            held.leases.clear();
        }
        for (api, lease) in std::mem::take(&mut held.leases) {
            self.count_write()?;
            give_back(&api, &lease).await?;
        }
        done
    }

    async fn take(
        &self,
        api: &Api<Lease>,
        (namespace, name): (&str, &str),
        holder: &str,
    ) -> Result<Lease, Error> {
        self.count_write()?;
        let how = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let begun = Instant::now();
        let mut watched: Option<(Option<String>, Instant)> = None;
        let mut attempt = 0;
        loop {
            let made = api.create(&how, &self.lease(name, holder)).await;
            match made.map_err(|error| tried("create", namespace, name).refused(error)) {
                Err(Error::Stale { .. }) => {}
                done => return done,
            }
            let found = api.get_opt(name).await;
            let found = found.map_err(|error| tried("get", namespace, name).refused(error))?;
            let Some(theirs) = found else { continue };
            let said = theirs.spec.clone().unwrap_or_default();
            if said.holder_identity.as_deref() == Some(holder) {
                // An attempt of ours, whose answer was lost.
                return Ok(theirs);
            }
            let version = theirs.metadata.resource_version.clone();
            let since = watched.filter(|(seen, _)| *seen == version).map_or_else(Instant::now, |(_, at)| at);
            watched = Some((version.clone(), since));
            if since.elapsed() >= lasts(&said) {
                remove(api, &theirs, version)
                    .await
                    .map_err(|error| tried("delete", namespace, name).refused(error))?;
                continue;
            }
            if begun.elapsed() >= self.writing.patience.wait {
                let since = said.acquire_time.map(|time| time.0);
                let holder = said.holder_identity.unwrap_or_else(|| "somebody".to_owned());
                return Err(Error::Held { lease: format!("{namespace}/{name}"), holder, since });
            }
            tokio::time::sleep(pause(attempt)).await;
            attempt += 1;
        }
    }

    /// Who we are, for people and for telling two processes of one person apart.
    fn holder(&self, Task { verb, release }: Task<'_>) -> String {
        let mut nonce = [0; 4];
        // Without randomness two of the same person at the same moment are taken for one, whom the record tells apart.
        let _unlucky = getrandom::fill(&mut nonce);
        format!("{}: {verb} {release} #{:08x}", self.user, u32::from_be_bytes(nonce))
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
            lease_duration_seconds: i32::try_from(self.writing.patience.lease.as_secs()).ok(),
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
                        return tried("update", &namespace, &name).refused(kube::Error::Api(status));
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
    /// Where the work was dropped, the process is about to end: it stays for as long as an API call takes.
    fn drop(&mut self) {
        let leases = std::mem::take(&mut self.leases);
        let Some(runtime) = Handle::try_current().ok().filter(|_| !leases.is_empty()) else { return };
        let (done, given_back) = mpsc::channel();
        drop(runtime.spawn(async move {
            for (api, lease) in &leases {
                // What cannot be given back ends by itself.
                let _expires = give_back(api, lease).await;
            }
            let _nobody_waits = done.send(());
        }));
        let _too_late = given_back.recv_timeout(RELEASE_TIMEOUT);
    }
}

/// Renews our Lease; `None` where it is ours no more. Whose it is, its uid says: where only the version has changed, an
/// answer was lost.
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
    remove(api, lease, None).await.map_err(|error| tried("delete", &namespace, &name).refused(error))
}

/// Deletes this very Lease, at this version where one is named. Somebody who was quicker is no failure.
async fn remove(api: &Api<Lease>, lease: &Lease, version: Option<String>) -> Result<(), kube::Error> {
    let condition = Preconditions { uid: lease.metadata.uid.clone(), resource_version: version };
    let name = lease.metadata.name.clone().unwrap_or_default();
    match api.delete(&name, &DeleteParams::default().preconditions(condition)).await {
        Err(kube::Error::Api(status)) if status.is_conflict() || status.is_not_found() => Ok(()),
        done => done.map(drop),
    }
}

/// How long it holds without a sign of life.
fn lasts(lease: &LeaseSpec) -> Duration {
    let seconds = lease.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    seconds.map_or(LeaseTiming::default().lease, Duration::from_secs)
}

fn tried<'a>(verb: &'static str, namespace: &'a str, name: &'a str) -> Attempt<'a> {
    Attempt { verb, resource: "leases", group: "coordination.k8s.io", namespace, name }
}
