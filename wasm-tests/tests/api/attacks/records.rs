//! A user who may write ConfigMaps forges the record of a release.

use super::{ATTACKER, SKIPPED, give_config_maps};
use crate::beside_an_api_server;
use assignment::Weight;
use canary_release::delivery::deployed_config;
use mesh_lab::Kubernetes;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tempfile::NamedTempFile;
use wasm_tests::api::dashboard_page::Page;
use wasm_tests::api::fault_proxy::FaultProxy;
use wasm_tests::api::rbac::printed;
use wasm_tests::api::release_fixture::{CliOutput, KINDS, ReleaseFixture, apply, objects_of};

const OPERATOR: &str = "restricted-operator";

/// The shop and the blog of another team behind one gateway, an attacker beside the shop, and the operator of the shop.
struct Attacked<'l> {
    fixture: ReleaseFixture<'l>,
    blog: String,
    file: NamedTempFile,
    proxy: FaultProxy,
    genuine: Value,
}

impl<'l> Attacked<'l> {
    async fn new(api: &'l Kubernetes, namespace: &str) -> Self {
        let fixture = ReleaseFixture::new(api, namespace).await;
        let blog = format!("{namespace}-blog");
        api.kubectl(&["create", "namespace", &blog]).await.unwrap();
        let theirs = fixture.document("blog").with("/metadata/namespace", blog.as_str());
        apply(&fixture.cluster().await, &ReleaseFixture::read(&theirs)).await.unwrap();
        let file = fixture.file("shop");
        let roles = printed(&fixture, OPERATOR, &file, &[]).await;
        assert!(roles.iter().any(|object| object["kind"] == "Secret"), "{roles:?}");
        give_config_maps(api, ATTACKER, &[namespace]).await;
        let mut new = Self { fixture, blog, file, proxy: FaultProxy::new(api).await, genuine: Value::Null };
        let applied = async || (new.operate(&["apply"]).await.code == 0).then_some(());
        api.until("an apply with the printed rights", applied).await.unwrap();
        assert_eq!(new.operate(&["weight", "10"]).await.code, 0);
        new.genuine = new.config_map().await;
        new
    }

    /// Runs a verb as the operator, by a proxy that records the requests.
    async fn operate(&self, verb: &[&str]) -> CliOutput {
        let checks: &[&str] = match verb[0] {
            "status" | "rollout" | "recover" => &[],
            "uninstall" => &SKIPPED[6..],
            "weight" | "rollback" => &SKIPPED[..6],
            _ => &SKIPPED,
        };
        let kubeconfig = self.proxy.kubeconfig_with(&format!("token-of-{OPERATOR}"));
        self.fixture.run_by(&kubeconfig, &self.file, &[verb, checks].concat()).await
    }

    async fn config_map(&self) -> Value {
        let get = ["get", "configmap", "shop-canary", "-n", &self.fixture.namespace, "-o", "json"];
        serde_json::from_str(&self.fixture.api.kubectl_as(ATTACKER, &get, "").await.unwrap()).unwrap()
    }

    /// Writes the data of the record, as the attacker.
    async fn write(&self, data: &Value) {
        let mut config_map = self.config_map().await;
        config_map["data"] = data.clone();
        let replace = ["replace", "-f", "-"];
        self.fixture.api.kubectl_as(ATTACKER, &replace, &config_map.to_string()).await.unwrap();
    }

    /// Changes the record, as the attacker.
    async fn forge(&self, forge: fn(&Self, &mut Value)) {
        let mut data = self.config_map().await["data"].clone();
        let mut record: Value = serde_json::from_str(data["release.json"].as_str().unwrap()).unwrap();
        forge(self, &mut record);
        data["release.json"] = json!(record.to_string());
        self.write(&data).await;
    }

    /// What the other namespaces have, without what each write changes.
    async fn elsewhere(&self) -> BTreeMap<String, Value> {
        let ingress = format!("{}-ingress", self.fixture.namespace);
        let mut all = BTreeMap::new();
        for mut object in objects_of(self.fixture.api, &[&ingress, &self.blog], &KINDS).await {
            let metadata = object["metadata"].take();
            all.insert(format!("{} {} {}", metadata["namespace"], object["kind"], metadata["name"]), object);
        }
        all
    }

