//! One object: what people have asked for, then what its spec asks for, then its rollout, then its status.
//!
//! Everything but the status is done by the operations of the library, each of which may be killed anywhere and continued. What a
//! [`Reconciler`] keeps saves requests and is missed by no other replica: when it has applied an object last, and the observation that a
//! rollout's next one is compared with.
//!
//! ```text
//! answer    takes and carries out `status.request`   Request          -> Answer
//! carry_out applies, rolls out, finishes             Release          -> Carried
//! report    writes the status                        Carried          -> Status
//! preview   what would be done, written nowhere      JSON             -> Preview
//! ```

mod answer;
mod carry_out;
mod preview;
mod report;

pub use preview::{Preview, PreviewAction};
pub(crate) use report::resource;

use crate::object::ObjectError;
use crate::{DefinitionDifference, GROUP, Grant, MissingGrant, Status};
use canary_operations::{Cluster, Error, RolloutDriver, RolloutReport};
use canary_release::object::Reference;
use canary_release::record::Record;
use canary_release::routing::RouteKind;
use canary_release::spec::{Release, ReleaseName, Versions};
use canary_release::status::TrafficWindow;
use jiff::{SignedDuration, Timestamp};
use kube::Api;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The wait for proxies in one operation. A release that waits for longer is continued by the next reconciliation.
const TIMEOUT: Duration = Duration::from_mins(1);
/// An object is applied again this often, so that what others have changed is repaired without an event, too.
const RESYNC: SignedDuration = SignedDuration::from_mins(10);
/// Between two observations of problems while a rollout goes on.
const OBSERVE_AGAIN: SignedDuration = SignedDuration::from_secs(30);

/// The program around the controller: its HTTP clients, and the module that it carries.
pub trait Host {
    /// Gives an embedded module its bytes.
    fn embed_module(&self, release: &mut Release);
    /// A driver with the receivers, queries and hooks of this release.
    fn driver<'c>(&self, cluster: &'c Cluster, release: &Release) -> RolloutDriver<'c>;
}

/// The result of a reconciliation.
#[derive(Clone, Debug, PartialEq)]
pub struct Reconciled {
    /// The status that was written.
    pub status: Status,
    /// When the object is to be reconciled again without an event.
    pub again: Duration,
}

impl<H: Host> Host for &H {
    fn embed_module(&self, release: &mut Release) {
        (**self).embed_module(release);
    }

    fn driver<'c>(&self, cluster: &'c Cluster, release: &Release) -> RolloutDriver<'c> {
        (**self).driver(cluster, release)
    }
}

/// Carries out objects, one at a time for each release.
pub struct Reconciler<'c, H> {
    cluster: &'c Cluster,
    host: H,
    client: kube::Client,
    /// The replica, for the status.
    identity: String,
    interval: Duration,
    followed: RefCell<BTreeMap<ReleaseName, Followed<'c>>>,
    /// The objects of each release, to know whose a changed one is.
    owned: RefCell<BTreeMap<ReleaseName, Vec<Reference>>>,
    /// The releases of which an object was changed since they were applied.
    changed: RefCell<BTreeSet<ReleaseName>>,
    /// The difference of the definition in the cluster from ours.
    definition: RefCell<Option<DefinitionDifference>>,
}

/// The state of a release between two reconciliations.
#[derive(Default)]
struct Followed<'c> {
    /// The uid and the generation of the object that was applied last, with the time of the last role change, and when.
    applied: Option<((String, i64), Option<Timestamp>, Timestamp)>,
    /// The driver of the rollout of this version.
    driver: Option<(i64, RolloutDriver<'c>)>,
    window: TrafficWindow,
    observed: Option<Timestamp>,
}

/// The object of a reconciliation.
#[derive(Clone, Copy)]
struct Subject<'o> {
    object: &'o Value,
    name: &'o ReleaseName,
    generation: i64,
    now: Timestamp,
}

/// The reason for which an object is not carried out.
#[derive(Debug, thiserror::Error)]
enum Obstacle {
    #[error(transparent)]
    Object(#[from] ObjectError),
    #[error("{}", list(.0))]
    NotGranted(Vec<MissingGrant>),
    #[error(
        "expected label `canary-ctl.io/for-releases: true` at Secret `{0}`, found none: without it no release may use the Secret"
    )]
    Secret(String),
    #[error("a Secret cannot be read")]
    Unread(#[source] kube::Error),
    #[error(transparent)]
    Cluster(#[from] Error),
}

impl Obstacle {
    /// Its identifier as a problem.
    fn id(&self) -> &'static str {
        match self {
            Self::Object(_) => "invalid",
            Self::NotGranted(_) | Self::Secret(_) => "not-granted",
            Self::Unread(_) => "secret-not-read",
            Self::Cluster(Error::Untrusted { .. }) => "record-not-trusted",
            Self::Cluster(error) => error.id(),
        }
    }

    /// Whether it may end without a person.
    fn is_transient(&self) -> bool {
        match self {
            Self::Unread(_) => true,
            Self::Cluster(error) => error.is_transient(),
            Self::Object(_) | Self::NotGranted(_) | Self::Secret(_) => false,
        }
    }
}

