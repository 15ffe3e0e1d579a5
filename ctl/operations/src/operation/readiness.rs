//! Waits until the pods of a version are ready, or until they cannot get ready by themselves; then says what their container wrote last.

use crate::client::ApiRequest;
use crate::error::ReadinessError;
use crate::{Cluster, Error};
use canary_release::plan::VersionLabel;
use canary_release::status::{ReadinessFailure, VersionReadiness};
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::Api;
use kube::api::{ListParams, LogParams};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The lines of a container's output that are shown.
const LOG_LINES: i64 = 15;
const LOG_BYTES: i64 = 8192;
/// The events of a pod that are read, and the latest of them that are shown.
const EVENTS_READ: u32 = 50;
const EVENTS: usize = 3;

/// The options of the wait for a version.
pub struct ReadinessOptions<'a> {
    /// The longest wait.
    pub timeout: Duration,
    /// The Service whose pods count; those of the whole namespace without one.
    pub service: Option<&'a str>,
    /// Called with each state that differs from the one before.
    pub progress: &'a mut dyn FnMut(&VersionReadiness),
}

/// A version whose pods are ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionReady {
    /// Their number.
    pub pods: u64,
    /// The time that it took.
    pub waited: Duration,
}

impl Cluster {
    /// Waits until every workload whose pods have this label is complete: those behind the Service, if one is given. Reads only.
    ///
    /// # Errors
    ///
    /// If a container cannot start, at once ([`ReadinessError::Failed`]); if the time is over ([`ReadinessError::Late`]); if Deployments,
    /// pods or the Service may not be read. Not if logs or events may not be read: then they are not in the error.
    pub async fn wait_for_version(
        &self,
        namespace: &str,
        label: &VersionLabel,
        options: ReadinessOptions<'_>,
    ) -> Result<VersionReady, Error> {
        let begun = Instant::now();
        let mut labels = BTreeMap::from([(label.name.clone(), label.version.clone())]);
        if let Some(service) = options.service {
            labels.extend(self.client.service_selector(namespace, service).await?);
        }
        let mut last = None;
        loop {
            let readiness = self.version_readiness(namespace, &labels).await?;
            let waited = begun.elapsed();
            match &readiness {
                VersionReadiness::Ready { pods } => return Ok(VersionReady { pods: *pods, waited }),
                VersionReadiness::Failed(failure) => {
                    return Err(self.failed(namespace, label, failure).await);
                }
                VersionReadiness::Waiting { ready, wanted, reasons } if waited >= options.timeout => {
                    let (label, reasons) = (label.clone(), reasons.clone());
                    let (ready, pods) = (*ready, *wanted);
                    let late = ReadinessError::Late { label, ready, wanted: pods, reasons, waited };
                    return Err(Box::new(late).into());
                }
                VersionReadiness::Waiting { .. } => {}
            }
            if last.as_ref() != Some(&readiness) {
                (options.progress)(&readiness);
            }
            last = Some(readiness);
            tokio::time::sleep(POLL_INTERVAL.min(options.timeout.saturating_sub(waited))).await;
        }
    }

    async fn version_readiness(
        &self,
        namespace: &str,
        labels: &BTreeMap<String, String>,
    ) -> Result<VersionReadiness, Error> {
        let has_labels = |workload: &Value| {
            let found = workload.pointer("/spec/template/metadata/labels");
            let has = |(name, value): (&String, &String)| {
                found.and_then(|found| found.get(name)?.as_str()) == Some(value)
            };
            labels.iter().all(has)
        };
        let mut workloads = Vec::new();
        for kind in ["Deployment", "StatefulSet", "DaemonSet"] {
            let listed = match self.client.list("apps/v1", kind, namespace).await {
                // Pods without their owner are counted one by one.
                Err(Error::Forbidden { .. }) if kind != "Deployment" => Vec::new(),
                listed => listed?,
            };
            workloads.extend(listed.into_iter().filter(has_labels).map(|mut workload| {
                if let Some(fields) = workload.as_object_mut() {
                    fields.insert("kind".to_owned(), Value::from(kind));
                }
                workload
            }));
        }
        let pods = self.client.pods(namespace, labels).await?;
        let pods: Vec<Value> = pods.into_iter().filter_map(|pod| serde_json::to_value(pod).ok()).collect();
        Ok(VersionReadiness::of(&workloads, &pods))
    }

    async fn failed(&self, namespace: &str, label: &VersionLabel, failure: &ReadinessFailure) -> Error {
        let (mut log, mut warnings) = (Vec::new(), Vec::new());
        if let (Some(pod), Some(container)) = (failure.object.strip_prefix("Pod "), &failure.container) {
            // Both explain a failure that is known already.
            log = self.last_lines(namespace, pod, container, failure.has_restarted).await.unwrap_or_default();
            warnings = self.warnings(namespace, pod).await.unwrap_or_default();
        }
        Box::new(ReadinessError::Failed { label: label.clone(), failure: failure.clone(), log, warnings })
            .into()
    }

    /// The last lines of a container's log; of its run before, if it waits for another one.
    async fn last_lines(
        &self,
        namespace: &str,
        pod: &str,
        container: &str,
        previous: bool,
    ) -> Result<Vec<String>, Error> {
        let pods: Api<Pod> = Api::namespaced(self.client.client.clone(), namespace);
        let wanted = LogParams {
            container: Some(container.to_owned()),
            previous,
            tail_lines: Some(LOG_LINES),
            limit_bytes: Some(LOG_BYTES),
            ..LogParams::default()
        };
        let request = ApiRequest { verb: "get", resource: "pods/log", group: "", namespace, name: pod };
        let text = pods.logs(pod, &wanted).await.map_err(|error| request.error(error))?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// The latest warnings about a pod.
    async fn warnings(&self, namespace: &str, pod: &str) -> Result<Vec<String>, Error> {
        let events: Api<Event> = Api::namespaced(self.client.client.clone(), namespace);
        let fields = format!("involvedObject.kind=Pod,involvedObject.name={pod},type=Warning");
        let wanted = ListParams::default().fields(&fields).limit(EVENTS_READ);
        let request = ApiRequest { verb: "list", resource: "events", group: "", namespace, name: "" };
        let mut found = events.list(&wanted).await.map_err(|error| request.error(error))?.items;
        found.sort_by(|one, other| one.last_timestamp.cmp(&other.last_timestamp));
        let latest = found.into_iter().rev().take(EVENTS).map(|event| {
            let (reason, message) = (event.reason.unwrap_or_default(), event.message.unwrap_or_default());
            format!("{reason}: {message}")
        });
        Ok(latest.collect())
    }
}
