//! Blobs and manifests of one repository.

use super::call::{
    Call, follow, http_client, is_loopback, no_response, origin_of, refused, said, without_query,
};
use super::credential::{CredentialSource, RegistryCredential};
use super::error::RegistryError;
use crate::http::{HttpClient, RedirectError, TlsConnector, location};
use crate::module::{ImageBlob, ImageReference, MANIFEST, digest};
use canary_release::ModuleDigest;
use canary_release::redaction::Redaction;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use url::Url;

/// Manifests of one image and lists of several, of OCI and of Docker.
const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json, \
     application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json";

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
    /// What it was sent, or its server of tokens.
    pub(super) secrets: Redaction,
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
            secrets: Redaction::default(),
        })
    }

    /// The manifest at the reference's tag or digest; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the registry does not give it, or gives another one than the digest names.
    pub(crate) async fn manifest(&mut self, version: &str) -> Result<Option<Bytes>, RegistryError> {
        let done = self.read_manifest(version).await;
        self.without_secrets(done)
    }

    async fn read_manifest(&mut self, version: &str) -> Result<Option<Bytes>, RegistryError> {
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
        let done = self.read_blob(wanted).await;
        self.without_secrets(done)
    }

    async fn read_blob(&mut self, wanted: &ModuleDigest) -> Result<Bytes, RegistryError> {
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
        let done = self.send_blob(blob).await;
        self.without_secrets(done)
    }

    async fn send_blob(&mut self, blob: &ImageBlob) -> Result<bool, RegistryError> {
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
        let done = self.set_tag(manifest, tag).await;
        self.without_secrets(done)
    }

    async fn set_tag(&mut self, manifest: &ImageBlob, tag: &str) -> Result<(), RegistryError> {
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

    /// A registry that repeats what it was sent has no secret of ours printed.
    fn without_secrets<T>(&self, done: Result<T, RegistryError>) -> Result<T, RegistryError> {
        done.map_err(|error| error.redacted(&self.secrets))
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
    pub(super) fn credential(&mut self) -> Result<Option<RegistryCredential>, RegistryError> {
        let server = self.reference.credential_server().to_owned();
        let found = tokio::task::block_in_place(|| self.credentials.credential(&server))?;
        match &found {
            Some(
                RegistryCredential::Password { password: secret, .. }
                | RegistryCredential::IdentityToken(secret),
            ) => {
                self.secrets.add(secret);
            }
            None => {}
        }
        Ok(found)
    }

    pub(super) fn no_credential(&self, response: &Response<Bytes>) -> RegistryError {
        RegistryError::NoCredential { server: self.server().to_owned(), said: said(response) }
    }

    pub(super) fn server(&self) -> &str {
        self.reference.api_host()
    }

    /// Whether a server of tokens may be asked without TLS: on this machine where the registry is, too, or on the host of a registry that
    /// is used without.
    pub(super) fn allows_plain(&self, server: &Url) -> bool {
        let Ok(registry) = Url::parse(&self.origin) else { return false };
        let is_same_host = registry.host() == server.host();
        registry.scheme() == "http" && (is_same_host || is_loopback(&registry) && is_loopback(server))
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
