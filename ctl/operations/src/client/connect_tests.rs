//! Kubeconfigs and environments, with an API server and a proxy that speaks CONNECT and SOCKS on the loopback interface.

use super::*;
use crate::error::Obstacle;
use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// A name that no resolver knows: it is reached by the proxy alone.
const NAMED: &str = "https://api.example.test:6443";

struct Lab {
    folder: TempDir,
    /// The API server with TLS, and without.
    tls: SocketAddr,
    plain: SocketAddr,
    proxy: SocketAddr,
    tls_proxy: SocketAddr,
    authority: String,
    /// The requests that the proxy got.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Lab {
    async fn new() -> Self {
        let (authority, acceptor) = certificates();
        let asked = Arc::default();
        let (tls, plain) = (api_server(Some(acceptor.clone())).await, api_server(None).await);
        let proxy = proxy(tls, None, &asked).await;
        let tls_proxy = proxy_with(tls, acceptor, &asked).await;
        Self { folder: TempDir::new().unwrap(), tls, plain, proxy, tls_proxy, authority, asked }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A kubeconfig of one context; `cluster` and `user` are flow mappings without their braces.
    fn kubeconfig(&self, cluster: &str, user: &str) -> String {
        let ca = STANDARD.encode(&self.authority);
        format!(
            "clusters: [{{name: c, cluster: {{{}}}}}]\nusers: [{{name: u, user: {{{user}}}}}]\n\
             contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\ncurrent-context: x\n",
            cluster.replace("CA", &format!("certificate-authority-data: {ca}")),
        )
    }

    /// `USER` or `USER by PROXY REQUEST`, or the chain of errors.
    async fn called(&self, access: &Access, environment: &Environment) -> String {
        self.asked.lock().unwrap().clear();
        let access = Access { request_timeout: Some(Duration::from_secs(5)), ..access.clone() };
        let user = match access.connect(environment).await {
            Ok((client, address)) => whoami(&client, &address).await,
            Err(error) => Err(error),
        };
        match user {
            Ok(user) => {
                let asked = self.asked.lock().unwrap().join(", ");
                let by = if asked.is_empty() { String::new() } else { format!(" by {asked}") };
                format!("{}{by}", user.unwrap_or_default())
            }
            Err(error) => chain(&error),
        }
    }

    async fn called_with(&self, text: &str, environment: &Environment) -> String {
        let kubeconfig = Some(self.write("config", text));
        self.called(&Access { kubeconfig, ..Access::default() }, environment).await
    }
}

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(error) = next {
        text.push_str(": ");
        text.push_str(&error.to_string());
        next = error.source();
    }
    text
}

/// A certificate authority, and an API server's certificate of it.
fn certificates() -> (String, TlsAcceptor) {
    let mut authority = CertificateParams::new(vec![]).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = ["127.0.0.1", "localhost", "api.example.test"].map(str::to_owned).to_vec();
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(vec![certificate.der().clone()], key).unwrap();
    (authority.pem(), TlsAcceptor::from(Arc::new(config)))
}

/// Says who calls: the credentials of the request.
async fn api_server(acceptor: Option<TlsAcceptor>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                match acceptor {
                    Some(acceptor) => {
                        let Ok(stream) = acceptor.accept(tcp).await else { return };
                        answer(stream).await;
                    }
                    None => answer(tcp).await,
                }
            });
        }
    });
    address
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let respond = |request: http::Request<hyper::body::Incoming>| async move {
        let credentials = request.headers().get("authorization").and_then(|value| value.to_str().ok());
        let review = json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {},
            "status": {"userInfo": {"username": credentials.unwrap_or("anonymous")}},
        });
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(review.to_string()))))
    };
    let _ended = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service_fn(respond))
        .await;
}

async fn proxy(
    api: SocketAddr,
    acceptor: Option<TlsAcceptor>,
    asked: &Arc<Mutex<Vec<String>>>,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::clone(asked);
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let (asked, acceptor) = (Arc::clone(&asked), acceptor.clone());
            tokio::spawn(async move {
                let result = match acceptor {
                    Some(acceptor) => match acceptor.accept(tcp).await {
                        Ok(stream) => relay(BufReader::new(stream), api, &asked).await,
                        Err(error) => Err(error),
                    },
                    None => relay(BufReader::new(tcp), api, &asked).await,
                };
                drop(result);
            });
        }
    });
    address
}

