//! What Envoy says that it did to connections and listeners: with a weight that travels alone, nothing at all.

use super::Error;
use crate::local::{Admin, Stats};

/// What Envoy did since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Deeds {
    /// Connections of users that Envoy closed, drained or reset.
    pub(super) closed: u64,
    /// Listeners that were changed or removed.
    pub(super) listener_updates: u64,
    /// Listeners and filter chains that are draining.
    pub(super) draining: u64,
    /// Configurations of the filter that Envoy refused.
    pub(super) refused: u64,
    /// Times that the filter crashed and came back.
    pub(super) reloads: u64,
}

impl Deeds {
    /// What came after an earlier look. Draining is not counted up, so it stays as it is.
    pub(super) const fn since(self, before: Self) -> Self {
        Self {
            closed: self.closed.saturating_sub(before.closed),
            listener_updates: self.listener_updates.saturating_sub(before.listener_updates),
            draining: self.draining,
            refused: self.refused.saturating_sub(before.refused),
            reloads: self.reloads.saturating_sub(before.reloads),
        }
    }
}

const CLOSED: [&str; 2] =
    ["http.canary.downstream_cx_destroy_local", "http.canary.downstream_cx_drain_close"];
const UPDATES: [&str; 3] = [
    "listener_manager.listener_modified",
    "listener_manager.listener_in_place_updated",
    "listener_manager.listener_removed",
];
const DRAINING: [&str; 2] =
    ["listener_manager.total_listeners_draining", "listener_manager.total_filter_chains_draining"];
const RELOADS: [&str; 2] = ["wasm.canary-assign.vm_reload_success", "wasm.canary-assign.vm_reload_backoff"];

/// Asks. Fails where Envoy does not answer.
pub(super) async fn deeds(admin: &Admin) -> Result<Deeds, Error> {
    let filter = "listener_manager%7Cdownstream_cx_d%7Cvm_reload%7Cextension_config_discovery";
    let stats = Stats::parse(&admin.get(&format!("/stats?filter={filter}")).await?);
    let sum = |names: &[&str]| names.iter().filter_map(|name| stats.number(name)).sum();
    Ok(Deeds {
        closed: sum(&CLOSED),
        listener_updates: sum(&UPDATES),
        draining: sum(&DRAINING),
        refused: stats.refusals(),
        reloads: sum(&RELOADS),
    })
}
