//! A `Release` object in a cluster, and its reconciliations.

use canary_controller::{Grant, Host, Reconciled, Reconciler, Status};
use canary_operations::{Cluster, RolloutDriver};
use canary_release::record::Record;
use canary_release::spec::{Release, ReleaseName};
use fake_api_server::FakeApi;
use fake_api_server::fixture::{options, shop, shop_with_http_route};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::time::Duration;

/// Between two observations of a rollout.
pub(crate) const INTERVAL: Duration = Duration::from_secs(30);
/// More reconciliations than anything here takes.
pub(crate) const MANY: usize = 120;

/// A program without HTTP clients.
pub(crate) struct NoClients;

impl Host for NoClients {
    fn embed_module(&self, _: &mut Release) {}

    fn driver<'c>(&self, cluster: &'c Cluster, release: &Release) -> RolloutDriver<'c> {
        RolloutDriver::new(cluster, release.name.clone(), Duration::from_secs(5))
    }
}

/// The object of the shop, with changes to its `spec`.
pub(crate) fn object(changes: &Value) -> Value {
    let step = |weight: u32| json!({"weight": weight, "hold": "2m"});
    let mut spec = json!({
        "versions": {"stable": "v1", "canary": "v2"},
        "hosts": ["shop.example.com"],
        "gateways": [{"name": "ingress/gateway", "selector": {"istio": "gateway"}}],
        "stickiness": "session",
        "session": {"cookie": "JSESSIONID"},
        "identifyBy": [{"cookie": "JSESSIONID"}],
        "routes": "managed",
        "maxStep": 100,
        "rollout": {"plans": {"default": [step(1), step(10), step(50)]}, "lostSessions": false},
        "delivery": {"module": "oci://registry.test/filter:1"},
    });
    for (name, value) in changes.as_object().unwrap() {
        spec[name] = value.clone();
    }
    // An API server keeps no field without a value.
    spec.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    json!({"apiVersion": "canary-ctl.io/v1alpha1", "kind": "Release",
        "metadata": {"name": "shop", "namespace": "shop"}, "spec": spec})
}

/// The grant of the gateway's owner.
pub(crate) fn grant() -> Grant {
    Grant::of(&json!({"metadata": {"name": "shop", "namespace": "ingress"},
        "spec": {"from": ["shop"], "hosts": ["shop.example.com"], "modules": ["oci://registry.test/"]}}))
    .unwrap()
}

/// The cluster of the shop with its object.
pub(crate) struct Fixture {
    pub(crate) api: FakeApi,
    pub(crate) now: Timestamp,
    pub(crate) grants: Vec<Grant>,
    /// The number of failures among 40 responses of the canary in each user group.
    pub(crate) failed: u64,
    pub(crate) weights: Vec<String>,
}

impl Fixture {
    pub(crate) fn new(changes: &Value) -> Self {
        Self::in_cluster(shop(), changes)
    }

    /// The release has routes beside the `HTTPRoute` of another owner.
    pub(crate) fn beside_http_route(changes: &Value) -> Self {
        let mut all = json!({"routes": "gateway-api",
            "gateways": [{"name": "ingress/edge", "selector": {"istio": "gateway"}}]});
        all.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        Self::in_cluster(shop_with_http_route(), &all)
    }

    fn in_cluster(api: FakeApi, changes: &Value) -> Self {
        api.state().create(&object(changes));
        Self { api, now: Timestamp::now(), grants: vec![grant()], failed: 0, weights: Vec::new() }
    }

    pub(crate) fn object(&self) -> Value {
        self.api.state().store.find("Release", "shop").unwrap().clone()
    }

    /// The owner edits the spec.
    pub(crate) fn edit(&self, change: impl FnOnce(&mut Value)) {
        self.api.state().edit_as("argocd", "Release", "shop", change);
    }

    /// A person asks for something in the status.
    pub(crate) fn ask(&self, request: &Value) {
        self.api.state().edit_as("kubectl-patch", "Release", "shop", |object| {
            object["status"]["request"] = request.clone();
        });
    }

    pub(crate) fn status(&self) -> Status {
        Status::of(&self.object())
    }

    /// A condition: its status and its reason.
    pub(crate) fn condition(&self, kind: &str) -> Option<(String, String)> {
        let found = self.status().conditions.into_iter().find(|condition| condition.kind == kind)?;
        Some((found.status, found.reason))
    }

    pub(crate) async fn record(&self) -> Record {
        let name: ReleaseName = "shop/shop".parse().unwrap();
        self.api.cluster().await.get_record(&name).await.unwrap().record
    }

    pub(crate) fn reconciler<'c>(&self, cluster: &'c Cluster, replica: &str) -> Reconciler<'c, NoClients> {
        Reconciler::new(cluster, self.api.client(), NoClients, (replica.to_owned(), INTERVAL))
    }

    pub(crate) async fn reconcile(&self, reconciler: &Reconciler<'_, NoClients>) -> Reconciled {
        Box::pin(reconciler.reconcile(&self.object(), &self.grants, self.now)).await.unwrap()
    }

    /// One reconciliation by a replica that has just begun.
    pub(crate) async fn reconcile_once(&self) -> Reconciled {
        let cluster = self.api.cluster_with(options()).await;
        self.reconcile(&self.reconciler(&cluster, "replica")).await
    }

    /// An interval passes: users get responses.
    pub(crate) async fn pass(&mut self, again: Duration) {
        let weight = self.record().await.state.weight;
        let mut state = self.api.state();
        if weight.basis_points() > 0 {
            state.proxies.respond("v2", 40, self.failed);
        }
        state.proxies.respond("v1", 200, 0);
        drop(state);
        let again = if again < Duration::from_secs(1) { Duration::ZERO } else { again.min(INTERVAL) };
        self.now += SignedDuration::try_from(again).unwrap();
        let weight = weight.to_string();
        if self.weights.last() != Some(&weight) {
            self.weights.push(weight);
        }
    }

    /// Reconciles until the object's condition is so.
    pub(crate) async fn reconcile_until(&mut self, kind: &str, status: &str) {
        let cluster = self.api.cluster_with(options()).await;
        let reconciler = self.reconciler(&cluster, "replica");
        for _ in 0..MANY {
            let again = self.reconcile(&reconciler).await.again;
            if self.condition(kind).is_some_and(|(found, _)| found == status) {
                return;
            }
            self.pass(again).await;
        }
        panic!("{kind} is not {status} after {MANY} reconciliations: {:#?}", self.status());
    }
}
