//! A real Prometheus that scrapes proxies.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use envoy_kit::free_ports;
use programs::artifact;
use programs::child::LoggedChild;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;

/// The name of its one job, and where proxies have their metrics.
const JOB: &str = "envoy";
const PATH: &str = "/stats/prometheus";

/// Longer than a start or any query needs on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Where the rules and the dashboard are.
pub fn monitoring() -> PathBuf {
    artifact::root().join("examples/monitoring")
}

/// The queries of the Grafana dashboard, for all releases.
///
/// # Panics
///
/// If the file is no dashboard.
#[expect(clippy::expect_used, reason = "a test that cannot go on says so by panicking")]
pub fn dashboard_queries() -> Vec<String> {
    let text = std::fs::read_to_string(monitoring().join("grafana.json")).expect("an example");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    texts(&dashboard, "expr").into_iter().map(|query| query.replace("$release", ".+")).collect()
}

/// Every text under this key, however deep.
pub fn texts<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    match value {
        Value::Object(fields) => {
            let here = fields.get(key).and_then(Value::as_str);
            here.into_iter().chain(fields.values().flat_map(|field| texts(field, key))).collect()
        }
        Value::Array(items) => items.iter().flat_map(|item| texts(item, key)).collect(),
        _ => Vec::new(),
    }
}

/// A Prometheus that scrapes proxies. It ends with the value.
pub struct Prometheus {
    process: LoggedChild,
    address: SocketAddr,
    _data: TempDir,
}

impl Prometheus {
    /// An address for one that is started later.
    pub fn free_address() -> SocketAddr {
        let [port] = free_ports();
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    /// One that scrapes this proxy twice a second, with these rules; returns when it listens.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub async fn start(proxy: SocketAddr, rules: Option<&Path>) -> Self {
        Self::start_at(Self::free_address(), proxy, &[], rules).await
    }

    /// The same at this address, with these labels on each series.
    ///
    /// # Panics
    ///
    /// If it does not listen there.
    pub async fn start_at(
        address: SocketAddr,
        proxy: SocketAddr,
        labels: &[(&str, &str)],
        rules: Option<&Path>,
    ) -> Self {
        let labels: BTreeMap<&str, &str> = labels.iter().copied().collect();
        let proxies = json!({"job_name": JOB, "metrics_path": PATH,
            "static_configs": [{"targets": [proxy.to_string()], "labels": labels}]});
        Self::start_with(address, "500ms", &proxies, rules).await
    }

    /// One that scrapes the proxies of this file, once a second; the file may change, and is what Prometheus calls `file_sd_configs`.
    ///
    /// # Panics
    ///
    /// If it does not listen.
    pub async fn start_for(targets: &Path) -> Self {
        let proxies = json!({"job_name": JOB, "metrics_path": PATH,
            "file_sd_configs": [{"files": [targets], "refresh_interval": "5s"}]});
        Self::start_with(Self::free_address(), "1s", &proxies, None).await
    }

    #[expect(clippy::expect_used, reason = "a test that cannot go on says so by panicking")]
    async fn start_with(address: SocketAddr, interval: &str, proxies: &Value, rules: Option<&Path>) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let rules: Vec<&Path> = rules.into_iter().collect();
        let config = json!({
            "global": {"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": interval},
            "rule_files": rules,
            "scrape_configs": [proxies],
        });
        let path = data.path().join("prometheus.yaml"); // JSON is YAML
        std::fs::write(&path, config.to_string()).expect("a configuration");
        let mut command = Command::new(artifact::prometheus().expect("Prometheus"));
        command
            .arg(format!("--config.file={}", path.display()))
            .arg(format!("--storage.tsdb.path={}", data.path().join("data").display()))
            .arg(format!("--web.listen-address={address}"));
        let process = LoggedChild::start("Prometheus", &mut command).expect("Prometheus");
        let deadline = Instant::now() + TIMEOUT;
        while TcpStream::connect(address).await.is_err() {
            let log = process.log();
            assert!(Instant::now() < deadline, "Prometheus does not listen at {address}:\n{log}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Self { process, address, _data: data }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What this query finds now.
    ///
    /// # Panics
    ///
    /// If it is no query.
    #[expect(clippy::expect_used, reason = "a test that cannot go on says so by panicking")]
    pub fn query(&self, query: &str) -> Value {
        let mut promtool = Command::new(artifact::promtool().expect("promtool"));
        let asked = promtool.args(["query", "instant", "-o", "json", &self.url(), query]);
        let asked = asked.output().expect("promtool runs");
        let errors = String::from_utf8_lossy(&asked.stderr);
        assert!(asked.status.success(), "{query}: {errors}");
        serde_json::from_slice(&asked.stdout).expect("JSON")
    }

    /// What it finds as soon as it finds something that is a number.
    ///
    /// # Panics
    ///
    /// If that does not happen.
    pub async fn wait_for(&self, query: &str) -> Value {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let found = self.query(query);
            let is_number = |sample: &Value| {
                sample.pointer("/value/1").and_then(Value::as_str).is_some_and(|value| value != "NaN")
            };
            if found.as_array().is_some_and(|samples| samples.iter().any(is_number)) {
                return found;
            }
            let log = self.process.log_tail();
            assert!(Instant::now() < deadline, "no data in {TIMEOUT:?}: {query}\nfound {found}\n{log}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}
