//! Examines a release and its cluster, and writes nothing: before the first `apply` and after it, everything at once.

use crate::client::pods::has_ended;
use crate::observe::recover::deployed_releases;
use crate::observe::routes::service_ref;
use crate::operation::apply::FailedChecks;
use crate::operation::checks::now;
use crate::proxies::runtimes::{envoy_runs, proxy_image};
use crate::{Cluster, Error};
use canary_release::destination_rule::ROOT_NAMESPACE;
use canary_release::doctor::{
    Area, ControlPlane, Examination, Istiod, KeyState, ProxyExamination, Refusal, ServiceExamination,
};
use canary_release::metrics::{MetricFilter, PodName};
use canary_release::plan::Plan;
use canary_release::preflight::{WasmRuntime, istio_tag};
use canary_release::record::{Proxies, ServiceRef, proxies};
use canary_release::spec::{Release, ReleaseName, Routes};
use canary_release::status::{ProxyFault, WindowTraffic, WrongCookie};
use k8s_openapi::api::core::v1::Pod;
use std::collections::{BTreeMap, BTreeSet};

/// The part of the metric's name in the proxy, as a filter, so that fewer lines are sent.
const FILTER: MetricFilter = MetricFilter::of_proxy("runtime.v8.created");

/// The label of istiod's pods.
const ISTIOD_LABEL: (&str, &str) = ("app", "istiod");
/// Its container in them.
const ISTIOD_CONTAINER: &str = "discovery";

/// The observations, and the errors of those that failed.
#[derive(Debug, Default)]
pub struct Diagnosis {
    /// The observations.
    pub examination: Examination,
    /// The error of a part that was not observed, or of the plan. A missing right is part of the examination.
    pub errors: Vec<(Area, Error)>,
}

impl Cluster {
    /// Examines a release and its cluster. Reads, reviews and dry runs only.
    ///
    /// # Errors
    ///
    /// None: what cannot be read is part of the diagnosis.
    pub async fn diagnose(&self, release: &Release) -> Diagnosis {
        let mut diagnosis = Diagnosis::default();
        let (service, exposure, rights, proxies, cookie, control_plane, keys, remote_clusters, admission) = tokio::join!(
            Box::pin(self.examine_service(release)),
            self.exposure(release, None),
            self.missing_rights(release),
            self.examine_proxies(release),
            Box::pin(self.examine_session_cookie(release)),
            self.examine_control_plane(),
            self.examine_keys(release),
            self.remote_clusters(),
            Box::pin(self.examine_admission(release)),
        );
        let mut keep = Keep(&mut diagnosis.errors);
        let examination = &mut diagnosis.examination;
        examination.service = keep.ok(Area::Service, service);
        examination.exposure = keep.ok(Area::Gateways, exposure);
        examination.missing_rights = keep.ok(Area::Rights, rights);
        examination.proxies = keep.ok(Area::Proxies, proxies);
        // What stops it is a finding of its own: a record that cannot be read, a proxy that does not respond.
        examination.wrong_cookie = cookie.ok().flatten();
        examination.control_plane = Some(control_plane);
        examination.keys = keep.ok(Area::Keys, keys);
        examination.remote_clusters = keep.ok(Area::Clusters, remote_clusters).unwrap_or_default();
        if let Some(admission) = keep.ok(Area::Admission, admission) {
            if let Some(FailedChecks { failed, other, error }) = keep.ok(Area::Callers, admission.checks) {
                examination.routes = admission.routes;
                examination.failed_checks = failed;
                examination.unrouted = other.unrouted;
                examination.gaps = other.coverage.gaps;
                examination.unreached = other.unreached;
                keep.0.extend(error.map(|error| (Area::Admission, error)));
            }
            examination.without_record = keep.ok(Area::Proxies, admission.without_record).unwrap_or_default();
            examination.is_installed = Some(admission.is_installed);
            examination.brings_wasm = admission.plan.brings_wasm();
            let refusals = admission.refusals.into_iter();
            // Missing rights are listed whole.
            let refusals = refusals.filter(|error| !matches!(error, Error::Forbidden { .. }));
            examination.refusals =
                Some(refusals.map(|error| Refusal { message: error.to_string() }).collect());
        }
        diagnosis
    }

    /// The sentence about a session cookie that is the wrong one, as far as the proxies have counted. A release that is not there has none.
    async fn examine_session_cookie(&self, release: &Release) -> Result<Option<String>, Error> {
        let Some(stored) = self.find_record(&release.name).await? else { return Ok(None) };
        let (counts_sessions, cookie) = self.session_settings(&release.name, &stored).await?;
        let Some(cookie) = cookie.filter(|_| counts_sessions) else { return Ok(None) };
        let total = self.traffic(&release.name.to_string(), &stored.record).await?;
        let counted = WindowTraffic { total, ..WindowTraffic::default() };
        let installed_at = stored.record.state.installed_at_seconds;
        Ok(WrongCookie::of(&counted, &cookie, installed_at, now()).map(|found| found.to_string()))
    }

