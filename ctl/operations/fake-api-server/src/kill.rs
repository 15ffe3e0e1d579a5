//! A process that is killed after so many writes. Its Leases expire at once, so that no test waits for them.

use super::FakeApi;
use canary_operations::{Cluster, WriteOptions};
use http::{Method, Request};
use kube::Client;
use kube::client::Body;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tokio::sync::Notify;
use tower::{BoxError, service_fn};

/// Carries out an operation in a process that is killed after so many writes: the operation is dropped, and every later
/// request fails. `None` if it was killed.
pub(super) async fn killed_after<T>(
    api: &FakeApi,
    options: WriteOptions,
    writes: u32,
    operation: impl AsyncFnOnce(&Cluster) -> T,
) -> Option<T> {
    let kill = Arc::new(Notify::new());
    let client = client_that_is_killed(api.clone(), writes, kill.clone());
    let cluster = Cluster::new(client, options).await.unwrap();
    tokio::select! {
        biased;
        () = kill.notified() => None,
        done = operation(&cluster) => Some(done),
    }
}

fn client_that_is_killed(api: FakeApi, writes: u32, kill: Arc<Notify>) -> Client {
    let (left, killed) = (AtomicU32::new(writes), AtomicBool::default());
    let client = api.client();
    let service = service_fn(move |request: Request<Body>| {
        let was_killed = killed.load(Ordering::SeqCst);
        let out_of_writes =
            || left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err();
        let is_killed = !was_killed && is_write(&request) && out_of_writes();
        if is_killed {
            killed.store(true, Ordering::SeqCst);
            api.state().store.expire_leases();
            kill.notify_one();
        }
        let client = client.clone();
        async move {
            if is_killed {
                pending::<()>().await;
            }
            if was_killed {
                return Err(BoxError::from("the process was killed"));
            }
            Ok(client.send(request).await?)
        }
    });
    Client::new(service, "default")
}

/// Whether a request changes something that lasts; the renewal of a Lease and a dry run do not.
fn is_write(request: &Request<Body>) -> bool {
    let path = request.uri().path();
    let is_renewal = request.method() == Method::PUT && path.contains("/leases/");
    let is_dry_run = request.uri().query().is_some_and(|query| query.contains("dryRun"));
    request.method() != Method::GET && !is_renewal && !is_dry_run && !path.ends_with("reviews")
}
