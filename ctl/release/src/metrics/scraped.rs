//! What a Prometheus has scraped from a proxy lately, read as the metrics of that proxy.
//!
//! Values of several scrapes are asked for, because the values of an instant have no times of their own. Those of the last scrape count
//! alone: a filter that was removed has values in the scrapes before, and none in the last one.

use super::proxy_metrics::ProxyMetrics;
use super::sample::Sample;
use crate::prometheus::{Series, TimedValue};
use std::collections::BTreeMap;

/// The oldest scrape that says what a proxy runs, in seconds: two of the default interval of Prometheus.
pub const MAX_SCRAPE_AGE: u64 = 120;
/// A metric that every Envoy has. A target of the same pod without it is another container's, and says nothing about the proxy.
pub(super) const LIVE: &str = "envoy_server_live";
const NAME: &str = "__name__";

/// A Prometheus has no scrape of a proxy that is recent enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `{LIVE}` of the pod in the last {MAX_SCRAPE_AGE} s, found none")]
pub struct NotScraped;

/// The metrics of the last scrape of a proxy.
///
/// # Errors
///
/// If there is none.
pub fn scraped_metrics(series: &[Series]) -> Result<ProxyMetrics, NotScraped> {
    let lives = series.iter().filter(|series| name(series) == Some(LIVE));
    let last = lives.filter_map(|live| Some((target(live), live.values.last()?)));
    let last = last.max_by(|(_, one), (_, other)| one.0.total_cmp(&other.0));
    let (proxy, TimedValue(scraped_at, _)) = last.ok_or(NotScraped)?;
    let samples = series.iter().filter(|series| target(series) == proxy).filter_map(|series| {
        let TimedValue(at, value) = series.values.last()?;
        // All values of a scrape have its time.
        let is_of_last_scrape = at.total_cmp(scraped_at).is_eq();
        let value = value.parse().ok().filter(|_| is_of_last_scrape)?;
        let labels: BTreeMap<String, String> = series.labels.clone();
        Some(Sample { name: name(series)?.to_owned(), labels, value })
    });
    Ok(ProxyMetrics::from(samples.collect::<Vec<_>>()))
}

fn name(series: &Series) -> Option<&str> {
    series.labels.get(NAME).map(String::as_str)
}

/// The scraped target.
fn target(series: &Series) -> [Option<&String>; 2] {
    ["job", "instance"].map(|label| series.labels.get(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, instance: &str, values: &[(f64, &str)]) -> Series {
        let labels = [(NAME, name), ("job", "envoy"), ("instance", instance), ("tag", "v2")];
        Series {
            labels: labels.map(|(label, value)| (label.to_owned(), value.to_owned())).into(),
            values: values.iter().map(|(at, value)| TimedValue(*at, (*value).to_owned())).collect(),
        }
    }

    #[test]
    fn the_last_value_of_each_series_is_read_with_its_labels() {
        let found = scraped_metrics(&[
            series(LIVE, "10.0.0.1:15090", &[(1.0, "1"), (16.0, "1")]),
            series("canary_generation_active", "10.0.0.1:15090", &[(1.0, "6"), (16.0, "7")]),
        ]);
        assert_eq!(found.unwrap().count("canary_generation_active", &[("tag", "v2")]), Some(7));
    }

    #[test]
    fn what_the_last_scrape_does_not_have_is_gone() {
        let found = scraped_metrics(&[
            series(LIVE, "10.0.0.1:15090", &[(1.0, "1"), (16.0, "1")]),
            series("canary_generation_active", "10.0.0.1:15090", &[(1.0, "6")]),
        ]);
        assert_eq!(found.unwrap().count("canary_generation_active", &[]), None);
    }

    #[test]
    fn another_container_of_the_pod_says_nothing_about_the_proxy() {
        let app = series("canary_generation_active", "10.0.0.1:8080", &[(30.0, "9")]);
        assert_eq!(scraped_metrics(std::slice::from_ref(&app)), Err(NotScraped));
        let proxy = series(LIVE, "10.0.0.1:15090", &[(16.0, "1")]);
        assert_eq!(scraped_metrics(&[app, proxy]).unwrap().count("canary_generation_active", &[]), None);
    }

    #[test]
    fn of_two_jobs_that_scrape_a_proxy_the_later_scrape_counts() {
        let of = |job: &str, name: &str, at: f64, value: &str| {
            let mut series = series(name, "10.0.0.1:15090", &[(at, value)]);
            series.labels.insert("job".to_owned(), job.to_owned());
            series
        };
        let found = scraped_metrics(&[
            of("a", LIVE, 16.0, "1"),
            of("a", "canary_generation_active", 16.0, "7"),
            of("b", LIVE, 9.0, "1"),
            of("b", "canary_generation_active", 9.0, "6"),
        ]);
        assert_eq!(found.unwrap().count("canary_generation_active", &[]), Some(7));
    }
}
