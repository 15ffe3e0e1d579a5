//! What must not move in Envoy's statistics while users are steered: a drain or a listener update cuts connections.

use std::collections::BTreeMap;

use envoy_kit::{Admin, EnvoyError};

/// Moved by anything that arrives by LDS, by every drain, and by every connection that Envoy closes for one.
const UNCHANGED: [&str; 12] = [
    "listener_manager.listener_added",
    "listener_manager.listener_modified",
    "listener_manager.listener_removed",
    "listener_manager.listener_in_place_updated",
    "listener_manager.total_listeners_draining",
    "listener_manager.total_filter_chains_draining",
    "http.canary.downstream_cx_drain_close",
    "http.canary.downstream_cx_overload_disable_keepalive",
    "http.canary.downstream_rq_5xx",
    "http.canary.downstream_rq_tx_reset",
    "wasm.canary-assign.vm_reload_success",
    "wasm.canary-assign.vm_reload_backoff",
];

/// The statistics at a moment that nothing may have disturbed since.
#[derive(Debug)]
pub struct DisruptionCheck {
    admin: Admin,
    before: BTreeMap<&'static str, u64>,
}

impl DisruptionCheck {
    /// From now on.
    pub async fn start(admin: &Admin) -> Result<Self, EnvoyError> {
        Ok(Self { admin: admin.clone(), before: read(admin).await? })
    }

    /// Everything that has moved since, with its value before and now. Empty is good.
    pub async fn changes(&self) -> Result<Vec<(&'static str, u64, u64)>, EnvoyError> {
        let now = read(&self.admin).await?;
        let pairs = self.before.iter().zip(now.values());
        Ok(pairs.map(|((name, before), now)| (*name, *before, *now)).filter(|(_, a, b)| a != b).collect())
    }
}

async fn read(admin: &Admin) -> Result<BTreeMap<&'static str, u64>, EnvoyError> {
    let stats = admin.stats().await?;
    Ok(UNCHANGED.into_iter().map(|name| (name, stats.get(name).copied().unwrap_or_default())).collect())
}
