//! A process that is killed after so many writes: its requests to the API server fail from then on, reads and the return of
//! Leases included.
//!
//! How many writes of Leases there are depends on time, since an expired Lease of the process before is deleted first. A test
//! that kills at each write in turn therefore leaves them out ([`killed_after_objects`]).

use crate::api::release_fixture::BRIEF;
use canary_operations::{Access, Cluster, Error, WriteOptions};
use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll};
use tower::{BoxError, Service};

/// Whether the process has been killed.
#[derive(Clone, Debug, Default)]
pub struct Killed(Arc<AtomicBool>);

impl Killed {
    pub fn is_killed(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Runs an operation in a process that is killed after so many writes. Fails if it ends before.
pub async fn interrupt<T: Debug>(
    access: &Access,
    writes: u32,
    options: WriteOptions,
    operation: impl AsyncFnOnce(&Cluster) -> Result<T, Error>,
) {
    let (process, killed) = killed_after(access, writes, options).await;
    let interrupted = Box::pin(operation(&process)).await;
    assert!(interrupted.is_err() && killed.is_killed(), "killed after {writes} writes: {interrupted:?}");
}

/// A cluster as a process sees it that is killed after so many writes, those of Leases included.
async fn killed_after(access: &Access, writes: u32, options: WriteOptions) -> (Cluster, Killed) {
    connect(access, writes, is_write, options).await
}

/// A cluster as a process sees it that is killed after so many writes of objects other than Leases.
pub async fn killed_after_objects(access: &Access, writes: u32, options: WriteOptions) -> (Cluster, Killed) {
    connect(access, writes, |request| is_write(request) && !is_lease(request), options).await
}

async fn connect(
    access: &Access,
    writes: u32,
    is_counted: fn(&Request<Body>) -> bool,
    options: WriteOptions,
) -> (Cluster, Killed) {
    let killed = Killed::default();
    let client = access.client().await.unwrap();
    let left = Arc::new(AtomicU32::new(writes));
    let service = KillAfter { client, left, is_counted, killed: killed.clone() };
    // Others take its Leases over soon.
    let options = WriteOptions { lease_timing: BRIEF, ..options };
    (Cluster::new(Client::new(service, "default"), options).await.unwrap(), killed)
}

/// Fails all requests after so many writes.
#[derive(Clone)]
struct KillAfter {
    client: Client,
    left: Arc<AtomicU32>,
    is_counted: fn(&Request<Body>) -> bool,
    killed: Killed,
}

impl Service<Request<Body>> for KillAfter {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if (self.is_counted)(&request) {
            let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            self.killed.0.fetch_or(left.is_err(), Ordering::SeqCst);
        }
        if self.killed.is_killed() {
            return Box::pin(async { Err("the process was killed".into()) });
        }
        let client = self.client.clone();
        Box::pin(async move { Ok(client.send(request).await?) })
    }
}

/// Whether a request changes something that lasts; the renewal of a Lease does not.
fn is_write(request: &Request<Body>) -> bool {
    let is_review = request.uri().path().ends_with("/selfsubjectreviews");
    let is_renewal = request.method() == Method::PUT && is_lease(request);
    let is_dry_run = request.uri().query().is_some_and(|query| query.contains("dryRun"));
    request.method() != Method::GET && !is_review && !is_renewal && !is_dry_run
}

fn is_lease(request: &Request<Body>) -> bool {
    request.uri().path().contains("/leases")
}
