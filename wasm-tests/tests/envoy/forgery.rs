//! What a client can send to be somebody else or somewhere else: none of it leads to a canary at weight 0 (promise 6),
//! and where the filter is missing, inert or not installed, none of it is an error either (promise 5).

use canary_ctl::local::Filter;
use wasm_tests::client::{Kind, User, Visit, send_raw};
use wasm_tests::scenario::{BeginsWith, Document, Forge, HOST, Story, World, now_seconds};

use crate::support::{ID, PIN, SHOP, TOKEN, counted, in_every_world, on_every_envoy, received, version};

const DAY: i64 = 24 * 3600;

/// All that clients may send in headers: routing, identity, cohort, override; in every spelling, also twice.
fn by_header() -> Vec<(String, Visit)> {
    let values = [
        ("x-canary-version", "shop/shop/v2"),
        ("x-canary-id", "0000000000000000"),
        ("x-canary-cohort", "autumn=canary"),
        ("x-canary-override", "canary"),
        ("x-canary-override", "v2"),
    ];
    let mut attempts = Vec::new();
    for (name, value) in values {
        let half = name.replacen('-', "_", 1);
        for spelling in [name.to_owned(), name.replace('-', "_"), half] {
            let once = Visit::new(Kind::Navigate, "/headers").header(&spelling, value);
            attempts.push((format!("{spelling}: {value}"), once.clone()));
            attempts.push((format!("{spelling}: {value}, twice"), once.header(&spelling, value)));
        }
    }
    attempts
}

/// Signed texts that this release must not believe, as pins, ids and tokens.
fn by_seal(genuine: &Forge, foreign_release: &Forge) -> Vec<(String, String)> {
    let foreign_key = Forge::with_a_foreign_key("shopzzzzzzzz").expect("a ring");
    let pin = genuine.pin("v1", 1);
    let token = genuine.token("v2", 1, DAY);
    let texts = [
        ("a pin with its version edited", pin.replacen("v1", "v2", 1)),
        ("a token that was issued for stable, edited", genuine.token("v1", 1, DAY).replacen("v1", "v2", 1)),
        ("a token with its last second edited", later(&token)),
        ("a pin by a foreign key", foreign_key.pin("v2", 1)),
        ("a token by a foreign key", foreign_key.token("v2", 1, DAY)),
        ("an id by a foreign key", foreign_key.id()),
        ("a pin of another release", foreign_release.pin("v2", 1)),
        ("a token of another release", foreign_release.token("v2", 1, DAY)),
        ("a pin of a later epoch", genuine.pin("v2", 2)),
        ("a pin of an older epoch", genuine.pin("v2", 0)),
        ("a token of a later epoch", genuine.token("v2", 2, DAY)),
        ("a token of an older epoch", genuine.token("v2", 0, DAY)),
        ("a pin of a version that never was", genuine.pin("v9", 1)),
        ("an expired token", genuine.token("v2", 1, -1)),
        ("a token for longer than seven days", genuine.token("v2", 1, 8 * DAY)),
        ("a token without its last byte", token[..token.len() - 1].to_owned()),
        ("a token cut in the middle", token[..token.len() / 2].to_owned()),
        ("a pin renamed to a token", genuine.pin("v2", 1).replacen('p', "t", 1)),
        ("nothing", String::new()),
        ("tildes", "t1~~~~~~~".to_owned()),
        ("four kilobytes", "t1~".repeat(1_400)),
    ];
    texts.map(|(what, text)| (what.to_owned(), text)).to_vec()
}

/// A token whose last second is a minute later than what was signed.
fn later(token: &str) -> String {
    let mut fields: Vec<String> = token.split('~').map(str::to_owned).collect();
    fields[6] = (now_seconds() + 2 * 24 * 3600).to_string();
    fields.join("~")
}

/// The texts by every way that a text can come; a genuine pin or token belongs under its own name alone.
fn everywhere(seals: &[(String, String)]) -> Vec<(String, Visit)> {
    let mut attempts = Vec::new();
    for (what, text) in seals {
        let by_cookie = [PIN, ID, TOKEN].map(|name| {
            let visit = Visit::new(Kind::Navigate, "/headers").header("cookie", format!("{name}={text}"));
            (format!("{what} as cookie {name}"), visit)
        });
        attempts.extend(by_cookie);
        let visit = Visit::new(Kind::Navigate, "/headers").header("x-canary-token", text);
        attempts.push((format!("{what} as header"), visit));
        let visit = Visit::new(Kind::Navigate, format!("/headers?canary-token={text}"));
        attempts.push((format!("{what} as query"), visit));
    }
    attempts
}

/// Genuine texts in places where they do not belong.
fn misplaced(genuine: &Forge) -> Vec<(String, Visit)> {
    let cookie = |name: &str, text: &str| {
        Visit::new(Kind::Navigate, "/headers").header("cookie", format!("{name}={text}"))
    };
    let (pin, id, token) = (genuine.pin("v2", 1), genuine.id(), genuine.token("v2", 1, DAY));
    let places = [
        ("a pin as token", cookie(TOKEN, &pin)),
        ("a pin as id", cookie(ID, &pin)),
        ("a token as pin", cookie(PIN, &token)),
        ("a token as id", cookie(ID, &token)),
        ("an id as pin", cookie(PIN, &id)),
        ("an id as token", cookie(TOKEN, &id)),
        ("a genuine id", cookie(ID, &id)),
        ("a pin as token header", Visit::new(Kind::Navigate, "/headers").header("x-canary-token", &pin)),
        ("a pin as query", Visit::new(Kind::Navigate, format!("/headers?canary-token={pin}"))),
    ];
    places.map(|(what, visit)| (what.to_owned(), visit)).to_vec()
}

