//! A shop with two versions behind one gateway, and the verbs of an operator.

use crate::FakeApi;
use assignment::Weight;
use canary_operations::{
    Applied, ApplyOptions, Cluster, Error, LastAlerts, PromoteOptions, RoleChanged, RollbackOptions,
    RotateOptions, Rotated, UninstallOptions, Uninstalled, WaitOptions, WeightRequest, WriteOptions,
};
use canary_release::EmbeddedModule;
use canary_release::file::parse;
use canary_release::preflight::PreflightCheck;
use canary_release::record::{Record, RecordKeys, RecordSeals, SealContext};
use canary_release::spec::{Release, ReleaseName};
use k8s_openapi::ByteString;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// How long proxies are waited for that respond at once.
const TIMEOUT: Duration = Duration::from_mins(1);
/// How long a rollback waits for proxies that respond at once, or never.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(3);
/// How long proxies are waited for that do not get what they wait for.
const SHORT_TIMEOUT: Duration = Duration::from_millis(500);

/// The namespace of the application; its gateway is in the other one.
pub const SHOP: &str = "shop";
pub const INGRESS: &str = "ingress";

/// A cluster with a Service, ready pods of `v1` and `v2`, and a gateway.
pub fn shop() -> FakeApi {
    let api = FakeApi::default();
    create_service(&api, "shop");
    api.state().create(&gateway(INGRESS, "HTTPS", "*.example.com"));
    api.state().create(&pod(INGRESS, "gateway-1", &json!({"istio": "gateway"})));
    api
}

/// A Service with ready pods of `v1` and `v2`.
pub fn create_service(api: &FakeApi, name: &str) {
    create_service_in(api, SHOP, name);
}

/// The same in a namespace.
pub fn create_service_in(api: &FakeApi, namespace: &str, name: &str) {
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"app": name}, "ports": [{"name": "http", "port": 80}]}});
    api.state().create(&service);
    for version in ["v1", "v2"] {
        let labels = json!({"app": name, "version": version});
        api.state().create(&pod(namespace, &format!("{name}-{version}"), &labels));
    }
}

/// Another release behind the same gateway.
pub fn another(api: &FakeApi, name: &str) -> Release {
    create_service(api, name);
    let changes = json!({"hosts": [format!("{name}.example.com")], "service": {"name": name, "port": 80}});
    let mut another = release(&changes);
    another.name = format!("shop/{name}").parse().unwrap();
    another
}

/// A second one.
pub fn blog(api: &FakeApi) -> Release {
    another(api, "blog")
}

/// A ready pod with a proxy.
pub fn pod(namespace: &str, name: &str, labels: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"containers": [{"name": "istio-proxy", "image": "docker.io/istio/proxyv2:1.30.0"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "istio-proxy", "image": "", "imageID": "", "ready": true,
                "restartCount": 0, "state": {"running": {}}}]}})
}

/// The Gateway of the pods with `istio: gateway`, with one server.
pub fn gateway(namespace: &str, protocol: &str, host: &str) -> Value {
    let server = json!({"port": {"number": 443, "name": "web", "protocol": protocol}, "hosts": [host]});
    json!({"apiVersion": "networking.istio.io/v1", "kind": "Gateway",
        "metadata": {"name": "gateway", "namespace": namespace},
        "spec": {"selector": {"istio": "gateway"}, "servers": [server]}})
}

/// The shop with a VirtualService that its owner has written: it leads to the Service without a subset.
pub fn shop_with_virtual_service() -> FakeApi {
    let api = shop();
    let route = json!([{"destination": {"host": "shop"}}]);
    api.state().create(&json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
    "metadata": {"name": "by-hand", "namespace": "shop"},
    "spec": {"hosts": ["shop.example.com"], "gateways": ["ingress/gateway"], "http": [
        {"match": [{"uri": {"prefix": "/cart"}}], "timeout": "3s", "route": route}, {"route": route},
    ]}}));
    api
}

/// The shop behind a Gateway of the Gateway API, with an `HTTPRoute` that its owner has written: its Service selects `v1` alone.
pub fn shop_with_http_route() -> FakeApi {
    let api = shop();
    let mut state = api.state();
    state.store.edit("Service", "shop", |service| service["spec"]["selector"]["version"] = json!("v1"));
    let listener = json!({"name": "https", "port": 443, "protocol": "HTTPS",
        "allowedRoutes": {"namespaces": {"from": "All"}}});
    state.create(&json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"name": "edge", "namespace": INGRESS}, "spec": {"listeners": [listener]}}));
    let backend = json!([{"name": "shop", "port": 80}]);
    let prefix = |path: &str| json!([{"path": {"type": "PathPrefix", "value": path}}]);
    state.create(&json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
    "metadata": {"name": "site", "namespace": SHOP},
    "spec": {"parentRefs": [{"namespace": INGRESS, "name": "edge"}], "hostnames": ["shop.example.com"],
        "rules": [{"matches": prefix("/cart"), "timeouts": {"request": "3s"}, "backendRefs": backend},
            {"matches": prefix("/"), "backendRefs": backend}]}}));
    drop(state);
    api
}

