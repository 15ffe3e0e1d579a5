//! Two versions of the shop, two processes each: a flip of version or of pod loses the cart, and the shop reports it.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::shop::{Shop, ShopError};

/// The shop's processes. Dropping them kills them.
#[derive(Debug)]
pub struct Pods {
    /// Version `v1`.
    pub v1: Vec<Shop>,
    /// Version `v2`.
    pub v2: Vec<Shop>,
}

impl Pods {
    /// Starts `v1-a`, `v1-b`, `v2-a` and `v2-b`.
    pub async fn start() -> Result<Self, ShopError> {
        let (a, b) = (Shop::start("v1", "v1-a"), Shop::start("v1", "v1-b"));
        let (c, d) = (Shop::start("v2", "v2-a"), Shop::start("v2", "v2-b"));
        let (a, b, c, d) = tokio::join!(a, b, c, d);
        Ok(Self { v1: vec![a?, b?], v2: vec![c?, d?] })
    }

    /// `spec.delivery.local.endpoints` of a `canary.yaml`.
    pub fn endpoints(&self) -> Value {
        let addresses =
            |shops: &[Shop]| shops.iter().map(|shop| shop.address().to_string()).collect::<Vec<_>>();
        json!({"v1": addresses(&self.v1), "v2": addresses(&self.v2)})
    }

    /// Kills every process of `v2`; answers where they were, for [`Shop::start_at`].
    pub fn kill_v2(&mut self) -> Vec<SocketAddr> {
        self.v2.drain(..).map(|shop| shop.address()).collect()
    }
}
