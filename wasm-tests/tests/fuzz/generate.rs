//! Cases that make sense, then damaged in places.

use crate::case::{Case, Lines};
use crate::mutate::{damage, sometimes};
use assignment::contract::{KeyUse, RingKey, Secret};
use assignment::seal::{KeyRing, Kind, Seal};
use assignment::{CohortMark, Identity};
use fastrand::Rng;
use serde_json::{Value, json};

/// 2026-01-01T00:00:00Z, where the host's clock stands, in seconds.
pub(crate) const NOW: u64 = 1_767_225_600;

/// Any case.
pub(crate) fn case(random: &mut Rng) -> Case {
    let mut config = config(random).to_string().into_bytes();
    sometimes(random, 4, &mut config);
    let exchanges = (0..random.usize(1..6)).map(|_| (request(random), response(random))).collect();
    Case { config, exchanges }
}

fn one<T: Clone>(random: &mut Rng, choices: &[T]) -> T {
    choices[random.usize(..choices.len())].clone()
}

/// A configuration that is mostly accepted: the fields of a release, each sometimes at another value.
fn config(random: &mut Rng) -> Value {
    let mut release = json!({
        "uid": "u1", "generation": 7, "hosts": ["shop.example"], "salt": "salt", "stickiness": "session", "weight": 5000,
        "train": "autumn", "versions": [{"name": "v1", "role": "stable", "epoch": 1}, {"name": "v2", "role": "canary", "epoch": 2}],
        "identifyBy": [{"cookie": "S"}], "sessionCookie": "S", "pin": {"cookie": {"name": "pin"}, "idleSeconds": 600},
        "override": {"mode": "token", "token": {"cookie": {"name": "token"}, "query": "t"}},
    });
    let fields = fields();
    for _ in 0..random.usize(..6) {
        let (field, values) = one(random, &fields);
        release[field] = one(random, &values);
    }
    let key = "0707070707070707070707070707070707070707070707070707070707070707";
    let mut config = json!({
        "format": 1, "keys": [{"id": "k1", "key": key, "use": "sign"}], "identityKey": key, "baggage": "canary",
        "releases": {"shop/web": release},
    });
    let proxy = [
        ("position", json!("mesh")),
        ("filterState", json!(true)),
        ("baggage", Value::Null),
        ("debugHeader", json!("x-debug")),
        ("headers", json!({"routing": "x-r", "identity": "x-i"})),
        ("idCookie", json!({"name": "id", "secure": false, "domain": "shop.example"})),
        ("newer", json!({"any": [1.5, null]})),
    ];
    if random.bool() {
        let (field, value) = one(random, &proxy);
        config[field] = value;
    }
    config
}

fn fields() -> Vec<(&'static str, Vec<Value>)> {
    let keys = [
        json!([{"header": "x-user"}, {"query": "u"}, {"cookie": "S"}]),
        json!([{"clientAddress": {}}, {"identity": {}}, {"jwt": {"claim": ["sub"]}}]),
        json!([]),
        json!([{"cookie": ""}]),
    ];
    vec![
        ("hosts", vec![json!(["*"]), json!(["*.example"]), json!(["a.example", "shop.example"]), json!([])]),
        ("paths", vec![json!(["/a", "/"]), json!(["/a/b"]), json!(["a"])]),
        ("weight", vec![json!(0), json!(1), json!(10_000), json!(10_001)]),
        ("stickiness", vec![json!("user")]),
        ("until", vec![json!({"atSeconds": NOW}), json!({"atSeconds": 0, "action": "rollback"})]),
        ("train", vec![Value::Null, json!("")]),
        (
            "gone",
            vec![json!([{"name": "v2", "epoch": 1}]), json!([{"name": "v0", "epoch": 4_294_967_295_u32}])],
        ),
        ("identifyBy", keys.to_vec()),
        ("sessionCookie", vec![Value::Null, json!("pin"), json!("T")]),
        ("adopt", vec![json!("v1"), json!("v2"), json!("nobody")]),
        ("identity", vec![json!("keyed")]),
        ("mint", vec![json!("always"), json!("never")]),
        ("override", vec![json!({"mode": "open"}), json!({"mode": "off"}), json!({"mode": "token"})]),
        ("fallback", vec![json!("clientAddress")]),
        ("sessionAffinity", vec![json!("identity")]),
        ("cacheControl", vec![json!("private")]),
        ("pin", vec![json!({"cookie": {"name": "pin", "secure": false}, "maxAgeSeconds": 1}), Value::Null]),
        ("generation", vec![json!(u64::MAX), json!(-1), json!(1.5)]),
    ]
}

