//! The programs that the lab is made of; `./x lab-tools` builds them.

use std::path::PathBuf;

use programs::artifact::{self, MissingArtifact};

/// Programs by their name in `.tools/lab/bin`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program(pub(super) &'static str);

impl Program {
    pub(super) const ETCD: Self = Self("etcd");
    pub(super) const API_SERVER: Self = Self("kube-apiserver");
    pub(super) const CONTROLLER_MANAGER: Self = Self("kube-controller-manager");
    pub(super) const KUBE_PROXY: Self = Self("kube-proxy");
    pub(super) const KUBECTL: Self = Self("kubectl");
    pub(super) const PILOT: Self = Self("pilot-discovery");
    pub(super) const HELM_3: Self = Self("helm3");
    pub(super) const HELM_4: Self = Self("helm4");
    pub(super) const AGENT: Self = Self("pilot-agent");

    pub(super) fn path(self) -> Result<PathBuf, MissingArtifact> {
        artifact::lab(self.0, &format!("bin/{}", self.0))
    }
}

/// The kinds of the Gateway API, as manifests.
pub(super) fn gateway_api() -> Result<PathBuf, MissingArtifact> {
    artifact::lab("the kinds of the Gateway API", "gateway-api.yaml")
}

/// Istio's charts, a folder each.
pub(super) fn charts() -> Result<PathBuf, MissingArtifact> {
    artifact::lab("Istio's charts", "charts")
}

/// The template of the proxies' bootstrap, which Istio's image has at a fixed place.
pub(super) fn bootstrap_template() -> Result<PathBuf, MissingArtifact> {
    artifact::lab("Istio's bootstrap template", "envoy_bootstrap.json")
}