async fn proxy_with(api: SocketAddr, acceptor: TlsAcceptor, asked: &Arc<Mutex<Vec<String>>>) -> SocketAddr {
    proxy(api, Some(acceptor), asked).await
}

/// CONNECT or SOCKS 5, whatever the client speaks; every address is the API server's.
async fn relay<S: AsyncRead + AsyncWrite + Unpin>(
    mut client: BufReader<S>,
    api: SocketAddr,
    asked: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let request = if client.fill_buf().await?.first() == Some(&5) {
        socks(&mut client).await?
    } else {
        connect(&mut client).await?
    };
    let refused = request.contains("refused");
    asked.lock().unwrap().push(request);
    if refused {
        return client.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n").await;
    }
    let mut server = TcpStream::connect(api).await?;
    tokio::io::copy_bidirectional(&mut client, &mut server).await.map(drop)
}

async fn connect<S: AsyncRead + AsyncWrite + Unpin>(client: &mut BufReader<S>) -> std::io::Result<String> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        client.read_line(&mut line).await?;
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let address = lines[0].split(' ').nth(1).unwrap_or_default();
    let user = lines.iter().find_map(|line| line.strip_prefix("Proxy-Authorization: Basic "));
    let user = user.map(|user| String::from_utf8(STANDARD.decode(user).unwrap()).unwrap());
    if !address.contains("refused") {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    }
    Ok(format!("CONNECT {address}{}", user.map(|user| format!(" as {user}")).unwrap_or_default()))
}

async fn socks<S: AsyncRead + AsyncWrite + Unpin>(client: &mut BufReader<S>) -> std::io::Result<String> {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    assert_eq!(client.read_u8().await?, 5);
    let methods = counted(client).await?;
    let mut user = String::new();
    if methods.contains(&2) {
        client.write_all(&[5, 2]).await?;
        assert_eq!(client.read_u8().await?, 1);
        user = format!(" as {}:{}", text(counted(client).await?), text(counted(client).await?));
        client.write_all(&[1, 0]).await?;
    } else {
        client.write_all(&[5, 0]).await?;
    }
    let mut head = [0; 4];
    client.read_exact(&mut head).await?;
    let host = if head[3] == 3 { text(counted(client).await?) } else { client.read_u32().await?.to_string() };
    let port = client.read_u16().await?;
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    Ok(format!("SOCKS {host}:{port}{user}"))
}

async fn counted<S: AsyncRead + Unpin>(client: &mut BufReader<S>) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; client.read_u8().await?.into()];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

fn proxies(https: &str, no: &str) -> Environment {
    let some = |value: &str| Some(value.to_owned()).filter(|value| !value.is_empty());
    let proxies = ProxyEnvironment { https: some(https), http: some(https), no: some(no) };
    Environment { proxies, ..Environment::default() }
}

#[tokio::test]
async fn requests_take_the_proxy_that_kubectl_takes() {
    let lab = Lab::new().await;
    let (direct, proxy, tls_proxy) = (lab.tls, lab.proxy, lab.tls_proxy);
    let on_loopback = format!("https://{direct}");
    let by_connect = "Bearer t by CONNECT api.example.test:6443";
    for (server, own, https, no, expected) in [
        (on_loopback.as_str(), "", String::new(), "", "Bearer t"),
        // Loopback passes no proxy of the environment.
        (&on_loopback, "", format!("http://{proxy}"), "", "Bearer t"),
        (NAMED, "", format!("http://{proxy}"), "", by_connect),
        (NAMED, "", format!("{proxy}"), "", by_connect),
        (
            NAMED,
            "",
            format!("http://u:p%40@{proxy}"),
            "other.test,",
            "Bearer t by CONNECT api.example.test:6443 as u:p@",
        ),
        (NAMED, "", format!("https://{tls_proxy}"), "", by_connect),
        (NAMED, "", format!("socks5://{proxy}"), "", "Bearer t by SOCKS api.example.test:6443"),
        (NAMED, "", format!("socks5h://u:p@{proxy}"), "", "Bearer t by SOCKS api.example.test:6443 as u:p"),
        (&on_loopback, "http://PROXY", String::new(), "*", &format!("Bearer t by CONNECT {direct}")),
        (NAMED, "http://PROXY", "http://127.0.0.1:1".to_owned(), "*", by_connect),
        (NAMED, "socks5://PROXY", String::new(), "", "Bearer t by SOCKS api.example.test:6443"),
    ] {
        let own = own.replace("PROXY", &proxy.to_string());
        let own = if own.is_empty() { String::new() } else { format!(", proxy-url: '{own}'") };
        let text = lab.kubeconfig(&format!("server: '{server}', CA{own}"), "token: t");
        let called = lab.called_with(&text, &proxies(&https, no)).await;
        assert_eq!(called, expected, "{server}{own}, HTTPS_PROXY={https}, NO_PROXY={no}");
    }
}

