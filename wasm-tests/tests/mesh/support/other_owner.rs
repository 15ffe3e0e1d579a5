//! `DestinationRule`s and `VirtualService`s of another owner beside a release.

use crate::support::loaded_fixture::LoadedFixture;
use canary_release::preflight::PreflightCheck;
use serde_json::{Value, json};
use wasm_tests::scenario::Document;

/// Another owner has routes, for other hosts; those lead to the canary too.
pub(crate) fn beside(release: Document) -> Document {
    release.with("/spec/routes", "managed")
}

pub(crate) const LEADING: &[PreflightCheck] = &[PreflightCheck::RoutesBypassed];

impl LoadedFixture<'_> {
    /// A rule of theirs for the shop, or for this host.
    pub(crate) async fn rule(&self, namespace: &str, host: Option<&str>, spec: Value) {
        let shop = format!("shop.{}.svc.cluster.local", self.env.namespace);
        let mut spec = spec;
        spec["host"] = json!(host.unwrap_or(&shop));
        self.theirs("DestinationRule", namespace, spec).await;
    }

    /// Routes of theirs, for a host at the gateway.
    pub(crate) async fn routes(&self, host: &str, http: Value) {
        let gateways = [format!("{}/shop", self.env.ingress)];
        let spec = json!({"hosts": [host], "gateways": gateways, "http": http});
        self.theirs("VirtualService", &self.env.namespace, spec).await;
    }

    /// An object of theirs, named after the place where it matters.
    async fn theirs(&self, kind: &str, namespace: &str, spec: Value) {
        let metadata = json!({"name": format!("theirs-{}", self.env.namespace), "namespace": namespace});
        let object =
            json!({"apiVersion": "networking.istio.io/v1", "kind": kind, "metadata": metadata, "spec": spec});
        self.lab.apply(&object.to_string()).await.unwrap();
    }
}

/// A destination of theirs.
pub(crate) fn to_shop(subset: Option<&str>) -> Value {
    let mut destination = json!({"host": "shop"});
    if let Some(subset) = subset {
        destination["subset"] = json!(subset);
    }
    json!([{"route": [{"destination": destination}]}])
}
