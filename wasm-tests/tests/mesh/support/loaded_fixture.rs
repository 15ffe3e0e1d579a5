//! The shop behind a gateway of its own, and an operator with a release of it: what tests under load begin with.

use crate::support::release_fixture::set_weight;
use browser::User;
use canary_operations::{Access, ApplyOptions, Cluster, Error, WaitOptions, WriteOptions};
use canary_release::file::parse;
use canary_release::preflight::PreflightCheck;
use canary_release::spec::Release;
use mesh_lab::Lab;
use std::path::Path;
use std::time::Duration;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::{Document, HOST};

pub(crate) struct LoadedFixture<'l> {
    pub(crate) lab: &'l Lab,
    pub(crate) env: ShopEnv,
    pub(crate) cluster: Cluster,
    /// The operator's file, as a document.
    pub(crate) document: Document,
    pub(crate) release: Release,
}

impl<'l> LoadedFixture<'l> {
    /// Nothing is applied yet. The file has weight 0, and allows any step; `with` changes it further.
    pub(crate) async fn set_up(lab: &'l Lab, name: &str, with: impl FnOnce(Document) -> Document) -> Self {
        Self::set_up_with(lab, name, &ShopEnvOptions::gateway(), with).await
    }

    /// The same with these options.
    pub(crate) async fn set_up_with(
        lab: &'l Lab,
        name: &str,
        options: &ShopEnvOptions,
        with: impl FnOnce(Document) -> Document,
    ) -> Self {
        let env = ShopEnv::set_up(lab, name, options).await.unwrap();
        let document = env.release().unwrap().with("/spec/weight", "0").with("/spec/maxStep", "100");
        let document = with(document);
        let release = parse(Path::new("canary.yaml"), &document.text()).unwrap().release;
        let access = Access { kubeconfig: Some(lab.kubeconfig("admin").unwrap()), ..Access::default() };
        let cluster = Cluster::connect(&access, WriteOptions::default()).await.unwrap();
        Self { lab, env, cluster, document, release }
    }

    /// Applies the release, and waits for it.
    pub(crate) async fn apply(&self) {
        self.applied(&[], false).await.unwrap();
    }

    /// The same for a version that was rolled back.
    pub(crate) async fn apply_again(&self) {
        self.applied(&[], true).await.unwrap();
    }

    /// The same, with these checks skipped.
    pub(crate) async fn apply_although(&self, skipped: &[PreflightCheck]) -> Result<(), Error> {
        self.applied(skipped, false).await
    }

    async fn applied(&self, skipped: &[PreflightCheck], allow_rolled_back: bool) -> Result<(), Error> {
        let waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} };
        let how = ApplyOptions { waiting, wait: true, skipped, allow_rolled_back };
        Box::pin(self.cluster.apply(&self.release, how)).await.map(drop)
    }

    /// Changes the weight, and waits for it.
    pub(crate) async fn weigh(&self, percent: &str) {
        let stored = self.cluster.get_record(&self.release.name).await.unwrap();
        let updated = set_weight(&self.cluster, &self.release.name, stored, percent).await.unwrap();
        let record = updated.stored.record;
        let mut waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} };
        self.cluster.wait(&self.release.name, &record, &mut waiting).await.unwrap();
    }

    /// A browser that sends requests to this host.
    pub(crate) fn user_at(&self, host: &str) -> User {
        User::http1(self.env.gateway, host).as_if_tls()
    }

    pub(crate) fn users(&self, count: usize) -> Vec<User> {
        (0..count).map(|_| self.user_at(HOST)).collect()
    }

    /// Returns when the gateway answers for this host.
    pub(crate) async fn answers(&self, host: &str) {
        let answered = async || {
            let response = self.user_at(host).navigate("/").await.ok()?;
            (response.status == 200).then_some(())
        };
        self.lab.until(&format!("the way to {host}"), answered).await.unwrap();
    }

    /// Returns when this session has had twenty responses of its version in a row. Routes that have not arrived yet may give one by
    /// chance.
    pub(crate) async fn until_served_by(&self, version: &str, session: &mut User) {
        let served = async || {
            for _ in 0..20 {
                let response = session.fetch("/").await.ok()?;
                (response.header("x-shop-version") == Some(version)).then_some(())?;
            }
            Some(())
        };
        self.lab.until(&format!("a session on {version}"), served).await.unwrap();
    }
}