    /// The weight and the number of versions of a release in the deployed configuration; `None` if it is not there.
    async fn deployed(&self, release: &str) -> Option<(Weight, usize)> {
        let name = "canary-gateway-config";
        let get =
            ["get", "envoyfilter", name, "-n", &format!("{}-ingress", self.fixture.namespace), "-o", "json"];
        let object: Value = serde_json::from_str(&self.fixture.api.kubectl(&get).await.unwrap()).unwrap();
        let config = deployed_config(&object).unwrap().unwrap();
        config.releases.get(release).map(|entry| (entry.weight, entry.versions.len()))
    }
}

type Forgery = (&'static str, for<'a> fn(&Attacked<'a>, &mut Value));

/// One for each way in which a record was once believed.
const FORGERIES: [Forgery; 7] = [
    ("a module", |attacked, record| {
        let field = "/spec/configPatches/0/patch/value/typed_config/config/vm_config/code";
        let code = |uri: &str| json!({field: {"remote": {"http_uri": {"uri": uri}}}});
        let object = reference(
            "networking.istio.io/v1alpha3",
            "EnvoyFilter",
            &format!("{}-ingress", attacked.fixture.namespace),
            "canary-gateway-config",
        );
        record["moduleRollout"] = json!([{"object": object, "from": code("http://evil.test/evil.wasm"),
            "to": code("oci://registry.test/filter:1")}]);
    }),
    ("objects of others", |attacked, record| {
        let ingress = format!("{}-ingress", attacked.fixture.namespace);
        let objects = record["objects"].as_array_mut().unwrap();
        let v3 = "networking.istio.io/v1alpha3";
        objects.retain(|object| object[0] != "configuration");
        objects.push(json!(["filter", reference(v3, "EnvoyFilter", &ingress, "canary-gateway-filter")]));
        let rule = reference("networking.istio.io/v1", "DestinationRule", &attacked.blog, "blog-canary");
        objects.push(json!(["subsets", rule]));
    }),
    ("a train", |attacked, record| {
        record["train"] = json!({"name": "autumn", "isInner": true, "namespaces": [attacked.blog]});
    }),
    ("a query and a receiver", |_, record| {
        record["rollout"] = json!({"metrics": [{"name": "m", "query": "sum(other_teams_revenue)"}],
            "alerts": {"pending": [{"deliveries": [{"to": {"receiver": {"urlFrom": {"secret": "pagerduty/url"}}}}]}]}});
    }),
    ("paths", |_, record| {
        record["service"]["name"] = json!("../../../kube-system/services/dashboard:80/proxy");
        record["proxies"] = json!([{"namespace": "kube-system/pods/etcd-0:2379/proxy", "labels": {}}]);
    }),
    ("paths of objects", |_, record| {
        let name = "dashboard:80/proxy/admin/shutdown?now=1";
        record["objects"]
            .as_array_mut()
            .unwrap()
            .push(json!(["edits", reference("v1", "Service", "kube-system", name)]));
    }),
    ("a weight", |_, record| record["state"]["weight"] = json!(10_000)),
];

fn reference(api_version: &str, kind: &str, namespace: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name})
}

/// The verbs that obey a record.
const VERBS: [&[&str]; 8] = [
    &["weight", "20"],
    &["apply"],
    &["promote"],
    &["pause"],
    &["rotate-keys"],
    &["rollout", "start"],
    &["rollout", "run"],
    &["rollout", "abort"],
];

#[test]
fn what_an_attacker_writes_into_a_record_is_refused_by_every_verb_and_asks_for_nothing() {
    beside_an_api_server(async |api| {
        let attacked = Attacked::new(api, "attacked").await;
        for (what, forge) in FORGERIES {
            attacked.write(&attacked.genuine["data"]).await;
            attacked.forge(forge).await;
            let before = attacked.elsewhere().await;
            for verb in VERBS {
                let refused = attacked.operate(verb).await;
                let (stdout, stderr) = (&refused.stdout, &refused.stderr);
                assert_eq!(
                    refused.code,
                    2,
                    "{verb:?} with {what}: {stdout}{stderr}{:#?}",
                    attacked.proxy.calls()
                );
                assert!(
                    refused.stderr.contains("canary-ctl recover"),
                    "{verb:?} with {what}: {}",
                    refused.stderr
                );
                assert_eq!(attacked.elsewhere().await, before, "{verb:?} with {what}");
            }
            let status = attacked.operate(&["status"]).await;
            assert!(status.stdout.contains("not obeyed"), "status with {what}: {}", status.stdout);
            let calls = attacked.proxy.calls();
            let odd: Vec<_> = calls
                .iter()
                .filter(|call| call.contains("kube-system") || call.contains("pagerduty"))
                .collect();
            assert!(odd.is_empty(), "with {what}: {odd:?}");
        }
        let recovered = attacked.operate(&["recover"]).await;
        assert_eq!(recovered.code, 0, "{}", recovered.stderr);
        let weight = attacked.operate(&["weight", "20"]).await;
        assert_eq!(weight.code, 0, "{}", weight.stderr);
    });
}

