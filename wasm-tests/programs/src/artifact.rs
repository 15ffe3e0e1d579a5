//! Where the built files are, each with the command that makes it; a missing one is an error, never a skipped test.

use std::path::{Path, PathBuf};

/// A file that the tests need has not been built.
#[derive(Debug, thiserror::Error)]
#[error("{what} is missing: expected {}, hint: run: {command}", path.display())]
pub struct MissingArtifact {
    pub what: &'static str,
    /// Where it should be.
    pub path: PathBuf,
    /// What makes it.
    pub command: &'static str,
}

/// The checkout that this crate belongs to.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

/// The filter, `target/wasm/canary_filter.wasm`.
pub fn filter() -> Result<PathBuf, MissingArtifact> {
    find("the filter", target().join("wasm/canary_filter.wasm"), "./x wasm")
}

/// The benchmark's yardstick, `target/wasm/empty_sdk.wasm`.
pub fn empty_sdk() -> Result<PathBuf, MissingArtifact> {
    find("the empty SDK filter", target().join("wasm/empty_sdk.wasm"), "tools/baselines.sh")
}

/// The command-line tool, `target/debug/canary-ctl`.
pub fn canary_ctl() -> Result<PathBuf, MissingArtifact> {
    find("canary-ctl", target().join("debug/canary-ctl"), "./x build")
}

/// The demo shop, `target/debug/demo-shop`.
pub fn demo_shop() -> Result<PathBuf, MissingArtifact> {
    find("the demo shop", target().join("debug/demo-shop"), "./x build")
}

/// The catalog behind the demo shop, `target/debug/demo-catalog`.
pub fn demo_catalog() -> Result<PathBuf, MissingArtifact> {
    find("the demo catalog", target().join("debug/demo-catalog"), "./x build")
}

/// The Envoy of this minor version, e.g. `1.40`.
pub fn envoy(minor: &str) -> Result<PathBuf, MissingArtifact> {
    find("Envoy", root().join(".tools/envoy").join(minor).join("envoy"), "./x envoys")
}

/// Debian's nginx, `.tools/nginx/nginx`.
pub fn nginx() -> Result<PathBuf, MissingArtifact> {
    find("nginx", root().join(".tools/nginx/nginx"), "./x nginx")
}

/// Debian's headless Chromium, `.tools/chromium/chromium`.
pub fn chromium() -> Result<PathBuf, MissingArtifact> {
    find("Chromium", root().join(".tools/chromium/chromium"), "./x chromium")
}

/// Debian's Prometheus server, `.tools/prometheus/prometheus`.
pub fn prometheus() -> Result<PathBuf, MissingArtifact> {
    find("Prometheus", root().join(".tools/prometheus/prometheus"), "./x prometheus")
}

/// Prometheus' tool for rules and queries, `.tools/prometheus/promtool`.
pub fn promtool() -> Result<PathBuf, MissingArtifact> {
    find("promtool", root().join(".tools/prometheus/promtool"), "./x prometheus")
}

/// Debian's registry of images, `.tools/docker-registry/docker-registry`.
pub fn docker_registry() -> Result<PathBuf, MissingArtifact> {
    find("docker-registry", root().join(".tools/docker-registry/docker-registry"), "./x registry")
}

/// A part of the mesh, below `.tools/lab`.
pub fn lab(what: &'static str, path: &str) -> Result<PathBuf, MissingArtifact> {
    find(what, root().join(".tools/lab").join(path), "./x lab-tools")
}

/// Another tool for rollouts, or its kinds, below `.tools/lab`.
pub fn peer(what: &'static str, path: &str) -> Result<PathBuf, MissingArtifact> {
    let command = "tools/peers.sh flagger loadtester argo-rollouts";
    find(what, root().join(".tools/lab").join(path), command)
}

/// Cargo's target directory, which `CARGO_TARGET_DIR` may move.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |path| root().join(path))
}

fn find(what: &'static str, path: PathBuf, command: &'static str) -> Result<PathBuf, MissingArtifact> {
    if path.exists() { Ok(path) } else { Err(MissingArtifact { what, path, command }) }
}
