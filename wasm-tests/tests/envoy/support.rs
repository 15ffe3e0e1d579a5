//! Shared by many tests: every Envoy at once, and what is read from a response.

use std::collections::HashMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use browser::{Jar, Response, User};
use envoy_kit::{COUNTED_WITHIN, EnvoyBinary, each_tested};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup, Pods};

pub(crate) use wasm_tests::scenario::received;

/// The release of most fixtures.
pub(crate) const SHOP: &str = "shop/shop";

/// The cookies of [`SHOP`].
pub(crate) const PIN: &str = "__Host-canary-pin.shop.shop";
pub(crate) const SESSION_PIN: &str = "canary-pin.shop.shop.s";
pub(crate) const TOKEN: &str = "__Host-canary-token.shop.shop";
pub(crate) const ID: &str = "__Host-canary-id";

/// Runs a fact against each tested Envoy at the same time; a failure names the version it failed on.
pub(crate) async fn on_every_envoy<F>(fact: impl Fn(EnvoyBinary, Arc<Pods>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let pods = Arc::new(Pods::start().await.expect("pods start"));
    let (mut running, mut names) = (JoinSet::new(), HashMap::new());
    for binary in each_tested().expect("every Envoy is installed") {
        let minor = binary.minor;
        names.insert(running.spawn(fact(binary, Arc::clone(&pods))).id(), minor);
    }
    let mut failed = Vec::new();
    while let Some(ended) = running.join_next().await {
        failed.extend(ended.err().map(|error| names[&error.id()]));
    }
    failed.sort_unstable();
    assert!(failed.is_empty(), "failed under Envoy {}", failed.join(", "));
}

/// As [`on_every_envoy`], in a fixture of one release.
pub(crate) async fn in_every_world<F>(
    document: Document,
    fact: impl Fn(EnvoyFixture) -> F + Clone + Send + 'static,
) where
    F: Future<Output = ()> + Send + 'static,
{
    on_every_envoy(move |binary, pods| {
        let (document, fact) = (document.clone(), fact.clone());
        let setup = EnvoySetup::of([document]);
        async move {
            let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
            fact(fixture).await;
        }
    })
    .await;
}

/// The version and pod of a response.
pub(crate) fn home(response: &Response) -> (String, String) {
    let text = |name| response.header(name).unwrap_or_default().to_owned();
    (text("x-shop-version"), text("x-shop-pod"))
}

/// The version that answered.
pub(crate) fn version(response: &Response) -> &str {
    response.header("x-shop-version").unwrap_or_default()
}

/// The session state that the pod reports (`x-shop-session`).
pub(crate) fn session(response: &Response) -> &str {
    response.header("x-shop-session").unwrap_or_default()
}

/// A field of a signed text, `p1.<key id>.<version>.<epoch>.<identity>.<issued>.<mac>`, which may belong to a session.
pub(crate) fn field(text: &str, index: usize) -> &str {
    let signed = text.split_once(".p1.").map_or(text, |(session, _)| &text[session.len() + 1..]);
    signed.split('.').nth(index).unwrap_or_default()
}

/// The version that the pin of a jar's session names.
pub(crate) fn pinned_version(jar: &Jar) -> Option<String> {
    jar.get(SESSION_PIN).map(|pin| field(pin, 2).to_owned())
}

/// New users who have put tea into a cart, with the version and pod of each.
pub(crate) async fn shoppers(fixture: &EnvoyFixture, count: usize) -> Vec<(User, (String, String))> {
    let mut shoppers = Vec::with_capacity(count);
    for mut user in fixture.users(count) {
        let response = user.navigate("/cart/add?item=tea").await.expect("a response");
        assert_eq!((response.status, session(&response)), (200, "none"));
        let home = home(&response);
        shoppers.push((user, home));
    }
    shoppers
}

/// Every shopper returns to the same version and pod, and finds the tea.
pub(crate) async fn all_find_their_tea(shoppers: &mut [(User, (String, String))]) {
    for (user, expected) in shoppers {
        let response = user.fetch("/cart").await.expect("a response");
        assert_eq!(
            (response.status, session(&response)),
            (200, "known"),
            "expected {expected:?}: {response:?}"
        );
        assert_eq!(&home(&response), expected);
        assert_eq!(response.json()["cart"], json!(["tea"]));
    }
}

/// How many shoppers are on this version.
pub(crate) fn on(shoppers: &[(User, (String, String))], version: &str) -> usize {
    shoppers.iter().filter(|(_, (at, _))| at == version).count()
}

/// The HTTP connection manager of a bootstrap.
pub(crate) fn connection_manager(bootstrap: &mut Value) -> &mut Value {
    bootstrap
        .pointer_mut("/static_resources/listeners/0/filter_chains/0/filters/0/typed_config")
        .expect("a bootstrap with a connection manager")
}

/// Where a filter stands among the HTTP filters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// Before ours.
    First,
    /// After ours, and before the router.
    Last,
}

/// Inserts a Lua filter with this script.
pub(crate) fn insert_lua(bootstrap: &mut Value, place: Place, script: &str) {
    let lua = json!({
        "name": "envoy.filters.http.lua",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
            "default_source_code": {"inline_string": script},
        },
    });
    let filters = connection_manager(bootstrap)["http_filters"].as_array_mut().expect("filters");
    let index = match place {
        Place::First => 0,
        Place::Last => filters.len() - 1,
    };
    filters.insert(index, lua);
}

/// How often the filter counted a request of [`SHOP`] under `<version>/<role>/<reason>`.
pub(crate) async fn counted(fixture: &EnvoyFixture, tag: &str) -> u64 {
    tokio::time::sleep(COUNTED_WITHIN).await;
    let name = format!("wasmcustom.canary_requests.component.{SHOP}.tag.{tag};.total");
    fixture.admin().counter(&name).await.expect("statistics")
}

/// Whether a server accepts connections within ten seconds.
pub(crate) async fn listens(address: SocketAddr) -> bool {
    for _ in 0..500 {
        if TcpStream::connect(address).await.is_ok() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}
