//! One chart on its way.

use super::super::templates::deployment_with;
use super::super::{HELMS, IN_EACH_NAMESPACE, TwinChart};
use super::charts::{AUTOSCALED, ChartCase, PODS};
use browser::User;
use mesh_lab::Lab;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::Document;

/// What changes by itself, or belongs to the test.
const OF_NOBODY: [&str; 3] = ["events", "events.events.k8s.io", "pods.metrics.k8s.io"];

/// What several charts share.
pub(super) struct Place<'l> {
    lab: &'l Lab,
    gateway: SocketAddr,
    ingress: String,
    /// A release behind the gateway.
    release: Document,
    /// All kinds that a namespace can have, as `kubectl get` takes them.
    kinds: String,
    /// What was beside the gateway.
    before: BTreeSet<String>,
}

impl<'l> Place<'l> {
    /// A gateway.
    pub(super) async fn set_up(lab: &'l Lab, name: &str) -> Self {
        let options = ShopEnvOptions { shop: false, ..ShopEnvOptions::gateway() };
        let env = ShopEnv::set_up(lab, name, &options).await.unwrap();
        let line = ["api-resources", "--namespaced", "--verbs=list,delete", "-o", "name"];
        let kinds = lab.kubectl(&line).await.unwrap();
        let kinds: Vec<&str> = kinds.lines().filter(|kind| !OF_NOBODY.contains(kind)).collect();
        assert!(kinds.len() > 30, "{kinds:?}");
        let release = env.release().unwrap().with("/spec/routes", "inject");
        let release = release.with("/spec/weight", "0").with("/spec/maxStep", "100");
        let (gateway, ingress, kinds) = (env.gateway, env.ingress.clone(), kinds.join(","));
        let mut place = Self { lab, gateway, ingress, release, kinds, before: BTreeSet::new() };
        place.before = everything(&place, &place.ingress).await;
        place
    }

    /// Fails unless what there is beside the gateway is what there was, and this.
    pub(super) async fn is_clean_but_for(&self, objects: &[&str]) {
        let mut left = everything(self, &self.ingress).await;
        left.retain(|object| !objects.contains(&object.as_str()));
        assert_eq!(left, self.before, "beside the gateway");
    }
}

/// All objects of a namespace, whoever has made them.
async fn everything(place: &Place<'_>, namespace: &str) -> BTreeSet<String> {
    let text = place.lab.kubectl(&["get", &place.kinds, "-n", namespace, "-o", "name"]).await.unwrap();
    let is_ours = |name: &&str| !IN_EACH_NAMESPACE.contains(name) && *name != "serviceaccount/default";
    text.lines().filter(is_ours).map(str::to_owned).collect()
}

pub(super) struct Walk<'p> {
    place: &'p Place<'p>,
    case: &'static ChartCase,
    chart: TwinChart<'p>,
    /// Before the installation.
    before: BTreeSet<String>,
    /// What Helm has deployed without a canary.
    alone: Vec<String>,
    kept: String,
    /// The uids of stable's pods.
    stable: BTreeSet<String>,
}

impl<'p> Walk<'p> {
    /// Installed by Helm alone, with routes of its owner.
    pub(super) async fn install(place: &'p Place<'p>, case: &'static ChartCase) -> Self {
        let (lab, namespace) = (place.lab, case.name);
        lab.apply(&routes(place, namespace)).await.unwrap();
        let mut chart = TwinChart::without_templates(lab, namespace, case.helm).await;
        chart.decisions = case.decisions;
        if let Some(objects) = case.objects {
            chart.write_templates(&deployment_with(objects));
            std::fs::write(chart.path("chart/values.yaml"), case.values).unwrap();
        } else {
            (chart.values, chart.selector) = (case.values, "app.kubernetes.io/name=shop");
            lab.helm(case.helm, &["create", &chart.text("shop")]).await.unwrap();
            if namespace == "subchart" {
                lab.helm(case.helm, &["create", &chart.text("shop/charts/worker")]).await.unwrap();
            }
            std::fs::rename(chart.path("shop"), chart.path("chart")).unwrap();
        }
        let mut walk = Self {
            place,
            case,
            before: everything(place, namespace).await,
            chart,
            alone: Vec::new(),
            kept: String::new(),
            stable: BTreeSet::new(),
        };
        walk.write_release("v1", "v2");
        let set = walk.chart.set("v1");
        walk.chart.helm(&["install", "shop", &walk.chart.text("chart"), "--set", &set]).await;
        walk.chart.ready("shop").await;
        walk.is_scaled("shop", "v1").await;
        walk.is_answered().await;
        walk.alone = walk.chart.listed().await;
        walk.kept = walk.read(case.kept).await;
        walk
    }

