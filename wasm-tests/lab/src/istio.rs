//! Istio as its own charts render it: CRDs, istiod, its certificate authority, its webhooks.

use std::path::Path;
use std::process::Command;

use super::binaries::{self, Program};
use super::error::LabError;
use super::space::{Network, on_thread};

/// Istio's own namespace.
pub(super) const SYSTEM: &str = "istio-system";

/// The charts of `istioctl install --set profile=minimal`.
const CHARTS: [&str; 2] = ["base", "istio-discovery"];

/// What differs from their defaults.
const SETTINGS: [&str; 12] = [
    // Of the base chart: istiod has a validating webhook of its own.
    "defaultRevision=",
    "global.hub=docker.io/istio",
    "global.tag=1.32.0",
    // Filters that only Istio's own build of Envoy has.
    "telemetry.enabled=false",
    "env.PILOT_ENABLE_METADATA_EXCHANGE=false",
    "env.PILOT_ENABLE_ALPN_FILTER=false",
    // One replica of each is enough here, and readiness is probed without delay.
    "autoscaleEnabled=false",
    "global.proxy.readinessInitialDelaySeconds=0",
    "global.proxy.readinessPeriodSeconds=1",
    "meshConfig.accessLogFile=/dev/stdout",
    "meshConfig.defaultConfig.concurrency=1",
    "global.proxy.logLevel=info",
];

/// Its kinds alone.
pub(super) fn kinds() -> Result<String, LabError> {
    let kinds = std::fs::read_to_string(binaries::charts()?.join("base/files/crd-all.gen.yaml"));
    kinds.map_err(LabError::system("read Istio's kinds"))
}

/// The manifests of its charts, with these further values (`meshConfig.…=…`).
pub(super) fn manifests(network: &Network, settings: &[String]) -> Result<String, LabError> {
    let folder = binaries::charts()?;
    let charts: Result<Vec<_>, _> =
        CHARTS.iter().map(|chart| rendered(network, &folder.join(chart), settings)).collect();
    Ok(charts?.concat())
}

fn rendered(network: &Network, chart: &Path, settings: &[String]) -> Result<String, LabError> {
    let mut command = Command::new(Program::HELM_4.path()?);
    command.args(["template", "istio", "--namespace", SYSTEM]).arg(chart);
    for setting in SETTINGS.iter().copied().chain(settings.iter().map(String::as_str)) {
        command.args(["--set", setting]);
    }
    let output = on_thread(|| {
        network.enter()?; // it must not find a cluster of the machine
        command.env("KUBECONFIG", "/dev/null").output()
    });
    let output = output.and_then(|output| output).map_err(LabError::system("run helm"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(LabError::Command {
        command: format!("helm template {}", chart.display()),
        output: text(&output.stderr),
    })
}
