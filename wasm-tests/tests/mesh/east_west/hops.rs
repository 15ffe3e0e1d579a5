//! The shop and the catalog behind it, each released for itself, in one train.

use super::mutual_tls;
use browser::{Kind, Response, User, Visit};
use mesh_lab::Lab;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::Document;

/// The train of both releases.
pub(super) const TRAIN: &str = "autumn";

/// The version that the shop had and the one that the catalog had, for one request.
pub(super) type Versions = (String, String);

/// An environment with a catalog, and its two releases.
pub(super) struct Hops {
    pub(super) env: ShopEnv,
    pub(super) shop: Document,
    pub(super) catalog: Document,
}

impl Hops {
    /// Sets it up with a shop that passes on `headers`, `baggage` or `none`, and services that take mutual TLS alone;
    /// nothing is released yet.
    pub(super) async fn set_up(lab: &Lab, name: &str, propagate: &str) -> Self {
        let env = ShopEnv::set_up(lab, name, &ShopEnvOptions::default()).await.unwrap();
        env.add_catalog(lab, propagate).await.unwrap();
        mutual_tls::require(lab, &env).await;
        // The module is in the configuration, of gateway and sidecars.
        let in_train =
            |release: Document| release.with("/spec/train", TRAIN).with("/spec/delivery/module", "embedded");
        let (shop, catalog) = (env.release().unwrap(), env.catalog_release().unwrap());
        Self { shop: in_train(shop), catalog: in_train(catalog), env }
    }

    /// Applies both releases with these weights, and returns when the gateway and the sidecars of the shop run them.
    pub(super) async fn apply(&self, lab: &Lab, [shop, catalog]: [&str; 2], generation: u64) {
        let shop = self.shop.clone().with("/spec/weight", shop);
        let catalog = self.catalog.clone().with("/spec/weight", catalog);
        lab.apply(&self.env.generate(&[&shop, &catalog], generation).unwrap()).await.unwrap();
        let what = format!("generation {generation} in {} and its sidecars", self.env.ingress);
        lab.until(&what, async || self.has_arrived(lab, generation).await.then_some(())).await.unwrap();
    }

    async fn has_arrived(&self, lab: &Lab, generation: u64) -> bool {
        // Workers report what they run when they see a request, so each proxy is given one.
        for version in ["v1", "v2"] {
            let response = self.env.user().send(&self.tester(version, "http")).await;
            if !response.is_ok_and(|response| response.status == 200) {
                return false;
            }
        }
        let (namespace, ingress) = (&self.env.namespace, &self.env.ingress);
        let sidecars = lab.pods(namespace, "app=shop").await.unwrap();
        let gateway = (ingress, self.env.gateway_pod(lab).await.unwrap(), self.shop.name());
        let sidecars = sidecars.into_iter().map(|pod| (namespace, pod, self.catalog.name()));
        for (namespace, pod, release) in std::iter::once(gateway).chain(sidecars) {
            let labels = [("component", release)];
            let active = lab.proxy_metric(namespace, &pod, "canary_generation_active", &labels).await;
            #[expect(clippy::cast_precision_loss, reason = "generations of tests are small")]
            if active.is_ok_and(|active| active < generation as f64) {
                return false;
            }
        }
        true
    }

    /// A tester who chooses this version of the shop, and its catalog over HTTP or gRPC.
    pub(super) fn tester(&self, version: &str, via: &str) -> Visit {
        let token = self.env.token(&self.shop, version).unwrap();
        ask(via).header("x-canary-token", token)
    }

    /// Both hops of a user, which are the same over HTTP and over gRPC.
    pub(super) async fn seen_by(&self, user: &mut User, visit: impl Fn(&str) -> Visit) -> Versions {
        let http = versions(&user.send(&visit("http")).await.unwrap());
        let grpc = versions(&user.send(&visit("grpc")).await.unwrap());
        assert_eq!(http, grpc, "over HTTP and over gRPC");
        http
    }
}

/// A request of a program for both hops.
pub(super) fn ask(via: &str) -> Visit {
    Visit::new(Kind::Api, format!("/catalog?via={via}"))
}

/// A request of a user's page for both hops.
pub(super) fn fetch(via: &str) -> Visit {
    Visit::new(Kind::Fetch, format!("/catalog?via={via}"))
}

pub(super) fn versions(response: &Response) -> Versions {
    let said = response.json();
    let version =
        |pointer: &str| said.pointer(pointer).and_then(|version| version.as_str().map(str::to_owned));
    version("/version")
        .zip(version("/catalog/version"))
        .unwrap_or_else(|| panic!("not both hops: {response:?}"))
}

/// The lines of a header that reached the shop (`/carried`) or the catalog (`/catalog/carried`).
pub(super) fn carried(response: &Response, at: &str, name: &str) -> Vec<String> {
    let said = response.json();
    let lines = said.pointer(at).and_then(|lines| lines.as_array().cloned()).unwrap_or_default();
    let value = |line: &serde_json::Value| line["value"].as_str().unwrap_or_default().to_owned();
    lines.iter().filter(|line| line["name"] == name).map(value).collect()
}

/// As it is compared.
pub(super) fn both(version: &str) -> Versions {
    (version.to_owned(), version.to_owned())
}
