//! One worker with one release; a test states every setting that differs.

use assignment::contract::FilterConfig;
use assignment::request::split_session_pin;
use assignment::seal::{KeyRing, Kind, Seal};
use assignment::{Identity, Salt, Weight};
use programs::artifact;
use serde_json::{Value, json};
use std::time::Duration;
use wasm_host::{Exchange, Headers, Module, Proxy, RequestHead, ResponseHead, Vm, VmOptions};

/// 2026-01-01T00:00:00Z, where the host's clock stands, in seconds.
pub(crate) const NOW: u64 = 1_767_225_600;

/// The identity in pins and tokens.
pub(crate) const WHO: Identity = Identity::from_random(0x0123_4567_89ab_cdef);

pub(crate) const KEY: &str = "3031323334353637383961626364656630313233343536373839616263646566";

/// `stickiness: session`, half of the users on the canary `v2` (epoch 2), pinned with the session cookie `S`.
pub(crate) fn release() -> Value {
    json!({
        "uid": "u1", "generation": 7, "hosts": ["shop.example"], "salt": "salt", "stickiness": "session", "weight": 5000,
        "versions": [{"name": "v1", "role": "stable", "epoch": 1}, {"name": "v2", "role": "canary", "epoch": 2}],
        "gone": [{"name": "v2", "epoch": 1}],
        "identifyBy": [{"cookie": "S"}], "sessionCookie": "S", "pin": {"cookie": {"name": "__Host-pin"}},
    })
}

/// A proxy's configuration with these releases.
pub(crate) fn config(releases: &Value) -> Value {
    json!({"format": 1, "keys": [{"id": "k1", "key": KEY, "use": "sign"}], "releases": releases})
}

/// [`release`] with one field changed, alone on its proxy.
pub(crate) fn with(field: &str, value: Value) -> Value {
    let mut release = release();
    release[field] = value;
    config(&json!({ "shop/web": release }))
}

pub(crate) fn standard() -> Value {
    config(&json!({ "shop/web": release() }))
}

pub(crate) fn module() -> Module {
    Module::load(artifact::filter().unwrap()).unwrap()
}

/// A worker that runs this configuration.
pub(crate) fn worker(config: &Value) -> Vm {
    worker_in(&Proxy::new(), VmOptions::default(), config)
}

pub(crate) fn worker_in(proxy: &Proxy, options: VmOptions, config: &Value) -> Vm {
    let vm = Vm::start_in(&module(), proxy, options).unwrap();
    assert!(vm.configure(config.to_string()).unwrap(), "{:?}", vm.logs());
    vm
}

fn ring() -> KeyRing {
    KeyRing::new(&FilterConfig::from_json(standard().to_string().as_bytes()).unwrap().keys).unwrap()
}

pub(crate) fn sign(seal: &Seal<'_>) -> String {
    ring().sign(if seal.kind == Kind::Id { "" } else { "u1" }, seal).unwrap()
}

pub(crate) fn pin(version: &str, epoch: u32) -> String {
    sign(&Seal::pin(version.as_bytes(), epoch, WHO, NOW - 60))
}

/// A session id of the canary's half (`true`) or of the stable half.
pub(crate) fn session_on(canary: bool) -> String {
    let half = Weight::new(5_000).unwrap();
    let on = |key: &String| {
        Salt::new("salt").bucket(Identity::of_key(key.as_bytes())).is_canary_at(half) == canary
    };
    (0..1_000).map(|number| format!("session-{number}")).find(on).unwrap()
}

/// The routing header that the application gets.
pub(crate) fn routed(vm: &Vm, request: RequestHead) -> Option<String> {
    vm.request(request).unwrap().headers().text("x-canary-version")
}

/// A response that takes cookies.
pub(crate) fn uncacheable() -> ResponseHead {
    ResponseHead::status(200).header("cache-control", "no-store")
}

/// What a cookie is set to in a response.
pub(crate) fn set_cookie(headers: &Headers, name: &str) -> Option<String> {
    let lines = headers.texts("set-cookie");
    let found = lines.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    found.split(';').next().map(str::to_owned)
}

/// The version that the pin in a response names.
pub(crate) fn pinned(headers: &Headers) -> Option<String> {
    let text = set_cookie(headers, "pin.s").or_else(|| set_cookie(headers, "__Host-pin"));
    let text = text.filter(|text| !text.is_empty())?;
    let (_, text) = split_session_pin(text.as_bytes());
    let seal = ring().verify(Kind::Pin, "u1", text).map(|seal| seal.version.to_vec()).unwrap();
    Some(String::from_utf8(seal).unwrap())
}

/// Advances the clock, with the tick of each second.
pub(crate) fn pass(vm: &Vm, time: Duration) {
    vm.proxy().advance(time);
    vm.tick().unwrap();
}

/// How often each reason was counted, `v2/canary/pin` and the like.
pub(crate) fn count(vm: &Vm, tag: &str) -> u64 {
    // Workers flush their counters with each tick.
    vm.tick().unwrap();
    vm.proxy().metrics_with(&["canary_requests.component.shop/web.tag.", &format!(".{tag};.total")])
}

/// The response headers that the client receives.
pub(crate) fn respond(mut exchange: Exchange, head: ResponseHead) -> Headers {
    exchange.respond(head).unwrap()
}
