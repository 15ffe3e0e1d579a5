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
            "status": {"userInfo": {"username": credentials.unwrap_or("nobody")}},
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
    ] {
        let text = lab.kubeconfig(&format!("server: '{server}', CA"), "token: t");
        let called = lab.called_with(&text, &proxies(&https, "")).await;
        assert!(called.contains(expected) && !called.contains("secret"), "{server} by {https}: {called}");
    }
}

#[expect(clippy::too_many_lines, reason = "a table of kubeconfigs")]
#[tokio::test]
async fn a_kubeconfig_is_read_as_kubectl_reads_it() {
    let lab = Lab::new().await;
    let (tls, plain) = (lab.tls, lab.plain);
    let token_file = lab.write("token", "from-a-file\r\n");
    let token_file = token_file.display();
    let broken = lab.write("broken", "two\nlines");
    let broken = broken.display();
    let plugin = |body: &str| {
        let path = lab.write(&format!("plugin-{}", body.len()), &format!("#!/bin/sh\n{body}\n"));
        format!(
            "exec: {{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, args: ['{}']}}",
            path.display()
        )
    };
    let prints = |version: &str, status: &str| {
        plugin(&format!(
            "echo '{{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/{version}\", \"status\": {{{status}}}}}'"
        ))
    };
    let wrapped = STANDARD.encode(&lab.authority).replace('=', "=\\n").replacen('L', "\\n L", 1);
    for (cluster, user, expected) in [
        // The address of the API server.
        (format!("server: '{plain}'"), "token: t".to_owned(), "Bearer t"),
        (format!("server: '{tls}', CA"), "token: t".to_owned(), "Bearer t"),
        (format!("server: 'localhost:{}', CA", tls.port()), "token: t".to_owned(), "Bearer t"),
        (format!("server: '{tls}', insecure-skip-tls-verify: true"), "token: t".to_owned(), "Bearer t"),
        (format!("server: 'http://{plain}/', certificate-authority: ''"), String::new(), "nobody"),
        (
            "server: /api".to_owned(),
            String::new(),
            "`server`: expected https://HOST:PORT or HOST:PORT, found `/api`",
        ),
        ("server: ''".to_owned(), String::new(), "`server`: expected"),
        ("server: 'ftp://a'".to_owned(), String::new(), "`server`: expected"),
        ("server: 'https://'".to_owned(), String::new(), "`server`: expected"),
        ("server: 'a b'".to_owned(), String::new(), "`server`: expected"),
        ("{}".replace("{}", ""), String::new(), "`server`: expected"),
        // Tokens.
        (format!("server: 'http://{plain}'"), "token: \"t\\n\"".to_owned(), "Bearer t"),
        (format!("server: 'http://{plain}'"), "token: \"\\r\\nt \\r\\n\"".to_owned(), "Bearer t"),
        (
            format!("server: 'http://{plain}'"),
            "token: \"a\\nb\"".to_owned(),
            "`token`: expected a token in one line",
        ),
        (
            format!("server: 'http://{plain}'"),
            "token: 'über'".to_owned(),
            "`token`: expected a token in one line",
        ),
        (format!("server: 'http://{plain}'"), "token: ''".to_owned(), "nobody"),
        (format!("server: 'http://{plain}'"), format!("tokenFile: '{token_file}'"), "Bearer from-a-file"),
        (format!("server: 'http://{plain}'"), "tokenFile: token".to_owned(), "Bearer from-a-file"),
        (
            format!("server: 'http://{plain}'"),
            format!("tokenFile: '{broken}'"),
            "expected a token in one line",
        ),
        (format!("server: 'http://{plain}'"), "tokenFile: not-there".to_owned(), "No such file"),
        (format!("server: 'http://{plain}'"), "username: u, password: p".to_owned(), "Basic dTpw"),
        // Certificates.
        (
            format!("server: 'https://{tls}', certificate-authority-data: \"{wrapped}\""),
            "token: t".to_owned(),
            "Bearer t",
        ),
        (
            format!("server: 'https://{tls}', certificate-authority-data: '%%'"),
            String::new(),
            "failed to decode base64 data",
        ),
        (
            format!("server: 'https://{tls}', certificate-authority-data: 'QQ=='"),
            String::new(),
            "`certificate-authority`: expected certificates in PEM, found none",
        ),
        (format!("server: 'https://{tls}', certificate-authority: not-there"), String::new(), "No such file"),
        (format!("server: 'https://{tls}', CA"), "client-certificate-data: QQ==".to_owned(), "client key"),
        (
            format!("server: 'https://{tls}', CA"),
            "client-certificate-data: QQ==, client-key-data: QQ==".to_owned(),
            "identity PEM is missing",
        ),
        (
            format!("server: 'https://{tls}', CA, tls-server-name: 'a b'"),
            String::new(),
            "invalid server name",
        ),
        // Credential plugins.
        (format!("server: 'http://{plain}'"), prints("v1", "\"token\": \"t\\n\""), "Bearer t"),
        (
            format!("server: 'http://{plain}'"),
            prints("v1", "\"token\": \"a\\nb\""),
            "the credential plugin `sh`: expected a token in one line",
        ),
        (
            format!("server: 'http://{plain}'"),
            prints("v1beta1", "\"token\": \"t\""),
            "found kind `ExecCredential`, apiVersion `client.authentication.k8s.io/v1beta1`",
        ),
        (
            format!("server: 'http://{plain}'"),
            prints("v1", ""),
            "expected a token or a certificate with its key in `status`, found neither",
        ),
        (format!("server: 'http://{plain}'"), prints("v1", "\"clientKeyData\": \"a\""), "found one of them"),
        (
            format!("server: 'http://{plain}'"),
            plugin("echo hello"),
            "expected an ExecCredential, found other output",
        ),
        (format!("server: 'http://{plain}'"), plugin(":"), "expected an ExecCredential, found nothing"),
        (
            format!("server: 'http://{plain}'"),
            plugin("echo 'token expired' >&2; exit 7"),
            "the credential plugin `sh` failed (exit status: 7): token expired",
        ),
        (
            format!("server: 'http://{plain}'"),
            "exec: {apiVersion: client.authentication.k8s.io/v1, command: not-installed-here}".to_owned(),
            "the credential plugin `not-installed-here` is not installed",
        ),
        (
            format!("server: 'http://{plain}'"),
            "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: sh}".to_owned(),
            "found `client.authentication.k8s.io/v1alpha1`",
        ),
        (
            format!("server: 'http://{plain}'"),
            "exec: {command: sh}".to_owned(),
            "`exec`: expected `apiVersion",
        ),
        (
            format!("server: 'http://{plain}'"),
            "exec: {apiVersion: client.authentication.k8s.io/v1}".to_owned(),
            "`exec`: expected `command`, found none",
        ),
        (
            format!("server: 'http://{plain}'"),
            "auth-provider: {name: gcp, config: {}}".to_owned(),
            "`auth-provider`: expected",
        ),
        (
            format!("server: 'http://{plain}'"),
            "auth-provider: {name: oidc, config: {id-token: \"t\\n\"}}".to_owned(),
            "Bearer t",
        ),
        // A header that no request can carry.
        (format!("server: 'http://{plain}'"), "as: \"a\\nb\"".to_owned(), "failed to parse header value"),
    ] {
        let called = lab.called_with(&lab.kubeconfig(&cluster, &user), &Environment::default()).await;
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
