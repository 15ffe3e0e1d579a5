//! An Envoy that reads its files with each request to its admin interface, and reports what it has taken.

use hyper::service::service_fn;
use hyper::{Response, body::Incoming};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

/// A running one; it ends with the runtime.
pub(crate) struct FakeEnvoy {
    pub(crate) admin: SocketAddr,
    state: Arc<Mutex<State>>,
}

/// What it has taken.
#[derive(Default)]
struct State {
    directory: PathBuf,
    /// Requests until the workers run a new configuration of the filter.
    delay: u32,
    refuses_filter: bool,
    refusals: u64,
    /// The version of the filter's file that was refused last.
    refused: Option<String>,
    filter: Option<Filter>,
    /// A configuration that the workers do not run yet, and after how many requests they do.
    next_filter: Option<(u32, Filter)>,
    violations: BTreeSet<String>,
}

/// A configuration of the filter.
#[derive(Clone, PartialEq)]
struct Filter {
    file_version: String,
    generation: u64,
    versions: Vec<String>,
}

impl FakeEnvoy {
    pub(crate) async fn start(directory: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let admin = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State { directory: directory.to_owned(), ..State::default() }));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let state = Arc::clone(&shared);
                let service = service_fn(move |_: hyper::Request<Incoming>| {
                    let text = state.lock().unwrap().stats();
                    async move { Ok::<_, Infallible>(Response::new(text)) }
                });
                let http = hyper::server::conn::http1::Builder::new();
                tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { admin, state }
    }

    /// From now on the workers run a new configuration of the filter after so many requests.
    pub(crate) fn delay_filter(&self, requests: u32) {
        self.state.lock().unwrap().delay = requests;
    }

    /// From now on it refuses every new configuration of the filter.
    pub(crate) fn refuse_filter(&self) {
        self.state.lock().unwrap().refuses_filter = true;
    }

    /// Versions that the filter could name while there was no route or no cluster for them.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.state.lock().unwrap().violations.iter().cloned().collect()
    }
}

impl State {
    /// Takes the files, checks that they fit each other, and reports.
    fn stats(&mut self) -> String {
        let (clusters, routes) = (self.read("cds.yaml"), self.read("rds.yaml"));
        self.take_filter();
        self.check(&clusters, &routes);
        let Filter { generation, .. } = self.filter.clone().unwrap();
        format!(
            "envoy_cluster_manager_cds_version_text{{text_value=\"{}\"}} 0\n\
             envoy_cluster_manager_warming_clusters{{}} 0\n\
             envoy_http_rds_version_text{{envoy_rds_route_config=\"canary\",text_value=\"{}\"}} 0\n\
             envoy_extension_config_discovery_http_filter_canary_assign_update_rejected{{}} {}\n\
             canary_generation_active{{component=\"shop/shop\",tag=\"0\"}} {generation}\n",
            version(&clusters),
            version(&routes),
            self.refusals,
        )
    }

    fn take_filter(&mut self) {
        let file = filter(&self.read("ecds.yaml"));
        let is_known = self.filter.as_ref() == Some(&file)
            || self.next_filter.as_ref().is_some_and(|(_, next)| *next == file)
            || self.refused.as_ref() == Some(&file.file_version);
        if self.filter.is_none() {
            self.filter = Some(file);
        } else if !is_known && self.refuses_filter {
            self.refusals += 1;
            self.refused = Some(file.file_version);
        } else if !is_known {
            self.next_filter = Some((self.delay, file));
        } else if let Some((left, next)) = self.next_filter.take() {
            match left.checked_sub(1) {
                Some(left) => self.next_filter = Some((left, next)),
                None => self.filter = Some(next),
            }
        }
    }

    fn check(&mut self, clusters: &Value, routes: &Value) {
        let clusters = names(clusters, "/resources");
        let routes = names(routes, "/resources/0/virtual_hosts/0/routes");
        for version in &self.filter.as_ref().unwrap().versions {
            let name = format!("shop/shop/{version}");
            for (what, there) in [("route", &routes), ("cluster", &clusters)] {
                if !there.contains(&name) {
                    self.violations.insert(format!("the filter names `{version}`, which has no {what}"));
                }
            }
        }
    }

    fn read(&self, name: &str) -> Value {
        let text = std::fs::read_to_string(self.directory.join(name)).unwrap();
        serde_saphyr::from_str(&text).unwrap()
    }
}

fn version(file: &Value) -> &str {
    file["version_info"].as_str().unwrap()
}

fn names(file: &Value, list: &str) -> BTreeSet<String> {
    let list = file.pointer(list).and_then(Value::as_array).into_iter().flatten();
    list.map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

fn filter(file: &Value) -> Filter {
    let json = file.pointer("/resources/0/typed_config/config/configuration/value").unwrap();
    let config: Value = serde_json::from_str(json.as_str().unwrap()).unwrap();
    let release = &config["releases"]["shop/shop"];
    let versions = release["versions"].as_array().unwrap().iter();
    Filter {
        file_version: version(file).to_owned(),
        generation: release["generation"].as_u64().unwrap(),
        versions: versions.map(|version| version["name"].as_str().unwrap().to_owned()).collect(),
    }
}
