//! Proxies that neither the API server nor the kubelet reaches, and a Prometheus that scrapes them.

use canary_operations::{Cluster, Error, ScrapedMetrics, WaitOptions, WriteOptions};
use canary_release::metrics::{MetricFilter, PodName, ProxyMetrics};
use canary_release::status::problems;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{apply, options, promote, release, run, set_weight, shop, uninstall_report};
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Short, so that a test waits for it.
const CLUSTERS_WAIT: Duration = Duration::from_millis(300);

/// Has scraped the proxies a moment ago, unless it is away.
struct Scraper {
    api: FakeApi,
    is_away: AtomicBool,
}

impl ScrapedMetrics for Scraper {
    fn read<'a>(
        &'a self,
        (namespace, pod): &'a PodName,
        _: &'a MetricFilter,
    ) -> BoxFuture<'a, Result<ProxyMetrics, String>> {
        Box::pin(async move {
            let page = self.api.state().proxies.scrape(namespace, pod);
            let page = page.filter(|_| !self.is_away.load(Ordering::SeqCst));
            page.map(|page| ProxyMetrics::parse(&page)).ok_or_else(|| "connection refused".to_owned())
        })
    }
}

/// A cluster whose proxies nothing reaches but the scraper.
async fn unreachable() -> (FakeApi, Cluster, Arc<Scraper>) {
    let api = shop();
    let scraper = Arc::new(Scraper { api: api.clone(), is_away: AtomicBool::new(false) });
    let options = WriteOptions { unseen_clusters_wait: CLUSTERS_WAIT, ..options() };
    let cluster = api.cluster_with(options).await.with_scraped_metrics(Arc::clone(&scraper) as Arc<_>);
    api.state().proxies.silence();
    (api, cluster, scraper)
}

#[test]
fn a_release_is_applied_weighted_promoted_and_removed_by_what_was_scraped() {
    run(async {
        let (api, cluster, _) = unreachable().await;
        let release = release(&Value::Null);
        let begun = Instant::now();
        let applied = apply(&cluster, &release).await.unwrap();
        assert!(begun.elapsed() >= CLUSTERS_WAIT, "no scrape tells of new clusters: {:?}", begun.elapsed());
        let arrival = applied.arrival.unwrap();
        assert_eq!((arrival.proxies.len(), arrival.not_observed.as_slice()), (1, [].as_slice()));
        set_weight(&cluster, &release, "10").await.unwrap();
        let stored = cluster.get_record(&release.name).await.unwrap();
        let observation = cluster.observe_status(&release.name, &stored).await.unwrap();
        let found: Vec<String> = problems(&observation, None, 0).iter().map(ToString::to_string).collect();
        assert_eq!(found, [""; 0]);
        promote(&cluster, &release).await.unwrap();
        uninstall_report(&cluster, &release).await.unwrap();
        assert_eq!(api.state().store.names(&["EnvoyFilter", "VirtualService", "ConfigMap"]), [""; 0]);
    });
}

#[test]
fn rights_on_proxies_are_not_needed_where_they_are_scraped() {
    run(async {
        let (api, cluster, _) = unreachable().await;
        api.state().access.deny("get", "pods/proxy");
        api.state().access.deny("get", "pods/portforward");
        apply(&cluster, &release(&Value::Null)).await.unwrap();
    });
}

#[test]
fn without_a_scrape_either_the_refusal_has_the_reasons_of_all() {
    run(async {
        let (_, cluster, scraper) = unreachable().await;
        scraper.is_away.store(true, Ordering::SeqCst);
        match apply(&cluster, &release(&Value::Null)).await {
            Err(Error::Preflight(failed)) => {
                let message = &failed.message;
                assert!(
                    message.contains("by pods/proxy") && message.contains("; Prometheus: connection refused"),
                    "{message}"
                );
            }
            other => panic!("expected a refusal, found {other:?}"),
        }
    });
}

#[test]
fn what_a_scrape_says_of_another_generation_is_waited_for() {
    run(async {
        let (api, cluster, _) = unreachable().await;
        let release = release(&Value::Null);
        apply(&cluster, &release).await.unwrap();
        api.state().proxies.stop_istiod();
        set_weight(&cluster, &release, "10").await.unwrap();
        let record = cluster.get_record(&release.name).await.unwrap().record;
        let mut waiting = WaitOptions { timeout: CLUSTERS_WAIT, progress: &mut |_, _| {} };
        let waited = cluster.wait(&release.name, &record, &mut waiting).await;
        assert!(matches!(waited, Err(Error::Late { .. })), "{waited:?}");
    });
}
