//! A registry in the lab.

use std::net::SocketAddr;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::LabError;
use super::lab::Lab;
use super::manifest::Objects;

const PORT: u16 = 5000;
/// Longer than a connection to an existing Service takes.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Debian's `docker-registry` in a pod.
#[derive(Debug)]
pub struct Registry {
    address: SocketAddr,
}

impl Registry {
    /// Starts one in this namespace and waits until it serves.
    pub async fn start(lab: &Lab, namespace: &str) -> Result<Self, LabError> {
        lab.apply(&Objects::read("registry", namespace)?.text()).await?;
        lab.rolled_out(namespace, "deployment/registry").await?;
        // By its address: the agent uses plain HTTP for private addresses, but for names only if it is configured.
        let address = lab.service(namespace, "registry", PORT).await?;
        // A connection that is opened before kube-proxy has the Service hangs; a new one then succeeds.
        let connect = || timeout(TIMEOUT, TcpStream::connect(address));
        lab.until("the registry's Service", async || connect().await.ok()?.ok().map(drop)).await?;
        Ok(Self { address })
    }

    /// The address of an image in it, for `delivery.module` and for `canary-ctl module push`: always with the scheme, because Istio passes
    /// over one without it in silence. The agent takes no repository of one letter.
    pub fn url(&self, image: &str) -> String {
        format!("oci://{}/{image}", self.address)
    }
}

/// The SHA-256 of these bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
