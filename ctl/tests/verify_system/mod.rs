//! A system to verify: the decision table behind a real HTTP server, sessions and cookies included, and its faults.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test's helper: a panic is its failure"
)]

use assignment::contract::FilterConfig;
use assignment::decide::PinAction;
use assignment::request::Headers;
use assignment::seal::Seal;
use assignment::{Decision, DecisionContext, Identity, Policy, Reason, Request, decide};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HOST, SET_COOKIE};
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

pub(crate) const UID: &str = "abcdefghijkl";
pub(crate) const KEY: &str = "30313233343536373839616263646566";

/// What a system may do wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Every request is decided again.
    Flips,
    /// Takes the client's routing header.
    ObeysRoutingHeader,
    /// Removes the routing header, and takes it spelt with underscores.
    ObeysUnderscores,
    /// Takes the client's identity header.
    ObeysIdentityHeader,
    /// Accepts a pin without verifying its seal.
    BelievesAnyPin,
    /// Takes tokens past their end.
    BelievesExpiredTokens,
    /// Reads the first cookie line only.
    ReadsOneCookieLine,
    PinsTesters,
    /// Sends testers to stable.
    IgnoresTokens,
    /// Answers every tenth request with an error.
    Errs,
    /// Answers every request with 403 and no version, like an authorization policy in front of it.
    Forbids,
    /// Adds the header of a cache hit.
    IsCached,
}

/// The filter's configuration of the system, as JSON. The canary has epoch 2, so that an older one exists.
pub(crate) fn config(stickiness: &str, weight: u32) -> Value {
    let cookie = |name: &str| json!({"name": name, "secure": false});
    let release = json!({
        "uid": UID, "generation": 1, "hosts": ["127.0.0.1"], "salt": "shop/shop/v2",
        "stickiness": stickiness, "weight": weight,
        "versions": [{"name": "v1", "role": "stable", "epoch": 1}, {"name": "v2", "role": "canary", "epoch": 2}],
        "sessionCookie": "JSESSIONID",
        "identifyBy": [{"cookie": "JSESSIONID"}],
        "pin": {"cookie": cookie("canary-pin.shop.shop")},
        "override": {"mode": "token", "token": {"cookie": cookie("canary-token.shop.shop"), "query": "canary-token"}},
    });
    json!({
        "format": 1,
        "idCookie": cookie("canary-id"),
        "keys": [{"id": "k1", "key": KEY, "use": "sign"}],
        "releases": {"shop/shop": release},
    })
}

pub(crate) fn policy(config: &Value) -> Policy {
    Policy::compile(&FilterConfig::from_json_strict(config.to_string().as_bytes()).unwrap()).unwrap()
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Starts a system on a free port; it ends with the runtime.
pub(crate) async fn start(policy: Policy, fault: Fault) -> SocketAddr {
    serve(policy, fault, None).await
}

/// The same with TLS, by the certificate of an authority of its own; answers its address and the authority's PEM.
pub(crate) async fn start_tls(policy: Policy, host: &str) -> (SocketAddr, String) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let server = CertificateParams::new([host.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![server.der().clone()], key)
        .unwrap();
    let address = serve(policy, Fault::None, Some(TlsAcceptor::from(Arc::new(config)))).await;
    (address, authority.pem())
}

async fn serve(policy: Policy, fault: Fault, tls: Option<TlsAcceptor>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let system = Arc::new(System { policy, fault });
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let system = Arc::clone(&system);
            let service = service_fn(move |request| {
                let system = Arc::clone(&system);
                async move { Ok::<_, Infallible>(system.answer(&request)) }
            });
            let http = hyper::server::conn::http1::Builder::new();
            match tls.clone() {
                None => {
                    tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
                }
                Some(tls) => {
                    // A client that does not trust us ends here.
                    tokio::spawn(async move {
                        if let Ok(stream) = tls.accept(stream).await {
                            let _ = http.serve_connection(TokioIo::new(stream), service).await;
                        }
                    });
                }
            }
        }
    });
    address
}

struct System {
    policy: Policy,
    fault: Fault,
}

struct TestContext(u64);

impl DecisionContext for TestContext {
    fn now_seconds(&self) -> u64 {
        self.0
    }
    fn random(&self) -> Option<u64> {
        Some(fastrand::u64(..))
    }
    fn jwt_claim(&self, _: &str, _: &[String]) -> Option<Vec<u8>> {
        None
    }
    fn client_address(&self) -> Option<Vec<u8>> {
        None
    }
    fn is_unavailable(&self, _: usize, _: usize) -> bool {
        false
    }
}

