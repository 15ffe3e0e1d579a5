//! The process: one replica works, by a Lease, and reconciles what has changed.
//!
//! ```text
//! Release objects ─┐
//! ReleaseGrants   ─┼─► events ─► queue ─► Reconciler, one at a time for each object
//! our objects     ─┘      └─────────────► removals, of releases without an object
//! ```

use crate::reconcile::{name_of, resource};
use crate::removal::{Removal, remove, without_object};
use crate::{GROUP, Gauges, Grant, Host, Reconciler, VERSION};
use canary_operations::{Cluster, Error};
use canary_release::object::FIELD_MANAGER;
use canary_release::spec::ReleaseName;
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
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

/// A watch is renewed this often, in seconds: below the time after which a silent connection counts as broken.
const WATCH_SECONDS: u32 = 25;
/// Releases without an object are looked for again this often, where one of them waits, and otherwise.
const REMOVE_AGAIN: Duration = Duration::from_secs(15);
const LOOK_AGAIN: Duration = Duration::from_mins(10);
/// A write of ours comes back as several events.
const DEBOUNCE: Duration = Duration::from_secs(1);
/// Operations at a time: each may wait for proxies.
const CONCURRENCY: u16 = 16;
/// The kinds of Istio's objects that are repaired when others have changed them.
const REPAIRED: [(&str, &str, &str); 3] = [
    ("networking.istio.io", "v1alpha3", "EnvoyFilter"),
    ("networking.istio.io", "v1", "VirtualService"),
    ("networking.istio.io", "v1", "DestinationRule"),
];

/// How a controller runs.
pub struct Options {
    /// The namespaces of the objects; none is all.
    pub namespaces: Vec<String>,
    /// Namespace and name of the Lease of the replica that works.
    pub lease: (String, String),
    /// The replica, for the status of objects.
    pub identity: String,
    /// Between two observations of a rollout.
    pub interval: Duration,
    /// Gets a line for each thing that a person may want to know.
    pub log: Box<dyn Fn(&str)>,
    /// What probes and metrics say.
    pub gauges: Arc<Gauges>,
}

/// The objects cannot be listed.
#[derive(Debug, thiserror::Error)]
#[error("the Release objects cannot be listed")]
pub struct ListError(#[source] kube::Error);

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
        found => found.map(|_| true).map_err(ListError),
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

/// What several parts of the process see.
struct Shared<'s> {
    client: &'s Client,
    options: &'s Options,
    releases: Store<DynamicObject>,
    grants: RefCell<BTreeMap<String, Grant>>,
    /// What was queued last of each object: its generation and its request.
    queued: RefCell<BTreeMap<ReleaseName, (Option<i64>, Value)>>,
    queue: mpsc::UnboundedSender<ObjectRef<DynamicObject>>,
    deleted: Notify,
    is_listed: Cell<bool>,
}

/// Something that was watched.
enum Watched {
    Release(watcher::Event<DynamicObject>),
    Grant(watcher::Event<DynamicObject>),
    Ours(DynamicObject),
    Failed(String),
}

async fn work<H: Host>(client: &Client, reconciler: &Reconciler<'_, H>, options: &Options) {
    let mut writer = Writer::new(resource());
    let (queue, queued) = mpsc::unbounded_channel();
    let shared = Shared {
        client,
        options,
        releases: writer.as_reader(),
        grants: RefCell::default(),
        queued: RefCell::default(),
        queue,
        deleted: Notify::new(),
        is_listed: Cell::new(false),
    };
    let events = async {
        let mut events = watch(client, options);
        while let Some(event) = events.next().await {
            if let Watched::Release(event) = &event {
                writer.apply_watcher_event(event);
            }
            shared.handle(event, reconciler);
        }
    };
    tokio::join!(events, reconcile_queue(&shared, reconciler, queued), remove_deleted(&shared, reconciler));
}

fn api(client: &Client, namespace: Option<&str>, resource: &ApiResource) -> Api<DynamicObject> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
        None => Api::all_with(client.clone(), resource),
    }
}

/// Everything that is watched, in the namespaces of the options.
fn watch(client: &Client, options: &Options) -> SelectAll<BoxStream<'static, Watched>> {
    let of = |group: &str, version: &str, kind: &str| {
        ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
    };
    let config = || watcher::Config::default().timeout(WATCH_SECONDS);
    let failed = |error: watcher::Error| Watched::Failed(error.to_string());
    let mut all = SelectAll::new();
    let namespaces: Vec<Option<&str>> = match options.namespaces.as_slice() {
        [] => vec![None],
        some => some.iter().map(|namespace| Some(namespace.as_str())).collect(),
    };
    for namespace in namespaces {
        let releases = watcher(api(client, namespace, &resource()), config()).default_backoff();
        all.push(releases.map(move |event| event.map_or_else(failed, Watched::Release)).boxed());
    }
    let grants = watcher(api(client, None, &of(GROUP, VERSION, "ReleaseGrant")), config()).default_backoff();
    all.push(grants.map(move |event| event.map_or_else(failed, Watched::Grant)).boxed());
    for (group, version, kind) in REPAIRED {
        let ours = config().labels(&format!("app.kubernetes.io/managed-by={FIELD_MANAGER}"));
        let events = watcher(api(client, None, &of(group, version, kind)), ours).default_backoff();
        let changed = events.touched_objects();
        all.push(changed.map(move |object| object.map_or_else(failed, Watched::Ours)).boxed());
    }
    all
}

