//! What a client can send to be somebody else or somewhere else; at weight 0 none of it may lead to the canary.

use std::net::SocketAddr;

use assignment::contract::{ContractError, RingKey};

use super::forge::{Forge, now_seconds};
use super::world::HOST;
use crate::client::{Answer, ClientError, Kind, User, Visit};

const DAY: i64 = 24 * 3600;

/// All attempts at one release whose stable version is `v1` and whose canary is `v2`, both of epoch 1.
#[derive(Debug)]
pub struct Attempts {
    release: String,
    attempts: Vec<(String, Visit)>,
}

impl Attempts {
    /// At `<namespace>/<name>` with this uid, whose proxies sign with these keys.
    pub fn at(release: &str, uid: &str, keys: &[RingKey]) -> Result<Self, ContractError> {
        let cookies = Cookies::of(release);
        let genuine = Forge::new(keys, uid)?;
        let mut attempts = by_header(release);
        let foreign = [Forge::with_a_foreign_key(uid)?, Forge::new(keys, "otherrelease")?];
        attempts.extend(everywhere(&cookies, &by_seal(&genuine, &foreign)));
        attempts.extend(misplaced(&cookies, &genuine));
        Ok(Self { release: release.to_owned(), attempts })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.attempts.len()
    }

    /// Sends every attempt to this proxy as a user of its own, over HTTP/1.1 and over HTTP/2; answers what did not simply
    /// come to stable, or brought something forged to the application. Empty is good.
    pub async fn send(&self, proxy: SocketAddr) -> Result<Vec<String>, ClientError> {
        let mut harm = Vec::new();
        for mut client in [User::http1(proxy, HOST), User::http2(proxy, HOST)].map(User::as_if_tls) {
            for (what, visit) in &self.attempts {
                client.jar.clear();
                let answer = client.send(visit).await?;
                if !self.is_harmless(&answer) {
                    harm.push(format!("{what}: {} {:?} {}", answer.status, answer.headers, answer.text()));
                }
            }
        }
        Ok(harm)
    }

    fn is_harmless(&self, answer: &Answer) -> bool {
        const NEVER: [&str; 6] = [
            "x-canary-cohort",
            "x_canary_version",
            "x-canary_version",
            "x_canary-version",
            "x_canary_id",
            "x_canary_cohort",
        ];
        let forged = |name: &str, value: &str| received(answer, name).iter().any(|found| found == value);
        answer.status == 200
            && answer.header("x-shop-version") == Some("v1")
            && NEVER.iter().all(|name| received(answer, name).is_empty())
            && !forged("x-canary-version", &format!("{}/v2", self.release))
            && !forged("x-canary-id", "0000000000000000")
    }
}

/// The values of a header that reached the application, by the shop's `/headers`.
pub fn received(answer: &Answer, name: &str) -> Vec<String> {
    let body = answer.json();
    let pairs = body.get("headers").and_then(|pairs| pairs.as_array()).cloned().unwrap_or_default();
    let text = |pair: &serde_json::Value, index| pair.get(index)?.as_str().map(str::to_owned);
    let named = pairs.iter().filter(|pair| text(pair, 0).as_deref() == Some(name));
    named.map(|pair| text(pair, 1).unwrap_or_default()).collect()
}

/// The names of a release's cookies.
struct Cookies {
    pin: String,
    id: &'static str,
    token: String,
}

impl Cookies {
    fn of(release: &str) -> Self {
        let name = |kind| format!("__Host-canary-{kind}.{}", release.replace('/', "."));
        Self { pin: name("pin"), id: "__Host-canary-id", token: name("token") }
    }
}

/// All that clients may send in headers: routing, identity, cohort, override; in every spelling, also twice.
fn by_header(release: &str) -> Vec<(String, Visit)> {
    let routing = format!("{release}/v2");
    let values = [
        ("x-canary-version", routing.as_str()),
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
fn by_seal(genuine: &Forge, [foreign_key, foreign_release]: &[Forge; 2]) -> Vec<(&'static str, String)> {
    let token = genuine.token("v2", 1, DAY);
    let cut = |length: usize| token.get(..length).unwrap_or_default().to_owned();
    vec![
        ("a pin with its version edited", genuine.pin("v1", 1).replacen("v1", "v2", 1)),
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
        ("a token without its last byte", cut(token.len().saturating_sub(1))),
        ("a token cut in the middle", cut(token.len() / 2)),
        ("a pin renamed to a token", genuine.pin("v2", 1).replacen('p', "t", 1)),
        ("nothing", String::new()),
        ("tildes", "t1~~~~~~~".to_owned()),
        ("four kilobytes", "t1~".repeat(1_400)),
    ]
}

/// A token whose last second is two days later than now, and than what was signed.
fn later(token: &str) -> String {
    let last_second = (now_seconds() + 2 * 24 * 3600).to_string();
    let edit =
        |(index, field): (usize, &str)| if index == 6 { last_second.clone() } else { field.to_owned() };
    token.split('~').enumerate().map(edit).collect::<Vec<_>>().join("~")
}

/// The texts by every way that a text can come; a genuine pin or token belongs under its own name alone.
fn everywhere(cookies: &Cookies, seals: &[(&str, String)]) -> Vec<(String, Visit)> {
    let mut attempts = Vec::new();
    for (what, text) in seals {
        for name in [&cookies.pin, cookies.id, &cookies.token] {
            attempts.push((format!("{what} as cookie {name}"), with_cookie(name, text)));
        }
        let visit = Visit::new(Kind::Navigate, "/headers").header("x-canary-token", text);
        attempts.push((format!("{what} as header"), visit));
        let visit = Visit::new(Kind::Navigate, format!("/headers?canary-token={text}"));
        attempts.push((format!("{what} as query"), visit));
    }
    attempts
}

/// Genuine texts in places where they do not belong.
fn misplaced(cookies: &Cookies, genuine: &Forge) -> Vec<(String, Visit)> {
    let (pin, id, token) = (genuine.pin("v2", 1), genuine.id(), genuine.token("v2", 1, DAY));
    let places = [
        ("a pin as token", with_cookie(&cookies.token, &pin)),
        ("a pin as id", with_cookie(cookies.id, &pin)),
        ("a token as pin", with_cookie(&cookies.pin, &token)),
        ("a token as id", with_cookie(cookies.id, &token)),
        ("an id as pin", with_cookie(&cookies.pin, &id)),
        ("an id as token", with_cookie(&cookies.token, &id)),
        ("a genuine id", with_cookie(cookies.id, &id)),
        ("a pin as token header", Visit::new(Kind::Navigate, "/headers").header("x-canary-token", &pin)),
        ("a pin as query", Visit::new(Kind::Navigate, format!("/headers?canary-token={pin}"))),
    ];
    places.map(|(what, visit)| (what.to_owned(), visit)).to_vec()
}

fn with_cookie(name: &str, text: &str) -> Visit {
    Visit::new(Kind::Navigate, "/headers").header("cookie", format!("{name}={text}"))
}
