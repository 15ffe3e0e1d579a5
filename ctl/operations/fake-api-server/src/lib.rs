//! An API server in memory. It keeps state and scripts nothing: what a request gets follows from the requests before it.
//!
//! ```text
//! request             method, path and body of a request              http::Request  -> Request
//! access              what the user may not do, and what is refused  Request        -> Response
//! store               objects with versions: create, read, replace    Request        -> Response
//! definitions         fields and words that a definition lacks         schema, object -> object
//! server_side_apply   field managers, conflicts, removed fields       Value          -> Value
//! proxies             what istiod sends to proxies, and their metrics objects        -> text
//! controllers         Deployments make ReplicaSets, and these pods objects        -> objects
//! kill                a process that is killed after so many writes
//! listen              the same for programs: a port and a kubeconfig
//! fixture             a shop behind a gateway, and the operations of an operator
//! ```
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on says so by panicking"
)]

mod access;
mod controllers;
mod definitions;
pub mod fixture;
mod kill;
mod listen;
mod proxies;
mod request;
mod server_side_apply;
mod store;

use crate::fixture::options;
pub use access::Access;
use canary_operations::{Cluster, WriteOptions};
use controllers::Controllers;
use kube::Client;
use kube::client::Body;
use proxies::Proxies;
use request::Request;
use serde_json::Value;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};
use store::Store;
use tower::service_fn;

/// What another client does, called before each write is executed.
type BeforeWrite = Box<dyn FnMut(&mut State, &str) + Send>;

/// A cluster in memory; clones are the same one.
#[derive(Clone, Default)]
pub struct FakeApi(Arc<Mutex<State>>);

/// Everything that the cluster is.
#[derive(Default)]
pub struct State {
    pub store: Store,
    pub proxies: Proxies,
    pub controllers: Controllers,
    pub access: Access,
    /// What containers have written, by their pod.
    pub logs: BTreeMap<String, String>,
    /// `PATCH /apis/…` of all requests.
    pub requests: Vec<String>,
    /// The bytes of all responses.
    pub sent_bytes: usize,
    before_write: Option<BeforeWrite>,
    denials: Vec<Denial>,
}

/// An admission policy.
struct Denial {
    /// What the path of a request contains.
    path: &'static str,
    message: &'static str,
    /// Which requests it refuses.
    refuses: Refuses,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Refuses {
    /// Writes and their dry runs.
    All,
    /// Writes: a policy that comes between a dry run and the write.
    Writes,
    /// Dry runs: a webhook that has side effects.
    DryRuns,
}

impl FakeApi {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// A client of it, as `kubectl` would be one.
    pub fn client(&self) -> Client {
        let api = self.clone();
        let service = service_fn(move |request: http::Request<Body>| {
            let api = api.clone();
            async move {
                let (head, body) = api.respond(&Request::of(request).await).into_parts();
                let body = body.collect_bytes().await.unwrap();
                api.state().sent_bytes += body.len();
                Ok::<_, Infallible>(http::Response::from_parts(head, Body::from(body)))
            }
        });
        Client::new(service, "default")
    }

    /// The cluster, as an operator with all rights.
    pub async fn cluster(&self) -> Cluster {
        self.cluster_with(options()).await
    }

    pub async fn cluster_with(&self, options: WriteOptions) -> Cluster {
        Cluster::new(self.client(), options).await.unwrap()
    }

    /// Carries out an operation in a process that is killed after so many writes; `None` if it was killed before the end.
    pub async fn killed_after<T>(
        &self,
        writes: u32,
        operation: impl AsyncFnOnce(&Cluster) -> T,
    ) -> Option<T> {
        kill::killed_after(self, options(), writes, operation).await
    }

    /// The same with other options.
    pub async fn killed_after_with<T>(
        &self,
        options: WriteOptions,
        writes: u32,
        operation: impl AsyncFnOnce(&Cluster) -> T,
    ) -> Option<T> {
        kill::killed_after(self, options, writes, operation).await
    }

