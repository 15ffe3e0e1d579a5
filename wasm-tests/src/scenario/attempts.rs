//! Forged headers, cookies and parameters of a client; at weight 0 none of them may lead to the canary.
//!
//! What `canary-ctl verify` forges, as it sends it and with each text in every other place too; then what only a test
//! sends: texts that are hardly any, genuine ones in the wrong place, headers twice.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use assignment::Policy;
use assignment::contract::Position;
use assignment::request::{session_pin, session_pin_name};
use canary_ctl::verify::{Carrier, Expected, Forgery, GenuineCookies, forgeries};
use canary_release::config::{ProxySettings, SigningKeys, filter_config, release_config};
use canary_release::file::parse;
use canary_release::state::ReleaseState;

use super::document::Document;
use super::envoy_fixture::HOST;
use super::error::ScenarioError;
use super::signer::{Signer, now_seconds};
use browser::{ClientError, Kind, Response, User, Visit};

const DAY: i64 = 24 * 3600;

/// All attempts at one release whose stable version is `v1` and whose canary is `v2`, both of epoch 1.
#[derive(Debug)]
pub struct Attempts {
    release: String,
    /// The identity that the forgeries name.
    forged_id: String,
    visits: Vec<(String, Visit)>,
}

impl Attempts {
    /// At a release whose proxies sign with these keys.
    ///
    /// # Errors
    ///
    /// If the filter would not accept the release or the keys.
    pub fn at(document: &Document, keys: &SigningKeys) -> Result<Self, ScenarioError> {
        let (expected, uid) = expected(document, keys)?;
        let signer = Signer::new(&keys.keys, &uid)?;
        let cookies = Cookies::of(document.name());
        let victim = GenuineCookies { pin: Some(signer.pin("v1", 1)), id: Some(signer.id()) };
        let forged = forgeries(&expected, &victim);
        let mut visits: Vec<_> = forged.iter().map(|forgery| as_sent(forgery, &cookies, &victim)).collect();
        visits.extend(forged.iter().filter_map(twice));
        visits.extend(everywhere(&cookies, &signed_texts(&forged)));
        visits.extend(everywhere(&cookies, &odd_texts(&signer)));
        visits.extend(misplaced(&cookies, &signer));
        let forged_id = forged_header(&forged, "x-canary-id").unwrap_or_default().to_owned();
        Ok(Self { release: document.name().to_owned(), forged_id, visits })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.visits.len()
    }

    /// Sends every attempt to this proxy as a user of its own, over HTTP/1.1 and over HTTP/2; returns those that did
    /// not reach stable, or by which a forged value reached the application. Empty is good.
    pub async fn send(&self, proxy: SocketAddr) -> Result<Vec<String>, ClientError> {
        let mut harm = Vec::new();
        for mut client in [User::http1(proxy, HOST), User::http2(proxy, HOST)].map(User::as_if_tls) {
            for (what, visit) in &self.visits {
                client.jar.clear();
                let response = client.send(visit).await?;
                if !self.is_harmless(&response) {
                    harm.push(format!(
                        "{what}: {} {:?} {}",
                        response.status,
                        response.headers,
                        response.text()
                    ));
                }
            }
        }
        Ok(harm)
    }

    fn is_harmless(&self, response: &Response) -> bool {
        const NEVER: [&str; 10] = [
            "x-canary-cohort",
            "x_canary_version",
            "x-canary_version",
            "x_canary-version",
            "x_canary_id",
            "x-canary_id",
            "x_canary-id",
            "x_canary_cohort",
            "x-canary_cohort",
            "x_canary-cohort",
        ];
        let forged = |name: &str, value: &str| received(response, name).iter().any(|found| found == value);
        response.status == 200
            && response.header("x-shop-version") == Some("v1")
            && NEVER.iter().all(|name| received(response, name).is_empty())
            && !forged("x-canary-version", &format!("{}/v2", self.release))
            && !forged("x-canary-id", &self.forged_id)
    }
}

/// The values of a header that reached the application, by the shop's `/headers`.
pub fn received(response: &Response, name: &str) -> Vec<String> {
    let body = response.json();
    let pairs = body.get("headers").and_then(|pairs| pairs.as_array()).cloned().unwrap_or_default();
    let text = |pair: &serde_json::Value, index| pair.get(index)?.as_str().map(str::to_owned);
    let named = pairs.iter().filter(|pair| text(pair, 0).as_deref() == Some(name));
    named.map(|pair| text(pair, 1).unwrap_or_default()).collect()
}

