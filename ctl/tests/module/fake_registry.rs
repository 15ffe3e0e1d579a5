//! A registry in this process that keeps what it is sent, asks for credentials, and has faults.

use canary_release::ModuleDigest;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// `user:secret` in base64.
const BASIC: &str = "Basic dXNlcjpzZWNyZXQ=";
const TOKEN: &str = "Bearer token-of-the-test";
/// What buys a token.
pub(crate) const IDENTITY_TOKEN: &str = "identity-of-the-test";

/// How it asks who somebody is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Auth {
    #[default]
    Nobody,
    Basic,
    /// A token of its own token server.
    Bearer,
    /// In a way that nobody knows.
    Negotiate,
    /// Nobody may write.
    ReadOnly,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// Other bytes than the digest names.
    OtherBlob,
    /// Half of a blob.
    HalfABlob,
    /// Ten gigabytes in the place of a manifest.
    EndlessManifest,
    /// Another manifest than it was sent.
    OtherManifest,
    /// Blobs are at this address.
    BlobsAt(SocketAddr),
    /// The server of tokens is at this address.
    TokensAt(SocketAddr),
    /// Uploads go to this address.
    UploadsAt(SocketAddr),
    /// Every blob is somewhere else.
    Circle,
    /// Every error repeats what it was sent as an authorization, in its text and in what it asks for.
    Repeats,
    /// An upload that is taken and not kept.
    LosesUploads,
}

#[derive(Default)]
struct Kept {
    blobs: BTreeMap<String, Vec<u8>>,
    manifests: BTreeMap<String, Vec<u8>>,
    uploads: BTreeSet<String>,
    /// `METHOD path`, and the `Authorization`.
    requests: Vec<(String, Option<String>)>,
}

/// A registry until the process ends.
#[derive(Clone)]
pub(crate) struct FakeRegistry {
    pub(crate) address: SocketAddr,
    auth: Auth,
    fault: Fault,
    kept: Arc<Mutex<Kept>>,
}

struct HttpRequest {
    method: String,
    target: String,
    authorization: Option<String>,
    body: Vec<u8>,
}

