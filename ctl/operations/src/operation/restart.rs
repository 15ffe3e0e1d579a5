//! Restarts the pods of a Deployment by its own strategy, and removes the label of a restart.
//!
//! On an object of another owner only one label of the pod template is written, with our field manager.

use crate::client::WriteMode;
use crate::operation::prepare::{reference, selected};
use crate::stores::lease_manager::Task;
use crate::{Cluster, Error, Preparation, PrepareOptions, Restart};
use assignment::contract::Position;
use canary_release::manifest::{ReleaseInstance, Runtime, runtimes};
use canary_release::object::Reference;
use canary_release::plan::{
    check_rolling_update, is_labelled_by_us, makes_pods_with, restart_body, rollout_status, runtime_removal,
};
use canary_release::preflight::ProxyRuntime;
use canary_release::spec::Release;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// The polling interval for a rolling update.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

impl Cluster {
    /// The plan of [`undo_preparation`](Self::undo_preparation). Reads only.
    ///
    /// # Errors
    ///
    /// Where Deployments cannot be read, and where the strategy of one would leave no ready pod.
    pub async fn undoing_preparation(&self, release: &Release) -> Result<Preparation, Error> {
        let mut restarts = Vec::new();
        for runtime in runtimes(&ReleaseInstance::first(release, 1))? {
            for deployment in
                self.client.list("apps/v1", "Deployment", runtime.pods.namespace.as_str()).await?
            {
                if is_labelled_by_us(&deployment) && makes_pods_with(&deployment, &runtime.pods.labels) {
                    check_rolling_update(&deployment)?;
                    let is_sidecar = runtime.position == Position::Mesh;
                    let deployment = Reference::of(&deployment)?;
                    restarts.push(Restart { deployment, is_sidecar, proxies: Vec::new() });
                }
            }
        }
        Ok(Preparation { restarts, proxies: Vec::new() })
    }

    /// Removes the label of a restart, which restarts the pods once more, and deletes the object that creates V8 if no
    /// release needs it. An existing release is not changed.
    ///
    /// # Errors
    ///
    /// As [`prepare_proxies`](Self::prepare_proxies).
    pub async fn undo_preparation(
        &self,
        release: &Release,
        mut options: PrepareOptions<'_>,
    ) -> Result<Preparation, Error> {
        let undone = self.undoing_preparation(release).await?;
        undone.check_sessions(options.skipped)?;
        let runtimes = runtimes(&ReleaseInstance::first(release, 1))?;
        let task = Task { verb: "undo prepare", release: &release.name };
        let shared = runtimes.iter().map(|runtime| runtime.config.clone()).collect();
        self.leases
            .with_leases(shared, task, async || {
                for restart in &undone.restarts {
                    self.restart(&restart.deployment, None, &mut options).await?;
                }
                for runtime in &runtimes {
                    self.delete_unused(runtime).await?;
                }
                Ok(())
            })
            .await?;
        Ok(undone)
    }

    /// Lets the API server check the label of each restart, and forget it.
    ///
    /// # Errors
    ///
    /// Where it refuses one.
    pub async fn dry_run_restarts(&self, preparation: &Preparation, undo: bool) -> Result<(), Error> {
        for Restart { deployment, .. } in &preparation.restarts {
            let body = restart_body(deployment, (!undo).then_some("1"));
            self.client.apply_body(deployment, &body, WriteMode::DryRun).await?;
        }
        Ok(())
    }

    /// Deletes the object that creates V8, unless a release has its filter in these proxies.
    async fn delete_unused(&self, runtime: &Runtime) -> Result<(), Error> {
        let object = reference(runtime.place());
        if self.client.get(&reference(runtime.filter())).await?.is_some() {
            return Ok(());
        }
        let observed = self.client.get(&object).await?;
        match runtime_removal(&object, observed.as_ref()) {
            Some(change) => self.client.carry_out(&change, WriteMode::Commit).await.map(drop),
            None => Ok(()),
        }
    }

    /// Writes or removes the label, and waits until the Deployment has replaced its pods.
    pub(crate) async fn restart(
        &self,
        deployment: &Reference,
        label: Option<&str>,
        options: &mut PrepareOptions<'_>,
    ) -> Result<(), Error> {
        self.client.apply_body(deployment, &restart_body(deployment, label), WriteMode::Commit).await?;
        let begun = Instant::now();
        let mut announced = None;
        loop {
            let status = rollout_status(&self.deployment(deployment).await?);
            if announced.replace(status.updated) != Some(status.updated) {
                let (updated, replicas) = (status.updated, status.replicas);
                (options.progress)(&format!("{deployment}: {updated} of {replicas} pods restarted"));
            }
            if status.is_complete {
                return Ok(());
            }
            let waited = begun.elapsed();
            if waited >= options.timeout || status.failure.is_some() {
                let deployment = deployment.to_string();
                let (updated, replicas, failure) = (status.updated, status.replicas, status.failure);
                return Err(Error::NotRolledOut { deployment, updated, replicas, failure, waited });
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Waits until every proxy of these pods has V8, and those that have none have ended.
    pub(crate) async fn wait_for_v8(
        &self,
        runtime: &Runtime,
        options: &mut PrepareOptions<'_>,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        let mut announced = None;
        loop {
            let proxies = self.wasm_runtimes(&[selected(runtime)]).await?;
            let all = proxies.len();
            let rest: Vec<ProxyRuntime> = proxies.into_iter().filter(|one| !one.runtime.is_safe()).collect();
            if announced.replace(rest.len()) != Some(rest.len()) {
                (options.progress)(&format!("{} of {all} proxies can take a Wasm filter", all - rest.len()));
            }
            if rest.is_empty() {
                return Ok(());
            }
            let waited = begun.elapsed();
            if waited >= options.timeout {
                return Err(Error::NotPrepared { proxies: rest, waited });
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// The Deployment that a pod belongs to, by its `ReplicaSet`.
    pub(crate) async fn deployment_of(&self, pod: &Pod) -> Result<Reference, Error> {
        let namespace = pod.metadata.namespace.clone().unwrap_or_default();
        let name = pod.metadata.name.clone().unwrap_or_default();
        let foreign = |owner: Option<&OwnerReference>| Error::NoDeployment {
            pod: format!("{namespace}/{name}"),
            owner: owner
                .map_or_else(|| "no owner".to_owned(), |owner| format!("{} {}", owner.kind, owner.name)),
        };
        let owners = pod.metadata.owner_references.iter().flatten();
        let owner = owners.into_iter().find(|owner| owner.controller == Some(true));
        let Some(set) = owner.filter(|owner| owner.kind == "ReplicaSet") else { return Err(foreign(owner)) };
        let set = self.client.get(&Reference::new("apps/v1", "ReplicaSet", &namespace, &set.name)).await?;
        let found = set.as_ref().and_then(|set| set.pointer("/metadata/ownerReferences/0"));
        let text = |field: &str| found.and_then(|owner| owner.get(field)).and_then(Value::as_str);
        match (text("kind"), text("name")) {
            (Some("Deployment"), Some(name)) => Ok(Reference::new("apps/v1", "Deployment", &namespace, name)),
            _ => Err(foreign(owner)),
        }
    }

    pub(crate) async fn deployment(&self, deployment: &Reference) -> Result<Value, Error> {
        let missing = || Error::Deleted { object: deployment.clone() };
        self.client.get(deployment).await?.ok_or_else(missing)
    }
}