/// Pins, ids and tokens of all ages, versions and epochs; also under a uid that is not the release's.
fn sealed(random: &mut Rng) -> Vec<u8> {
    let key = RingKey { id: "k1".to_owned(), key: Secret::new(vec![7; 32]), usage: KeyUse::Sign };
    let ring = KeyRing::new(&[key]).unwrap();
    let version: &[u8] = one(random, &[b"v1", b"v2", b"v2", b"v0", b"v3"]);
    let (epoch, who) = (one(random, &[1, 2, 2, 3, u32::MAX]), Identity::from_random(random.u64(..3)));
    let issued = one(random, &[NOW, NOW - 400, NOW - 90_000, 0, u64::MAX >> 1]);
    let expires = one(random, &[issued.saturating_add(60), NOW + 60, 0]);
    let mark = one(random, &[None, Some(CohortMark::Override), Some(CohortMark::New)]);
    let seal = match random.u8(..5) {
        0 => Seal::id(who, issued),
        4 => Seal::baggage(one(random, &[b"autumn.canary", b"autumn.stable"]), mark, who, issued),
        1 => Seal::token(version, epoch, who, issued, expires),
        _ => Seal::pin(version, epoch, who, issued),
    };
    let uid = if matches!(seal.kind, Kind::Id | Kind::Baggage) {
        ""
    } else {
        one(random, &["u1", "u1", "u1", "u2"])
    };
    let mut text = ring.sign(uid, &seal).unwrap_or_default().into_bytes();
    sometimes(random, 4, &mut text);
    text
}

fn cookie_line(random: &mut Rng) -> Vec<u8> {
    let mut line = Vec::new();
    for _ in 0..random.usize(1..6) {
        line.extend_from_slice(
            one(random, &["pin", "pin", "S", "S", "__Host-canary-id", "id", "token", "a"]).as_bytes(),
        );
        line.push(b'=');
        line.extend(if random.bool() { sealed(random) } else { random.u8(..9).to_string().into_bytes() });
        line.extend_from_slice(b"; ");
    }
    line
}

fn path(random: &mut Rng) -> Vec<u8> {
    let mut path =
        one(random, &["/", "/a", "/a/b?u=1", "/a?x&t=", "/?t=", "/?u=&t=1&t=", "//a#t="]).as_bytes().to_vec();
    if path.ends_with(b"t=") {
        path.extend(sealed(random));
    }
    path
}

fn request(random: &mut Rng) -> Lines {
    let text = |text: &str| text.as_bytes().to_vec();
    let authority = one(
        random,
        &["shop.example", "shop.example", "shop.example", "SHOP.example:80", "[::1]:80", "", "b.a.example"],
    );
    let method = one(random, &["GET", "GET", "POST", "OPTIONS", "HEAD"]);
    let mut lines = vec![
        (text(":authority"), text(authority)),
        (text(":method"), text(method)),
        (text(":path"), path(random)),
    ];
    for _ in 0..random.usize(..7) {
        let (name, value) = match random.u8(..13) {
            0..4 => ("cookie", cookie_line(random)),
            4 => (one(random, &["x-canary-version", "x_canary_version"]), text("shop/web/v2")),
            5 => (one(random, &["x-canary-id", "x-canary_id", "x-i"]), text("0123456789abcdef")),
            6 => (
                one(random, &["x-canary-cohort", "x_canary_cohort"]),
                text(one(random, &["autumn=canary", "a=stable, autumn=stable", "autumn=canary;override"])),
            ),
            7 => ("x-canary-override", text(one(random, &["canary", "stable", "v2"]))),
            8 => ("x-canary-token", sealed(random)),
            9 => ("sec-fetch-mode", text(one(random, &["navigate", "cors"]))),
            10 => ("baggage", [b"a=1, canary=", &sealed(random)[..], b";p"].concat()),
            11 => ("authorization", text("Bearer x")),
            _ => (
                one(random, &["x-user", "accept", "content-type"]),
                text(one(random, &["text/html", "application/grpc"])),
            ),
        };
        // Envoy joins the lines of some headers, so each of those is sent once.
        let joined = ["authorization", "accept", "content-type"].contains(&name);
        if !joined || lines.iter().all(|(found, _)| found != name.as_bytes()) {
            lines.push((text(name), value));
        }
    }
    damaged(random, lines)
}

fn response(random: &mut Rng) -> Lines {
    let text = |text: &str| text.as_bytes().to_vec();
    let status = one(random, &["200", "204", "302", "404", "503", "101", "0"]);
    let mut lines = vec![(text(":status"), text(status))];
    for _ in 0..random.usize(..5) {
        let session = [
            "S=1; Path=/",
            "S=; Max-Age=0",
            "S=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
            "T=1",
            "S=1; max-age=-99",
        ];
        let caching = ["public, max-age=60", "private", "s-maxage=1", "no-store", "max-age=0, , public ,,"];
        let (name, values): (&str, &[&str]) = match random.u8(..5) {
            0..2 => ("set-cookie", &session),
            2 => ("cache-control", &caching),
            3 => ("expires", &["Thu, 01 Dec 2033 16:00:00 GMT", "0", "Sunday, 06-Nov-94 08:49:37 GMT"]),
            _ => ("cdn-cache-control", &["max-age=9"]),
        };
        lines.push((text(name), text(one(random, values))));
    }
    damaged(random, lines)
}

/// Names are damaged seldom: Envoy refuses most odd ones, and a name that is not ours is passed over.
fn damaged(random: &mut Rng, mut lines: Lines) -> Lines {
    for (name, value) in &mut lines {
        sometimes(random, 6, value);
        if name.starts_with(b":") && name != b":authority" {
            // The host takes these as text.
            *value = String::from_utf8_lossy(value).into_owned().into_bytes();
        }
        if random.u8(..60) == 0 && !name.starts_with(b":") {
            damage(random, name);
            name.retain(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase());
            name.insert(0, b'x');
        }
    }
    lines
}
