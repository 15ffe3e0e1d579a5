//! A shared cache in front of the proxy hands no user's cookies to another: Envoy's own cache, and nginx.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use browser::{Kind, User, Visit};
use envoy_kit::{Envoy, EnvoyBinary, Options, free_ports, newest};
use programs::child::LoggedChild;
use serde_json::{Value, json};
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup, HOST, Pods};

use crate::support::{ID, Place, SESSION_PIN, field, insert_lua, listens, on_every_envoy};

/// The request header by which a test names the headers of the response: `name: value|name: value`.
const WANTED: &str = "x-wanted";

/// A Lua filter between ours and the application that gives responses the wanted headers.
fn answers_as_wanted(bootstrap: &mut Value, _folder: &Path) {
    let script = format!(
        "function envoy_on_request(handle)\n\
           local wanted = handle:headers():get('{WANTED}')\n\
           if wanted then handle:streamInfo():dynamicMetadata():set('test', 'wanted', wanted) end\n\
         end\n\
         function envoy_on_response(handle)\n\
           local test = handle:streamInfo():dynamicMetadata():get('test')\n\
           if not test then return end\n\
           for name, value in string.gmatch(test['wanted'], '([%w-]+): ([^|]+)') do\n\
             handle:headers():replace(name, value)\n\
           end\n\
         end"
    );
    insert_lua(bootstrap, Place::Last, &script);
}

/// The release at 50 %, behind an Envoy with the filter.
async fn fixture(binary: &EnvoyBinary, pods: &Pods) -> EnvoyFixture {
    let document = Document::session("shop").with("/spec/weight", "50");
    let setup = EnvoySetup { bootstrap: answers_as_wanted, ..EnvoySetup::of([document]) };
    EnvoyFixture::start(binary, setup, pods).await.expect("a fixture")
}

/// A proxy that does nothing but cache.
struct CacheProxy {
    _process: CacheProcess,
    listener: SocketAddr,
}

/// It ends when it is dropped.
enum CacheProcess {
    Envoy { _envoy: Box<Envoy> },
    Nginx { _nginx: LoggedChild },
}

impl CacheProxy {
    async fn envoy(origin: SocketAddr, folder: &Path) -> Self {
        let [listener, admin] = free_ports().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let path = folder.join("cache.json");
        std::fs::write(&path, bootstrap(listener, admin, origin).to_string()).expect("a bootstrap");
        let binary = newest().expect("an Envoy");
        let envoy = Envoy::start(&binary, &path, admin, &Options::default()).await.expect("a cache");
        Self { _process: CacheProcess::Envoy { _envoy: Box::new(envoy) }, listener }
    }

    /// As a careless operator sets it up: it keeps responses with cookies, and those without a word on caching for a minute.
    async fn nginx(origin: SocketAddr, folder: &Path) -> Self {
        let [port] = free_ports();
        let listener = SocketAddr::from(([127, 0, 0, 1], port));
        let at = |name: &str| folder.join(name).display().to_string();
        let (config, cache, temporary) = (at("nginx.conf"), at("cache"), at("temporary"));
        let temporary_paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|module| format!("{module}_temp_path {temporary}-{module};\n"))
            .concat();
        let text = format!(
            "daemon off; master_process off; pid {}; error_log stderr;\n\
             events {{}}\n\
             http {{ access_log off; {temporary_paths}\
             proxy_cache_path {cache} keys_zone=all:1m;\n\
             server {{ listen {listener}; location / {{\n\
             proxy_pass http://{origin}; proxy_http_version 1.1; proxy_set_header host {HOST};\n\
             proxy_cache all; proxy_cache_valid any 1m; proxy_ignore_headers set-cookie;\n\
             add_header x-cache $upstream_cache_status; }} }} }}",
            at("pid")
        );
        std::fs::write(&config, text).expect("a configuration");
        let mut command = Command::new(programs::artifact::nginx().expect("nginx"));
        command.args(["-e", "stderr", "-p", &folder.display().to_string(), "-c", &config]);
        let nginx = LoggedChild::start("nginx", &mut command).expect("nginx");
        assert!(listens(listener).await, "nginx does not listen at {listener}:\n{}", nginx.log());
        Self { _process: CacheProcess::Nginx { _nginx: nginx }, listener }
    }

    fn user(&self) -> User {
        User::http1(self.listener, HOST).as_if_tls()
    }
}

