//! The process: one replica works, by a Lease, and reconciles what has changed.
//!
//! ```text
//! Release objects ─┐
//! ReleaseGrants   ─┼─► events ─► queue ─► Reconciler, one at a time for each object
//! our objects     ─┘      └─────────────► removals, of releases without an object (`deleted`)
//! ```

mod deleted;
mod preview;

use crate::reconcile::{name_of, resource};
use crate::{GROUP, Gauges, Grant, Host, Reconciler, VERSION};
use canary_operations::{Cluster, Error};
use canary_release::object::FIELD_MANAGER;
use canary_release::routing::{GATEWAY_API_GROUP, RouteKind};
use canary_release::spec::ReleaseName;
use deleted::remove_deleted;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::{BoxStream, SelectAll};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use jiff::Timestamp;
use kube::api::ListParams;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::controller::{Action, Config, applier};
use kube::runtime::reflector::store::Writer;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client};
pub use preview::preview;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};

/// A watch is renewed this often, in seconds: below the time after which a silent connection counts as broken.
const WATCH_SECONDS: u32 = 25;
/// A write of ours comes back as several events.
const DEBOUNCE: Duration = Duration::from_secs(1);
/// The definition of the objects is compared with ours this often.
const COMPARE_AGAIN: Duration = Duration::from_mins(10);
/// Operations at a time: each may wait for proxies.
const CONCURRENCY: u16 = 16;
/// The kinds of Istio's objects that are repaired when others have changed them.
const REPAIRED: [(&str, &str, &str); 3] = [
    ("networking.istio.io", "v1alpha3", "EnvoyFilter"),
    ("networking.istio.io", "v1", "VirtualService"),
    ("networking.istio.io", "v1", "DestinationRule"),
];

/// The options of a controller.
pub struct Options {
    /// The namespace of the objects; `None` is all.
    pub namespace: Option<String>,
    /// Namespace and name of the Lease of the replica that works.
    pub lease: (String, String),
    /// The replica, for the status of objects.
    pub identity: String,
    /// Between two observations of a rollout.
    pub interval: Duration,
    /// Gets a line for each thing that a person may want to know.
    pub log: Box<dyn Fn(&str)>,
    /// The values of probes and metrics.
    pub gauges: Arc<Gauges>,
}

/// Objects, grants or records cannot be listed.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// Objects or grants.
    #[error("the Release objects and ReleaseGrants cannot be listed")]
    Objects(#[source] kube::Error),
    /// Records.
    #[error("the records of releases cannot be listed")]
    Records(#[source] Error),
}

impl Options {
    fn failed(&self, error: &str) {
        self.gauges.fail();
        (self.log)(error);
    }
}

/// Whether the API server knows the kinds of a controller's objects.
///
/// # Errors
///
/// If it cannot be asked, or refuses.
pub async fn is_defined(client: &Client, namespace: Option<&str>) -> Result<bool, ListError> {
    let found = api(client, namespace, &resource()).list_metadata(&ListParams::default().limit(1)).await;
    match found {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(false),
        found => found.map(|_| true).map_err(ListError::Objects),
    }
}

/// Carries out the objects of a cluster, until the Lease is lost. Waits for the Lease first.
///
/// # Errors
///
/// If the Lease is lost, or the API server refuses it.
pub async fn run(client: Client, cluster: &Cluster, host: impl Host, options: Options) -> Result<(), Error> {
    options.gauges.set(false, 0);
    let work = async || {
        (options.log)("this replica works");
        let reconciler =
            Reconciler::new(cluster, client.clone(), &host, (options.identity.clone(), options.interval));
        Box::pin(work(&client, &reconciler, &options)).await;
        Ok(())
    };
    cluster.lead(options.lease.clone(), work).await
}

/// The state that several parts of the process share.
struct Shared<'s> {
    client: &'s Client,
    options: &'s Options,
    releases: Store<DynamicObject>,
    grants: RefCell<BTreeMap<String, Grant>>,
    /// Those of a list that is not complete.
    listed_grants: RefCell<BTreeMap<String, Grant>>,
    /// Whether the grants are known, or cannot be: before that nothing is reconciled.
    knows_grants: watch::Sender<bool>,
    /// The last event of each object that was queued.
    queued: RefCell<BTreeMap<ReleaseName, Seen>>,
    queue: mpsc::UnboundedSender<ObjectRef<DynamicObject>>,
    deleted: Notify,
}

/// The uid, the generation and the request of an object.
type Seen = (Value, Value, Value);

/// Something that was watched.
enum Watched {
    Release(watcher::Event<DynamicObject>),
    Grant(watcher::Event<DynamicObject>),
    /// An object that is ours, or that one of ours follows from.
    Object(DynamicObject),
    Failed(String),
    NoGrants(String),
}