impl FakeRegistry {
    pub(crate) fn start(auth: Auth, fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let registry = Self { address, auth, fault, kept: Arc::default() };
        let server = registry.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let server = server.clone();
                std::thread::spawn(move || server.serve(stream.unwrap()));
            }
        });
        registry
    }

    /// The same content, with a fault.
    pub(crate) fn with_fault(&self, fault: Fault) -> Self {
        let faulty = Self::start(self.auth, fault);
        let kept = self.kept.lock().unwrap();
        let mut other = faulty.kept.lock().unwrap();
        other.blobs.clone_from(&kept.blobs);
        other.manifests.clone_from(&kept.manifests);
        drop(other);
        faulty
    }

    /// `METHOD path` of each request.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.kept.lock().unwrap().requests.iter().map(|(line, _)| line.clone()).collect()
    }

    /// The authorizations that it was sent.
    pub(crate) fn authorizations(&self) -> Vec<String> {
        self.kept.lock().unwrap().requests.iter().filter_map(|(_, value)| value.clone()).collect()
    }

    /// The manifest of a tag or digest.
    pub(crate) fn manifest(&self, version: &str) -> Option<Vec<u8>> {
        self.kept.lock().unwrap().manifests.get(version).cloned()
    }

    /// Keeps a manifest of somebody else.
    pub(crate) fn keep_manifest(&self, version: &str, text: &str) {
        self.kept.lock().unwrap().manifests.insert(version.to_owned(), text.as_bytes().to_vec());
    }

    fn serve(&self, mut stream: TcpStream) {
        let Some(request) = read(&mut stream) else { return };
        let line = format!("{} {}", request.method, request.target);
        self.kept.lock().unwrap().requests.push((line, request.authorization.clone()));
        // A client that disconnects is no error of the server.
        let _ = self.respond(&request, &mut stream);
    }

    fn respond(&self, request: &HttpRequest, stream: &mut TcpStream) -> std::io::Result<()> {
        if let Some(rest) = request.target.strip_prefix("/token") {
            return token(request, rest, stream);
        }
        if let (Fault::Repeats, Some(given)) = (self.fault, &request.authorization) {
            let body = format!(r#"{{"errors":[{{"code":"UNKNOWN","message":"who is {given}?"}}]}}"#);
            let status =
                if self.auth == Auth::Bearer { "403 Forbidden" } else { "500 Internal Server Error" };
            return write(stream, status, &[("www-authenticate", given)], body.as_bytes());
        }
        if let Some(challenge) = self.challenge(request) {
            let body = r#"{"errors":[{"code":"UNAUTHORIZED","message":"who are you?"}]}"#;
            return write(stream, "401 Unauthorized", &[("www-authenticate", &challenge)], body.as_bytes());
        }
        if self.auth == Auth::ReadOnly && request.method != "GET" && request.method != "HEAD" {
            let body = r#"{"errors":[{"code":"DENIED","message":"this repository is read-only"}]}"#;
            return write(stream, "403 Forbidden", &[], body.as_bytes());
        }
        let path = request.target.strip_prefix("/v2/canary/filter/").unwrap_or("none");
        let (kind, rest) = path.split_once('/').unwrap_or((path, ""));
        match (request.method.as_str(), kind) {
            ("GET", "manifests") => self.get_manifest(rest, stream),
            ("PUT", "manifests") => {
                let digest = digest(&request.body);
                let mut kept = self.kept.lock().unwrap();
                kept.manifests.insert(rest.to_owned(), request.body.clone());
                let as_kept =
                    if self.fault == Fault::OtherManifest { b"{}".to_vec() } else { request.body.clone() };
                kept.manifests.insert(digest, as_kept);
                drop(kept);
                write(stream, "201 Created", &[], b"")
            }
            ("HEAD" | "GET", "blobs") if !rest.starts_with("uploads") => self.get_blob(rest, stream),
            ("POST", "blobs") => {
                let host = match self.fault {
                    Fault::UploadsAt(address) => format!("http://{address}"),
                    _ => String::new(),
                };
                let place = format!("{host}/v2/canary/filter/blobs/uploads/1?state=a%2Fb");
                self.kept.lock().unwrap().uploads.insert("1".to_owned());
                write(stream, "202 Accepted", &[("location", &place)], b"")
            }
            ("PUT", "blobs") => self.put_blob(request, stream),
            _ => write(stream, "404 Not Found", &[], b""),
        }
    }

    fn get_manifest(&self, version: &str, stream: &mut TcpStream) -> std::io::Result<()> {
        if self.fault == Fault::EndlessManifest {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n")?;
            // Until the client has enough.
            loop {
                stream.write_all(&[b' '; 8_192])?;
            }
        }
        match self.manifest(version) {
            Some(manifest) => write(stream, "200 OK", &[], &manifest),
            None => write(stream, "404 Not Found", &[], br#"{"errors":[{"code":"MANIFEST_UNKNOWN"}]}"#),
        }
    }

    fn get_blob(&self, name: &str, stream: &mut TcpStream) -> std::io::Result<()> {
        let name = name.split('?').next().unwrap_or_default();
        let moved = match self.fault {
            Fault::BlobsAt(address) => {
                Some(format!("http://{address}/v2/canary/filter/blobs/{name}?signature=x"))
            }
            Fault::Circle => Some(format!("/v2/canary/filter/blobs/{name}")),
            _ => None,
        };
        if let Some(place) = moved {
            return write(stream, "307 Temporary Redirect", &[("location", &place)], b"");
        }
        let Some(blob) = self.kept.lock().unwrap().blobs.get(name).cloned() else {
            return write(stream, "404 Not Found", &[], b"");
        };
        match self.fault {
            Fault::OtherBlob => write(stream, "200 OK", &[], &vec![0; blob.len()]),
            Fault::HalfABlob => {
                write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", blob.len())?;
                stream.write_all(&blob[..blob.len() / 2])
            }
            _ => write(stream, "200 OK", &[], &blob),
        }
    }

    /// `PUT …/uploads/1?state=a%2Fb&digest=…`: the place as it was given, and the bytes that the digest names.
    fn put_blob(&self, request: &HttpRequest, stream: &mut TcpStream) -> std::io::Result<()> {
        let wanted = request.target.strip_prefix("/v2/canary/filter/blobs/uploads/1?state=a%2Fb&digest=");
        let wanted = wanted.unwrap_or_default().replace("%3A", ":");
        if !self.kept.lock().unwrap().uploads.remove("1") || wanted != digest(&request.body) {
            let body = r#"{"errors":[{"code":"DIGEST_INVALID","message":"provided digest did not match"}]}"#;
            return write(stream, "400 Bad Request", &[], body.as_bytes());
        }
        if self.fault == Fault::LosesUploads {
            return write(stream, "503 Service Unavailable", &[], b"");
        }
        self.kept.lock().unwrap().blobs.insert(wanted, request.body.clone());
        write(stream, "201 Created", &[], b"")
    }

    fn challenge(&self, request: &HttpRequest) -> Option<String> {
        let given = request.authorization.as_deref();
        match self.auth {
            Auth::Basic if given != Some(BASIC) => Some("Basic realm=\"registry\"".to_owned()),
            Auth::Bearer if given != Some(TOKEN) => {
                let server = if let Fault::TokensAt(address) = self.fault { address } else { self.address };
                Some(format!("Bearer realm=\"http://{server}/token\",service=\"of the test\""))
            }
            Auth::Negotiate => Some("Negotiate".to_owned()),
            _ => None,
        }
    }
}

/// The server of tokens: to who has the password or the identity token, for this repository.
fn token(request: &HttpRequest, query: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    let form = String::from_utf8_lossy(&request.body);
    let is_login = form.contains("grant_type=refresh_token")
        && form.contains(&format!("refresh_token={IDENTITY_TOKEN}"));
    let asked = if request.method == "POST" { &*form } else { query };
    let has_scope =
        asked.contains("scope=repository%3Acanary%2Ffilter%3Apull") && asked.contains("service=of+the+test");
    if has_scope && (is_login || request.authorization.as_deref() == Some(BASIC)) {
        return write(stream, "200 OK", &[], br#"{"token": "token-of-the-test"}"#);
    }
    write(
        stream,
        "401 Unauthorized",
        &[],
        br#"{"errors":[{"code":"UNAUTHORIZED","message":"wrong password"}]}"#,
    )
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", ModuleDigest::of(bytes).sha256)
}

fn read(stream: &mut TcpStream) -> Option<HttpRequest> {
    let (mut bytes, mut block) = (Vec::new(), [0; 8_192]);
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break end;
        }
        match stream.read(&mut block) {
            Ok(count) if count > 0 => bytes.extend(&block[..count]),
            _ => return None,
        }
        // A TLS handshake (RFC 8446, section 5.1): a server without TLS answers what it answers to every nonsense.
        if bytes.first() == Some(&22) {
            drop(write(stream, "400 Bad Request", &[], b""));
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let header = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(found, _)| found.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.to_owned())
    };
    let length: usize = header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = bytes.split_off(head_end + 4);
    while body.len() < length {
        match stream.read(&mut block) {
            Ok(count) if count > 0 => body.extend(&block[..count]),
            _ => return None,
        }
    }
    let mut words = head.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    // A `POST` and a `PUT` say how long their bodies are (RFC 9110, section 8.6).
    assert!(!["POST", "PUT"].contains(&method.as_str()) || header("content-length").is_some(), "{head}");
    Some(HttpRequest { method, target, authorization: header("authorization"), body })
}

fn write(stream: &mut TcpStream, status: &str, headers: &[(&str, &str)], body: &[u8]) -> std::io::Result<()> {
    let lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let lines = lines.concat();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nconnection: close\r\n{lines}content-length: {}\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body)
}
