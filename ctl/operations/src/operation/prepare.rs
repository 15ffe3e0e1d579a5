//! Restarts proxies that have no V8, so that a running proxy never gets its first Wasm filter.
//!
//! ```text
//! checks     proxies without V8, their Deployments, what a restart costs; nothing is written before all of them
//! lease      of the shared objects of these pods; then the checks again
//! runtime    the EnvoyFilter that creates V8, for a label that no pod has yet
//! label      into the template of one Deployment after the other, and a wait for each (restart)
//! wait       until every proxy has V8, and those without it have ended
//! runtime    for all of the pods, so that later ones start with V8
//! ```
//!
//! After a kill at any point the next call continues: the label of a restart is derived from the existing pods.

use crate::proxies::runtimes::envoy_runs;
use crate::stores::lease_manager::{NamespacedName, Task};
use crate::{Cluster, Error};
use assignment::contract::Position;
use canary_release::manifest::{RUNTIME_LABEL, ReleaseInstance, Runtime, runtimes};
use canary_release::object::Reference;
use canary_release::plan::{Plan, check_rolling_update, next_label, runtime_change};
use canary_release::preflight::{Alternative, PreflightCheck, ProxyRuntime, WasmRuntime};
use canary_release::record::Proxies;
use canary_release::spec::{Release, ReleaseName};
use k8s_openapi::api::core::v1::Pod;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The options of `prepare`.
pub struct PrepareOptions<'a> {
    /// The wait for each Deployment, and for V8 in its proxies.
    pub timeout: Duration,
    /// Called with each step that is done.
    pub progress: &'a mut dyn FnMut(&str),
    /// The checks that are skipped.
    pub skipped: &'a [PreflightCheck],
}

/// A Deployment whose pods are restarted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Restart {
    /// The Deployment.
    pub deployment: Reference,
    /// Whether its pods are the application's, with proxies as sidecars.
    pub is_sidecar: bool,
    /// The proxies in its pods that have no V8.
    pub proxies: Vec<ProxyRuntime>,
}

/// The restarts that the proxies of a release need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preparation {
    /// The Deployments to restart, each with its proxies.
    pub restarts: Vec<Restart>,
    /// All proxies of the release.
    pub proxies: Vec<ProxyRuntime>,
}

/// The proxies of one set of pods, and what they need.
struct Group {
    runtime: Runtime,
    restarts: Vec<Restart>,
    /// The value of [`RUNTIME_LABEL`] for this restart.
    label: String,
    /// An earlier call was interrupted: the object is still for pods with the label alone.
    is_unfinished: bool,
    proxies: Vec<ProxyRuntime>,
}

impl Cluster {
    /// The plan of [`prepare_proxies`](Self::prepare_proxies). Reads only.
    ///
    /// # Errors
    ///
    /// Where proxies cannot be asked, and where a proxy without V8 belongs to no Deployment or to one whose strategy would
    /// leave no ready pod.
    pub async fn preparation(&self, release: &Release) -> Result<Preparation, Error> {
        Ok(Preparation::of(&self.groups(release).await?))
    }

    /// Restarts the proxies of a release that have no V8, and does nothing if all have it or do not need it.
    ///
    /// # Errors
    ///
    /// As [`preparation`](Self::preparation); where pods of the application would be restarted, unless `moves-users` is
    /// skipped; where a Deployment does not roll out in time, or a proxy has no V8 in time.
    pub async fn prepare_proxies(
        &self,
        release: &Release,
        mut options: PrepareOptions<'_>,
    ) -> Result<Preparation, Error> {
        self.preparation(release).await?.check_sessions(options.skipped)?;
        let task = Task { verb: "prepare", release: &release.name };
        let runtimes = runtimes(&ReleaseInstance::first(release, 1))?;
        let shared: Vec<NamespacedName> = runtimes.into_iter().map(|runtime| runtime.config).collect();
        self.leases
            .with_leases(shared, task, async || {
                // Read again: another operator may have prepared the same proxies while this one waited.
                let groups = self.groups(release).await?;
                let prepared = Preparation::of(&groups);
                prepared.check_sessions(options.skipped)?;
                for group in &groups {
                    self.prepare_group(&release.name, group, &mut options).await?;
                }
                Ok(prepared)
            })
            .await
    }

    async fn prepare_group(
        &self,
        release: &ReleaseName,
        group: &Group,
        options: &mut PrepareOptions<'_>,
    ) -> Result<(), Error> {
        let Group { runtime, restarts, label, is_unfinished, .. } = group;
        let is_begun = *is_unfinished || !restarts.is_empty();
        if !restarts.is_empty() {
            self.write_runtime(release, runtime, Some(label)).await?;
            (options.progress)(&format!(
                "{} makes V8 in pods that start from now on",
                reference(runtime.place())
            ));
            // A pod that starts before istiod has sent the object starts without V8.
            tokio::time::sleep(self.options.istiod_push_delay).await;
        }
        for restart in restarts {
            self.restart(&restart.deployment, Some(label), options).await?;
        }
        self.wait_for_v8(runtime, options).await?;
        if is_begun { self.write_runtime(release, runtime, None).await } else { Ok(()) }
    }

