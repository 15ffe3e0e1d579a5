//! What a local Envoy reports: its metrics, and which files it has taken.

use super::RESOURCE_NAME;
use canary_release::metrics::{ProxyMetrics, ReleaseMetrics, Traffic};

/// The metrics of one Envoy at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats(ProxyMetrics);

/// A file that Envoy reads, and where its metrics say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discovery {
    /// `cds.yaml`.
    Clusters,
    /// `rds.yaml`.
    Routes,
}

impl Discovery {
    /// The beginning of the names of its metrics, and their labels.
    const fn metric(self) -> (&'static str, &'static [(&'static str, &'static str)]) {
        match self {
            Self::Clusters => ("envoy_cluster_manager_cds", &[]),
            Self::Routes => ("envoy_http_rds", &[("envoy_rds_route_config", "canary")]),
        }
    }
}

impl Stats {
    /// Reads Prometheus text.
    pub fn parse(text: &str) -> Self {
        Self(ProxyMetrics::parse(text))
    }

    /// The filter's counts for a release.
    pub fn release(&self, name: &str) -> ReleaseMetrics {
        self.0.release(name)
    }

    /// The requests and responses of a release since Envoy started.
    pub fn traffic(&self, name: &str) -> Traffic {
        Traffic::of_release([((String::new(), "envoy".to_owned()), &self.0)], name)
    }

    /// A counter or gauge without labels.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.0.count(name, &[])
    }

    /// Whether the filter runs without ever having had a good configuration.
    pub fn is_inert(&self) -> bool {
        self.count("canary_inert").is_some_and(|value| value > 0)
    }

    /// The number of times Envoy has refused a configuration of the filter since it started.
    pub fn refusals(&self) -> u64 {
        let resource = RESOURCE_NAME.replace('/', "_");
        let prefix = format!("envoy_extension_config_discovery_http_filter_{resource}");
        let count = |name: &str| self.count(&format!("{prefix}_{name}")).unwrap_or_default();
        count("update_rejected").max(count("config_fail"))
    }

    /// The processes of a version that take requests, and all of them.
    pub fn membership(&self, cluster: &str) -> Option<(u64, u64)> {
        let labels = [("envoy_cluster_name", cluster)];
        let healthy = self.0.count("envoy_cluster_membership_healthy", &labels)?;
        Some((healthy, self.0.count("envoy_cluster_membership_total", &labels)?))
    }

    /// The version of a file that Envoy runs.
    pub(super) fn version(&self, discovery: Discovery) -> Option<&str> {
        let (name, labels) = discovery.metric();
        self.0.text(&format!("{name}_version_text"), labels)
    }

    /// The number of times Envoy has rejected a file since it started.
    pub(super) fn rejections(&self, discovery: Discovery) -> u64 {
        let (name, labels) = discovery.metric();
        self.0.count(&format!("{name}_update_rejected"), labels).unwrap_or_default()
    }

    /// Clusters that wait for their endpoints: no route finds them yet.
    pub(super) fn warming(&self) -> u64 {
        self.count("envoy_cluster_manager_warming_clusters").unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Envoy 1.40 prints it for the parameter `text_readouts`.
    const TEXT: &str = "envoy_cluster_membership_healthy{envoy_cluster_name=\"shop/shop/v2\"} 1\n\
        envoy_cluster_membership_total{envoy_cluster_name=\"shop/shop/v2\"} 2\n\
        envoy_cluster_manager_cds_update_rejected{} 4\n\
        envoy_cluster_manager_cds_version_text{text_value=\"12\"} 0\n\
        envoy_cluster_manager_warming_clusters{} 5\n\
        envoy_extension_config_discovery_http_filter_canary_assign_update_rejected{} 3\n\
        envoy_http_rds_update_rejected{envoy_rds_route_config=\"canary\",envoy_http_conn_manager_prefix=\"canary\"} 6\n\
        envoy_http_rds_version_text{envoy_rds_route_config=\"canary\",envoy_http_conn_manager_prefix=\"canary\",text_value=\"13+\"} 0\n\
        canary_inert{} 0\n";

    #[test]
    fn what_envoy_reports_of_its_files_is_read() {
        let stats = Stats::parse(TEXT);
        assert_eq!(stats.version(Discovery::Clusters), Some("12"));
        assert_eq!(stats.version(Discovery::Routes), Some("13+"));
        assert_eq!((stats.rejections(Discovery::Clusters), stats.rejections(Discovery::Routes)), (4, 6));
        assert_eq!(stats.warming(), 5);
        assert_eq!((stats.refusals(), stats.is_inert()), (3, false));
        assert_eq!(stats.membership("shop/shop/v2"), Some((1, 2)));
    }
}
