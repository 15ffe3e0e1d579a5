//! Gateways that run without V8, and an operator in front of them.

use super::desk::{BRIEF, Desk, Ran};
use super::rights::printed;
use canary_ctl::cluster::{
    Access, ApplyOptions, Cluster, Error, Preparation, PrepareOptions, WaitOptions, WriteOptions,
};
use canary_ctl::plan::WasmRuntime;
use canary_ctl::spec::{Release, parse};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use wasm_tests::client::User;
use wasm_tests::lab::{Lab, Stage, StageOptions};
use wasm_tests::scenario::Document;

/// A gateway whose Envoy dies of a first Wasm filter on some processors, one pod of stable behind it, and routes.
pub(super) struct Unprepared<'l> {
    pub(super) lab: &'l Lab,
    pub(super) stage: Stage,
    pub(super) document: Document,
    pub(super) release: Release,
}

impl<'l> Unprepared<'l> {
    pub(super) async fn set_up(lab: &'l Lab, name: &str, gateways: &str) -> Self {
        let options = StageOptions { envoy: "1.36".to_owned(), ..StageOptions::gateway() };
        let stage = Stage::set_up(lab, name, &options).await.unwrap();
        let replicas = format!("--replicas={gateways}");
        lab.kubectl(&["scale", "-n", &stage.ingress, "deployment/gateway", &replicas]).await.unwrap();
        // Carts live in a pod, and nothing tells pods of a version apart without the filter.
        lab.kubectl(&["scale", "-n", &stage.namespace, "deployment/shop-v1", "--replicas=1"]).await.unwrap();
        lab.rolled_out(&stage.namespace, "deployment/shop-v1").await.unwrap();
        lab.rolled_out(&stage.ingress, "deployment/gateway").await.unwrap();
        let document = stage.release().unwrap().with("/spec/weight", "0").with("/spec/maxStep", "100");
        let release = parse(Path::new("canary.yaml"), &document.text()).unwrap().release;
        Self { lab, stage, document, release }
    }

    /// The operator, who may be killed after so many writes and takes over what `kubectl` has applied.
    pub(super) async fn cluster(&self, at_most: Option<u32>) -> Cluster {
        let access = Access { kubeconfig: Some(self.lab.kubeconfig("admin").unwrap()), ..Access::default() };
        let writing =
            WriteOptions { force_conflicts: true, at_most, patience: BRIEF, ..WriteOptions::default() };
        Cluster::connect(&access, writing).await.unwrap()
    }

    pub(super) async fn apply(&self, cluster: &Cluster) -> Result<(), Error> {
        let waiting = WaitOptions { patience: Duration::from_mins(1), progress: &mut |_, _| {} };
        let how = ApplyOptions { waiting, wait: true, skipped: &[], again: false };
        cluster.apply(&self.release, how).await.map(drop)
    }

    pub(super) async fn prepare(&self, cluster: &Cluster) -> Result<Preparation, Error> {
        cluster.prepare_proxies(&self.release, options(&mut |step| println!("prepare: {step}"))).await
    }

    /// `canary-ctl prepare --undo` by an account with the rights that `generate rbac --prepare` prints, and no others.
    pub(super) async fn undo_as(&self, account: &str) -> Ran {
        let file = Desk::file_of(&self.document);
        printed(&self.desk(), account, &file, &["--prepare"]).await;
        self.desk().run(account, &file, &["prepare", "--undo"]).await
    }

    /// `canary-ctl status` as the administrator.
    pub(super) async fn status(&self) -> Ran {
        self.desk().run("admin", &Desk::file_of(&self.document), &["status"]).await
    }

    fn desk(&self) -> Desk<'l> {
        Desk { lab: self.lab, namespace: self.stage.namespace.clone() }
    }

    pub(super) async fn deployment(&self) -> Value {
        let get = [
            "get",
            "deployment",
            "gateway",
            "-n",
            &self.stage.ingress,
            "-o",
            "json",
            "--show-managed-fields",
        ];
        serde_json::from_str(&self.lab.kubectl(&get).await.unwrap()).unwrap()
    }

    pub(super) async fn patch(&self, patch: &str) {
        let deployment = ["patch", "deployment", "gateway", "-n", &self.stage.ingress, "-p", patch];
        self.lab.kubectl(&deployment).await.unwrap();
    }

    /// The objects of Istio that are there.
    pub(super) async fn envoy_filters(&self) -> Vec<String> {
        let get = ["get", "envoyfilter", "-n", &self.stage.ingress, "-o", "name"];
        let names = self.lab.kubectl(&get).await.unwrap();
        names.lines().map(|name| name.rsplit('/').next().unwrap().to_owned()).collect()
    }

    pub(super) async fn runtimes(&self, cluster: &Cluster) -> Vec<WasmRuntime> {
        let proxies = cluster.preparation(&self.release).await.unwrap().proxies;
        proxies.into_iter().map(|proxy| proxy.runtime).collect()
    }

    pub(super) fn users(&self, count: usize) -> Vec<User> {
        (0..count).map(|_| self.stage.user()).collect()
    }

    pub(super) fn runtime_object(&self) -> String {
        format!("canary-{}-runtime", self.stage.selector)
    }
}

pub(super) fn options(progress: &mut dyn FnMut(&str)) -> PrepareOptions<'_> {
    PrepareOptions { timeout: Duration::from_mins(3), progress, skipped: &[] }
}