impl System {
    fn answer(&self, request: &hyper::Request<Incoming>) -> Response<Full<Bytes>> {
        if self.fault == Fault::Forbids {
            let response = Response::builder().status(StatusCode::FORBIDDEN);
            return response.body(Full::new("RBAC: access denied".into())).unwrap();
        }
        let pairs = self.pairs(request);
        let borrowed: Vec<(&[u8], &[u8])> =
            pairs.iter().map(|(name, value)| (name.as_slice(), value.as_slice())).collect();
        let read = Request::read(Headers::List(&borrowed), &self.policy.headers);
        let context =
            TestContext(if self.fault == Fault::BelievesExpiredTokens { now() - 90 } else { now() });
        let index = self.policy.find(read.authority, read.path).expect("a request for the release's host");
        let mut decision = decide(&self.policy, index, &read, &context).unwrap();
        self.misjudge(&read, &mut decision);
        self.respond(&read, &decision)
    }

    /// The pairs as a proxy hands them to the filter.
    fn pairs(&self, request: &hyper::Request<Incoming>) -> Vec<(Vec<u8>, Vec<u8>)> {
        let path = request.uri().path_and_query().unwrap().as_str();
        let host = request.headers().get(HOST).unwrap();
        let mut pairs = vec![
            (b":authority".to_vec(), host.as_bytes().to_vec()),
            (b":path".to_vec(), path.as_bytes().to_vec()),
            (b":method".to_vec(), request.method().as_str().as_bytes().to_vec()),
        ];
        let mut cookie_lines = 0;
        for (name, value) in request.headers() {
            cookie_lines += usize::from(name == "cookie");
            if name == "cookie" && cookie_lines > 1 && self.fault == Fault::ReadsOneCookieLine {
                continue;
            }
            pairs.push((name.as_str().as_bytes().to_vec(), value.as_bytes().to_vec()));
        }
        pairs
    }

    fn misjudge(&self, request: &Request<'_>, decision: &mut Decision) {
        let canary_said = |text: &[u8]| text.ends_with(b"/v2");
        let believed = match self.fault {
            Fault::Flips => fastrand::bool(),
            Fault::ObeysRoutingHeader => request.routing.is_some_and(canary_said),
            Fault::ObeysUnderscores => request.header("x_canary_version").is_some_and(canary_said),
            Fault::ObeysIdentityHeader => request
                .identity
                .and_then(Identity::from_hex)
                .is_some_and(|who| self.policy.releases()[0].salt.bucket(who).number() == 0),
            Fault::BelievesAnyPin => request
                .cookies()
                .get("canary-pin.shop.shop")
                .is_some_and(|pin| pin.split(|byte| *byte == b'.').nth(2) == Some(b"v2")),
            Fault::IgnoresTokens if decision.reason == Reason::Override => {
                decision.version = 0;
                return;
            }
            _ => return,
        };
        if believed {
            decision.version = 1;
        } else if self.fault == Fault::Flips {
            decision.version = 0;
        }
    }

    fn respond(&self, request: &Request<'_>, decision: &Decision) -> Response<Full<Bytes>> {
        let release = &self.policy.releases()[0];
        let version = &release.versions[decision.version];
        let identity = decision.identity.unwrap_or(Identity::from_random(fastrand::u64(..)));
        let mut cookies = Vec::new();
        let opens_session = request.cookies().get("JSESSIONID").is_none();
        if opens_session {
            cookies.push(format!("JSESSIONID={:032x}; Path=/; HttpOnly", fastrand::u128(..)));
        }
        let pins = match decision.pin {
            PinAction::Never => self.fault == Fault::PinsTesters && decision.reason == Reason::Override,
            PinAction::WithSession => opens_session,
            PinAction::Now { .. } => true,
        };
        if pins {
            let pin = Seal::pin(version.name.as_bytes(), version.epoch, identity, now());
            let text = self.policy.ring.sign(UID, &pin).unwrap();
            cookies.push(format!("canary-pin.shop.shop={text}; Path=/; HttpOnly"));
        }
        if decision.mints {
            let text = self.policy.ring.sign("", &Seal::id(identity, now())).unwrap();
            cookies.push(format!("canary-id={text}; Path=/; HttpOnly; Max-Age=7776000"));
        }
        let errs = self.fault == Fault::Errs && fastrand::u8(..10) == 0;
        let status = if errs { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
        let mut response = Response::builder().status(status).header("x-shop-version", &version.name);
        for cookie in cookies {
            response = response.header(SET_COOKIE, cookie);
        }
        if self.fault == Fault::IsCached {
            response = response.header("age", "12");
        }
        let body = json!({"deployment": {"version": version.name}}).to_string();
        response.body(Full::new(Bytes::from(body))).unwrap()
    }
}
