//! The shop behind a gateway of its own, and an operator with a release of it: what tests under load begin with.

use canary_ctl::cluster::{Access, ApplyOptions, Asked, Cluster, Error, WaitOptions, WriteOptions};
use canary_ctl::plan::PreflightCheck;
use canary_ctl::spec::{Release, parse};
use std::path::Path;
use std::time::Duration;
use wasm_tests::client::User;
use wasm_tests::lab::{Lab, Stage, StageOptions};
use wasm_tests::scenario::{Document, HOST};

pub(super) struct Scene<'l> {
    pub(super) lab: &'l Lab,
    pub(super) stage: Stage,
    pub(super) cluster: Cluster,
    /// The operator's file, and what it says.
    pub(super) document: Document,
    pub(super) release: Release,
}

impl<'l> Scene<'l> {
    /// Nothing is applied yet. The file says weight 0, and allows any step; `with` says what else.
    pub(super) async fn set_up(lab: &'l Lab, name: &str, with: impl FnOnce(Document) -> Document) -> Self {
        let stage = Stage::set_up(lab, name, &StageOptions::gateway()).await.unwrap();
        let document = stage.release().unwrap().with("/spec/weight", "0").with("/spec/maxStep", "100");
        let document = with(document);
        let release = parse(Path::new("canary.yaml"), &document.text()).unwrap().release;
        let access = Access { kubeconfig: Some(lab.kubeconfig("admin").unwrap()), ..Access::default() };
        let cluster = Cluster::connect(&access, WriteOptions::default()).await.unwrap();
        Self { lab, stage, cluster, document, release }
    }

    /// Applies the release, and waits for it.
    pub(super) async fn apply(&self) {
        self.applied(&[], false).await.unwrap();
    }

    /// The same for a version that was rolled back.
    pub(super) async fn apply_again(&self) {
        self.applied(&[], true).await.unwrap();
    }

    /// The same, with these checks skipped.
    pub(super) async fn apply_although(&self, skipped: &[PreflightCheck]) -> Result<(), Error> {
        self.applied(skipped, false).await
    }

    async fn applied(&self, skipped: &[PreflightCheck], again: bool) -> Result<(), Error> {
        let waiting = WaitOptions { patience: Duration::from_mins(1), progress: &mut |_, _| {} };
        let how = ApplyOptions { waiting, wait: true, skipped, again };
        self.cluster.apply(&self.release, how).await.map(drop)
    }

    /// Changes the weight, and waits for it.
    pub(super) async fn weigh(&self, percent: &str) {
        let stored = self.cluster.get_record(&self.release.name).await.unwrap();
        let asked = Asked { weight: percent.parse().unwrap(), until: None, why: "weight" };
        let record = self.cluster.set_weight(&self.release.name, stored, asked).await.unwrap().stored.record;
        let mut waiting = WaitOptions { patience: Duration::from_mins(1), progress: &mut |_, _| {} };
        self.cluster.wait(&self.release.name.to_string(), &record, &mut waiting).await.unwrap();
    }

    /// A browser that asks for this host.
    pub(super) fn user_at(&self, host: &str) -> User {
        User::http1(self.stage.gateway, host).as_if_tls()
    }

    pub(super) fn users(&self, count: usize) -> Vec<User> {
        (0..count).map(|_| self.user_at(HOST)).collect()
    }

    /// Returns when the gateway answers for this host.
    pub(super) async fn answers(&self, host: &str) {
        let answered = async || {
            let answer = self.user_at(host).navigate("/").await.ok()?;
            (answer.status == 200).then_some(())
        };
        self.lab.until(&format!("the way to {host}"), answered).await.unwrap();
    }
}