fn all_attempts(world: &World) -> Vec<(String, Visit)> {
    let genuine = world.forge(SHOP).expect("keys");
    let keys = world.environment.keys().expect("keys");
    let foreign_release = Forge::new(&keys.keys, "otherrelease").expect("a ring");
    let mut attempts = by_header();
    attempts.extend(everywhere(&by_seal(&genuine, &foreign_release)));
    attempts.extend(misplaced(&genuine));
    attempts
}

/// Sends every attempt as a user of its own, over HTTP/1.1 and over HTTP/2.
async fn none_reaches_the_canary(world: &World, attempts: &[(String, Visit)]) {
    none_of_a_client_does(world.user(), attempts).await;
    none_of_a_client_does(User::http2(world.listener(), HOST).as_if_tls(), attempts).await;
}

async fn none_of_a_client_does(mut client: User, attempts: &[(String, Visit)]) {
    for (what, visit) in attempts {
        client.jar.clear();
        let answer = client.send(visit).await.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!((answer.status, version(&answer)), (200, "v1"), "{what}: {}", answer.text());
        for name in
            ["x_canary_version", "x-canary_version", "x_canary-version", "x_canary_id", "x_canary_cohort"]
        {
            assert_eq!(received(&answer, name), Vec::<String>::new(), "{what} reached the application");
        }
        assert_eq!(received(&answer, "x-canary-cohort"), Vec::<String>::new(), "{what}");
        assert!(!received(&answer, "x-canary-version").contains(&"shop/shop/v2".to_owned()), "{what}");
        assert!(!received(&answer, "x-canary-id").contains(&"0000000000000000".to_owned()), "{what}");
    }
}

#[tokio::test]
async fn nothing_forged_reaches_the_canary_at_weight_0() {
    in_every_world(Document::session("shop"), |world| async move {
        let attempts = all_attempts(&world);
        none_reaches_the_canary(&world, &attempts).await;
    })
    .await;
}

#[tokio::test]
async fn nothing_forged_reaches_the_canary_while_the_filter_has_no_configuration() {
    on_every_envoy(|binary, pods| async move {
        let story = Story { begins_with: BeginsWith::Nothing, ..Story::of([Document::session("shop")]) };
        let world = World::start(&binary, story, &pods).await.expect("a world");
        none_reaches_the_canary(&world, &all_attempts(&world)).await;
    })
    .await;
}

#[tokio::test]
async fn nothing_forged_reaches_the_canary_where_the_filter_is_not_installed() {
    on_every_envoy(|binary, pods| async move {
        let story = Story { filter: Filter::Absent, ..Story::of([Document::session("shop")]) };
        let world = World::start(&binary, story, &pods).await.expect("a world");
        none_reaches_the_canary(&world, &all_attempts(&world)).await;
    })
    .await;
}

#[tokio::test]
async fn nothing_forged_reaches_the_canary_while_the_filter_is_inert() {
    on_every_envoy(|binary, pods| async move {
        let begins_with = BeginsWith::Text("{\"format\": 1, \"releases\": 7}");
        let story = Story { begins_with, ..Story::of([Document::session("shop")]) };
        let world = World::start(&binary, story, &pods).await.expect("a world");
        none_reaches_the_canary(&world, &all_attempts(&world)).await;
    })
    .await;
}

#[tokio::test]
async fn an_identity_header_does_not_choose_a_bucket() {
    in_every_world(Document::session("shop").with("/spec/weight", "50"), |world| async move {
        let mut client = world.user();
        for number in 0..32_u64 {
            let chosen = format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let visit = Visit::new(Kind::Api, "/headers").header("x-canary-id", &chosen);
            let answer = client.send(&visit).await.expect("an answer");
            assert_eq!(version(&answer), "v1", "without cookies everybody is on stable");
            assert!(!received(&answer, "x-canary-id").contains(&chosen));
        }
    })
    .await;
}

#[tokio::test]
async fn two_pins_that_contradict_each_other_lead_to_stable() {
    in_every_world(Document::session("shop"), |world| async move {
        let forge = world.forge(SHOP).expect("keys");
        let (one, other) = (forge.pin("v1", 1), forge.pin("v2", 1));
        let lines = format!(
            "GET /headers HTTP/1.1\r\nHost: shop.example.com\r\nCookie: {PIN}={other}\r\nCookie: {PIN}={one}\r\nConnection: close\r\n\r\n"
        );
        let answer = send_raw(world.listener(), lines.as_bytes(), std::time::Duration::from_secs(10)).await;
        assert_eq!(answer.expect("an answer").header("x-shop-version"), Some(&b"v1"[..]));
        assert_eq!(counted(&world, "v1/stable/conflict").await, 1);
    })
    .await;
}
