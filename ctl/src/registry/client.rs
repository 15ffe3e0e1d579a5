//! Blobs and manifests of one repository.

use super::credential::{CredentialSource, RegistryCredential};
use super::error::RegistryError;
use crate::http::{
    HttpClient, HttpError, Limits, MAX_REDIRECTS, RedirectError, TlsConnector, connector, location,
};
use crate::module::{ImageBlob, ImageReference, MANIFEST, digest};
use canary_release::ModuleDigest;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use serde::Deserialize;
use std::time::Duration;
use url::Url;

/// A module has 150 kB; a registry takes manifests of 4 MiB at most.
const LIMITS: Limits = Limits { timeout: Duration::from_mins(1), body_bytes: MAX_BODY_BYTES };
/// The largest response that is read.
const MAX_BODY_BYTES: usize = 16 << 20;

/// Manifests of one image and lists of several, of OCI and of Docker.
const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json, \
     application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json";

/// What the registry's answer to an error is shortened to, in characters.
const MAX_SAID: usize = 200;

/// What is done at a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegistryAccess {
    Pull,
    Push,
}

/// A repository of a registry.
pub(crate) struct RegistryClient {
    http: HttpClient<TlsConnector>,
    /// Scheme, host and port.
    origin: String,
    reference: ImageReference,
    access: RegistryAccess,
    credentials: CredentialSource,
    /// What the registry has asked for.
    authorization: Option<HeaderValue>,
}

/// A request that may be sent again with an authorization.
pub(super) struct Call {
    method: Method,
    uri: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Bytes,
}

impl Call {
    pub(super) fn new(method: Method, uri: Uri) -> Self {
        Self { method, uri, headers: Vec::new(), body: Bytes::new() }
    }

    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(super) fn body(self, body: Bytes) -> Self {
        // Hyper writes none for a body without bytes, and some servers insist on one.
        let length = HeaderValue::from(body.len());
        Self { body, ..self }.with(CONTENT_LENGTH, length)
    }

    /// The error for a status that no success has.
    pub(super) fn unexpected(&self, expected: &'static str, response: &Response<Bytes>) -> RegistryError {
        let url = without_query(&self.uri);
        let (method, status) = (self.method.to_string(), response.status().as_u16());
        RegistryError::Status { method, url, expected, status, said: said(response) }
    }
}

impl RegistryClient {
    /// Prepares to use the repository of a reference. Without TLS only on this machine, or where that is allowed.
    ///
    /// # Errors
    ///
    /// If TLS cannot be set up; not if nobody responds there.
    pub(crate) fn new(
        reference: ImageReference,
        access: RegistryAccess,
        credentials: CredentialSource,
        allows_plain: bool,
    ) -> Result<Self, RegistryError> {
        let is_plain = allows_plain || reference.is_loopback();
        let scheme = if is_plain { "http" } else { "https" };
        let url = format!("{scheme}://{}", reference.api_host());
        let origin = Url::parse(&url).map_err(|_| RegistryError::Url(url))?.origin().ascii_serialization();
        Ok(Self {
            http: http_client(!is_plain)?,
            origin,
            reference,
            access,
            credentials,
            authorization: None,
        })
    }

    /// The manifest at the reference's tag or digest; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the registry does not give it, or gives another one than the digest names.
    pub(crate) async fn manifest(&mut self, version: &str) -> Result<Option<Bytes>, RegistryError> {
        let call = Call::new(Method::GET, self.uri(&format!("manifests/{version}"))?);
        let call = call.with(ACCEPT, HeaderValue::from_static(MANIFESTS));
        let response = self.send(&call).await?;
        let manifest = match response.status() {
            StatusCode::OK => response.into_body(),
            StatusCode::NOT_FOUND => return Ok(None),
            _ => return Err(call.unexpected("200 or 404", &response)),
        };
        let found = digest(&manifest);
        if version.starts_with("sha256:") && version != found {
            let what = format!("the manifest at {}", without_query(&call.uri));
            return Err(RegistryError::Content { what, expected: version.to_owned(), found });
        }
        Ok(Some(manifest))
    }

    /// The bytes of this digest and size. They may be on another host, which gets no credentials.
    ///
    /// # Errors
    ///
    /// If they are not there, or others.
    pub(crate) async fn blob(&mut self, wanted: &ModuleDigest) -> Result<Bytes, RegistryError> {
        let call = Call::new(Method::GET, self.uri(&format!("blobs/sha256:{}", wanted.sha256))?);
        let first = self.send(&call).await?;
        let (call, response) = follow(call, first, async |call| self.exchange(call).await).await?;
        if response.status() != StatusCode::OK {
            return Err(call.unexpected("200", &response));
        }
        let found = ModuleDigest::of(response.body());
        if found != *wanted {
            let what = without_query(&call.uri);
            return Err(RegistryError::Content {
                what,
                expected: wanted.to_string(),
                found: found.to_string(),
            });
        }
        Ok(response.into_body())
    }

