//! Flagger itself and the Prometheus that it asks, in the lab's network.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use mesh_lab::Lab;
use mesh_studies::Error;
use serde_json::{Value, json};
use tempfile::TempDir;
use wasm_tests::mesh::PeerController;
use wasm_tests::prometheus::Prometheus;

/// A running Flagger. It ends with the value.
pub(crate) struct Controller {
    process: PeerController,
    prometheus: Prometheus,
    gateways: Mutex<Vec<SocketAddr>>,
    folder: TempDir,
}

impl Controller {
    /// Brings its kinds to the cluster and starts it.
    pub(crate) async fn start(lab: &Lab) -> Result<Self, Error> {
        let folder = tempfile::tempdir()?;
        std::fs::write(targets(&folder), "[]")?;
        let prometheus = Prometheus::start_for(&targets(&folder)).await;
        let process = PeerController::flagger(lab, &prometheus.url()).await?;
        Ok(Self { process, prometheus, gateways: Mutex::default(), folder })
    }

    pub(crate) fn prometheus(&self) -> String {
        self.prometheus.url()
    }

    /// Lets Prometheus scrape this gateway from now on.
    pub(crate) fn scrape(&self, gateway: SocketAddr) -> Result<(), Error> {
        self.set(|gateways| gateways.push(gateway))
    }

    /// Lets it scrape this one no more.
    pub(crate) fn forget(&self, gateway: SocketAddr) -> Result<(), Error> {
        self.set(|gateways| gateways.retain(|other| *other != gateway))
    }

    fn set(&self, change: impl FnOnce(&mut Vec<SocketAddr>)) -> Result<(), Error> {
        let mut gateways = self.gateways.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut gateways);
        let addresses: Vec<String> = gateways.iter().map(ToString::to_string).collect();
        // Replaced as a whole: Prometheus may be reading it.
        let new = self.folder.path().join("new");
        std::fs::write(&new, json!([{"targets": addresses}]).to_string())?;
        std::fs::rename(new, targets(&self.folder))?;
        Ok(())
    }

    /// What it has said of the Canary of this namespace.
    pub(crate) fn messages(&self, namespace: &str) -> Vec<String> {
        messages(&self.process.log(), namespace)
    }

    pub(crate) fn log_tail(&self) -> String {
        self.process.log_tail()
    }
}

fn targets(folder: &TempDir) -> PathBuf {
    folder.path().join("targets.json")
}

/// The messages about the Canary of a namespace in a log.
fn messages(log: &str, namespace: &str) -> Vec<String> {
    let canary = format!("shop.{namespace}");
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let text = |line: &Value, field| line.get(field).and_then(Value::as_str).map(str::to_owned);
    let of = lines.filter(|line| text(line, "canary").as_ref() == Some(&canary));
    of.filter_map(|line| text(&line, "msg")).collect()
}

/// Why a rollout of Flagger ended as it did: how often it halted, and the last time.
pub(crate) fn reason(messages: &[String]) -> String {
    let is_failed =
        |message: &&String| ["Halt ", "Metric query failed"].iter().any(|start| message.starts_with(start));
    let halts: Vec<&String> = messages.iter().filter(is_failed).collect();
    match halts.last() {
        Some(last) => format!("{} failed checks, the last: {last}", halts.len()),
        None => "no failed check".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = concat!(
        "{\"level\":\"info\",\"canary\":\"shop.one\",\"msg\":\"Advance shop.one canary weight 10\"}\n",
        "klog: no JSON\n",
        "{\"level\":\"warn\",\"canary\":\"shop.one\",\"msg\":\"Halt shop.one advancement rate 98.10 < 99\"}\n",
        "{\"level\":\"info\",\"canary\":\"shop.two\",\"msg\":\"Advance shop.two canary weight 25\"}\n",
        "{\"level\":\"warn\",\"canary\":\"shop.one\",\"msg\":\"Halt shop.one advancement rate 97.00 < 99\"}\n",
    );

    #[test]
    fn the_reason_is_the_last_failed_check_of_this_canary_and_their_number() {
        let found = messages(LOG, "one");
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(reason(&found), "2 failed checks, the last: Halt shop.one advancement rate 97.00 < 99");
        assert_eq!(reason(&messages(LOG, "two")), "no failed check");
    }
}