    async fn examine_service(&self, release: &Release) -> Result<ServiceExamination, Error> {
        // A record that cannot be read is a finding of its own.
        let found = self.find_record(&release.name).await.ok().flatten();
        let service = match &found {
            Some(stored) => {
                let routes = self.version_routes(&release.name, &stored.record).await?;
                service_ref(&release.name, &stored.record, &routes)
            }
            None => ServiceRef::of(release),
        };
        let pods = self.client.service_pods(release.name.namespace.as_str(), &service).await?;
        Ok(pods.examination(release))
    }

    async fn examine_proxies(&self, release: &Release) -> Result<Vec<ProxyExamination>, Error> {
        let mut found: BTreeMap<PodName, (Option<String>, Option<ProxyFault>)> = BTreeMap::new();
        for Proxies { namespace, labels } in proxies(release) {
            let pods = self.client.pods(&namespace, &labels).await?.into_iter();
            let running = pods.filter(|pod| envoy_runs(pod) && !has_ended(pod)).collect();
            found.extend(self.client.data_planes(&namespace, running).await.into_iter().map(
                |(pod, plane)| {
                    let examined = (proxy_image(&pod), ProxyFault::of(plane));
                    ((namespace.clone(), pod.metadata.name.unwrap_or_default()), examined)
                },
            ));
        }
        let readable = found.iter().filter(|(_, (_, fault))| fault.is_none());
        let readable: BTreeSet<PodName> = readable.map(|(name, _)| name.clone()).collect();
        let mut reported = self.metrics_of(readable, FILTER).await?;
        let examined = found.into_iter().map(|(name, (image, fault))| {
            let metrics = reported.remove(&name);
            let page = metrics.as_ref().and_then(|metrics| metrics.as_ref().ok());
            let wasm_runtime = WasmRuntime::of(image.as_deref(), page);
            let istio = image.as_deref().and_then(istio_tag).map(str::to_owned);
            let fault = fault.or_else(|| metrics?.err().map(ProxyFault::Unread));
            let (namespace, pod) = name;
            ProxyExamination { namespace, pod, istio, wasm_runtime, fault }
        });
        Ok(examined.collect())
    }

    /// The istiods of the root namespace. Who may not list pods there does without: nothing else needs that right.
    async fn examine_control_plane(&self) -> ControlPlane {
        let (name, value) = ISTIOD_LABEL;
        let labels = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let pods = match self.client.pods(ROOT_NAMESPACE, &labels).await {
            Ok(pods) => pods,
            Err(error) => return ControlPlane::Unknown(error.to_string()),
        };
        if pods.is_empty() {
            let found = format!("no pod with the label {name}={value} in namespace `{ROOT_NAMESPACE}`");
            return ControlPlane::Unknown(found);
        }
        let istiod = |pod: Pod| {
            let containers = pod.spec.into_iter().flat_map(|spec| spec.containers);
            let image = containers.into_iter().find(|container| container.name == ISTIOD_CONTAINER);
            let labels = pod.metadata.labels.unwrap_or_default();
            let name = pod.metadata.name.unwrap_or_default();
            Istiod::of(&name, image.and_then(|container| container.image).as_deref(), &labels)
        };
        ControlPlane::Istiods(pods.into_iter().map(istiod).collect())
    }

    async fn examine_keys(&self, release: &Release) -> Result<KeyState, Error> {
        let missing = self.keys.find(release).await?.missing();
        Ok(if missing.is_empty() { KeyState::Equal } else { KeyState::Missing { namespaces: missing } })
    }

    /// The plan of `apply`, and the API server's response to its dry run.
    async fn examine_admission(&self, release: &Release) -> Result<Admission, Error> {
        let found = self.find_or_recover(release).await?;
        let is_installed = found.is_some();
        let planned = self.plan_apply(release, found, false).await?;
        let refusals = self.refusals(release, &planned).await;
        let checks = Box::pin(self.failed_checks(release, &planned)).await;
        let others = planned.configurations().into_iter().flat_map(deployed_releases);
        let others = others.filter(|name| *name != release.name).collect();
        let without_record = self.without_record(others).await;
        let routes = planned.stored.record.routes;
        Ok(Admission { is_installed, routes, without_record, refusals, checks, plan: planned.plan })
    }
}

/// A plan, and what of it the API server refuses.
struct Admission {
    is_installed: bool,
    routes: Routes,
    without_record: Result<Vec<ReleaseName>, Error>,
    plan: Plan,
    checks: Result<FailedChecks, Error>,
    refusals: Vec<Error>,
}

/// Collects the errors of parts of an examination.
struct Keep<'d>(&'d mut Vec<(Area, Error)>);

impl Keep<'_> {
    fn ok<T>(&mut self, area: Area, examined: Result<T, Error>) -> Option<T> {
        match examined {
            Ok(examined) => Some(examined),
            Err(error) => {
                self.0.push((area, error));
                None
            }
        }
    }
}
