//! What a request costs: instructions, host calls, memory. Instructions are the same on every machine, so the bounds
//! are narrow; a change that needs more of them changes a number here.

use crate::fixture::{NOW, WHO, module, pin, session_on, sign, standard, uncacheable, with, worker};
use assignment::Identity;
use assignment::request::session_pin;
use assignment::seal::Seal;
use programs::artifact;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use wasm_host::{Fuel, RequestHead, Vm};

/// What one path may cost: instructions of a request and its response, all four entries together, measured + 10 %.
const BOUNDS: [(&str, u64); 9] = [
    ("adopted before", 11_650),
    ("pinned", 12_050),
    ("pinned in a rollout", 15_150),
    ("pinned beside a fuse", 12_200),
    ("pinned anew", 37_800),
    ("hashed", 11_050),
    ("hashed, keyed", 31_850),
    ("minted", 46_300),
    ("no release", 6_300),
];

/// As a browser sends it through Envoy: some twenty headers.
fn browser(path: &str) -> RequestHead {
    let headers = [
        ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"),
        ("accept-language", "de,en-US;q=0.7,en;q=0.3"),
        ("accept-encoding", "gzip, deflate, br, zstd"),
        ("referer", "https://shop.example/"),
        ("dnt", "1"),
        ("sec-fetch-site", "same-origin"),
        ("priority", "u=0, i"),
        ("te", "trailers"),
        ("x-forwarded-for", "192.0.2.7"),
        ("x-forwarded-proto", "https"),
        ("x-request-id", "6f1c2f0e-5f0b-4a37-9d7e-2f4f3f1f7a10"),
        ("x-envoy-expected-rq-timeout-ms", "15000"),
    ];
    headers
        .into_iter()
        .fold(RequestHead::get(path).navigation(), |request, (name, value)| request.header(name, value))
}

fn request(path: &str) -> RequestHead {
    let session = session_on(true);
    match path {
        "pinned" | "pinned in a rollout" | "pinned beside a fuse" => {
            // Odd: of a session that began during the rollout.
            let seal = Seal::pin(b"v2", 2, WHO, NOW - 59);
            let pin = session_pin(session.as_bytes(), &sign(&seal));
            browser("/").header("cookie", format!("lang=de; S={session}; theme=dark; pin.s={pin}"))
        }
        "adopted before" => browser("/")
            .header("cookie", format!("lang=de; S={session}; theme=dark; __Host-pin={}", pin("v2", 2))),
        // No worker has verified this pin before.
        "pinned anew" => {
            static NEXT: AtomicU64 = AtomicU64::new(1);
            let who = Identity::from_random(NEXT.fetch_add(1, Ordering::Relaxed));
            let pin = sign(&Seal::pin(b"v2", 2, who, NOW - 60));
            browser("/").header("cookie", format!("lang=de; S={session}; theme=dark; __Host-pin={pin}"))
        }
        "hashed" | "hashed, keyed" => {
            browser("/").header("cookie", format!("lang=de; S={session}; theme=dark"))
        }
        "minted" => browser("/").header("cookie", "lang=de; theme=dark"),
        "no release" => browser("/").authority("other.example").header("cookie", "lang=de; theme=dark"),
        other => panic!("no path {other}"),
    }
}

/// A worker for a path: only a release that never pins leaves it at the hash.
fn worker_for(path: &str) -> Vm {
    worker(&match path {
        "hashed" => with("stickiness", json!("user")),
        "hashed, keyed" => {
            let mut config = with("stickiness", json!("user"));
            config["releases"]["shop/web"]["identity"] = json!("keyed");
            config["identityKey"] = json!("000102030405060708090a0b0c0d0e0f");
            config
        }
        "pinned beside a fuse" => with("fuse", json!(true)),
        "pinned in a rollout" => with("rolloutSinceSeconds", json!(NOW - 3_600)),
        _ => standard(),
    })
}

/// The cost of a request, once the worker has met its kind.
fn fuel(vm: &Vm, path: &str) -> Fuel {
    let exchange = || {
        let mut exchange = vm.request(request(path)).unwrap();
        exchange
            .respond(uncacheable().header("content-type", "text/html").header("server", "envoy"))
            .unwrap();
        exchange.end().unwrap().fuel
    };
    (0..3).fold(exchange(), |_, _| exchange())
}

#[test]
fn a_request_takes_no_more_instructions_than_committed() {
    let measured = BOUNDS.map(|(path, bound)| (path, fuel(&worker_for(path), path), bound));
    for (path, fuel, _) in &measured {
        println!("{path}: {} instructions, {fuel:?}", fuel.total());
    }
    for (path, fuel, bound) in measured {
        assert!(fuel.total() <= bound, "{path}: {} instructions, at most {bound}", fuel.total());
        assert!(
            fuel.total() >= bound / 10 * 7,
            "{path}: {} instructions: lower the bound of {bound}",
            fuel.total()
        );
    }
}

