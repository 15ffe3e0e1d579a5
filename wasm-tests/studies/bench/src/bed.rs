//! One contender in an Envoy of its own, on the files that `canary-ctl` writes for its local target.

use crate::contender::{Chain, Contender, Routes};
use crate::error::{BenchError, file};
use crate::request::{Headers, single};
use crate::{counts, cpu};
use assignment::Reason;
use browser::Connection;
use canary_ctl::local::{Bootstrap, Filter, Layout, bootstrap, ecds, replace};
use envoy_kit::{self as envoy, Envoy, Options, free_ports};
use placed_yaml::Template;
use programs::artifact;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Where the filter stands in the bootstrap.
const HTTP_FILTER: &str =
    "static_resources/listeners/0/filter_chains/0/filters/0/typed_config/http_filters/0";

/// The same as [`envoy::COUNTED_WITHIN`], for an Envoy that runs in slow motion.
const COUNTED_WITHIN: Duration = Duration::from_secs(5);

/// What a bed may use of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    /// The core that all its threads stay on; `None` for any.
    pub(crate) core: Option<&'static str>,
    /// Worker threads.
    pub(crate) workers: u32,
    /// Whether callgrind runs it, which slows it fifty times.
    pub(crate) is_counted: bool,
}

impl Placement {
    /// As it is measured by CPU time.
    pub(crate) const MEASURED: Self = Self { core: Some(cpu::PROXY_CORE), workers: 1, is_counted: false };
    /// As its instructions are counted.
    pub(crate) const COUNTED: Self = Self { core: Some(cpu::PROXY_CORE), workers: 1, is_counted: true };
}

/// A running contender.
#[derive(Debug)]
pub(crate) struct Bed {
    pub(crate) name: String,
    /// Where requests go.
    pub(crate) address: SocketAddr,
    pub(crate) headers: Headers,
    pub(crate) layout: Layout,
    /// Its admin interface.
    pub(crate) admin: SocketAddr,
    envoy: Envoy,
    reason: Option<Reason>,
    directory: TempDir,
}

impl Bed {
    /// Writes the files, starts Envoy and sends one request. Fails if the response is not 200.
    pub(crate) async fn start(
        contender: &Contender,
        upstream: Option<&Backend>,
        placement: Placement,
    ) -> Result<Self, BenchError> {
        let directory = tempfile::tempdir().map_err(file(&std::env::temp_dir()))?;
        let layout = Layout::new(directory.path());
        let [admin, address] = free_ports().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        write_files(&layout, contender, upstream, &Bootstrap::new(address, admin))?;
        let mut options =
            Options { concurrency: placement.workers, log_level: "error", ..Options::default() };
        if placement.is_counted {
            options.under = counts::callgrind(directory.path());
            options.ready_within = counts::READY_WITHIN;
        }
        let envoy = Envoy::start(&envoy::newest()?, &layout.bootstrap(), admin, &options).await?;
        if let Some(core) = placement.core {
            cpu::pin(envoy.pid(), core)?;
        }
        let Contender { name, headers, reason, .. } = contender.clone();
        let bed = Self { name, address, headers, layout, admin, envoy, reason, directory };
        bed.ask_once().await?;
        Ok(bed)
    }