    /// Uploads a blob, unless it is there already; whether it was sent.
    ///
    /// # Errors
    ///
    /// If the registry does not take it, or has another host take it.
    pub(crate) async fn upload(&mut self, blob: &ImageBlob) -> Result<bool, RegistryError> {
        let look = Call::new(Method::HEAD, self.uri(&format!("blobs/{}", blob.digest))?);
        match self.send(&look).await? {
            response if response.status() == StatusCode::OK => return Ok(false),
            response if response.status() == StatusCode::NOT_FOUND => {}
            response => return Err(look.unexpected("200 or 404", &response)),
        }
        let start = Call::new(Method::POST, self.uri("blobs/uploads/")?).body(Bytes::new());
        let begun = self.send(&start).await?;
        if begun.status() != StatusCode::ACCEPTED {
            return Err(start.unexpected("202", &begun));
        }
        let place = self.upload_place(&start.uri, &begun, &blob.digest)?;
        let octets = HeaderValue::from_static("application/octet-stream");
        let put = Call::new(Method::PUT, place).with(CONTENT_TYPE, octets).body(blob.bytes.clone());
        let done = self.send(&put).await?;
        if done.status() == StatusCode::CREATED { Ok(true) } else { Err(put.unexpected("201", &done)) }
    }

    /// Gives a manifest, whose blobs are there, a tag.
    ///
    /// # Errors
    ///
    /// If the registry does not take it, or keeps other bytes.
    pub(crate) async fn tag(&mut self, manifest: &ImageBlob, tag: &str) -> Result<(), RegistryError> {
        let put = Call::new(Method::PUT, self.uri(&format!("manifests/{tag}"))?);
        let put = put.with(CONTENT_TYPE, HeaderValue::from_static(MANIFEST)).body(manifest.bytes.clone());
        let done = self.send(&put).await?;
        if done.status() != StatusCode::CREATED {
            return Err(put.unexpected("201", &done));
        }
        // Istio's agent asks for the digest: it has to be that of what we have sent.
        match self.manifest(&manifest.digest).await? {
            Some(_) => Ok(()),
            None => Err(RegistryError::NoImage(self.reference.with_digest(&manifest.digest).to_string())),
        }
    }

    /// The place of an upload, at the registry itself.
    fn upload_place(
        &self,
        requested: &Uri,
        begun: &Response<Bytes>,
        digest: &str,
    ) -> Result<Uri, RegistryError> {
        let none = || RegistryError::Redirect(RedirectError::NoAddress(String::new()));
        let place = location(requested, begun)?.ok_or_else(none)?;
        if !self.is_own(&place) {
            let found = origin_of(&place);
            return Err(RegistryError::OtherHost { expected: self.origin.clone(), found });
        }
        let mut url = Url::parse(&place.to_string()).map_err(|_| none())?;
        url.query_pairs_mut().append_pair("digest", digest);
        url.as_str().parse().map_err(|_| none())
    }

    /// Sends a request, and once more with an authorization if the registry asks for one.
    async fn send(&mut self, call: &Call) -> Result<Response<Bytes>, RegistryError> {
        let response = self.exchange(call).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return self.unless_forbidden(response);
        }
        self.authorization = Some(self.authenticate(&response).await?);
        let response = self.exchange(call).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return self.unless_forbidden(response);
        }
        // A token for everybody was not enough, or the password is wrong.
        let is_anonymous = self.credential()?.is_none();
        Err(if is_anonymous { self.no_credential(&response) } else { refused(self.server(), &response) })
    }

    fn unless_forbidden(&self, response: Response<Bytes>) -> Result<Response<Bytes>, RegistryError> {
        match response.status() {
            StatusCode::FORBIDDEN => Err(refused(self.server(), &response)),
            _ => Ok(response),
        }
    }

    /// Sends a request once. The authorization goes to the registry alone.
    pub(super) async fn exchange(&self, call: &Call) -> Result<Response<Bytes>, RegistryError> {
        let mut request = Request::new(Full::new(call.body.clone()));
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = call.uri.clone();
        request.headers_mut().extend(call.headers.iter().cloned());
        if let Some(authorization) = self.authorization.as_ref().filter(|_| self.is_own(&call.uri)) {
            request.headers_mut().entry(AUTHORIZATION).or_insert_with(|| authorization.clone());
        }
        self.http.send(request).await.map_err(|error| no_response(&call.uri, error))
    }

    /// Who somebody is. A credential helper may wait for a person; other tasks go on meanwhile.
    pub(super) fn credential(&self) -> Result<Option<RegistryCredential>, RegistryError> {
        let server = self.reference.credential_server().to_owned();
        tokio::task::block_in_place(|| Ok(self.credentials.credential(&server)?))
    }

    pub(super) fn no_credential(&self, response: &Response<Bytes>) -> RegistryError {
        RegistryError::NoCredential { server: self.server().to_owned(), said: said(response) }
    }

    pub(super) fn server(&self) -> &str {
        self.reference.api_host()
    }

    /// Whether the registry is used without TLS.
    pub(super) fn is_plain(&self) -> bool {
        self.origin.starts_with("http://")
    }

    /// What a token has to allow.
    pub(super) fn scope(&self) -> String {
        let actions = match self.access {
            RegistryAccess::Pull => "pull",
            RegistryAccess::Push => "pull,push",
        };
        format!("repository:{}:{actions}", self.reference.repository())
    }

    fn uri(&self, path: &str) -> Result<Uri, RegistryError> {
        let text = format!("{}/v2/{}/{path}", self.origin, self.reference.repository());
        text.parse().map_err(|_| RegistryError::Url(text))
    }

    fn is_own(&self, uri: &Uri) -> bool {
        origin_of(uri) == self.origin
    }
}

