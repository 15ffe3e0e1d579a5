//! What Envoy's statistics say about releases. The filter's names carry their labels (`component.X.`, `tag.Y;.`).

use std::collections::BTreeMap;

/// The statistics of one Envoy at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    values: BTreeMap<String, String>,
}

/// What the filter counted for one release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReleaseStats {
    /// The generation that the workers run; `None` where they never ran one.
    pub generation: Option<u64>,
    /// Requests by version, role and reason.
    pub requests: BTreeMap<(String, String, String), u64>,
    /// Responses by version, role and status class.
    pub responses: BTreeMap<(String, String, String), u64>,
}

const CUSTOM: &str = "wasmcustom.";
const DISCOVERY: &str = "extension_config_discovery.http_filter.";

impl Stats {
    /// Reads the text of `/stats`: lines of `name: value`. Lines of another shape are passed over.
    pub fn parse(text: &str) -> Self {
        let pair = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_owned(), value.trim_matches('"').to_owned()))
        };
        Self { values: text.lines().filter_map(pair).collect() }
    }

    /// A number by its full name.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.values.get(name)?.parse().ok()
    }

    /// A text by its full name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// What the filter counted for a release.
    pub fn release(&self, name: &str) -> ReleaseStats {
        ReleaseStats {
            generation: self.number(&format!("{CUSTOM}canary_generation.component.{name}.active")),
            requests: self.tagged("canary_requests", name),
            responses: self.tagged("canary_responses", name),
        }
    }

    /// Whether the filter runs without ever having had a good configuration.
    pub fn is_inert(&self) -> bool {
        self.number(&format!("{CUSTOM}canary_inert")).is_some_and(|value| value > 0)
    }

    /// How often Envoy has refused a configuration of the filter since it started.
    pub fn refusals(&self) -> u64 {
        let count = |name: &str| self.number(&format!("{DISCOVERY}{}.{name}", super::RESOURCE_NAME));
        count("update_rejected").unwrap_or_default().max(count("config_fail").unwrap_or_default())
    }

    /// The processes of a version that take requests, and all of them.
    pub fn membership(&self, cluster: &str) -> Option<(u64, u64)> {
        let healthy = self.number(&format!("cluster.{cluster}.membership_healthy"))?;
        Some((healthy, self.number(&format!("cluster.{cluster}.membership_total"))?))
    }

    /// Counters `<metric>.component.<release>.tag.<a>/<b>/<c>;.total`, by their three labels. A version holds no `/`.
    fn tagged(&self, metric: &str, release: &str) -> BTreeMap<(String, String, String), u64> {
        let prefix = format!("{CUSTOM}{metric}.component.{release}.tag.");
        let counter = |(name, value): (&String, &String)| {
            let labels = name.strip_prefix(&prefix)?.strip_suffix(";.total")?;
            let mut labels = labels.split('/').map(str::to_owned);
            let key = (labels.next()?, labels.next()?, labels.next()?);
            Some((key, value.parse().ok()?))
        };
        self.values.iter().filter_map(counter).collect()
    }
}

impl ReleaseStats {
    /// Requests of a version, those of testers left out where `overridden` is false.
    pub fn requests_of(&self, version: &str, overridden: bool) -> u64 {
        let counted = |((of, _, reason), count): (&(String, String, String), &u64)| {
            let counts = of == version && (overridden || reason != "override");
            counts.then_some(*count)
        };
        self.requests.iter().filter_map(counted).sum()
    }

    /// Responses of a version in a status class, those of testers left out.
    pub fn responses_of(&self, version: &str, class: &str) -> u64 {
        let counted = |((of, role, found), count): (&(String, String, String), &u64)| {
            (of == version && role != "override" && found == class).then_some(*count)
        };
        self.responses.iter().filter_map(counted).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "cluster.shop/shop/v2.membership_healthy: 1\ncluster.shop/shop/v2.membership_total: 2\n\
        cluster_manager.cds.version_text: \"12\"\n\
        extension_config_discovery.http_filter.canary/assign.update_rejected: 3\n\
        wasmcustom.canary_generation.component.shop/shop.active: 1763712345678\n\
        wasmcustom.canary_requests.component.shop/shop.tag.v1.0/stable/hash;.total: 70\n\
        wasmcustom.canary_requests.component.shop/shop.tag.v2/canary/pin;.total: 20\n\
        wasmcustom.canary_requests.component.shop/shop.tag.v2/canary/override;.total: 5\n\
        wasmcustom.canary_requests.component.shop/web.tag.v2/canary/pin;.total: 999\n\
        wasmcustom.canary_responses.component.shop/shop.tag.v2/canary/5xx;.total: 4\n\
        wasmcustom.canary_responses.component.shop/shop.tag.v2/override/5xx;.total: 6\n";

    #[test]
    fn counters_are_read_by_release_version_and_reason() {
        let stats = Stats::parse(TEXT);
        let shop = stats.release("shop/shop");
        assert_eq!(shop.generation, Some(1_763_712_345_678));
        assert_eq!(shop.requests_of("v1.0", true), 70);
        assert_eq!((shop.requests_of("v2", true), shop.requests_of("v2", false)), (25, 20));
        assert_eq!(shop.responses_of("v2", "5xx"), 4);
        assert_eq!(stats.release("shop/none"), ReleaseStats::default());
    }

    #[test]
    fn what_envoy_says_about_its_files_is_read() {
        let stats = Stats::parse(TEXT);
        assert_eq!(stats.text("cluster_manager.cds.version_text"), Some("12"));
        assert_eq!((stats.refusals(), stats.is_inert()), (3, false));
        assert_eq!(stats.membership("shop/shop/v2"), Some((1, 2)));
    }
}