    pub(super) fn user(&self) -> User {
        User::http1(self.place.gateway, host(self.case.name)).as_if_tls()
    }

    /// `canary-ctl` with these arguments.
    pub(super) async fn runs(&self, line: &str) {
        self.chart.canary_ctl(&line.split(' ').collect::<Vec<_>>()).await;
    }

    pub(super) async fn adopts(&mut self) {
        self.stable = self.chart.pods_with(self.chart.selector).await;
        self.runs("twin adopt shop").await;
        assert_eq!(self.chart.pods("v1").await, self.stable, "{}: adopted", self.case.name);
    }

    pub(super) async fn applies(&self) {
        self.runs("apply --wait").await;
    }

    /// The same release with the version that comes.
    pub(super) async fn begins_next(&mut self, stable: &str, canary: &str) {
        self.write_release(stable, canary);
        self.stable = self.chart.pods(stable).await;
        self.applies().await;
    }

    pub(super) async fn deploys_beside(&mut self, stable: &str, canary: &str) {
        let name = self.case.name;
        if name == AUTOSCALED && stable == "v1" {
            self.narrows(stable).await;
        }
        self.chart.deploy_beside(canary).await;
        self.is_scaled(&format!("shop-{canary}"), canary).await;
        assert_eq!(self.chart.pods(stable).await, self.stable, "{name}: after {canary} came");
        let mut both = self.alone.clone();
        both.extend(self.case.twinned.iter().map(|twin| (*twin).to_owned()));
        both.sort();
        assert_eq!(self.chart.listed().await, both, "{name}: beside {canary}");
        self.has_kept(stable, canary).await;
    }

    /// The sessions of the old version have ended.
    pub(super) async fn finishes(&mut self, version: &str) {
        let name = self.case.name;
        let promoted = self.chart.pods(version).await;
        self.runs("promote --finish --skip-check moves-users").await;
        self.chart.finish(version).await;
        self.chart.gone("v1").await;
        assert_eq!(self.chart.pods(version).await, promoted, "{name}: the promoted pods stay");
        assert_eq!(self.chart.listed().await, self.alone, "{name}: finished");
        self.has_kept(version, version).await;
    }

    pub(super) async fn goes_back(&mut self, stable: &str, canary: &str) {
        let name = self.case.name;
        self.runs("rollback").await;
        self.chart.helm(&["rollback", "shop"]).await;
        self.chart.gone(canary).await;
        assert_eq!(self.chart.pods(stable).await, self.stable, "{name}: rolled back");
        assert_eq!(self.chart.listed().await, self.alone, "{name}: rolled back");
        self.has_kept(stable, canary).await;
    }

    pub(super) async fn uninstalls(&mut self) {
        self.chart.helm(&["uninstall", "shop", "--wait"]).await;
        if self.case.last_has.is_some() {
            // Helm leaves what it has run as a hook.
            self.chart.lab.kubectl(&["delete", "job", "migrate", "-n", self.case.name]).await.unwrap();
        }
        let mut left = BTreeSet::new();
        let is_clean = async || {
            left = everything(self.place, self.case.name).await;
            (left == self.before).then_some(())
        };
        let clean = self.chart.lab.until("the end of the chart's objects", is_clean).await;
        assert!(clean.is_ok(), "{}: expected {:?}, found {left:?}", self.case.name, self.before);
    }

    fn write_release(&self, stable: &str, canary: &str) {
        let namespace = self.case.name;
        let versions = json!({"stable": stable, "canary": canary});
        let release = self.place.release.clone().with("/metadata/namespace", namespace);
        let release = release.with("/spec/hosts", json!([host(namespace)])).with("/spec/versions", versions);
        std::fs::write(self.chart.path("canary.yaml"), release.text()).unwrap();
    }