/// A verb, and whether the deployed weight and number of versions are what it leads to.
type Emergency = (&'static [&'static str], fn(Option<(Weight, usize)>) -> bool);

#[test]
fn whatever_an_attacker_writes_into_a_record_an_emergency_takes_effect() {
    beside_an_api_server(async |api| {
        let attacked = Attacked::new(api, "attacked-night").await;
        let (shop, blog) = ("attacked-night/shop", "attacked-night-blog/blog");
        let others = attacked.deployed(blog).await;
        let is_in_force: [Emergency; 3] = [
            (&["weight", "0"], |deployed| deployed == Some((Weight::ZERO, 2))),
            (&["rollback"], |deployed| deployed.is_some_and(|(_, versions)| versions == 1)),
            (&["uninstall"], |deployed| deployed.is_none()),
        ];
        for (what, forge) in FORGERIES {
            for (verb, is_in_force) in is_in_force {
                attacked.forge(forge).await;
                let ended = attacked.operate(verb).await;
                let (stdout, stderr) = (&ended.stdout, &ended.stderr);
                assert_eq!(
                    ended.code,
                    0,
                    "{verb:?} with {what}: {stdout}{stderr}{:#?}",
                    attacked.proxy.calls()
                );
                let deployed = attacked.deployed(shop).await;
                assert!(is_in_force(deployed), "{verb:?} with {what}: {deployed:?} {}", ended.stdout);
                assert_eq!(attacked.deployed(blog).await, others, "{verb:?} with {what}");
                let again = ["apply", "--allow-rolled-back"];
                let applied = if verb == ["uninstall"] { &again[..1] } else { &again[..] };
                let applied = attacked.operate(applied).await;
                assert_eq!(applied.code, 0, "after {verb:?} with {what}: {}", applied.stderr);
                assert_eq!(attacked.operate(&["weight", "10"]).await.code, 0, "after {verb:?} with {what}");
            }
        }
    });
}

#[test]
fn the_buttons_of_the_dashboard_do_what_the_verbs_do_with_a_forged_record() {
    beside_an_api_server(async |api| {
        let attacked = Attacked::new(api, "attacked-page").await;
        let kubeconfig = api.kubeconfig(OPERATOR).unwrap();
        for (what, forge) in &FORGERIES[..2] {
            attacked.forge(*forge).await;
            let before = attacked.elsewhere().await;
            let mut dashboard = attacked.fixture.dashboard(&kubeconfig, &attacked.file);
            let mut page = Page::of(&mut dashboard).await;
            for change in [
                json!({"change": "weight", "weight": "20", "dryRun": false}),
                json!({"change": "pause", "reason": "lunch", "dryRun": false}),
                json!({"change": "promote", "dryRun": false}),
            ] {
                let (status, refused) = page.change(change.clone()).await;
                assert!(status >= 400, "{change} with {what}: {status} {refused}");
                assert_eq!(attacked.elsewhere().await, before, "{change} with {what}");
            }
            // A rollback asks for pods of stable, and there are none here.
            let zero = json!({"change": "weight", "weight": "0", "dryRun": false});
            let (status, report) = page.change(zero).await;
            assert_eq!(status, 200, "with {what}: {report}");
            let deployed = attacked.deployed("attacked-page/shop").await;
            assert_eq!(deployed, Some((Weight::ZERO, 2)), "with {what}");
            dashboard.kill().await.unwrap();
            assert_eq!(attacked.operate(&["weight", "10"]).await.code, 0, "after {what}");
        }
    });
}