async fn work<H: Host>(client: &Client, reconciler: &Reconciler<'_, H>, options: &Options) {
    let mut writer = Writer::new(resource());
    let (queue, queued) = mpsc::unbounded_channel();
    let shared = Shared {
        client,
        options,
        releases: writer.as_reader(),
        grants: RefCell::default(),
        listed_grants: RefCell::default(),
        knows_grants: watch::Sender::new(false),
        queued: RefCell::default(),
        queue,
        deleted: Notify::new(),
    };
    let events = async {
        let mut events = watched(client, options);
        while let Some(event) = events.next().await {
            if let Watched::Release(event) = &event {
                writer.apply_watcher_event(event);
            }
            shared.handle(event, reconciler);
        }
    };
    tokio::join!(
        events,
        reconcile_queue(&shared, reconciler, queued),
        remove_deleted(&shared, reconciler),
        compare_definition(&shared, reconciler)
    );
}

/// Tells once of a definition that is another one than ours, now and after an upgrade.
async fn compare_definition<H: Host>(shared: &Shared<'_>, reconciler: &Reconciler<'_, H>) {
    loop {
        match reconciler.compare_definition().await {
            Ok(Some(difference)) => (shared.options.log)(&difference.message()),
            Ok(None) => {}
            Err(error) => shared.options.failed(&error.to_string()),
        }
        tokio::time::sleep(COMPARE_AGAIN).await;
    }
}

fn api(client: &Client, namespace: Option<&str>, resource: &ApiResource) -> Api<DynamicObject> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
        None => Api::all_with(client.clone(), resource),
    }
}

/// Everything that is watched, in the namespace of the options; grants are in those of others.
fn watched(client: &Client, options: &Options) -> SelectAll<BoxStream<'static, Watched>> {
    let of = |group: &str, version: &str, kind: &str| {
        ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
    };
    let config = || watcher::Config::default().timeout(WATCH_SECONDS);
    let failed = |error: watcher::Error| Watched::Failed(error.to_string());
    let mut all = SelectAll::new();
    let namespace = options.namespace.as_deref();
    let releases = watcher(api(client, namespace, &resource()), config()).default_backoff();
    all.push(releases.map(move |event| event.map_or_else(failed, Watched::Release)).boxed());
    let grants = watcher(api(client, None, &of(GROUP, VERSION, "ReleaseGrant")), config()).default_backoff();
    let unknown = |error: watcher::Error| Watched::NoGrants(error.to_string());
    all.push(grants.map(move |event| event.map_or_else(unknown, Watched::Grant)).boxed());
    for (group, version, kind) in REPAIRED {
        let ours = config().labels(&format!("app.kubernetes.io/managed-by={FIELD_MANAGER}"));
        let events = watcher(api(client, namespace, &of(group, version, kind)), ours).default_backoff();
        let changed = events.touched_objects();
        all.push(changed.map(move |object| object.map_or_else(failed, Watched::Object)).boxed());
    }
    // Ours, and those of others from which ours follow. A cluster without the Gateway API has none.
    for kind in RouteKind::ALL {
        let routes = watcher(api(client, namespace, &of(GATEWAY_API_GROUP, "v1", kind.name())), config());
        let changed = routes.default_backoff().touched_objects().filter_map(move |object| async move {
            match object {
                Ok(object) => Some(Watched::Object(object)),
                Err(watcher::Error::InitialListFailed(kube::Error::Api(status))) if status.is_not_found() => {
                    None
                }
                Err(error) => Some(Watched::Failed(error.to_string())),
            }
        });
        all.push(changed.boxed());
    }
    all
}

