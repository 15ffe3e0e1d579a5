//! A registry in the lab.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use browser::{Connection, Response};
use bytes::Bytes;
use http::request::Builder;
use http::{Request, Uri};
use http_body_util::Full;
use serde_json::Value;
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
        lab.rolled_out(namespace, "registry").await?;
        // By its address: the agent uses plain HTTP for private addresses, but for names only if it is configured.
        let address = lab.service(namespace, "registry", PORT).await?;
        // A connection that is opened before kube-proxy has the Service hangs; a new one then succeeds.
        let connect = || timeout(TIMEOUT, TcpStream::connect(address));
        lab.until("the registry's Service", async || connect().await.ok()?.ok().map(drop)).await?;
        Ok(Self { address })
    }

    /// The address of an image in it, for `delivery.module`: always with the scheme, because Istio passes over one without it in silence.
    /// The agent takes no repository of one letter.
    pub fn url(&self, image: &str) -> String {
        format!("oci://{}/{image}", self.address)
    }

    /// Pushes the image of a layout, and returns its digest.
    pub async fn push(&self, layout: &Path, repository: &str, tag: &str) -> Result<String, LabError> {
        push(self.address, layout, repository, tag).await
    }
}

/// Pushes the image of an OCI layout to a registry without TLS and passwords, and returns its digest: each blob, then the manifest (OCI
/// distribution specification 1.1, *Pushing*).
pub async fn push(
    address: SocketAddr,
    layout: &Path,
    repository: &str,
    tag: &str,
) -> Result<String, LabError> {
    let read = |name: &str| {
        let path = layout.join(name);
        std::fs::read(&path).map_err(LabError::system(format!("read {}", path.display())))
    };
    let blob = |digest: &str| read(&format!("blobs/{}", digest.replace(':', "/")));
    let index: Value = serde_json::from_slice(&read("index.json")?).unwrap_or_default();
    let digest = text(&index, "/manifests/0/digest");
    let manifest = blob(digest)?;
    let parts: Value = serde_json::from_slice(&manifest).unwrap_or_default();
    let mut registry = Connection::http1(address);
    for part in ["/config/digest", "/layers/0/digest", "/layers/1/digest"] {
        let digest = text(&parts, part);
        let start = Request::post(format!("/v2/{repository}/blobs/uploads/"));
        let accepted = send(&mut registry, start, Vec::new(), 202).await?;
        let place: Uri = accepted.header("location").unwrap_or_default().parse().unwrap_or_default();
        let place = format!("{}?{}&digest={digest}", place.path(), place.query().unwrap_or_default());
        let upload = Request::put(place).header("content-type", "application/octet-stream");
        send(&mut registry, upload, blob(digest)?, 201).await?;
    }
    let tagged = Request::put(format!("/v2/{repository}/manifests/{tag}"));
    let tagged = tagged.header("content-type", text(&parts, "/mediaType"));
    send(&mut registry, tagged, manifest, 201).await?;
    Ok(digest.to_owned())
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

async fn send(
    registry: &mut Connection,
    request: Builder,
    body: Vec<u8>,
    expected: u16,
) -> Result<Response, LabError> {
    let failed =
        |found: String| LabError::Unexpected { what: "a registry", expected: "a status of success", found };
    let request = request.header("host", registry.address().to_string()).body(Full::new(Bytes::from(body)));
    let request = request.map_err(|error| failed(error.to_string()))?;
    let response = registry.send(request).await.map_err(|error| failed(error.to_string()))?;
    if response.status == expected { Ok(response) } else { Err(failed(format!("{response:?}"))) }
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