/// The same with a `GRPCRoute` of its owner for calls of the same host.
pub fn shop_with_grpc_route() -> FakeApi {
    let api = shop_with_http_route();
    let backend = json!([{"name": "shop", "port": 80}]);
    let rules = json!([{"matches": [{"method": {"service": "shop.Cart"}}], "backendRefs": backend}]);
    api.state().create(&json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GRPCRoute",
    "metadata": {"name": "calls", "namespace": SHOP},
    "spec": {"parentRefs": [{"namespace": INGRESS, "name": "edge"}], "hostnames": ["shop.example.com"], "rules": rules}}));
    api
}

/// The release of that shop, with changes to its `spec`.
pub fn release_beside_http_routes(changes: &Value) -> Release {
    let mut all = json!({"routes": "gateway-api",
        "gateways": [{"name": "ingress/edge", "selector": {"istio": "gateway"}}]});
    for (name, value) in changes.as_object().cloned().unwrap_or_default() {
        all[name] = value;
    }
    release(&all)
}

/// The release of the shop, with changes to its `spec`.
pub fn release(changes: &Value) -> Release {
    parse(Path::new("canary.yaml"), &document(changes)).unwrap().release
}

/// The same as the text of a file.
pub fn document(changes: &Value) -> String {
    let mut spec = json!({
        "versions": {"stable": "v1", "canary": "v2"},
        "hosts": ["shop.example.com"],
        "gateways": [{"name": "ingress/gateway", "selector": {"istio": "gateway"}}],
        "stickiness": "session",
        "session": {"cookie": "JSESSIONID"},
        "identifyBy": [{"cookie": "JSESSIONID"}],
        "override": "token",
        "routes": "managed",
        "maxStep": 100,
        "delivery": {"module": "oci://registry.test/filter:1"},
    });
    for (name, value) in changes.as_object().cloned().unwrap_or_default() {
        spec[name] = value;
    }
    let document = json!({"apiVersion": "canary-ctl.io/v1alpha1", "kind": "Release",
        "metadata": {"name": "shop", "namespace": SHOP, "uid": "shopshopshop"}, "spec": spec});
    document.to_string()
}

/// The same with these bytes as its module, in the configuration itself.
pub fn with_bytes(bytes: &[u8]) -> Release {
    embedding(bytes, &json!({"maxStep": 30}))
}

/// The same with changes to its `spec`.
pub fn embedding(bytes: &[u8], changes: &Value) -> Release {
    let mut changes = changes.clone();
    changes["delivery"] = json!({"module": "embedded"});
    let mut release = release(&changes);
    release.delivery.module.embed(EmbeddedModule::new(bytes).as_ref());
    release
}

/// What is in an object with these bytes as its module.
pub fn base64(bytes: &[u8]) -> String {
    EmbeddedModule::new(bytes).unwrap().base64().to_owned()
}

pub fn weight(percent: &str) -> Weight {
    percent.parse().unwrap()
}

/// On two threads: an operation that is dropped blocks its own until its Leases are released.
pub fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}

pub async fn apply(cluster: &Cluster, release: &Release) -> Result<Applied, Error> {
    apply_within(TIMEOUT, cluster, release).await
}

/// `apply` where proxies do not get what they wait for.
pub async fn apply_without_istiod(cluster: &Cluster, release: &Release) -> Result<Applied, Error> {
    apply_within(SHORT_TIMEOUT, cluster, release).await
}

async fn apply_within(timeout: Duration, cluster: &Cluster, release: &Release) -> Result<Applied, Error> {
    let waiting = WaitOptions { timeout, progress: &mut |_, _| {} };
    let options = ApplyOptions { waiting, wait: true, skipped: &[], allow_rolled_back: false };
    Box::pin(cluster.apply(release, options)).await
}

pub async fn apply_skipping(
    cluster: &Cluster,
    release: &Release,
    skipped: &[PreflightCheck],
) -> Result<Applied, Error> {
    let waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
    let options = ApplyOptions { waiting, wait: true, skipped, allow_rolled_back: false };
    Box::pin(cluster.apply(release, options)).await
}

/// `apply` of a version that was rolled back.
pub async fn apply_rolled_back(cluster: &Cluster, release: &Release) -> Result<Applied, Error> {
    let waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
    let options = ApplyOptions { waiting, wait: true, skipped: &[], allow_rolled_back: true };
    Box::pin(cluster.apply(release, options)).await
}

pub async fn set_weight(cluster: &Cluster, release: &Release, percent: &str) -> Result<(), Error> {
    let stored = cluster.get_record(&release.name).await?;
    let request =
        WeightRequest { weight: weight(percent), expires_in: None, expected_generation: None, skipped: &[] };
    let checked = cluster.check_weight(&release.name, stored, request).await?;
    cluster.set_weight(checked).await.map(drop)
}