fn list(missing: &[MissingGrant]) -> String {
    missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// The part of an object that was carried out.
struct Carried {
    record: Record,
    /// The versions that the object names.
    named: Versions,
    report: Option<RolloutReport>,
    again: Duration,
}

impl<'c, H: Host> Reconciler<'c, H> {
    /// A reconciler that has seen nothing. `interval` is the time between two observations of a rollout.
    pub fn new(
        cluster: &'c Cluster,
        client: kube::Client,
        host: H,
        (identity, interval): (String, Duration),
    ) -> Self {
        let (followed, owned, changed) = (RefCell::default(), RefCell::default(), RefCell::default());
        let definition = RefCell::default();
        Self { cluster, host, client, identity, interval, followed, owned, changed, definition }
    }

    /// Carries out an object, and writes its status.
    ///
    /// # Errors
    ///
    /// If its status cannot be written. Whatever else fails is in the status.
    pub async fn reconcile(
        &self,
        object: &Value,
        grants: &[Grant],
        now: Timestamp,
    ) -> Result<Reconciled, kube::Error> {
        let name = name_of(object);
        let generation = generation_of(object);
        let mut status = Status::of(object);
        let Some(name) = name else { return self.report_nameless(object, status, now).await };
        if !self.answer_request(object, (&name, grants), &mut status, now).await? {
            return Ok(Reconciled { status, again: Duration::from_secs(1) });
        }
        if status.observed_generation != generation {
            self.announce(object, &mut status, now).await?;
        }
        let mut followed = self.followed.borrow_mut().remove(&name).unwrap_or_default();
        let subject = Subject { object, name: &name, generation, now };
        let carried = Box::pin(self.carry_out(&subject, grants, &mut followed)).await;
        let reconciled = Box::pin(self.report(&subject, status, carried, &mut followed)).await;
        self.followed.borrow_mut().insert(name, followed);
        reconciled
    }

    /// Compares the definition in the cluster with that of this controller, for the condition of each object. The difference, where it is
    /// another one than before.
    ///
    /// # Errors
    ///
    /// If the definition cannot be read.
    pub async fn compare_definition(&self) -> Result<Option<DefinitionDifference>, kube::Error> {
        let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
        let definitions: Api<DynamicObject> =
            Api::all_with(self.client.clone(), &ApiResource::from_gvk(&kind));
        let found = definitions.get_opt(&format!("releases.{GROUP}")).await?;
        let found = found.map(serde_json::to_value).transpose().map_err(kube::Error::SerdeError)?;
        let difference = found.as_ref().and_then(DefinitionDifference::of);
        let before = self.definition.replace(difference.clone());
        Ok(difference.filter(|difference| before.as_ref() != Some(difference)))
    }

    /// The releases that a changed object affects: it is theirs, or a route beside those of theirs, which follow from it. Each is applied
    /// with the next reconciliation.
    pub fn affected(&self, object: &Value) -> Vec<ReleaseName> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (kind, namespace, name) = (text("/kind"), text("/metadata/namespace"), text("/metadata/name"));
        let is_route = |kind: &str| RouteKind::of(kind).is_some();
        let is_affected = |owned: &Reference| {
            let is_it = owned.kind == kind && owned.name == name;
            let is_beside = is_route(&owned.kind) && is_route(kind);
            if owned.namespace == namespace {
                is_it || is_beside
            } else {
                is_beside && names_backend_in(object, &owned.namespace)
            }
        };
        let owned = self.owned.borrow();
        let affected = owned.iter().filter(|(_, objects)| objects.iter().any(is_affected));
        let affected: Vec<ReleaseName> = affected.map(|(release, _)| release.clone()).collect();
        self.changed.borrow_mut().extend(affected.iter().cloned());
        affected
    }

    /// Forgets releases without an object.
    pub(crate) fn retain(&self, has_object: impl Fn(&ReleaseName) -> bool) {
        self.followed.borrow_mut().retain(|name, _| has_object(name));
        self.owned.borrow_mut().retain(|name, _| has_object(name));
        self.changed.borrow_mut().retain(|name| has_object(name));
    }

    pub(crate) const fn cluster(&self) -> &'c Cluster {
        self.cluster
    }
}

/// Whether a route of the Gateway API names a Service of another namespace than its own: this one.
fn names_backend_in(route: &Value, namespace: &str) -> bool {
    let rules = route.pointer("/spec/rules").and_then(Value::as_array).into_iter().flatten();
    let mut backends = rules.filter_map(|rule| rule.get("backendRefs")?.as_array()).flatten();
    backends.any(|backend| backend.get("namespace").and_then(Value::as_str) == Some(namespace))
}

/// The name of an object as a release can have it.
pub(crate) fn name_of(object: &Value) -> Option<ReleaseName> {
    let metadata = object.get("metadata")?;
    let part = |field: &str| metadata.get(field)?.as_str();
    format!("{}/{}", part("namespace")?, part("name")?).parse().ok()
}

fn generation_of(object: &Value) -> i64 {
    let generation = object.get("metadata").and_then(|metadata| metadata.get("generation"));
    generation.and_then(Value::as_i64).unwrap_or_default()
}
