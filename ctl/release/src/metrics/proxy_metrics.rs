//! The samples of one proxy, found by name and labels.

use super::{ReleaseMetrics, Sample, parse_samples};

/// The label in which Envoy gives the value of a text, with the parameter `text_readouts`.
const TEXT: &str = "text_value";

/// The report of one proxy at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProxyMetrics(Vec<Sample>);

impl ProxyMetrics {
    /// Reads Prometheus text. Lines of another shape are left out.
    pub fn parse(text: &str) -> Self {
        Self(parse_samples(text))
    }

    /// All samples, in the proxy's order.
    pub fn samples(&self) -> &[Sample] {
        &self.0
    }

    /// A counter or gauge with this name and at least these labels; `None` where there is none, or it is no whole number.
    pub fn count(&self, name: &str, labels: &[(&str, &str)]) -> Option<u64> {
        self.0.iter().find(|sample| sample.is(name, labels))?.count()
    }

    /// A text with this name and at least these labels.
    pub fn text(&self, name: &str, labels: &[(&str, &str)]) -> Option<&str> {
        let sample = self.0.iter().find(|sample| sample.is(name, labels))?;
        sample.labels.get(TEXT).map(String::as_str)
    }

    /// The counters of the filter for a release, named `<namespace>/<name>`.
    pub fn release(&self, name: &str) -> ReleaseMetrics {
        ReleaseMetrics::of(self, name)
    }
}

impl From<Vec<Sample>> for ProxyMetrics {
    fn from(samples: Vec<Sample>) -> Self {
        Self(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Envoy 1.40 prints it.
    const TEXT: &str = "# TYPE envoy_cluster_membership_total gauge\n\
        envoy_cluster_membership_total{envoy_cluster_name=\"shop/shop/v1\"} 1\n\
        envoy_cluster_membership_total{envoy_cluster_name=\"shop/shop/v2\"} 2\n\
        envoy_cluster_manager_cluster_added{} 15\n\
        envoy_cluster_manager_cluster_updated_via_merge{} 3\n\
        envoy_cluster_manager_cds_version_text{text_value=\"12\"} 0\n\
        envoy_http_rds_version_text{envoy_rds_route_config=\"canary\",text_value=\"13+\"} 0\n\
        envoy_server_concurrency_ratio{} 0.5\n";

    #[test]
    fn a_count_is_found_by_its_whole_name_and_its_labels() {
        let metrics = ProxyMetrics::parse(TEXT);
        let of =
            |version| metrics.count("envoy_cluster_membership_total", &[("envoy_cluster_name", version)]);
        assert_eq!((of("shop/shop/v2"), of("shop/shop/v3")), (Some(2), None));
        assert_eq!(metrics.count("envoy_cluster_manager_cluster_added", &[]), Some(15));
        assert_eq!(metrics.count("envoy_cluster_manager_cluster", &[]), None, "a part of a name");
        assert_eq!(metrics.count("envoy_server_concurrency_ratio", &[]), None, "no whole number");
    }

    #[test]
    fn a_text_is_the_value_of_a_label() {
        let metrics = ProxyMetrics::parse(TEXT);
        assert_eq!(metrics.text("envoy_cluster_manager_cds_version_text", &[]), Some("12"));
        let canary = [("envoy_rds_route_config", "canary")];
        assert_eq!(metrics.text("envoy_http_rds_version_text", &canary), Some("13+"));
        assert_eq!(metrics.text("envoy_cluster_manager_cluster_added", &[]), None);
    }
}