pub async fn promote(cluster: &Cluster, release: &Release) -> Result<RoleChanged, Error> {
    let stored = cluster.get_record(&release.name).await?;
    let checked = cluster.check_promotion(&release.name, stored, PromoteOptions::default()).await?;
    let mut waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
    Box::pin(cluster.promote(checked, &mut waiting, true)).await
}

pub async fn roll_back(cluster: &Cluster, release: &Release) -> Result<RoleChanged, Error> {
    let stored = cluster.get_record(&release.name).await?;
    let checked = cluster.check_rollback(&release.name, stored, RollbackOptions::default()).await?;
    // Silent proxies are waited for too, and only what is written counts.
    let mut waiting = WaitOptions { timeout: ROLLBACK_TIMEOUT, progress: &mut |_, _| {} };
    Box::pin(cluster.roll_back(checked, &mut waiting)).await
}

pub async fn finish(cluster: &Cluster, release: &Release) -> Result<RoleChanged, Error> {
    let stored = cluster.get_record(&release.name).await?;
    let checked = cluster.check_finish(&release.name, stored, &[PreflightCheck::MovesUsers])?;
    let mut waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
    Box::pin(cluster.finish(checked, &mut waiting)).await
}

pub async fn rotate(cluster: &Cluster, release: &Release) -> Result<Rotated, Error> {
    let waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
    let options = RotateOptions { waiting, skipped: &[PreflightCheck::NoReadyPods] };
    Box::pin(cluster.rotate_keys(release, options)).await
}

/// `uninstall` of a release with ready pods of both versions.
pub async fn uninstall(cluster: &Cluster, release: &Release) -> Result<(), Error> {
    uninstall_within(TIMEOUT, cluster, release).await
}

/// `uninstall` while istiod is stopped.
pub async fn uninstall_without_istiod(cluster: &Cluster, release: &Release) -> Result<(), Error> {
    uninstall_within(SHORT_TIMEOUT, cluster, release).await
}

async fn uninstall_within(timeout: Duration, cluster: &Cluster, release: &Release) -> Result<(), Error> {
    uninstalled(timeout, cluster, release).await.map(drop)
}

/// `uninstall`, with what it reports.
pub async fn uninstall_report(cluster: &Cluster, release: &Release) -> Result<Uninstalled, Error> {
    uninstalled(TIMEOUT, cluster, release).await
}

async fn uninstalled(timeout: Duration, cluster: &Cluster, release: &Release) -> Result<Uninstalled, Error> {
    let stored = cluster.get_record(&release.name).await?;
    let waiting = WaitOptions { timeout, progress: &mut |_, _| {} };
    let skipped = &[PreflightCheck::MovesUsers];
    let options = UninstallOptions { skipped, waiting, alerts: LastAlerts::default() };
    Box::pin(cluster.uninstall(&release.name, stored, options)).await
}

/// How objects are written: the istiod of the fake sends a change at once.
pub fn options() -> WriteOptions {
    WriteOptions { istiod_push_delay: Duration::from_millis(1), ..WriteOptions::default() }
}

/// Changes the record of the shop as another process of the tool would: it is sealed with the keys of the gateway's namespace.
pub fn edit_record(api: &FakeApi, change: impl FnOnce(&mut Value)) {
    api.state().store.edit("ConfigMap", "shop-canary", |object| {
        let mut record = record_in(object);
        change(&mut record);
        object["data"]["release.json"] = json!(record.to_string());
    });
    seal_record(api);
}

/// The same without the keys, as who may write ConfigMaps can.
pub fn forge_record(api: &FakeApi, change: impl FnOnce(&mut Value)) {
    api.state().store.edit("ConfigMap", "shop-canary", |object| {
        let mut record = record_in(object);
        change(&mut record);
        object["data"]["release.json"] = json!(record.to_string());
    });
}

/// The record in a ConfigMap.
pub fn record_in(config_map: &Value) -> Value {
    serde_json::from_str(config_map["data"]["release.json"].as_str().unwrap()).unwrap()
}

/// Seals the record of the shop with the keys that the operator has.
pub fn seal_record(api: &FakeApi) {
    let release: ReleaseName = "shop/shop".parse().unwrap();
    let secret = api.state().store.find("Secret", "canary-ctl-record-keys").unwrap().clone();
    let json: ByteString = serde_json::from_value(secret["data"]["record-keys.json"].clone()).unwrap();
    let keys: RecordKeys = serde_json::from_slice(&json.0).unwrap();
    api.state().store.edit("ConfigMap", "shop-canary", |object| {
        let text = object["data"]["release.json"].as_str().unwrap().to_owned();
        let namespaces = Record::parse(&release, &text).unwrap().sealing_namespaces(&release);
        let keys = namespaces.iter().map(|namespace| (namespace.clone(), keys.clone())).collect();
        let context = SealContext { release: &release, uid: object["metadata"]["uid"].as_str().unwrap() };
        let seals = RecordSeals::of(&text, context, &keys, &namespaces).unwrap();
        object["data"]["seals.json"] = json!(serde_json::to_string(&seals).unwrap());
    });
}
