//! A registry in the lab, and an image of the filter pushed to it as Istio's agent wants one.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, LOCATION};
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::LabError;
use super::lab::Lab;
use super::manifest::Objects;
use browser::{Answer, ClientError, Connection};

const PORT: u16 = 5000;
/// Longer than a connection to an existing Service takes.
const TIMEOUT: Duration = Duration::from_millis(500);
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
/// The two layers that the agent looks for: what the module is, and the module.
const MODULE_CONFIG: &str = "application/vnd.module.wasm.config.v1+json";
const MODULE: &str = "application/vnd.module.wasm.content.layer.v1+wasm";

/// The agent takes no repository of one letter.
const REPOSITORY: &str = "canary/filter";

/// Debian's `docker-registry` in a pod.
#[derive(Debug)]
pub struct Registry {
    address: SocketAddr,
}

/// An image in a registry.
#[derive(Clone, Debug)]
pub struct Pushed {
    /// Its address for `delivery.module`, always with the scheme: Istio passes over one without it in silence.
    pub url: String,
    /// The digest of its manifest in hexadecimal, for `delivery.sha256`.
    pub sha256: String,
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

    /// Pushes an image of this module.
    pub async fn push(&self, module: &[u8], tag: &str) -> Result<Pushed, LabError> {
        let mut connection = Connection::http1(self.address);
        let config =
            json!({"architecture": "wasm", "os": "wasi", "rootfs": {"type": "layers", "diff_ids": []}});
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": self.blob(&mut connection, CONFIG, config.to_string().as_bytes()).await?,
            "layers": [
                self.blob(&mut connection, MODULE_CONFIG, b"{}").await?,
                self.blob(&mut connection, MODULE, module).await?,
            ],
        });
        let manifest = manifest.to_string();
        let path = format!("/v2/{REPOSITORY}/manifests/{tag}");
        self.send(&mut connection, (Method::PUT, &path), (MANIFEST, manifest.as_bytes())).await?;
        let url = format!("oci://{}/{REPOSITORY}:{tag}", self.address);
        Ok(Pushed { url, sha256: sha256(manifest.as_bytes()) })
    }

    /// Uploads a blob and describes it, as manifests do.
    async fn blob(&self, connection: &mut Connection, kind: &str, bytes: &[u8]) -> Result<Value, LabError> {
        let uploads = format!("/v2/{REPOSITORY}/blobs/uploads/");
        let begun = self.send(connection, (Method::POST, &uploads), (kind, b"")).await?;
        let place = begun.header(LOCATION.as_str()).unwrap_or_default();
        let place: http::Uri = place.parse().map_err(|_| LabError::Unexpected {
            what: "place for an upload",
            expected: "an address",
            found: place.to_owned(),
        })?;
        let path = place.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        let digest = format!("sha256:{}", sha256(bytes));
        let path = format!("{path}&digest={digest}");
        self.send(connection, (Method::PUT, &path), ("application/octet-stream", bytes)).await?;
        Ok(json!({"mediaType": kind, "digest": digest, "size": bytes.len()}))
    }

    async fn send(
        &self,
        connection: &mut Connection,
        (method, path): (Method, &str),
        (kind, body): (&str, &[u8]),
    ) -> Result<Answer, LabError> {
        let failed = |found| LabError::Unexpected { what: "registry", expected: "201 or 202", found };
        let request = Request::builder().method(method).uri(path).header(HOST, self.address.to_string());
        let request = request.header(CONTENT_TYPE, kind).body(Full::new(Bytes::copy_from_slice(body)));
        let request = request.map_err(ClientError::from).map_err(|error| failed(error.to_string()))?;
        let answer = connection.send(request).await.map_err(|error| failed(error.to_string()))?;
        if matches!(answer.status, 201 | 202) {
            return Ok(answer);
        }
        Err(failed(format!("{} {}", answer.status, answer.text())))
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
