//! Istio as its own installer renders it: CRDs, istiod, its certificate authority, its webhooks.

use std::process::Command;

use super::binaries::Program;
use super::error::LabError;
use super::space::{Network, on_thread};

/// Istio's own namespace.
pub(super) const SYSTEM: &str = "istio-system";

/// What differs from `istioctl install --set profile=minimal`.
const SETTINGS: [&str; 12] = [
    "profile=minimal",
    "hub=docker.io/istio",
    "tag=1.32.0",
    // Filters that only Istio's own build of Envoy has.
    "values.telemetry.enabled=false",
    "values.pilot.env.PILOT_ENABLE_METADATA_EXCHANGE=false",
    "values.pilot.env.PILOT_ENABLE_ALPN_FILTER=false",
    // One replica of each is enough here, and readiness is probed without delay.
    "values.pilot.autoscaleEnabled=false",
    "values.global.proxy.readinessInitialDelaySeconds=0",
    "values.global.proxy.readinessPeriodSeconds=1",
    "meshConfig.accessLogFile=/dev/stdout",
    "meshConfig.defaultConfig.concurrency=1",
    "values.global.proxy.logLevel=info",
];

/// Its kinds alone.
pub(super) fn kinds(network: &Network) -> Result<String, LabError> {
    let manifests = manifests(network, &[])?;
    let kinds: Vec<&str> = manifests
        .split("\n---\n")
        .filter(|object| object.contains("\nkind: CustomResourceDefinition\n"))
        .collect();
    Ok(kinds.join("\n---\n"))
}

/// The manifests that `istioctl` renders, with these further settings (`values.…=…`, `meshConfig.…=…`).
pub(super) fn manifests(network: &Network, settings: &[String]) -> Result<String, LabError> {
    let mut command = Command::new(Program::ISTIOCTL.path()?);
    command.args(["manifest", "generate"]);
    for setting in SETTINGS.iter().copied().chain(settings.iter().map(String::as_str)) {
        command.args(["--set", setting]);
    }
    let output = on_thread(|| {
        network.enter()?; // it looks for a cluster, and must not find one of the machine's
        command.env("KUBECONFIG", "/dev/null").output()
    });
    let output = output.and_then(|output| output).map_err(LabError::system("run istioctl"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(LabError::Command { command: "istioctl manifest generate".to_owned(), output: text(&output.stderr) })
}
