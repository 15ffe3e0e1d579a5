//! Gateways that run without V8, and an operator in front of them.

use crate::support::kill::{Killed, killed_after_objects};
use crate::support::rbac::printed;
use crate::support::release_fixture::{BRIEF, CliOutput, ReleaseFixture};
use browser::User;
use canary_operations::{
    Access, ApplyOptions, Cluster, Error, Preparation, PrepareOptions, WaitOptions, WriteOptions,
};
use canary_release::file::parse;
use canary_release::preflight::WasmRuntime;
use canary_release::spec::Release;
use mesh_lab::Lab;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::Document;

/// A gateway whose Envoy dies of a first Wasm filter on some processors, one pod of stable behind it, and routes.
pub(crate) struct GatewayWithoutV8<'l> {
    pub(crate) lab: &'l Lab,
    pub(crate) env: ShopEnv,
    pub(crate) document: Document,
    pub(crate) release: Release,
}

impl<'l> GatewayWithoutV8<'l> {
    pub(crate) async fn set_up(lab: &'l Lab, name: &str, gateways: usize) -> Self {
        let options = ShopEnvOptions { envoy: "1.36".to_owned(), ..ShopEnvOptions::gateway() };
        let env = ShopEnv::set_up(lab, name, &options).await.unwrap();
        lab.scale(&env.ingress, "gateway", gateways).await.unwrap();
        // Carts are in a pod's memory, and without the filter users do not stay on one of several pods.
        lab.scale(&env.namespace, "shop-v1", 1).await.unwrap();
        lab.rolled_out(&env.namespace, "shop-v1").await.unwrap();
        lab.rolled_out(&env.ingress, "gateway").await.unwrap();
        let document = env.release().unwrap().with("/spec/weight", "0").with("/spec/maxStep", "100");
        let release = parse(Path::new("canary.yaml"), &document.text()).unwrap().release;
        Self { lab, env, document, release }
    }

    /// The operator's connection; `apply` takes over what `kubectl` has applied.
    pub(crate) async fn cluster(&self) -> Cluster {
        Cluster::connect(&self.access(), forced()).await.unwrap()
    }

    /// The same by a process that is killed after so many writes of objects.
    pub(crate) async fn killed_after(&self, writes: u32) -> (Cluster, Killed) {
        killed_after_objects(&self.access(), writes, forced()).await
    }

    fn access(&self) -> Access {
        Access { kubeconfig: Some(self.lab.kubeconfig("admin").unwrap()), ..Access::default() }
    }

    pub(crate) async fn apply(&self, cluster: &Cluster) -> Result<(), Error> {
        let waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} };
        let how = ApplyOptions { waiting, wait: true, skipped: &[], allow_rolled_back: false };
        cluster.apply(&self.release, how).await.map(drop)
    }

    pub(crate) async fn prepare(&self, cluster: &Cluster) -> Result<Preparation, Error> {
        cluster.prepare_proxies(&self.release, options(&mut |step| println!("prepare: {step}"))).await
    }

    /// `canary-ctl prepare --undo` by an account with the rights that `generate rbac --prepare` prints, and no others.
    pub(crate) async fn undo_as(&self, account: &str) -> CliOutput {
        let file = ReleaseFixture::file_of(&self.document);
        printed(&self.fixture(), account, &file, &["--prepare"]).await;
        self.fixture().run(account, &file, &["prepare", "--undo"]).await
    }

    /// `canary-ctl status` as the administrator.
    pub(crate) async fn status(&self) -> CliOutput {
        self.fixture().run("admin", &ReleaseFixture::file_of(&self.document), &["status"]).await
    }

    fn fixture(&self) -> ReleaseFixture<'l> {
        ReleaseFixture { api: self.lab, namespace: self.env.namespace.clone() }
    }

    pub(crate) async fn deployment(&self) -> Value {
        let get =
            ["get", "deployment", "gateway", "-n", &self.env.ingress, "-o", "json", "--show-managed-fields"];
        serde_json::from_str(&self.lab.kubectl(&get).await.unwrap()).unwrap()
    }

    pub(crate) async fn patch(&self, patch: &str) {
        let deployment = ["patch", "deployment", "gateway", "-n", &self.env.ingress, "-p", patch];
        self.lab.kubectl(&deployment).await.unwrap();
    }

    /// The names of the existing `EnvoyFilter`s.
    pub(crate) async fn envoy_filters(&self) -> Vec<String> {
        let get = ["get", "envoyfilter", "-n", &self.env.ingress, "-o", "name"];
        let names = self.lab.kubectl(&get).await.unwrap();
        names.lines().map(|name| name.rsplit('/').next().unwrap().to_owned()).collect()
    }

    pub(crate) async fn runtimes(&self, cluster: &Cluster) -> Vec<WasmRuntime> {
        let proxies = cluster.preparation(&self.release).await.unwrap().proxies;
        proxies.into_iter().map(|proxy| proxy.runtime).collect()
    }

    pub(crate) fn users(&self, count: usize) -> Vec<User> {
        (0..count).map(|_| self.env.user()).collect()
    }

    pub(crate) fn runtime_object(&self) -> String {
        format!("canary-{}-runtime", self.env.selector)
    }
}

pub(crate) fn options(progress: &mut dyn FnMut(&str)) -> PrepareOptions<'_> {
    PrepareOptions { timeout: Duration::from_mins(3), progress, skipped: &[] }
}

fn forced() -> WriteOptions {
    WriteOptions { force_conflicts: true, lease_timing: BRIEF, ..WriteOptions::default() }
}