/// The host calls of a request and its response, once the worker has met its kind.
fn host_calls(vm: &Vm, path: &str) -> BTreeMap<&'static str, u64> {
    fuel(vm, path);
    let before = vm.host_calls();
    let mut exchange = vm.request(request(path)).unwrap();
    exchange.respond(uncacheable()).unwrap();
    exchange.end().unwrap();
    let calls = vm.host_calls().into_iter();
    let new = calls.map(|(name, count)| (name, count - before.get(name).copied().unwrap_or_default()));
    new.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn a_pinned_or_hashed_user_costs_no_host_call_without_need() {
    let vm = worker_for("pinned");
    let common = [("proxy_get_header_map_pairs", 2), ("proxy_add_header_map_value", 1)];
    assert_eq!(host_calls(&worker_for("hashed"), "hashed"), common.into());
    assert_eq!(host_calls(&vm, "pinned"), common.into());
    assert_eq!(host_calls(&vm, "no release"), [("proxy_get_header_map_pairs", 1)].into());
}

#[test]
fn memory_does_not_grow_with_requests() {
    let vm = worker(&standard());
    let rounds = |count: u32| {
        for number in 0..count {
            let (path, _) = BOUNDS[number as usize % BOUNDS.len()];
            let mut exchange = vm.request(request(path)).unwrap();
            exchange.respond(uncacheable().header("set-cookie", format!("S=session-{number}"))).unwrap();
        }
    };
    rounds(2_000);
    let before = vm.memory_bytes();
    rounds(100_000);
    assert_eq!(vm.memory_bytes(), before, "bytes after 100,000 requests");
}

/// A response may last for hours (a download, a WebSocket), and a gateway has thousands of them.
#[test]
fn ten_thousand_open_streams_take_little_memory() {
    let open = |is_answered: bool| {
        let vm = worker(&standard());
        let before = vm.memory_bytes();
        let exchange = |_| {
            let mut exchange = vm.request(request("pinned")).unwrap();
            if is_answered {
                exchange.respond(uncacheable()).unwrap();
            }
            exchange
        };
        let streams: Vec<_> = (0..10_000).map(exchange).collect();
        (vm.memory_bytes() - before) / streams.len()
    };
    let (waiting, responded) = (open(false), open(true));
    println!("bytes a stream: {waiting} before its response, {responded} after it");
    assert!(waiting <= 180, "{waiting} bytes a stream that waits for its response");
    assert!(responded <= 115, "{responded} bytes a stream that has its response");
}

/// A worker looks at them once a second.
#[test]
fn a_tick_looks_at_an_open_stream_for_few_instructions() {
    let tick = |streams: usize| {
        let vm = worker(&with("fuse", json!(true)));
        let open: Vec<_> = (0..streams).map(|_| vm.request(request("pinned")).unwrap()).collect();
        vm.tick().unwrap();
        let before = vm.fuel();
        vm.tick().unwrap();
        let fuel = vm.fuel() - before;
        drop(open);
        fuel
    };
    let (none, many) = (tick(0), tick(10_000));
    println!("instructions of a tick: {none} without a stream, {many} with 10,000");
    assert!(many <= none + 10_000 * 88, "{none} without a stream, {many} with 10,000");
}

#[test]
fn memory_does_not_grow_with_configurations() {
    let vm = worker(&standard());
    let update = |count: u32| {
        for generation in 0..count {
            let old = vm.serving().unwrap();
            let config = crate::fixture::with("generation", serde_json::json!(generation));
            assert!(vm.configure(config.to_string()).unwrap(), "{:?}", vm.logs());
            vm.request(request("hashed")).unwrap();
            vm.tick().unwrap();
            vm.retire(old).unwrap();
        }
    };
    update(200);
    let before = vm.memory_bytes();
    update(5_000);
    assert_eq!(vm.memory_bytes(), before, "bytes after 5,000 updates");
}

#[test]
fn the_module_exports_exactly_what_the_list_says() {
    let list = std::fs::read_to_string(artifact::root().join("filter/exports.txt")).unwrap();
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let listed: BTreeSet<String> = lines.map(str::to_owned).collect();
    let exported: BTreeSet<String> = module().exports().into_iter().collect();
    assert_eq!(exported, listed, "each export is an entry into the VM");
    let reads_content = |name: &&String| name.contains("body") || name.contains("request_trailers");
    assert_eq!(exported.iter().find(reads_content), None);
}

#[test]
fn the_module_is_smaller_than_165_kilobytes() {
    let size = std::fs::metadata(artifact::filter().unwrap()).unwrap().len();
    assert!(size < 165_000, "{size} bytes");
}
