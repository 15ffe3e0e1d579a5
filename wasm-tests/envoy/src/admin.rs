//! The admin interface: statistics as numbers, Prometheus text, the configuration dump.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use http::{Method, Request};
use http_body_util::Full;
use serde_json::Value;

use super::error::EnvoyError;
use browser::{Connection, Response};
use canary_release::metrics::{Sample, parse_samples};

/// The polling interval for a statistic.
const POLL: Duration = Duration::from_millis(20);

/// A client of one Envoy's admin interface.
#[derive(Clone, Debug)]
pub struct Admin {
    address: SocketAddr,
}

impl Admin {
    /// The interface at this address; nothing is asked yet.
    pub fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All counters and gauges by name; histograms and texts are left out.
    pub async fn stats(&self) -> Result<BTreeMap<String, u64>, EnvoyError> {
        let text = self.get("/stats").await?;
        let number = |line: &str| {
            let (name, value) = line.rsplit_once(": ")?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        Ok(text.lines().filter_map(number).collect())
    }

    /// One counter or gauge; 0 when it does not exist, as Envoy makes many of them at first use.
    pub async fn counter(&self, name: &str) -> Result<u64, EnvoyError> {
        Ok(self.stats().await?.remove(name).unwrap_or_default())
    }

    /// Waits until this counter or gauge is at least `expected`; answers its value.
    pub async fn wait_for(&self, name: &str, expected: u64, within: Duration) -> Result<u64, EnvoyError> {
        let deadline = Instant::now() + within;
        loop {
            let found = self.counter(name).await?;
            if found >= expected {
                return Ok(found);
            }
            if Instant::now() >= deadline {
                return Err(EnvoyError::Statistic { name: name.to_owned(), found, waited: within, expected });
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// `/stats/prometheus` as it is.
    pub async fn prometheus(&self) -> Result<String, EnvoyError> {
        self.get("/stats/prometheus").await
    }

    /// `/stats/prometheus`, parsed.
    pub async fn samples(&self) -> Result<Vec<Sample>, EnvoyError> {
        Ok(parse_samples(&self.prometheus().await?))
    }

    /// The sum of the samples of this name with these labels; 0 when there are none.
    pub async fn metric(&self, name: &str, labels: &[(&str, &str)]) -> Result<f64, EnvoyError> {
        let samples = self.samples().await?;
        Ok(samples.iter().filter(|sample| sample.is(name, labels)).map(|sample| sample.value).sum())
    }

    /// `/config_dump`, extension configurations (ECDS) included.
    pub async fn config_dump(&self) -> Result<Value, EnvoyError> {
        self.json("/config_dump").await
    }

    /// `/listeners`.
    pub async fn listeners(&self) -> Result<Value, EnvoyError> {
        self.json("/listeners?format=json").await
    }

    /// `GET` any path; another status than 200 is an error.
    pub async fn get(&self, path: &str) -> Result<String, EnvoyError> {
        self.ask(Method::GET, path).await
    }

    /// `POST` any path, e.g. `/drain_listeners`; another status than 200 is an error.
    pub async fn post(&self, path: &str) -> Result<String, EnvoyError> {
        self.ask(Method::POST, path).await
    }

    /// Whether `/ready` answers 200 right now.
    pub async fn is_ready(&self) -> bool {
        self.send(Method::GET, "/ready").await.is_ok_and(|response| response.status == 200)
    }

    async fn json(&self, path: &str) -> Result<Value, EnvoyError> {
        let text = self.get(path).await?;
        serde_json::from_str(&text).map_err(|source| EnvoyError::Json { path: path.to_owned(), source })
    }

    async fn ask(&self, method: Method, path: &str) -> Result<String, EnvoyError> {
        let response = self.send(method, path).await?;
        if response.status == 200 {
            return Ok(response.text());
        }
        let (address, status, path) = (self.address, response.status, path.to_owned());
        Err(EnvoyError::Admin { address, status, path, body: response.text() })
    }

    async fn send(&self, method: Method, path: &str) -> Result<Response, EnvoyError> {
        let request = Request::builder().method(method).uri(path).body(Full::default());
        let request = request.map_err(browser::ClientError::from)?;
        // A connection of its own each time: the admin interface is used seldom, and Envoys start and stop.
        Ok(Connection::http1(self.address).send(request).await?)
    }
}
