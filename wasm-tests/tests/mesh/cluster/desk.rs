//! Namespaces for one test, and an operator in front of them.

use canary_ctl::cluster::{
    Access, Applied, Applying, Asked, Cluster, Error, TakingBack, Turned, Waiting, Writing,
};
use canary_ctl::plan::{Back, ends_after};
use canary_ctl::spec::{Release, ReleaseName, parse};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use wasm_tests::lab::Lab;
use wasm_tests::scenario::Document;

/// What a release comes to: a subset rule, routes for gateways and mesh, configuration, filter, record, keys.
pub(super) const KINDS: &str = "destinationrule,virtualservice,envoyfilter,configmap,secret";

/// An operator with all rights, and namespaces without pods.
pub(super) struct Desk<'l> {
    pub(super) lab: &'l Lab,
    /// Where releases are; their gateway is in `<namespace>-ingress`.
    pub(super) namespace: String,
}

impl<'l> Desk<'l> {
    pub(super) async fn new(lab: &'l Lab, namespace: &str) -> Self {
        for name in [namespace.to_owned(), format!("{namespace}-ingress")] {
            lab.kubectl(&["create", "namespace", &name]).await.unwrap();
        }
        Self { lab, namespace: namespace.to_owned() }
    }

    /// A release in these namespaces, behind the one gateway.
    pub(super) fn release(&self, name: &str) -> Release {
        let gateway = format!("{}-ingress", self.namespace);
        let gateways = json!([{"name": format!("{gateway}/gateway"), "selector": {"istio": "gateway"}}]);
        let document = Document::session(name)
            .with("/metadata/namespace", self.namespace.as_str())
            .with("/spec/hosts", json!([format!("{name}.example.com")]))
            .with("/spec/gateways", gateways)
            .with("/spec/delivery", json!({"module": "oci://registry.example.com/filter:1"}));
        parse(Path::new("canary.yaml"), &document.text()).unwrap().release
    }

    pub(super) async fn cluster(&self) -> Cluster {
        self.cluster_that(Writing::default()).await
    }

    pub(super) async fn cluster_that(&self, writing: Writing) -> Cluster {
        let kubeconfig = Some(self.lab.kubeconfig("admin").unwrap());
        Cluster::connect(&Access { kubeconfig, context: None }, writing).await.unwrap()
    }

    /// What is there of ours, each object with its version; what Kubernetes puts into every namespace left out.
    pub(super) async fn versions(&self) -> BTreeMap<String, String> {
        let mut versions = BTreeMap::new();
        for object in self.objects().await {
            let text = |path: &str| object.pointer(path).unwrap().as_str().unwrap().to_owned();
            let name = format!("{} {}", text("/kind"), text("/metadata/name"));
            versions.insert(name, text("/metadata/resourceVersion"));
        }
        versions
    }

    pub(super) async fn objects(&self) -> Vec<Value> {
        let mut objects = Vec::new();
        for namespace in [self.namespace.clone(), format!("{}-ingress", self.namespace)] {
            let list = self
                .lab
                .kubectl(&["get", KINDS, "-n", &namespace, "-o", "json", "--show-managed-fields"])
                .await
                .unwrap();
            let list: Value = serde_json::from_str(&list).unwrap();
            let items = list["items"].as_array().unwrap().iter();
            objects.extend(items.filter(|item| is_of_a_release(item)).cloned());
        }
        objects
    }
}

fn is_of_a_release(object: &Value) -> bool {
    let name = object["metadata"]["name"].as_str().unwrap();
    name != "kube-root-ca.crt" && !name.starts_with("istio-ca-")
}

pub(super) fn name(release: &Release) -> ReleaseName {
    release.name.clone()
}

/// Applies a release whose pods nobody asks for.
pub(super) async fn apply(cluster: &Cluster, release: &Release) -> Result<Applied, Error> {
    let mut progress = |_, _| {};
    let waiting = Waiting { patience: Duration::from_secs(5), progress: &mut progress };
    cluster.apply(release, Applying { waiting, wait: false, allow_unready: true, again: false }).await
}

pub(super) async fn uninstall(cluster: &Cluster, release: &Release) -> Result<(), Error> {
    let stored = cluster.known(&release.name).await?;
    let mut progress = |_, _| {};
    let mut waiting = Waiting { patience: Duration::from_secs(5), progress: &mut progress };
    cluster.uninstall(&release.name, stored, &mut waiting).await.map(drop)
}

/// So many percent.
pub(super) fn percent(share: &str) -> Asked {
    Asked { weight: share.parse().unwrap(), until: None, why: "weight" }
}

/// The ways in which a release turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Promote,
    /// The canary at once, a promotion with a deadline.
    RollBack,
    Finish,
}

/// Turns a release as `canary-ctl promote`, `rollback` and `promote --finish` do, or continues what is under way.
pub(super) async fn turn(cluster: &Cluster, release: &Release, verb: Verb) -> Result<Turned, Error> {
    let stored = cluster.known(&release.name).await?;
    let mut progress = |_, _| {};
    let mut waiting = Waiting { patience: Duration::from_mins(1), progress: &mut progress };
    let day = Some(canary_ctl::spec::Seconds::DAY);
    match verb {
        Verb::Promote => cluster.promote(&release.name, stored, ends_after(day), Some(&mut waiting)).await,
        Verb::RollBack => {
            let back = match stored.record.to_roll_back()? {
                Back::Draining(_) => Back::Done,
                back => back,
            };
            let deadline = matches!(back, Back::Promotion(_)).then(|| ends_after(day));
            let how = TakingBack { back: &back, deadline };
            cluster.roll_back(&release.name, stored, how, &mut waiting).await
        }
        Verb::Finish => {
            let versions = stored.record.draining_versions();
            cluster.finish(&release.name, stored, &versions, &mut waiting).await
        }
    }
}
