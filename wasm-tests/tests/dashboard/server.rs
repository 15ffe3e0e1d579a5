//! The dashboard's own server over releases that a test changes, and a server of another site.

use canary_dashboard::{
    AccessToken, ApiError, ChangeKind, ChangeReport, ChangeRequest, ReleaseRow, ReleaseSource, ReleaseView,
    RequestCheck, crowd, serve,
};
use canary_release::file::load;
use canary_release::spec::ReleaseName;
use canary_release::state::ReleaseState;
use hyper::StatusCode;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Releases as a test has set them.
#[derive(Clone, Default)]
struct Releases(Arc<Mutex<BTreeMap<String, ReleaseView>>>);

impl ReleaseSource for Releases {
    async fn releases(&self) -> Result<Vec<ReleaseRow>, ApiError> {
        let names: Vec<String> = self.0.lock().unwrap().keys().cloned().collect();
        let row = |release| ReleaseRow { release, summary: None, notes: vec!["v0 drains".to_owned()] };
        Ok(names.into_iter().map(row).collect())
    }

    async fn release(&self, name: &ReleaseName) -> Result<ReleaseView, ApiError> {
        let error = format!("expected a release, found none named `{name}`");
        let missing =
            ApiError { status: StatusCode::NOT_FOUND, error, hint: Some("look at the list".to_owned()) };
        self.0.lock().unwrap().get(&name.to_string()).cloned().ok_or(missing)
    }

    /// A weight becomes the release's, as the next generation; a pause is refused.
    async fn change(&self, name: &ReleaseName, request: &ChangeRequest) -> Result<ChangeReport, ApiError> {
        let mut releases = self.0.lock().unwrap();
        let view = releases.get_mut(&name.to_string()).unwrap();
        let refused = |error: &str| ApiError {
            status: StatusCode::CONFLICT,
            error: error.to_owned(),
            hint: Some("ask bob".to_owned()),
        };
        if request.expected_generation != view.generation {
            return Err(refused("expected another generation"));
        }
        let Some(weight) = request.weight else { return Err(refused("bob has paused it")) };
        let line = format!("v2 {} -> {weight}", view.weight);
        if !request.dry_run {
            (view.weight, view.effective, view.generation) = (weight, weight, view.generation + 1);
        }
        Ok(ChangeReport { lines: vec![line], written: !request.dry_run })
    }
}

/// A dashboard that ends with the process.
pub(crate) struct Dashboard {
    pub(crate) port: u16,
    pub(crate) token: String,
    releases: Releases,
}

impl Dashboard {
    /// Serves these releases.
    pub(crate) fn start(releases: impl IntoIterator<Item = ReleaseView>) -> Self {
        let views = releases.into_iter().map(|view| (view.release.clone(), view)).collect();
        let releases = Releases(Arc::new(Mutex::new(views)));
        let token = AccessToken::random().unwrap();
        let (text, source) = (token.as_str().to_owned(), releases.clone());
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let port = listener.local_addr().unwrap().port();
                send.send(port).unwrap();
                serve(listener, RequestCheck::new(token, port), source).await;
            });
        });
        Self { port: receive.recv().unwrap(), token: text, releases }
    }

    /// What `canary-ctl dashboard` prints for a release.
    pub(crate) fn url(&self, release: &str) -> String {
        format!("http://127.0.0.1:{}/#token={}&release={release}", self.port, self.token)
    }

    pub(crate) fn list_url(&self) -> String {
        format!("http://127.0.0.1:{}/#token={}", self.port, self.token)
    }

    /// The weight and the generation of a release.
    pub(crate) fn state(&self, release: &str) -> (String, u64) {
        let releases = self.releases.0.lock().unwrap();
        let view = releases.get(release).unwrap();
        (view.weight.to_string(), view.generation)
    }

    /// From now on the release is this one.
    pub(crate) fn set(&self, view: ReleaseView) {
        self.releases.0.lock().unwrap().insert(view.release.clone(), view);
    }
}

/// A release with stable `v1` and canary `v2`, which had so many requests.
pub(crate) fn view(name: &str, stable: u64, canary: u64) -> ReleaseView {
    let path = programs::artifact::root().join("examples/session-cookie/canary.yaml");
    let state = ReleaseState::first(&load(&path).unwrap().release, "uid".to_owned());
    let mut view = ReleaseView::of_state(name, &state, None, true, Timestamp::now());
    let dots = crowd(&[stable, canary]).unwrap_or_default();
    for (at, (version, requests)) in view.versions.iter_mut().zip([stable, canary]).enumerate() {
        (version.requests, version.dots) = (requests, dots.get(at).copied());
        version.responses = BTreeMap::from([("2xx".to_owned(), requests)]);
    }
    view.seconds = 60;
    view.changes = vec![ChangeKind::Weight, ChangeKind::Pause, ChangeKind::Rollback];
    view
}

/// A server of another site, which has one page. Returns its port.
pub(crate) async fn foreign_site(page: String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n";
            let response = format!("{head}Content-Length: {}\r\n\r\n{page}", page.len());
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(response.as_bytes()).await;
        }
    });
    port
}