/// The names of a release's cookies.
struct Cookies {
    pin: String,
    session_pin: String,
    id: &'static str,
    token: String,
}

impl Cookies {
    fn of(release: &str) -> Self {
        let name = |kind| format!("__Host-canary-{kind}.{}", release.replace('/', "."));
        let pin = name("pin");
        Self { session_pin: session_pin_name(&pin), pin, id: "__Host-canary-id", token: name("token") }
    }
}

/// What a proxy of this release alone does, and the release's uid.
fn expected(document: &Document, keys: &SigningKeys) -> Result<(Expected, String), ScenarioError> {
    let release = parse(Path::new("canary.yaml"), &document.text())?.release;
    let (position, uid) = (Position::Edge, release.uid_or_derived());
    let config = release_config(&release, &ReleaseState::first(&release, uid.clone()), position);
    let releases = BTreeMap::from([(release.name.clone(), config)]);
    let policy = Policy::compile(&filter_config(&ProxySettings::of(&release, position), keys, releases)?)?;
    let expected = Expected::new(policy, true, now_seconds());
    Ok((expected.ok_or_else(|| ScenarioError::UnknownRelease(document.name().to_owned()))?, uid))
}

/// A forgery as `canary-ctl verify` sends it, in the name of a user with these cookies.
fn as_sent(forgery: &Forgery, cookies: &Cookies, victim: &GenuineCookies) -> (String, Visit) {
    let visit = Visit::new(Kind::Navigate, "/headers");
    let visit = match &forgery.carrier {
        Carrier::Headers(lines) => lines.iter().fold(visit, |visit, (name, value)| visit.header(name, value)),
        Carrier::Instead(name, text) => with_cookie(name, text),
        Carrier::Beside(name, text) => {
            let (pin, id) = (victim.pin.as_deref(), victim.id.as_deref());
            let own = [(cookies.pin.as_str(), pin), (cookies.id, id)]
                .map(|(name, text)| text.map(|text| (name, text)));
            let all = std::iter::once((name.as_str(), text.as_str())).chain(own.into_iter().flatten());
            let pairs: Vec<String> = all.map(|(name, text)| format!("{name}={text}")).collect();
            visit.header("cookie", pairs.join("; "))
        }
        Carrier::Query(query) => Visit::new(Kind::Navigate, format!("/headers?{query}")),
    };
    (forgery.name.clone(), visit)
}

/// A forged header, twice.
fn twice(forgery: &Forgery) -> Option<(String, Visit)> {
    let Carrier::Headers(lines) = &forgery.carrier else { return None };
    let visit = Visit::new(Kind::Navigate, "/headers");
    let twice = lines.iter().chain(lines).fold(visit, |visit, (name, value)| visit.header(name, value));
    Some((format!("{}, all twice", forgery.name), twice))
}

/// The value of a forged header.
fn forged_header<'f>(forgeries: &'f [Forgery], header: &str) -> Option<&'f str> {
    forgeries.iter().find_map(|forgery| match &forgery.carrier {
        Carrier::Headers(lines) => {
            lines.iter().find(|(name, _)| name == header).map(|(_, value)| value.as_str())
        }
        _ => None,
    })
}

/// The pins, ids and tokens of the forgeries, each once.
fn signed_texts(forgeries: &[Forgery]) -> Vec<(&str, String)> {
    let texts = forgeries.iter().filter_map(|forgery| match &forgery.carrier {
        Carrier::Beside(_, text) => Some((text.clone(), forgery.name.as_str())),
        _ => None,
    });
    texts.collect::<BTreeMap<_, _>>().into_iter().map(|(text, name)| (name, text)).collect()
}

/// Texts that this release must not accept as pins, ids or tokens, and that `canary-ctl verify` does not send: edited
/// tokens, epochs and versions that never were, and what is hardly a text of ours.
fn odd_texts(signer: &Signer) -> Vec<(&'static str, String)> {
    let token = signer.token("v2", 1, DAY);
    let cut = |length: usize| token.get(..length).unwrap_or_default().to_owned();
    vec![
        ("a token that was issued for stable, edited", signer.token("v1", 1, DAY).replacen("v1", "v2", 1)),
        ("a token with its last second edited", later(&token)),
        ("a pin of a later epoch", signer.pin("v2", 2)),
        ("a token of a later epoch", signer.token("v2", 2, DAY)),
        ("a token of an older epoch", signer.token("v2", 0, DAY)),
        ("a pin of a version that never was", signer.pin("v9", 1)),
        ("a token without its last byte", cut(token.len().saturating_sub(1))),
        ("a token cut in the middle", cut(token.len() / 2)),
        ("a pin renamed to a token", signer.pin("v2", 1).replacen('p', "t", 1)),
        ("nothing", String::new()),
        ("dots", "t1.......".to_owned()),
        ("four kilobytes", "t1.".repeat(1_400)),
    ]
}

