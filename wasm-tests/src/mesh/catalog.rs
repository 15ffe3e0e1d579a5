//! The second service of an environment: a catalog that the shop calls, and a release of it for the shop's sidecars.

use mesh_lab::{Lab, LabError, Objects};
use serde_json::{Value, json};

use super::shop_env::ShopEnv;
use crate::scenario::Document;

impl ShopEnv {
    /// Puts the catalog as Deployments `catalog-v1` and `catalog-v2` behind the shop, which then has one pod a version
    /// and passes on what `--propagate` of the demo shop calls `headers`, `baggage` or `none`.
    pub async fn add_catalog(&self, lab: &Lab, propagate: &str) -> Result<(), LabError> {
        let catalog = Objects::read("catalog", &self.namespace)?;
        lab.apply(&catalog.text()).await?;
        for deployment in ["shop-v1", "shop-v2"] {
            lab.scale(&self.namespace, deployment, 1).await?;
        }
        self.set_shop(lab, &["SHOP_CATALOG=http://catalog", &format!("SHOP_PROPAGATE={propagate}")]).await?;
        for version in ["v1", "v2"] {
            lab.rolled_out(&self.namespace, &format!("catalog-{version}")).await?;
        }
        Ok(())
    }

    /// Sets these variables (`NAME=value`) of the shop's pods, and returns when new ones have taken the old ones' place.
    pub async fn set_shop(&self, lab: &Lab, variables: &[&str]) -> Result<(), LabError> {
        let deployments = ["set", "env", "-n", &self.namespace, "deployment/shop-v1", "deployment/shop-v2"];
        lab.kubectl(&[&deployments, variables].concat()).await?;
        for version in ["v1", "v2"] {
            lab.rolled_out(&self.namespace, &format!("shop-{version}")).await?;
        }
        Ok(())
    }

    /// A release of the catalog, for calls from the shop's pods; in a train, if the release of the shop is made one of
    /// the same.
    pub fn catalog_release(&self) -> Result<Document, LabError> {
        let mut release = self.release()?.renamed("catalog");
        release.set("/spec/service/name", "catalog");
        release.set("/spec/gateways", Value::Null);
        let shop = json!([{"namespace": self.namespace, "selector": {"app": "shop"}}]);
        release.set("/spec/sidecars", shop);
        Ok(release)
    }
}
