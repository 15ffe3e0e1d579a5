//! Where proxies get the filter from: a file of their image, a web server, a registry, their configuration; and parts of what is
//! applied.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mesh_lab::{Lab, Registry, sha256};
use programs::artifact;
use tokio::net::TcpListener;
use tokio::process::Command;
use wasm_tests::mesh::ShopEnv;
use wasm_tests::scenario::Document;

/// A module as `delivery` names it.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub(crate) url: String,
    pub(crate) sha256: Option<String>,
}

impl Module {
    /// This release, with the filter from there.
    pub(crate) fn of(&self, release: &Document, mode: &str) -> Document {
        let release = release.clone().with("/spec/delivery/mode", mode);
        let release = release.with("/spec/delivery/module", self.url.as_str());
        release.with("/spec/delivery/sha256", self.sha256.clone())
    }
}

/// The filter from a file, over HTTP, and as an image, the latter two with their sums; and embedded, where the mode has a field
/// for it.
pub(crate) async fn everywhere(lab: &Lab, namespace: &str, mode: &str, web: &Web) -> Vec<Module> {
    let registry = Registry::start(lab, namespace).await.unwrap();
    let mut all = vec![
        Module { url: format!("file://{}", Lab::FILTER), sha256: None },
        Module { url: web.url("filter.wasm"), sha256: Some(sha256(&filter())) },
        pushed(&registry, mode).await,
    ];
    if mode == "envoyfilter" {
        all.push(Module { url: "embedded".to_owned(), sha256: None });
    }
    all
}

/// The filter as an image that `canary-ctl module save` made: by its digest; with one kind of objects by the tag, and the digest as a sum.
async fn pushed(registry: &Registry, mode: &str) -> Module {
    const REPOSITORY: &str = "canary/filter";
    let layout = tempfile::tempdir().unwrap();
    let mut save = Command::new(artifact::canary_ctl().unwrap());
    save.args(["module", "save", "--oci-layout"]).arg(layout.path());
    let output = save.kill_on_drop(true).output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let digest = registry.push(layout.path(), REPOSITORY, "0.1.0").await.unwrap();
    let sha256 = digest.strip_prefix("sha256:").map(str::to_owned);
    if mode == "wasmplugin" {
        return Module { url: registry.url(&format!("{REPOSITORY}:0.1.0")), sha256 };
    }
    Module { url: registry.url(&format!("{REPOSITORY}@{digest}")), sha256: None }
}

/// The built filter.
pub(crate) fn filter() -> Vec<u8> {
    std::fs::read(artifact::filter().unwrap()).unwrap()
}

/// A web server that has the filter at `/filter.wasm` and answers 404 to everything else. It ends with the test.
pub(crate) struct Web {
    address: SocketAddr,
    missed: Arc<AtomicUsize>,
}

impl Web {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).await.unwrap();
        let address = SocketAddr::from((Lab::NODE, listener.local_addr().unwrap().port()));
        let missed = Arc::new(AtomicUsize::new(0));
        let (filter, count) = (Bytes::from(filter()), Arc::clone(&missed));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (filter, count) = (filter.clone(), Arc::clone(&count));
                let serve = service_fn(move |request: Request<Incoming>| {
                    let response = respond(request.uri().path(), &filter, &count);
                    async { Ok::<_, Infallible>(response) }
                });
                // A client that disconnects is no error of the server.
                tokio::spawn(async {
                    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), serve).await);
                });
            }
        });
        Self { address, missed }
    }

    /// Where this file is, or would be.
    pub(crate) fn url(&self, file: &str) -> String {
        format!("http://{}/{file}", self.address)
    }

    /// The number of requests for files that it does not have.
    pub(crate) fn missed(&self) -> usize {
        self.missed.load(Ordering::Relaxed)
    }
}

fn respond(path: &str, filter: &Bytes, missed: &AtomicUsize) -> Response<Full<Bytes>> {
    if path == "/filter.wasm" {
        return Response::new(Full::new(filter.clone()));
    }
    missed.fetch_add(1, Ordering::Relaxed);
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// Applies subsets and routes of a release, and returns when the gateway has them: the state before a filter is
/// installed.
pub(crate) async fn route(lab: &Lab, env: &ShopEnv, release: &Document) {
    lab.apply(&Parts::of(&env.generate(&[release], 1).unwrap()).routes).await.unwrap();
    // Until then it may be 404, and 503 while a route exists and its cluster does not.
    let answered =
        async || env.user().fetch("/").await.is_ok_and(|response| response.status == 200).then_some(());
    lab.until(&format!("the routes of {}", env.namespace), answered).await.unwrap();
}

/// What `generate` prints, taken apart by what it is for.
#[derive(Debug)]
pub(crate) struct Parts {
    /// Subsets and routes.
    pub(crate) routes: String,
    /// The object with the configuration, which a weight changes.
    pub(crate) config: String,
    /// What makes V8, and the object with the filter's place and the headers that no client may send.
    pub(crate) filter: String,
}

impl Parts {
    pub(crate) fn of(manifests: &str) -> Self {
        let documents = || manifests.split("---\n").filter(|document| !document.is_empty());
        let some = |wanted: fn(&str) -> bool| -> String {
            documents().filter(|document| wanted(document)).flat_map(|document| ["---\n", document]).collect()
        };
        Self {
            routes: some(|document| document.contains("networking.istio.io/v1\n")),
            config: some(|document| name(document).ends_with("-config")),
            filter: some(|document| ["-runtime", "-filter"].iter().any(|end| name(document).ends_with(end))),
        }
    }

    /// Everything that brings the filter to the proxy.
    pub(crate) fn delivery(&self) -> String {
        format!("{}{}", self.config, self.filter)
    }
}

/// `metadata.name`, the first name in each of our objects.
fn name(document: &str) -> &str {
    let line = document.lines().find_map(|line| line.strip_prefix("  name: "));
    line.unwrap_or_default().trim_matches('"')
}
