//! Reads the metrics of proxies, through the API server: by `pods/proxy`, or by `pods/portforward`; or what a Prometheus has scraped of them.
//!
//! By `pods/proxy` the API server itself connects to port 15090 of the pod, which a `NetworkPolicy` or a firewall between
//! control plane and nodes may forbid. By `pods/portforward` the kubelet connects to it from within the pod: only port
//! 10250 of the node has to be open, as for `kubectl logs`.
//!
//! ```text
//! pods_proxy     one request of the API server                  filter             -> Prometheus text
//! port_forward   a connection through the kubelet, kept open    filter             -> Prometheus text
//! failure        why a transport returned nothing               kube::Error        -> Failure
//! memory         which transport reached which proxy            outcome            -> Transport
//! scraped        a Prometheus, where no transport reaches them  filter             -> ProxyMetrics
//! ```
//!
//! # Source
//! [Ports and protocols of a cluster](https://kubernetes.io/docs/reference/networking/ports-and-protocols/).

mod failure;
mod memory;
mod pods_proxy;
mod port_forward;
mod scraped;

use crate::Error;
use canary_release::metrics::{MetricFilter, PodName, ProxyMetrics};
use failure::{Failure, both};
use form_urlencoded::byte_serialize;
use futures_util::future::{Either, select};
use memory::Memory;
use port_forward::PortForwards;
pub use scraped::ScrapedMetrics;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Every istio-proxy serves its metrics here.
const PORT: u16 = 15090;
/// A proxy responds from memory; what takes longer is stuck, or not reached.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The time for which the first transport is alone. A packet that a firewall drops is noticed by the time alone.
const HEAD_START: Duration = Duration::from_secs(1);
/// The largest page of metrics, in bytes. A gateway with 1,600 releases has some hundred kilobytes of these names; who can start a
/// pod with a gateway's labels can send what they like.
const MAX_BYTES: usize = 16 << 20;

/// A way to a proxy's metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Transport {
    /// The API server connects to the pod.
    #[default]
    PodsProxy,
    /// The kubelet connects to the pod.
    PortForward,
}

impl Transport {
    const fn other(self) -> Self {
        match self {
            Self::PodsProxy => Self::PortForward,
            Self::PortForward => Self::PodsProxy,
        }
    }
}

/// Reads metrics by the transport that worked last. A clone shares what it remembers.
#[derive(Clone)]
pub(crate) struct MetricsReader {
    client: kube::Client,
    memory: Memory,
    port_forwards: PortForwards,
    scraped: Option<Arc<dyn ScrapedMetrics>>,
}

impl MetricsReader {
    pub(crate) fn new(client: kube::Client) -> Self {
        Self { client, memory: Memory::default(), port_forwards: PortForwards::default(), scraped: None }
    }

    /// The same for metrics that are compared with what was written a moment ago: a scrape may be from before.
    pub(crate) fn without_scraped(&self) -> Self {
        Self { scraped: None, ..self.clone() }
    }

    pub(crate) fn set_scraped(&mut self, scraped: Arc<dyn ScrapedMetrics>) {
        self.scraped = Some(scraped);
    }

    /// Whether a Prometheus is asked where no transport reaches a proxy.
    pub(crate) const fn has_scraped(&self) -> bool {
        self.scraped.is_some()
    }

    /// The metrics of a proxy that `filter` selects; inside, why it does not report them. Where no transport reaches it,
    /// they are as old as its last scrape.
    ///
    /// # Errors
    ///
    /// If neither transport is allowed, and there is no Prometheus to ask.
    pub(crate) async fn read(
        &self,
        pod: &PodName,
        filter: &MetricFilter,
    ) -> Result<Result<ProxyMetrics, String>, Error> {
        let now = self.read_now(pod, filter).await;
        let Some(scraped) = &self.scraped else { return now };
        let fault = match &now {
            Ok(Ok(_)) => return now,
            Ok(Err(fault)) => fault.clone(),
            Err(error) => error.to_string(),
        };
        let late = |_| Err("no response in time".to_owned());
        let found = timeout(TIMEOUT, scraped.read(pod, filter)).await.unwrap_or_else(late);
        Ok(found.map_err(|reason| format!("{fault}; Prometheus: {reason}")))
    }

    /// The same as the proxy reports it at this moment.
    ///
    /// # Errors
    ///
    /// If neither transport is allowed.
    pub(crate) async fn read_now(
        &self,
        pod: &PodName,
        filter: &MetricFilter,
    ) -> Result<Result<ProxyMetrics, String>, Error> {
        if let Some(fault) = self.memory.recent_fault(pod, Instant::now()) {
            return Ok(Err(fault));
        }
        let preferred = self.memory.transport(pod);
        let (used, text) = match self.first_response(preferred, pod, filter).await {
            Ok(found) => found,
            Err(failures) => {
                let (fault, timed_out) = both(preferred, failures, pod)?;
                if timed_out {
                    self.memory.add_fault(pod, &fault, Instant::now());
                }
                return Ok(Err(fault));
            }
        };
        self.memory.add_success(pod, used);
        Ok(Ok(ProxyMetrics::parse(&text)))
    }

    /// The first response: the preferred transport has a head start. Both failures, the preferred transport's first.
    async fn first_response(
        &self,
        preferred: Transport,
        pod: &PodName,
        filter: &MetricFilter,
    ) -> Result<(Transport, String), [Failure; 2]> {
        let other = preferred.other();
        let mut first = pin!(self.by(preferred, pod, filter));
        let failure = match timeout(HEAD_START, &mut first).await {
            Ok(Ok(text)) => return Ok((preferred, text)),
            Ok(Err(failure)) => failure,
            Err(_) => {
                let second = pin!(self.by(other, pod, filter));
                return match select(first, second).await {
                    Either::Left((Ok(text), _)) => Ok((preferred, text)),
                    Either::Right((Ok(text), _)) => Ok((other, text)),
                    Either::Left((Err(failure), second)) => after(failure, second.await, other),
                    Either::Right((Err(failure), first)) => match first.await {
                        Ok(text) => Ok((preferred, text)),
                        Err(preferred) => Err([preferred, failure]),
                    },
                };
            }
        };
        after(failure, self.by(other, pod, filter).await, other)
    }

    async fn by(
        &self,
        transport: Transport,
        pod: &PodName,
        filter: &MetricFilter,
    ) -> Result<String, Failure> {
        let filter: String = byte_serialize(filter.stats().as_bytes()).collect();
        let path = format!("stats/prometheus?filter={filter}");
        let response = async {
            match transport {
                Transport::PodsProxy => pods_proxy::read(&self.client, pod, &path).await,
                Transport::PortForward => self.port_forwards.read(&self.client, pod, &path).await,
            }
        };
        timeout(TIMEOUT, response).await.unwrap_or(Err(Failure::TimedOut))
    }
}

/// The response of the second transport, after the first one has failed.
fn after(
    first: Failure,
    second: Result<String, Failure>,
    transport: Transport,
) -> Result<(Transport, String), [Failure; 2]> {
    match second {
        Ok(text) => Ok((transport, text)),
        Err(second) => Err([first, second]),
    }
}