    /// The folder of its files.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.envoy.pid()
    }

    async fn ask_once(&self) -> Result<(), BenchError> {
        let response = Connection::http1(self.address).send(single(&self.headers)?).await?;
        if response.status == 200 {
            return Ok(());
        }
        let found = format!("{} {}", response.status, response.text());
        Err(BenchError::OtherPath { contender: self.name.clone(), expected: "200".to_owned(), found })
    }

    /// Fails unless our filter counted all these requests under the row's reason: so that a row measures that reason.
    pub(crate) async fn prove(&self, requests: u64) -> Result<(), BenchError> {
        let Some(reason) = self.reason else { return Ok(()) };
        let label = format!("/{};", reason.as_str());
        let begun = Instant::now();
        let counted = loop {
            let stats = self.envoy.admin().stats().await?;
            let counters =
                stats.iter().filter(|(name, _)| name.contains("canary_requests") && name.contains(&label));
            let counted: u64 = counters.map(|(_, count)| count).sum();
            if counted >= requests {
                return Ok(());
            }
            if begun.elapsed() > COUNTED_WITHIN {
                break counted;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let expected = format!("{requests} requests with reason `{}`", reason.as_str());
        Err(BenchError::OtherPath { contender: self.name.clone(), expected, found: counted.to_string() })
    }
}

/// A server for contenders that ask one: an Envoy that answers by itself, on the core of the load.
#[derive(Debug)]
pub(crate) struct Backend(Bed);

impl Backend {
    pub(crate) async fn start() -> Result<Self, BenchError> {
        let headers = crate::request::browser(&[]);
        let (name, chain) = ("the backend".to_owned(), Chain::Empty);
        let contender = Contender { name, chain, routes: Routes::ByHeader, headers, reason: None };
        let placement = Placement { core: Some(cpu::LOAD_CORE), workers: 1, is_counted: false };
        Ok(Self(Bed::start(&contender, None, placement).await?))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.address
    }
}

fn write_files(
    layout: &Layout,
    contender: &Contender,
    upstream: Option<&Backend>,
    options: &Bootstrap,
) -> Result<(), BenchError> {
    let filter = if matches!(contender.chain, Chain::Empty) { Filter::Absent } else { Filter::Installed };
    let mut text = bootstrap(layout, &Bootstrap { filter, ..options.clone() })?;
    match &contender.chain {
        Chain::Empty => {}
        Chain::Lua => text = with_lua(text)?,
        Chain::Wasm { module, config } => replace(&layout.ecds(), &ecds(config, module, "1")?)?,
    }
    let clusters = upstream.map(|backend| ["v1", "v2"].map(|version| cluster(version, backend.address())));
    replace(&layout.bootstrap(), &text)?;
    replace(&layout.clusters(), resources(&json!(clusters.iter().flatten().collect::<Vec<_>>())))?;
    Ok(replace(&layout.routes(), resources(&json!([routes(contender.routes, upstream.is_some())])))?)
}

fn with_lua(bootstrap: String) -> Result<String, BenchError> {
    let path = artifact::root().join("wasm-tests/studies/baselines/canary.lua");
    let code = std::fs::read_to_string(&path).map_err(file(&path))?;
    let mut template = Template::new(bootstrap)?;
    template.set(
        HTTP_FILTER,
        json!({
            "name": "envoy.filters.http.lua",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
                "default_source_code": {"inline_string": code},
            },
        }),
    )?;
    Ok(template.finish()?)
}

/// xDS by file. JSON is YAML.
fn resources(resources: &Value) -> String {
    json!({"version_info": "1", "resources": resources}).to_string()
}

fn cluster(version: &str, address: SocketAddr) -> Value {
    let socket = json!({"address": address.ip().to_string(), "port_value": address.port()});
    json!({
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "name": version,
        "type": "STATIC",
        "load_assignment": {
            "cluster_name": version,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": socket}}}]}],
        },
    })
}

fn routes(kind: Routes, has_upstream: bool) -> Value {
    let action = |version: &str| {
        if has_upstream {
            ("route", json!({"cluster": version}))
        } else {
            ("direct_response", json!({"status": 200, "body": {"inline_string": version}}))
        }
    };
    let header = json!([{"name": "x-canary-version", "string_match": {"exact": "shop/shop/v2"}}]);
    let route = |matches: Value, (kind, action): (&str, Value)| json!({"match": matches, kind: action});
    let routes = match kind {
        Routes::ByHeader => json!([
            route(json!({"prefix": "/", "headers": header}), action("v2")),
            route(json!({"prefix": "/"}), action("v1")),
        ]),
        Routes::NativeHash => json!([route(json!({"prefix": "/"}), ("route", weighted_by_cookie()))]),
    };
    json!({
        "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
        "name": "canary",
        "ignore_port_in_host_matching": true,
        "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": routes}],
    })
}

/// # Source
/// Envoy `route_components.proto`, `WeightedCluster.use_hash_policy`.
fn weighted_by_cookie() -> Value {
    json!({
        "weighted_clusters": {
            "use_hash_policy": true,
            "clusters": [{"name": "v1", "weight": 80}, {"name": "v2", "weight": 20}],
        },
        "hash_policy": [{"cookie": {"name": crate::config::SESSION_COOKIE}}],
    })
}