/// Reads a file of a web server, at most 16 MiB, over redirects.
///
/// # Errors
///
/// If there is no whole response of status 200.
pub(crate) async fn read_url(url: &str) -> Result<Bytes, RegistryError> {
    let uri: Uri = url.parse().map_err(|_| RegistryError::Url(url.to_owned()))?;
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(RegistryError::UserInUrl);
    }
    let http = http_client(uri.scheme_str() == Some("https"))?;
    let exchange = async |call: &Call| {
        let mut request = Request::new(Full::default());
        *request.uri_mut() = call.uri.clone();
        http.send(request).await.map_err(|error| no_response(&call.uri, error))
    };
    let call = Call::new(Method::GET, uri);
    let first = exchange(&call).await?;
    let (call, response) = follow(call, first, exchange).await?;
    match response.status() {
        StatusCode::OK => Ok(response.into_body()),
        _ => Err(call.unexpected("200", &response)),
    }
}

/// The last response of a chain of redirects, with the request that it is to.
async fn follow(
    mut call: Call,
    mut response: Response<Bytes>,
    exchange: impl AsyncFn(&Call) -> Result<Response<Bytes>, RegistryError>,
) -> Result<(Call, Response<Bytes>), RegistryError> {
    for _ in 0..MAX_REDIRECTS {
        if !response.status().is_redirection() {
            break;
        }
        let Some(next) = location(&call.uri, &response)? else { break };
        call = Call::new(Method::GET, next);
        response = exchange(&call).await?;
    }
    if response.status().is_redirection() { Err(RedirectError::TooMany.into()) } else { Ok((call, response)) }
}

/// A client that trusts the system's certificates. What begins without TLS may be redirected to it, and works on a machine
/// without certificates.
fn http_client(needs_tls: bool) -> Result<HttpClient<TlsConnector>, RegistryError> {
    let connector = match connector(true, None) {
        Err(_) if !needs_tls => connector(false, None)?,
        made => made?,
    };
    Ok(HttpClient::new(connector, LIMITS))
}

fn no_response(uri: &Uri, error: HttpError) -> RegistryError {
    RegistryError::NoResponse { url: without_query(uri), source: error.into() }
}

/// Scheme, host and port, the usual port left out.
fn origin_of(uri: &Uri) -> String {
    Url::parse(&uri.to_string()).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}

/// A query may have a signature that lets anybody read.
fn without_query(uri: &Uri) -> String {
    format!("{}{}", origin_of(uri), uri.path())
}

pub(super) fn refused(server: &str, response: &Response<Bytes>) -> RegistryError {
    let status = response.status().as_u16();
    RegistryError::Refused { server: server.to_owned(), status, said: said(response) }
}

#[derive(Deserialize)]
struct SaidErrors {
    errors: Vec<SaidError>,
}

#[derive(Deserialize)]
struct SaidError {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// What the registry says of an error, after a colon (OCI distribution specification, *Error codes*).
fn said(response: &Response<Bytes>) -> String {
    let said = serde_json::from_slice::<SaidErrors>(response.body()).ok();
    let first = said.and_then(|said| said.errors.into_iter().next());
    let text = first.map(|error| format!(": {} {}", error.code, error.message).trim_end().to_owned());
    text.unwrap_or_default().chars().take(MAX_SAID).collect()
}