impl Shared<'_> {
    fn handle<H: Host>(&self, event: Watched, reconciler: &Reconciler<'_, H>) {
        match event {
            Watched::Release(event) => self.release(&event, reconciler),
            Watched::Grant(event) => self.grant(&event),
            Watched::Object(object) => {
                for name in reconciler.affected(&json(&object)) {
                    self.enqueue(&name);
                }
            }
            Watched::Failed(error) => self.options.failed(&error),
            Watched::NoGrants(error) => {
                self.options.failed(&error);
                self.knows_grants.send_replace(true);
            }
        }
    }

    fn release<H: Host>(&self, event: &watcher::Event<DynamicObject>, reconciler: &Reconciler<'_, H>) {
        use watcher::Event::{Apply, Delete, Init, InitApply, InitDone};
        match event {
            Apply(object) => self.changed(&json(object)),
            Delete(_) => {
                self.forget(reconciler);
                self.deleted.notify_one();
            }
            Init | InitApply(_) => {}
            // The store has them all now: what a watch has missed was deleted, or is another object.
            InitDone => {
                self.forget(reconciler);
                self.releases.state().iter().for_each(|object| self.changed(&json(object)));
                self.deleted.notify_one();
            }
        }
        self.options.gauges.set(true, self.releases.len());
    }

    /// Forgets what has no object any more.
    fn forget<H: Host>(&self, reconciler: &Reconciler<'_, H>) {
        let names: BTreeSet<ReleaseName> =
            self.releases.state().iter().filter_map(|object| name_of(&json(object))).collect();
        self.queued.borrow_mut().retain(|name, _| names.contains(name));
        reconciler.retain(|name| names.contains(name));
    }

    /// Queues an object whose spec has changed, or that has a request: its other events are ours.
    fn changed(&self, object: &Value) {
        let Some(name) = name_of(object) else { return };
        let field = |pointer: &str| object.pointer(pointer).cloned().unwrap_or_default();
        let seen = (field("/metadata/uid"), field("/metadata/generation"), field("/status/request"));
        let before = self.queued.borrow_mut().insert(name.clone(), seen.clone());
        let is_asked = !seen.2.is_null();
        let is_other =
            |before: &Seen| (&before.0, &before.1) != (&seen.0, &seen.1) || (is_asked && *before != seen);
        if before.as_ref().is_none_or(is_other) {
            self.enqueue(&name);
        }
    }

    /// A grant that has changed may let, or stop, any release.
    fn grant(&self, event: &watcher::Event<DynamicObject>) {
        use watcher::Event::{Apply, Delete, Init, InitApply, InitDone};
        let key = |object: &DynamicObject| {
            let part = |text: &Option<String>| text.clone().unwrap_or_default();
            format!("{}/{}", part(&object.metadata.namespace), part(&object.metadata.name))
        };
        let set = |grants: &RefCell<BTreeMap<String, Grant>>, object: &DynamicObject| match Grant::of(&json(
            object,
        )) {
            Some(grant) => drop(grants.borrow_mut().insert(key(object), grant)),
            None => drop(grants.borrow_mut().remove(&key(object))),
        };
        match event {
            Init => self.listed_grants.borrow_mut().clear(),
            InitApply(object) => set(&self.listed_grants, object),
            InitDone => {
                self.grants.replace(self.listed_grants.take());
                self.knows_grants.send_replace(true);
            }
            Apply(object) => set(&self.grants, object),
            Delete(object) => drop(self.grants.borrow_mut().remove(&key(object))),
        }
        if !matches!(event, Init | InitApply(_)) {
            self.releases
                .state()
                .iter()
                .filter_map(|object| name_of(&json(object)))
                .for_each(|name| self.enqueue(&name));
        }
    }

    fn enqueue(&self, name: &ReleaseName) {
        let reference = ObjectRef::new_with(name.name.as_str(), resource()).within(name.namespace.as_str());
        // The receiver lives as long as the sender.
        self.queue.send(reference).ok();
    }

    fn grants(&self) -> Vec<Grant> {
        self.grants.borrow().values().cloned().collect()
    }
}

fn json(object: &DynamicObject) -> Value {
    serde_json::to_value(object).unwrap_or_default()
}

/// Reconciles what is queued, each object at most once at a time.
async fn reconcile_queue<H: Host>(
    shared: &Shared<'_>,
    reconciler: &Reconciler<'_, H>,
    queued: mpsc::UnboundedReceiver<ObjectRef<DynamicObject>>,
) {
    let known = shared.knows_grants.subscribe();
    let queue = stream::unfold((queued, known), |(mut queued, mut known)| async {
        // A release that is reconciled without its grants would fail.
        known.wait_for(|known| *known).await.ok()?;
        let next = queued.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(next), (queued, known)))
    });
    let reconcile = |object: Arc<DynamicObject>, ()| -> LocalBoxFuture<'_, Result<Action, kube::Error>> {
        let grants = shared.grants();
        async move {
            let done = reconciler.reconcile(&json(&object), &grants, Timestamp::now()).await?;
            Ok(Action::requeue(done.again))
        }
        .boxed_local()
    };
    let config = Config::default().debounce(DEBOUNCE).concurrency(CONCURRENCY);
    let retry = |_: Arc<DynamicObject>, _: &kube::Error, _: Arc<()>| Action::requeue(Duration::from_secs(10));
    let context = Arc::new(());
    let applied = applier(
        move |object, _| reconcile(object, ()),
        retry,
        context,
        shared.releases.clone(),
        queue,
        config,
    );
    applied
        .for_each(|done| {
            if let Err(error) = done {
                shared.options.failed(&error.to_string());
            }
            std::future::ready(())
        })
        .await;
}