#[tokio::test]
async fn a_proxy_that_does_not_help_is_named_without_its_password() {
    let lab = Lab::new().await;
    let proxy = lab.proxy;
    for (server, https, expected) in [
        (
            NAMED,
            "http://u:secret@127.0.0.1:1".to_owned(),
            "no connection by the proxy http://127.0.0.1:1 (HTTPS_PROXY)",
        ),
        ("https://refused.test", format!("http://u:secret@{proxy}"), "tunnel error: unsuccessful"),
        (
            NAMED,
            "socks5://u:secret@127.0.0.1:1".to_owned(),
            "no connection by the proxy socks5://127.0.0.1:1 (HTTPS_PROXY)",
        ),
        (NAMED, "ftp://u:secret@a".to_owned(), "HTTPS_PROXY: expected a proxy"),
        (NAMED, "http://u:secret@a:99999".to_owned(), "HTTPS_PROXY: expected a proxy"),
    ] {
        let text = lab.kubeconfig(&format!("server: '{server}', CA"), "token: t");
        let called = lab.called_with(&text, &proxies(&https, "")).await;
        assert!(called.contains(expected) && !called.contains("secret"), "{server} by {https}: {called}");
    }
}

/// Cluster and user of a kubeconfig, and the user that the API server sees or a part of the error. `HTTP`, `PLAIN` and `TLS` stand for the
/// lab's API servers, `FILE` and `BROKEN` for files with a token, `RUN` for a credential plugin with the script behind it, and `PRINT VERSION`
/// for one that prints the status behind it.
type Row = (&'static str, &'static str, &'static str);

const ADDRESSES: [Row; 13] = [
    ("server: 'PLAIN'", "token: t", "Bearer t"),
    ("server: 'TLS', CA", "token: t", "Bearer t"),
    ("server: 'localhost:PORT', CA", "token: t", "Bearer t"),
    ("server: 'TLS', insecure-skip-tls-verify: true", "token: t", "Bearer t"),
    ("server: 'http://PLAIN/', certificate-authority: ''", "", "anonymous"),
    ("server: /api", "", "`server`: expected https://HOST:PORT or HOST:PORT, found `/api`"),
    ("server: ''", "", "`server`: expected"),
    ("server: 'ftp://a'", "", "`server`: expected"),
    ("server: 'https://'", "", "`server`: expected"),
    ("server: 'https://a:99999'", "", "`server`: expected"),
    ("server: '[::1]:0'", "", "`server`: expected"),
    ("server: 'a b'", "", "`server`: expected"),
    ("", "", "`server`: expected"),
];

const TOKENS: [Row; 10] = [
    ("HTTP", r#"token: "t\n""#, "Bearer t"),
    ("HTTP", r#"token: "\r\nt \r\n""#, "Bearer t"),
    ("HTTP", r#"token: "a\nb""#, "`token`: expected a token in one line"),
    ("HTTP", "token: 'über'", "`token`: expected a token in one line"),
    ("HTTP", "token: ''", "anonymous"),
    ("HTTP", "tokenFile: 'FILE'", "Bearer from-a-file"),
    ("HTTP", "tokenFile: token", "Bearer from-a-file"),
    ("HTTP", "tokenFile: 'BROKEN'", "expected a token in one line"),
    ("HTTP", "tokenFile: not-there", "No such file"),
    ("HTTP", "username: u, password: p", "Basic dTpw"),
];

const CERTIFICATES: [Row; 8] = [
    (r#"server: 'https://TLS', certificate-authority-data: "WRAPPED""#, "token: t", "Bearer t"),
    ("server: 'https://TLS', certificate-authority-data: '%%'", "", "failed to decode base64 data"),
    (
        "server: 'https://TLS', certificate-authority-data: 'QQ=='",
        "",
        "`certificate-authority`: expected certificates in PEM, found none",
    ),
    ("server: 'https://TLS', certificate-authority: not-there", "", "No such file"),
    ("server: 'https://TLS', CA", "client-certificate-data: QQ==", "client key"),
    (
        "server: 'https://TLS', CA",
        "client-certificate-data: QQ==, client-key-data: QQ==",
        "identity PEM is missing",
    ),
    ("server: 'https://TLS', CA, tls-server-name: 'a b'", "", "invalid server name"),
    // A header that no request can carry.
    ("HTTP", r#"as: "a\nb""#, "failed to parse header value"),
];

const PLUGINS: [Row; 14] = [
    ("HTTP", r#"PRINT v1 "token": "t\n""#, "Bearer t"),
    ("HTTP", r#"PRINT v1 "token": "a\nb""#, "the credential plugin `sh`: expected a token in one line"),
    (
        "HTTP",
        r#"PRINT v1beta1 "token": "t""#,
        "found kind `ExecCredential`, apiVersion `client.authentication.k8s.io/v1beta1`",
    ),
    ("HTTP", "PRINT v1 ", "expected a token or a certificate with its key in `status`, found neither"),
    ("HTTP", r#"PRINT v1 "clientKeyData": "a""#, "found one of them"),
    ("HTTP", "RUN echo hello", "expected an ExecCredential, found other output"),
    ("HTTP", "RUN :", "expected an ExecCredential, found nothing"),
    (
        "HTTP",
        "RUN echo 'token expired' >&2; exit 7",
        "the credential plugin `sh` failed (exit status: 7): token expired",
    ),
    (
        "HTTP",
        "exec: {apiVersion: client.authentication.k8s.io/v1, command: not-installed-here}",
        "the credential plugin `not-installed-here` is not installed",
    ),
    (
        "HTTP",
        "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: sh}",
        "found `client.authentication.k8s.io/v1alpha1`",
    ),
    ("HTTP", "exec: {command: sh}", "`exec`: expected `apiVersion"),
    ("HTTP", "exec: {apiVersion: client.authentication.k8s.io/v1}", "`exec`: expected `command`, found none"),
    ("HTTP", "auth-provider: {name: gcp, config: {}}", "`auth-provider`: expected"),
    ("HTTP", r#"auth-provider: {name: oidc, config: {id-token: "t\n"}}"#, "Bearer t"),
];

impl Lab {
    /// The cluster of a row.
    fn cluster(&self, row: &str) -> String {
        let wrapped = STANDARD.encode(&self.authority).replace('=', "=\\n").replacen('L', "\\n L", 1);
        let row = if row == "HTTP" { "server: 'http://PLAIN'" } else { row };
        row.replace("PLAIN", &self.plain.to_string())
            .replace("TLS", &self.tls.to_string())
            .replace("PORT", &self.tls.port().to_string())
            .replace("WRAPPED", &wrapped)
    }

    /// The user of a row.
    fn user(&self, row: &str) -> String {
        let file = |name: &str, text: &str| self.write(name, text).display().to_string();
        let plugin = |body: &str| {
            let path = file(&format!("plugin-{}", body.len()), &format!("#!/bin/sh\n{body}\n"));
            format!(
                "exec: {{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, args: ['{path}']}}"
            )
        };
        if let Some(script) = row.strip_prefix("RUN ") {
            return plugin(script);
        }
        if let Some((version, status)) = row.strip_prefix("PRINT ").and_then(|rest| rest.split_once(' ')) {
            return plugin(&format!(
                "echo '{{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/{version}\", \"status\": {{{status}}}}}'"
            ));
        }
        let token = file("token", "from-a-file\r\n");
        row.replace("FILE", &token).replace("BROKEN", &file("broken", "two\nlines"))
    }
}

#[tokio::test]
async fn a_kubeconfig_is_read_as_kubectl_reads_it() {
    let lab = Lab::new().await;
    for (cluster, user, expected) in [&ADDRESSES[..], &TOKENS, &CERTIFICATES, &PLUGINS].concat() {
        let text = lab.kubeconfig(&lab.cluster(cluster), &lab.user(user));
        let called = lab.called_with(&text, &Environment::default()).await;
        let is_error =
            expected.contains(' ') && !expected.starts_with("Bearer") && !expected.starts_with("Basic");
        let fits = if is_error { called.contains(expected) } else { called == expected };
        assert!(fits, "{cluster} | {user}\nexpected {expected}\n   found {called}");
    }
}

#[tokio::test]
async fn files_of_kubeconfig_that_are_not_there_are_left_out() {
    let lab = Lab::new().await;
    let good = lab.write("good", &lab.kubeconfig(&format!("server: 'http://{}'", lab.plain), "token: t"));
    let empty = lab.write("empty", "current-context: ''\n");
    let bad = lab.write("bad", "clusters: 7\n");
    let odd = lab.folder.path().join("odd");
    std::fs::write(&odd, [0xFF, 0xFE, b'a']).unwrap();
    let utf16: Vec<u8> =
        std::fs::read_to_string(&good).unwrap().encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide = lab.folder.path().join("wide");
    std::fs::write(&wide, [vec![0xFF, 0xFE], utf16].concat()).unwrap();
    let missing = Path::new("/not/there");
    let cases: [(&[&Path], &str); 9] = [
        (&[&good], "Bearer t"),
        (&[missing, &good], "Bearer t"),
        (&[&good, missing], "Bearer t"),
        (&[Path::new(""), &empty, &good], "Bearer t"),
        (&[&wide], "Bearer t"),
        (&[missing], "cannot use the kubeconfig `/not/there`: No such file"),
        (&[&bad, &good], "bad`: "),
        (&[&odd, &good], "expected UTF-8 or UTF-16, found other bytes"),
        (&[&empty], "expected context `current-context`, found no context"),
    ];
    for (files, expected) in cases {
        let list = Some(std::env::join_paths(files).unwrap());
        let files_of = KubeconfigEnvironment { kubeconfig: list, home: None };
        let environment = Environment { files: files_of, ..Environment::default() };
        let called = lab.called(&Access::default(), &environment).await;
        assert!(called.contains(expected), "{files:?}: {called}");
    }
    let other = Access { kubeconfig: Some(good), context: Some("nope".to_owned()), ..Access::default() };
    let called = lab.called(&other, &Environment::default()).await;
    assert!(called.contains("expected context `nope`, found these: `x`"), "{called}");
    let nowhere = lab.called(&Access::default(), &Environment::default()).await;
    assert!(nowhere.contains("found neither KUBECONFIG nor a home directory"), "{nowhere}");
}

#[tokio::test]
async fn what_is_in_the_way_is_known() {
    let lab = Lab::new().await;
    let (other, _) = certificates();
    let ca = STANDARD.encode(other);
    let (tls, plain) = (lab.tls, lab.plain);
    for (cluster, environment, expected) in [
        (
            format!("server: 'https://{tls}', certificate-authority-data: {ca}"),
            "",
            Some(Obstacle::Certificate),
        ),
        (format!("server: 'https://{plain}', CA"), "", Some(Obstacle::Scheme)),
        (format!("server: '{NAMED}', CA"), "http://127.0.0.1:1", Some(Obstacle::Proxy)),
        ("server: 'http://127.0.0.1:1'".to_owned(), "", None),
    ] {
        let kubeconfig = Some(lab.write("config", &lab.kubeconfig(&cluster, "token: t")));
        let access = Access { kubeconfig, ..Access::default() };
        let (client, address) = access.connect(&proxies(environment, "")).await.unwrap();
        let error = whoami(&client, &address).await.unwrap_err();
        assert_eq!(error.obstacle(), expected, "{cluster}: {}", chain(&error));
    }
}