    /// Writes the object that creates V8: for all of the pods, or for those with this label.
    async fn write_runtime(
        &self,
        release: &ReleaseName,
        runtime: &Runtime,
        label: Option<&str>,
    ) -> Result<(), Error> {
        let (manifest, object) = (runtime.manifest(label)?, reference(runtime.place()));
        let plan = async || {
            let observed = self.client.get(&object).await?;
            let changes = runtime_change(&manifest, release, observed.as_ref())?.into_iter().collect();
            Ok(Plan { changes, ..Plan::default() })
        };
        self.apply_with_retry(plan).await.map(drop)
    }

    async fn groups(&self, release: &Release) -> Result<Vec<Group>, Error> {
        let mut groups = Vec::new();
        for runtime in runtimes(&ReleaseInstance::first(release, 1))? {
            groups.push(self.group(runtime).await?);
        }
        Ok(groups)
    }

    async fn group(&self, runtime: Runtime) -> Result<Group, Error> {
        let proxies = self.wasm_runtimes(&[selected(&runtime)]).await?;
        let pods: BTreeMap<String, Pod> = self
            .client
            .pods_and_terminating(runtime.pods.namespace.as_str(), &runtime.pods.labels)
            .await?
            .into_iter()
            .filter(envoy_runs)
            .filter_map(|pod| Some((pod.metadata.name.clone()?, pod)))
            .collect();
        let mut restarts: BTreeMap<Reference, Vec<ProxyRuntime>> = BTreeMap::new();
        let mut labels = BTreeSet::new();
        for proxy in proxies.iter().filter(|proxy| !proxy.runtime.is_safe()) {
            let Some(pod) = pods.get(&proxy.pod) else { continue };
            let label = pod.metadata.labels.as_ref().and_then(|labels| labels.get(RUNTIME_LABEL));
            // One that was restarted and does not answer yet may have V8.
            labels.insert(label.filter(|_| proxy.runtime == WasmRuntime::Missing).cloned());
            if pod.metadata.deletion_timestamp.is_none() {
                let deployment = self.deployment_of(pod).await?;
                restarts.entry(deployment).or_default().push(proxy.clone());
            }
        }
        for deployment in restarts.keys() {
            check_rolling_update(&self.deployment(deployment).await?)?;
        }
        let is_sidecar = runtime.position == Position::Mesh;
        let restart = |(deployment, proxies)| Restart { deployment, is_sidecar, proxies };
        let observed = self.client.get(&reference(runtime.place())).await?;
        let is_unfinished = observed.as_ref().is_some_and(is_for_labelled_pods);
        Ok(Group {
            label: next_label(labels.iter().map(Option::as_deref)),
            restarts: restarts.into_iter().map(restart).collect(),
            runtime,
            is_unfinished,
            proxies,
        })
    }
}

impl Preparation {
    fn of(groups: &[Group]) -> Self {
        let restarts = groups.iter().flat_map(|group| group.restarts.clone()).collect();
        let proxies = groups.iter().flat_map(|group| group.proxies.clone()).collect();
        Self { restarts, proxies }
    }

    /// Refuses to restart pods of an application, whose sessions may live in their memory.
    ///
    /// # Errors
    ///
    /// If pods of an application would be restarted, unless the check is skipped.
    pub fn check_sessions(&self, skipped: &[PreflightCheck]) -> Result<(), Error> {
        let Some(cost) = self.session_cost() else { return Ok(()) };
        let alternative = Alternative::EndSessions { deployments: self.of_applications().cloned().collect() };
        Ok(PreflightCheck::MovesUsers.refuse(skipped, cost, alternative)?)
    }

    /// The Deployments of applications among those that would be restarted.
    fn of_applications(&self) -> impl Iterator<Item = &Reference> {
        self.restarts.iter().filter(|restart| restart.is_sidecar).map(|restart| &restart.deployment)
    }

    /// The cost of restarted pods for the users of their applications; `None` if only gateways are restarted.
    pub fn session_cost(&self) -> Option<String> {
        let deployments: Vec<String> = self.of_applications().map(ToString::to_string).collect();
        (!deployments.is_empty()).then(|| {
            format!(
                "{} would be restarted: what its pods keep in memory is lost, sessions included",
                deployments.join(", ")
            )
        })
    }
}

pub(crate) fn reference((namespace, name): NamespacedName) -> Reference {
    Reference::new("networking.istio.io/v1alpha3", "EnvoyFilter", &namespace, &name)
}

pub(crate) fn selected(runtime: &Runtime) -> Proxies {
    Proxies { namespace: runtime.pods.namespace.to_string(), labels: runtime.pods.labels.clone() }
}

fn is_for_labelled_pods(object: &Value) -> bool {
    let labels = object.pointer("/spec/workloadSelector/labels");
    labels.is_some_and(|labels| labels.get(RUNTIME_LABEL).is_some())
}