    /// Calls this before each write is executed, with its method and path.
    pub fn before_write(&self, action: impl FnMut(&mut State, &str) + Send + 'static) {
        self.state().before_write = Some(Box::new(action));
    }

    /// Refuses writes of objects whose path contains this, dry runs too, as an admission policy does.
    pub fn deny(&self, path: &'static str, message: &'static str) {
        self.state().denials.push(Denial { path, message, refuses: Refuses::All });
    }

    /// The same, but for dry runs.
    pub fn deny_after_dry_run(&self, path: &'static str, message: &'static str) {
        self.state().denials.push(Denial { path, message, refuses: Refuses::Writes });
    }

    /// Refuses every dry run.
    pub fn deny_dry_runs(&self, message: &'static str) {
        self.state().denials.push(Denial { path: "/", message, refuses: Refuses::DryRuns });
    }

    /// Ends all refusals.
    pub fn allow(&self) {
        self.state().denials.clear();
    }

    /// How many requests were made since the last call.
    pub fn count_requests(&self) -> usize {
        std::mem::take(&mut self.state().requests).len()
    }

    /// How many bytes of responses were sent since the last call.
    pub fn count_bytes(&self) -> usize {
        std::mem::take(&mut self.state().sent_bytes)
    }

    fn respond(&self, request: &Request) -> http::Response<Body> {
        let mut state = self.state();
        let line = request.line();
        state.requests.push(line.clone());
        if request.is_write()
            && let Some(mut action) = state.before_write.take()
        {
            action(&mut state, &line);
            state.before_write = Some(action);
        }
        if let Some(response) = state.access.respond(request) {
            return response;
        }
        if let Some(metrics) = state.proxies.metrics(request) {
            return metrics;
        }
        if let Some(log) = state.log(&request.path) {
            return log;
        }
        let denies = |denial: &&Denial| {
            let is_refused = match denial.refuses {
                Refuses::All => true,
                Refuses::Writes => !request.is_dry_run(),
                Refuses::DryRuns => request.is_dry_run(),
            };
            request.path.contains(denial.path) && is_refused
        };
        if request.method != http::Method::GET
            && let Some(denial) = state.denials.iter().find(denies)
        {
            return request::failure(422, "Invalid", denial.message);
        }
        let response = state.store.respond(request);
        if request.is_seen_by_controllers() {
            state.push();
        } else if request.method == http::Method::GET {
            let State { store, controllers, .. } = &mut *state;
            controllers.tick(store);
        }
        response
    }
}

impl State {
    /// What controllers and istiod do after each write, while they run.
    fn push(&mut self) {
        let Self { store, proxies, controllers, .. } = self;
        controllers.sync(store);
        proxies.push(store);
    }

    fn log(&self, path: &str) -> Option<http::Response<Body>> {
        let pod = path.strip_suffix("/log")?.rsplit('/').next()?;
        let text = self.logs.get(pod)?.clone();
        Some(http::Response::new(Body::from(text.into_bytes())))
    }

    /// Lets controllers run that were stopped.
    pub fn start_controllers(&mut self) {
        let Self { store, controllers, .. } = self;
        controllers.start(store);
    }

    /// Changes an object as this client, and lets the controllers see it.
    pub fn edit_as(&mut self, manager: &str, kind: &str, name: &str, change: impl FnOnce(&mut Value)) {
        self.store.edit_as(manager, kind, name, change);
        self.push();
    }

    /// Deletes an object, and lets istiod see it.
    pub fn remove(&mut self, kind: &str, name: &str) {
        self.store.remove(kind, name);
        self.push();
    }

    /// Puts an object there, as its owner would by `kubectl create`.
    pub fn create(&mut self, body: &Value) {
        self.store.create_as("kubectl-create", body);
        self.push();
    }
}
