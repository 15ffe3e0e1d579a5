//! Which metrics of a proxy are read. A gateway has those of all its releases; a response with those of one is as small among a thousand.

use super::MAX_SCRAPE_AGE;
use super::scraped::LIVE;
use super::traffic::PodName;

/// Which metrics of a proxy are read, as regular expressions that match a part of their names in Envoy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetricFilter {
    of_proxy: Option<&'static str>,
    of_release: Option<(&'static str, String)>,
}

impl MetricFilter {
    /// Metrics of the proxy itself.
    pub const fn of_proxy(names: &'static str) -> Self {
        Self { of_proxy: Some(names), of_release: None }
    }

    /// Metrics of the filter about a release (`<namespace>/<name>`), whose names begin so.
    pub fn of_release(release: &str, names: &'static str) -> Self {
        Self { of_proxy: None, of_release: Some((names, release.to_owned())) }
    }

    /// The same with metrics of the proxy itself.
    #[must_use]
    pub fn and_of_proxy(self, names: &'static str) -> Self {
        Self { of_proxy: Some(names), ..self }
    }

    /// For the parameter `filter` of `/stats/prometheus`, which Envoy matches with the names before it takes labels out of them:
    /// `canary_requests.component.shop/shop.tag.v2/canary/hash;.total`.
    pub fn stats(&self) -> String {
        let of_release = self.of_release.as_ref();
        let of_release =
            of_release.map(|(names, release)| format!("({names})[a-z_]*\\.component\\.{release}\\."));
        of_release.into_iter().chain(self.of_proxy.map(str::to_owned)).collect::<Vec<_>>().join("|")
    }

    /// `PromQL` for what was scraped of these metrics from a pod's proxy.
    pub fn scraped_query(&self, (namespace, pod): &PodName) -> String {
        let text = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let names = self.of_release.iter().map(|(names, _)| *names).chain(self.of_proxy);
        let names = names.collect::<Vec<_>>().join("|");
        // Metrics of the proxy itself have no such label, which is the same as an empty one.
        let component = self.of_release.as_ref().map(|(_, release)| format!("component=~\"|{release}\","));
        format!(
            "{{__name__=~\"{LIVE}|.*({names}).*\",{}namespace=\"{}\",pod=\"{}\"}}[{MAX_SCRAPE_AGE}s]",
            component.unwrap_or_default(),
            text(namespace),
            text(pod)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metrics_of_a_release_are_found_by_their_names_in_envoy() {
        let filter = MetricFilter::of_release("shop/shop", "canary_generation|canary_fuse");
        assert_eq!(filter.stats(), "(canary_generation|canary_fuse)[a-z_]*\\.component\\.shop/shop\\.");
        let both = filter.and_of_proxy("runtime.v8.created");
        assert!(both.stats().ends_with("\\.shop/shop\\.|runtime.v8.created"), "{}", both.stats());
        assert_eq!(MetricFilter::of_proxy("cluster_manager").stats(), "cluster_manager");
    }

    #[test]
    fn a_query_names_the_pod_the_metrics_and_the_release() {
        let pod = ("ingress".to_owned(), "gateway-1".to_owned());
        assert_eq!(
            MetricFilter::of_proxy("cluster_manager|runtime.v8.created").scraped_query(&pod),
            "{__name__=~\"envoy_server_live|.*(cluster_manager|runtime.v8.created).*\",namespace=\"ingress\",pod=\"gateway-1\"}[120s]"
        );
        let of_release = MetricFilter::of_release("shop/shop", "canary_generation");
        assert_eq!(
            of_release.and_of_proxy("runtime.v8.created").scraped_query(&pod),
            "{__name__=~\"envoy_server_live|.*(canary_generation|runtime.v8.created).*\",component=~\"|shop/shop\",\
             namespace=\"ingress\",pod=\"gateway-1\"}[120s]"
        );
    }
}