    /// The selector of a Deployment cannot change, so it is made anew around its `ReplicaSet`, with the replicas and the owners that it
    /// has: otherwise it would have one replica, and Helm 4 a conflict.
    async fn narrows(&self, version: &str) {
        let (lab, namespace) = (self.chart.lab, self.case.name);
        let line = ["get", "deployment", "shop", "-n", namespace, "-o", "json", "--show-managed-fields"];
        let mut deployment: Value = serde_json::from_str(&lab.kubectl(&line).await.unwrap()).unwrap();
        deployment["spec"]["selector"]["matchLabels"]["version"] = json!(version);
        let metadata = deployment["metadata"].as_object_mut().unwrap();
        for field in ["uid", "resourceVersion", "creationTimestamp", "generation"] {
            metadata.remove(field);
        }
        let owners = metadata.remove("managedFields").unwrap();
        let delete = ["delete", "deployment", "shop", "-n", namespace, "--cascade=orphan"];
        lab.kubectl(&delete).await.unwrap();
        lab.kubectl_as("admin", &["create", "-f", "-"], &deployment.to_string()).await.unwrap();
        let patch =
            json!([{"op": "replace", "path": "/metadata/managedFields", "value": owners}]).to_string();
        let line = ["patch", "deployment", "shop", "-n", namespace, "--type=json", "-p", &patch];
        lab.kubectl(&line).await.unwrap();
        self.chart.ready("shop").await;
        assert_eq!(self.chart.pods(version).await, self.stable, "{namespace}: a narrower selector");
    }

    async fn is_answered(&self) {
        let answered = async || {
            let answer = self.user().navigate("/").await.ok()?;
            (answer.status == 200).then_some(())
        };
        self.chart.lab.until(&format!("the way to {}", host(self.case.name)), answered).await.unwrap();
    }

    /// Returns when the autoscaler has made so many pods of a version as its load needs, and the proxies know them.
    async fn is_scaled(&self, deployment: &str, version: &str) {
        let (namespace, lab) = (self.case.name, self.chart.lab);
        if namespace != AUTOSCALED {
            return;
        }
        let wanted =
            PODS.iter().find(|(name, _)| *name == version).map(|(_, pods)| pods.to_string()).unwrap();
        let path = "jsonpath={.status.readyReplicas}";
        let line = ["get", "deployment", deployment, "-n", namespace, "-o", path];
        let is_scaled = async || (lab.kubectl(&line).await.ok()? == wanted).then_some(());
        lab.until(&format!("{wanted} ready pods of {deployment}"), is_scaled).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    }

    /// Fails if something has changed that has to stay, or has not changed when it had to.
    async fn has_kept(&self, stable: &str, last: &str) {
        let name = self.case.name;
        assert_eq!(self.read(self.case.kept).await, self.kept, "{name}: what stays");
        for (field, version) in [(self.case.stable_has, stable), (self.case.last_has, last)] {
            let found = self.read(field).await;
            assert!(field.is_none() || found.contains(version), "{name}: {field:?} of {version} is {found}");
        }
        if self.case.has_role {
            self.account_may_read_its_maps().await;
        }
    }

    /// A field of an object.
    async fn read(&self, field: Option<[&str; 2]>) -> String {
        let Some([object, path]) = field else { return String::new() };
        let path = format!("jsonpath={path}");
        self.chart.lab.kubectl(&["get", object, "-n", self.case.name, "-o", &path]).await.unwrap()
    }

    /// By the names that both versions have for them.
    async fn account_may_read_its_maps(&self) {
        let (lab, namespace) = (self.chart.lab, self.case.name);
        let maps = ["get", "configmaps", "-n", namespace, "-l", HELMS, "-o", "name"];
        let account = format!("--as=system:serviceaccount:{namespace}:default");
        for map in lab.kubectl(&maps).await.unwrap().lines() {
            let ask = ["auth", "can-i", "get", map, "-n", namespace, &account];
            let may = async || lab.kubectl(&ask).await.ok();
            lab.until(&format!("the right to read {map}"), may).await.unwrap();
        }
    }
}

fn host(name: &str) -> String {
    format!("{name}.example.com")
}

/// A namespace, and the routes of the chart's owner. A shop in several pods is sticky by itself.
fn routes(place: &Place<'_>, namespace: &str) -> String {
    let metadata = json!({"name": "shop", "namespace": namespace});
    let kind = json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": namespace, "labels": {"istio-injection": "disabled"}}});
    let service = json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService", "metadata": metadata,
        "spec": {"hosts": [host(namespace)], "gateways": [format!("{}/shop", place.ingress)],
            "http": [{"route": [{"destination": {"host": "shop"}}]}]}});
    let cookie = json!({"name": "shop-affinity", "path": "/", "ttl": "0s"});
    let rule = json!({"apiVersion": "networking.istio.io/v1", "kind": "DestinationRule", "metadata": metadata,
        "spec": {"host": "shop",
            "trafficPolicy": {"loadBalancer": {"consistentHash": {"httpCookie": cookie}}}}});
    let rule = if namespace == AUTOSCALED { format!("---\n{rule}\n") } else { String::new() };
    format!("---\n{kind}\n---\n{service}\n{rule}")
}
