//! Reads how users reach a release: its Gateways, their pods, and the routes of others where the routes are external.

use crate::client::pods::has_ended;
use crate::{Cluster, Error};
use canary_release::object::Reference;
use canary_release::plan::{Plan, PlanNote};
use canary_release::preflight::{
    Exposure, GatewayObservation, PodLabels, PreflightCheck, check_exposure, exposure_failures,
};
use canary_release::routing::{GATEWAY_API, ROUTE_KIND};
use canary_release::spec::{Gateway, Release, Routes};
use futures_util::future::try_join_all;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const ISTIO: &str = "networking.istio.io/v1";
/// The checks of what is read here.
const CHECKS: [PreflightCheck; 6] = [
    PreflightCheck::NoGateway,
    PreflightCheck::NoProxies,
    PreflightCheck::SelectorMismatch,
    PreflightCheck::HostNotServed,
    PreflightCheck::NoTls,
    PreflightCheck::PlaceholderModule,
];

impl Cluster {
    /// What is there of the ways on which users reach a release.
    pub(crate) async fn exposure(&self, release: &Release) -> Result<Exposure, Error> {
        let gateways = try_join_all(release.gateways.iter().map(|gateway| self.observe_gateway(gateway)));
        let mut namespaces = BTreeSet::from([release.name.namespace.to_string()]);
        namespaces.extend(release.gateways.iter().map(|gateway| gateway.pods.namespace.to_string()));
        let route_objects = async {
            match release.routes {
                Some(Routes::External) => self.client.list_istio_in(ROUTE_KIND, &namespaces).await,
                _ => Ok(Vec::new()),
            }
        };
        let (gateways, route_objects) = tokio::try_join!(gateways, route_objects)?;
        Ok(Exposure { gateways, route_objects })
    }

    /// Refuses a release that users cannot reach as its file says.
    pub(crate) async fn check_exposure(
        &self,
        release: &Release,
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        if CHECKS.iter().all(|check| skipped.contains(check)) {
            return Ok(());
        }
        Ok(check_exposure(release, &self.exposure(release).await?, skipped)?)
    }

    /// The failures of [`check_exposure`](Self::check_exposure), as notes on a plan that is only printed.
    pub(crate) async fn exposure_notes(
        &self,
        release: &Release,
        plan: &Plan,
    ) -> Result<Vec<PlanNote>, Error> {
        if plan.is_empty() {
            return Ok(Vec::new());
        }
        let exposure = self.exposure(release).await?;
        Ok(exposure_failures(release, &exposure).into_iter().map(PlanNote::CheckFails).collect())
    }

    async fn observe_gateway(&self, gateway: &Gateway) -> Result<GatewayObservation, Error> {
        let (namespace, name) = (gateway.name.namespace.as_str(), gateway.name.name.as_str());
        let mut object = self.client.get(&Reference::new(ISTIO, "Gateway", namespace, name)).await?;
        let mut is_gateway_api = false;
        if object.is_none() {
            // Without the right to read it, it is none.
            let other = self.client.get(&Reference::new(GATEWAY_API, "Gateway", namespace, name)).await;
            object = other.ok().flatten();
            is_gateway_api = object.is_some();
        }
        let pods_in = gateway.pods.namespace.as_str();
        let mut found = self.labels_of(pods_in, &gateway.pods.labels).await?;
        let theirs = object.as_ref().map(selector).filter(|theirs| *theirs != gateway.pods.labels);
        if let Some(theirs) = theirs.filter(|_| !is_gateway_api) {
            found.extend(self.labels_of(pods_in, &theirs).await?);
        }
        let pods = found.into_values().collect();
        Ok(GatewayObservation { gateway: gateway.clone(), object, is_gateway_api, pods })
    }

    /// The labels of the pods that a selector fits and that have not ended, by name.
    async fn labels_of(
        &self,
        namespace: &str,
        selector: &PodLabels,
    ) -> Result<BTreeMap<String, PodLabels>, Error> {
        let pods = self.client.pods(namespace, selector).await?.into_iter().filter(|pod| !has_ended(pod));
        Ok(pods
            .filter_map(|pod| Some((pod.metadata.name?, pod.metadata.labels.unwrap_or_default())))
            .collect())
    }
}

/// The pods that a Gateway selects, by their labels.
fn selector(gateway: &Value) -> PodLabels {
    let labels = gateway.pointer("/spec/selector").and_then(Value::as_object).into_iter().flatten();
    labels.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}
