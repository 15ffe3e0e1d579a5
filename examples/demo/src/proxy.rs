//! What Envoy did to connections and listeners: nothing, where a weight change is an update of ECDS alone.

use crate::error::Error;
use canary_ctl::local::{Admin, Stats};
use canary_release::metrics::ProxyMetrics;

/// What Envoy did since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProxyCounters {
    /// Connections of users that Envoy closed, drained or reset.
    pub(crate) closed: u64,
    /// Listeners that were changed or removed.
    pub(crate) listener_updates: u64,
    /// Listeners and filter chains that are draining.
    pub(crate) draining: u64,
    /// Configurations of the filter that Envoy refused.
    pub(crate) refused: u64,
    /// Times that the filter crashed and was started again.
    pub(crate) reloads: u64,
}

/// The label of the metrics of the HTTP connection manager that users reach; the admin interface has one too.
const CANARY: &[(&str, &str)] = &[("envoy_http_conn_manager_prefix", "canary")];
const CLOSED: [&str; 2] = ["envoy_http_downstream_cx_destroy_local", "envoy_http_downstream_cx_drain_close"];
const UPDATES: [&str; 3] = [
    "envoy_listener_manager_listener_modified",
    "envoy_listener_manager_listener_in_place_updated",
    "envoy_listener_manager_listener_removed",
];
const DRAINING: [&str; 2] = [
    "envoy_listener_manager_total_listeners_draining",
    "envoy_listener_manager_total_filter_chains_draining",
];
/// There from the first configuration of the filter on.
const RELOADS: [&str; 2] =
    ["envoy_wasm_canary_assign_vm_reload_success", "envoy_wasm_canary_assign_vm_reload_backoff"];

impl ProxyCounters {
    /// Reads them.
    ///
    /// # Errors
    /// Where Envoy does not respond, or does not have a metric of this name.
    pub(crate) async fn read(admin: &Admin) -> Result<Self, Error> {
        let filter = "listener_manager%7Cdownstream_cx_d%7Cvm_reload%7Cextension_config_discovery";
        Self::of(&admin.get(&format!("/stats/prometheus?filter={filter}")).await?)
    }

    fn of(text: &str) -> Result<Self, Error> {
        let metrics = ProxyMetrics::parse(text);
        let sum = |names: &[&'static str], labels| -> Result<u64, Error> {
            let counts = names.iter().map(|name| metrics.count(name, labels).ok_or(Error::Metric(name)));
            counts.sum()
        };
        Ok(Self {
            closed: sum(&CLOSED, CANARY)?,
            listener_updates: sum(&UPDATES, &[])?,
            draining: sum(&DRAINING, &[])?,
            refused: Stats::parse(text).refusals(),
            reloads: RELOADS.iter().filter_map(|name| metrics.count(name, &[])).sum(),
        })
    }

    /// The difference to an earlier reading. Draining is a gauge, so it stays as it is.
    pub(crate) const fn since(self, before: Self) -> Self {
        Self {
            closed: self.closed.saturating_sub(before.closed),
            listener_updates: self.listener_updates.saturating_sub(before.listener_updates),
            draining: self.draining,
            refused: self.refused.saturating_sub(before.refused),
            reloads: self.reloads.saturating_sub(before.reloads),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Envoy 1.40 prints it.
    const TEXT: &str = "envoy_http_downstream_cx_destroy_local{envoy_http_conn_manager_prefix=\"admin\"} 9\n\
        envoy_http_downstream_cx_destroy_local{envoy_http_conn_manager_prefix=\"canary\"} 1\n\
        envoy_http_downstream_cx_drain_close{envoy_http_conn_manager_prefix=\"canary\"} 2\n\
        envoy_listener_manager_listener_modified{} 3\n\
        envoy_listener_manager_listener_in_place_updated{} 0\n\
        envoy_listener_manager_listener_removed{} 0\n\
        envoy_listener_manager_total_listeners_draining{} 0\n\
        envoy_listener_manager_total_filter_chains_draining{} 4\n";

    #[test]
    fn connections_of_the_admin_interface_do_not_count() {
        let counters = ProxyCounters::of(TEXT).unwrap();
        assert_eq!((counters.closed, counters.listener_updates, counters.draining), (3, 3, 4));
        assert_eq!(counters.reloads, 0, "the filter is not installed");
    }

    #[test]
    fn a_metric_that_envoy_does_not_have_is_an_error() {
        let text = TEXT.replace("listener_removed", "listener_deleted");
        let error = ProxyCounters::of(&text).unwrap_err().to_string();
        assert_eq!(error, "Envoy has no metric `envoy_listener_manager_listener_removed`");
    }
}