impl Shared<'_> {
    fn handle<H: Host>(&self, event: Watched, reconciler: &Reconciler<'_, H>) {
        match event {
            Watched::Release(event) => self.release(&event, reconciler),
            Watched::Grant(event) => self.grant(&event),
            Watched::Ours(object) => {
                for name in reconciler.owners(&json(&object)) {
                    self.enqueue(&name);
                }
            }
            Watched::Failed(error) => self.options.failed(&error),
        }
    }

    fn release<H: Host>(&self, event: &watcher::Event<DynamicObject>, reconciler: &Reconciler<'_, H>) {
        use watcher::Event::{Apply, Delete, Init, InitApply, InitDone};
        match event {
            Apply(object) | InitApply(object) => self.changed(&json(object)),
            Delete(object) => {
                if let Some(name) = name_of(&json(object)) {
                    self.queued.borrow_mut().remove(&name);
                    reconciler.forget(&name);
                }
                self.deleted.notify_one();
            }
            Init => {}
            InitDone => {
                self.is_listed.set(true);
                self.deleted.notify_one();
            }
        }
        self.options.gauges.set(true, self.releases.len());
    }

    /// Queues an object whose spec has changed, or that has a request: its other events are ours.
    fn changed(&self, object: &Value) {
        let Some(name) = name_of(object) else { return };
        let generation = object.pointer("/metadata/generation").and_then(Value::as_i64);
        let seen = (generation, object.pointer("/status/request").cloned().unwrap_or_default());
        let before = self.queued.borrow_mut().insert(name.clone(), seen.clone());
        let is_asked = !seen.1.is_null();
        if before.as_ref().is_none_or(|before| before.0 != seen.0 || (is_asked && *before != seen)) {
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
        let mut grants = self.grants.borrow_mut();
        match event {
            Init => grants.clear(),
            Apply(object) | InitApply(object) => match Grant::of(&json(object)) {
                Some(grant) => drop(grants.insert(key(object), grant)),
                None => drop(grants.remove(&key(object))),
            },
            Delete(object) => drop(grants.remove(&key(object))),
            InitDone => {}
        }
        drop(grants);
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
    let queue = stream::unfold(queued, |mut queued| async {
        let next = queued.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(next), queued))
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

/// Removes releases whose object is gone, when one was deleted and now and then.
async fn remove_deleted<H: Host>(shared: &Shared<'_>, reconciler: &Reconciler<'_, H>) {
    let mut again = REMOVE_AGAIN;
    loop {
        tokio::select! {
            () = shared.deleted.notified() => tokio::time::sleep(DEBOUNCE).await,
            () = tokio::time::sleep(again) => {}
        }
        again = match remove_all(shared, reconciler).await {
            Ok(false) => LOOK_AGAIN,
            Ok(true) => REMOVE_AGAIN,
            Err(error) => {
                (shared.options.log)(&error.to_string());
                REMOVE_AGAIN
            }
        };
    }
}

/// Whether something is left to remove.
async fn remove_all<H: Host>(shared: &Shared<'_>, reconciler: &Reconciler<'_, H>) -> Result<bool, Error> {
    let Some(objects) = listed(shared).await else { return Ok(true) };
    let cluster = reconciler.cluster();
    let mut is_left = false;
    for name in without_object(cluster, &shared.options.namespaces, &objects).await? {
        match Box::pin(remove(cluster, &name)).await {
            Ok(Removal::Uninstalled) => {
                (shared.options.log)(&format!("{name}: uninstalled, its object was deleted"));
            }
            Ok(Removal::Nothing) => {}
            Ok(Removal::Waits(why)) => {
                is_left = true;
                (shared.options.log)(&format!(
                    "{name}: its object was deleted, stable has all users; waits: {why}"
                ));
            }
            Err(error) => {
                is_left = true;
                (shared.options.log)(&format!("{name}: its object was deleted: {error}"));
            }
        }
    }
    Ok(is_left)
}

/// The objects that exist by a list of this moment: what a watch has missed must not remove a release. Without the definition of the
/// resource there is none. `None` where that is not known.
async fn listed(shared: &Shared<'_>) -> Option<BTreeSet<ReleaseName>> {
    let mut names = BTreeSet::new();
    let namespaces: Vec<Option<&str>> = match shared.options.namespaces.as_slice() {
        [] => vec![None],
        some => some.iter().map(|namespace| Some(namespace.as_str())).collect(),
    };
    for namespace in namespaces {
        match api(shared.client, namespace, &resource()).list_metadata(&ListParams::default()).await {
            Ok(found) => names.extend(found.items.iter().filter_map(|object| {
                let value = serde_json::to_value(object).ok()?;
                name_of(&value)
            })),
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            Err(_) => return None,
        }
    }
    Some(names)
}