/// A token whose last second is two days later than now, and than what was signed.
fn later(token: &str) -> String {
    let last_second = (now_seconds() + 2 * 24 * 3600).to_string();
    let edit =
        |(index, field): (usize, &str)| if index == 6 { last_second.clone() } else { field.to_owned() };
    token.split('.').enumerate().map(edit).collect::<Vec<_>>().join(".")
}

/// The texts in every cookie, header and parameter that is read. Not for genuine texts of the canary: those are valid
/// under their own name.
fn everywhere(cookies: &Cookies, seals: &[(&str, String)]) -> Vec<(String, Visit)> {
    let mut attempts = Vec::new();
    for (what, text) in seals {
        for name in [&cookies.pin, cookies.id, &cookies.token] {
            attempts.push((format!("{what} as cookie {name}"), with_cookie(name, text)));
        }
        for (name, session) in
            [(&cookies.session_pin, true), (&cookies.session_pin, false), (&cookies.pin, true)]
        {
            let pin = session_pin(b"mine", text);
            let own = if session { "JSESSIONID=mine; " } else { "" };
            let visit = Visit::new(Kind::Navigate, "/headers").header("cookie", format!("{own}{name}={pin}"));
            attempts.push((format!("{what} as cookie {name} of a session ({session})"), visit));
        }
        let visit = Visit::new(Kind::Navigate, "/headers").header("x-canary-token", text);
        attempts.push((format!("{what} as header"), visit));
        let visit = Visit::new(Kind::Navigate, format!("/headers?canary-token={text}"));
        attempts.push((format!("{what} as query"), visit));
    }
    attempts
}

/// Genuine texts in places where they do not belong.
fn misplaced(cookies: &Cookies, signer: &Signer) -> Vec<(String, Visit)> {
    let (pin, id, token) = (signer.pin("v2", 1), signer.id(), signer.token("v2", 1, DAY));
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_forgeries_of_verify_are_tried_and_no_text_of_the_tests_repeats_one() {
        let local = json!({
            "directory": ".", "listen": "127.0.0.1:1", "admin": "127.0.0.1:2",
            "endpoints": {"v1": ["127.0.0.1:3"], "v2": ["127.0.0.1:4"]},
        });
        let delivery = json!({"mode": "local", "module": "filter.wasm", "local": local});
        let document = Document::session("shop").with("/spec/delivery", delivery);
        let keys = SigningKeys::draw().unwrap();
        let (expected, uid) = expected(&document, &keys).unwrap();
        let signer = Signer::new(&keys.keys, &uid).unwrap();
        let victim = GenuineCookies { pin: Some(signer.pin("v1", 1)), id: Some(signer.id()) };
        let forged = forgeries(&expected, &victim);
        let attempts = Attempts::at(&document, &keys).unwrap();
        let tried = |name: &str| attempts.visits.iter().any(|(tried, _)| tried == name);
        for forgery in &forged {
            assert!(tried(&forgery.name), "{}", forgery.name);
        }
        let texts = signed_texts(&forged);
        for what in [
            "pin edited",
            "pin by another key",
            "token cookie by another key",
            "id by another key",
            "pin of another release",
            "token cookie of another release",
            "pin of an older epoch",
            "token cookie expired",
            "token cookie that lives too long",
        ] {
            let (name, _) =
                texts.iter().find(|(name, _)| name.starts_with(what)).unwrap_or_else(|| panic!("{what}"));
            assert!(tried(&format!("{name} as header")) && tried(&format!("{name} as query")), "{what}");
        }
        let odd = odd_texts(&signer);
        for (name, odd) in &odd {
            assert!(texts.iter().all(|(_, text)| text != odd), "{name}: {odd}");
        }
        for spelling in ["x-canary-version", "x_canary_cohort", "x_canary-id", "x-canary_override"] {
            assert!(tried(&format!("header {spelling}")), "{spelling}");
            assert!(tried(&format!("header {spelling}, all twice")), "{spelling}");
        }
        assert_eq!((attempts.forged_id.len(), attempts.count()), (16, 327));
    }
}