fn bootstrap(listener: SocketAddr, admin: SocketAddr, origin: SocketAddr) -> Value {
    let at = |address: SocketAddr| json!({"socket_address": {"address": address.ip(), "port_value": address.port()}});
    let typed = |name: &str| format!("type.googleapis.com/envoy.extensions.{name}");
    let cache = json!({
        "@type": typed("filters.http.cache.v3.CacheConfig"),
        "typed_config": {"@type": typed("http.cache.simple_http_cache.v3.SimpleHttpCacheConfig")},
    });
    json!({
        "admin": {"address": at(admin)},
        "static_resources": {
            "listeners": [{"name": "cache", "address": at(listener), "filter_chains": [{"filters": [{
                "name": "envoy.filters.network.http_connection_manager",
                "typed_config": {
                    "@type": typed("filters.network.http_connection_manager.v3.HttpConnectionManager"),
                    "stat_prefix": "cache",
                    "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"],
                        "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "origin"}}]}]},
                    "http_filters": [
                        {"name": "cache", "typed_config": cache},
                        {"name": "router", "typed_config": {"@type": typed("filters.http.router.v3.Router")}},
                    ],
                },
            }]}]}],
            "clusters": [{"name": "origin", "type": "STATIC", "load_assignment": {"cluster_name": "origin",
                "endpoints": [{"lb_endpoints": [{"endpoint": {"address": at(origin)}}]}]}}],
        },
    })
}

/// Users who open a page one after the other: none has the pin, the id or the session of another.
async fn assert_none_shares_cookies(cache: &CacheProxy, path: &str, wanted: &str) {
    let mut users: Vec<User> = (0..6).map(|_| cache.user()).collect();
    for user in &mut users {
        let visit = Visit::new(Kind::Navigate, path).header(WANTED, wanted);
        user.send(&visit).await.expect("a response");
    }
    let cookies = |name: &str, index: usize| -> Vec<String> {
        users.iter().filter_map(|user| user.jar.get(name)).map(|text| field(text, index).to_owned()).collect()
    };
    let (sessions, pins, ids) = (cookies("JSESSIONID", 0), cookies(SESSION_PIN, 4), cookies(ID, 4));
    assert_eq!((sessions.len(), pins.len()), (users.len(), users.len()), "sessions and pins with `{wanted}`");
    for held in [sessions, pins, ids] {
        let different: BTreeSet<&String> = held.iter().collect();
        assert_eq!(different.len(), held.len(), "with `{wanted}`: {held:?}");
    }
}

#[tokio::test]
async fn envoys_cache_hands_no_users_cookies_to_another() {
    on_every_envoy(|binary, pods| async move {
        let fixture = fixture(&binary, &pods).await;
        let cache = CacheProxy::envoy(fixture.listener(), fixture.directory()).await;
        let script = async || cache.user().fetch("/static/app.js").await.expect("a response");
        let (first, second) = (script().await, script().await);
        let ages = (first.header("age"), second.header("age").is_some());
        assert_eq!(ages, (None, true), "the cache keeps what it may: {second:?}");

        for (index, words) in
            ["max-age=0", "max-age=0, must-revalidate", "no-cache", "must-revalidate"].iter().enumerate()
        {
            let wanted = format!("cache-control: {words}");
            assert_none_shares_cookies(&cache, &format!("/?case={index}"), &wanted).await;
        }
    })
    .await;
}

/// nginx obeys `X-Accel-Expires` whatever the `Cache-Control` after it says.
#[tokio::test]
async fn a_careless_nginx_hands_no_users_cookies_to_another() {
    let (pods, binary) = (Pods::start().await.expect("pods"), newest().expect("an Envoy"));
    let fixture = fixture(&binary, &pods).await;
    let cache = CacheProxy::nginx(fixture.listener(), fixture.directory()).await;
    let script = async || cache.user().fetch("/static/app.js").await.expect("a response");
    let (first, second) = (script().await, script().await);
    let found = (first.header("x-cache"), second.header("x-cache"));
    assert_eq!(found, (Some("MISS"), Some("HIT")), "{second:?}");

    for (index, wanted) in [
        "x-nothing: of caching",
        "x-accel-expires: 60|cache-control: private",
        "x-accel-expires: 60|cache-control: no-store",
        "cache-control: must-revalidate",
    ]
    .iter()
    .enumerate()
    {
        assert_none_shares_cookies(&cache, &format!("/?case={index}"), wanted).await;
    }
}
