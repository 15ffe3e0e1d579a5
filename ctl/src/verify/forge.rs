//! Forged headers, cookies and parameters, which the system must not trust. The tests on real proxies send them too, so that
//! there is one list.

use super::expected::Expected;
use assignment::contract::{KeyUse, OverrideMode, RingKey, Secret};
use assignment::decide::MAX_TOKEN_LIFE_SECONDS;
use assignment::policy::Release;
use assignment::request::{BAGGAGE, session_pin};
use assignment::seal::{KeyRing, Seal};
use assignment::{CohortMark, Identity};

/// An attempt to reach the canary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgery {
    /// Its attempt, for the report.
    pub name: String,
    /// Its carrier.
    pub carrier: Carrier,
}

/// The part of a request that carries a forgery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// In header lines besides the user's own cookies: the user's version must not change.
    Headers(Vec<(String, String)>),
    /// In a cookie besides the user's own of the same name: the user's version must not change.
    Beside(String, String),
    /// In a cookie instead of the user's own. The user may be assigned again, which can lead to the canary by chance.
    Instead(String, String),
    /// In a query parameter: the user's version must not change.
    Query(String),
}

/// Cookies that the system gave to a user on stable: some forgeries are edits of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GenuineCookies {
    /// The pin's value.
    pub pin: Option<String>,
    /// The minted id's value.
    pub id: Option<String>,
}

/// The identity that every weight but 0 sends to the canary.
fn lucky(release: &Release) -> Identity {
    let first = (0..=u64::MAX).map(Identity::from_random).find(|who| release.salt.bucket(*who).number() == 0);
    first.unwrap_or(Identity::from_random(0))
}

/// Everything that is tried to reach the canary; nothing where no version is one. Forgeries that are signed with the
/// proxies' own keys need those ([`Expected::has_keys`]).
pub fn forgeries(expected: &Expected, victim: &GenuineCookies) -> Vec<Forgery> {
    let Some((release, canary)) = expected.release().zip(expected.canary()) else { return Vec::new() };
    let forger = Forger { expected, release, canary, victim, lucky: lucky(release) };
    let mut all = forger.headers();
    all.extend(forger.by_stranger());
    all.extend(forger.edited());
    if expected.has_keys {
        all.extend(forger.outdated());
    }
    all
}

struct Forger<'a> {
    expected: &'a Expected,
    release: &'a Release,
    canary: (&'a str, u32),
    victim: &'a GenuineCookies,
    lucky: Identity,
}

fn by_header(name: &str, value: &str) -> Forgery {
    let carrier = Carrier::Headers(vec![(name.to_owned(), value.to_owned())]);
    Forgery { name: format!("header {name}"), carrier }
}

impl Forger<'_> {
    /// The headers that only proxies may send, in each spelling that some server takes for the same.
    fn headers(&self) -> Vec<Forgery> {
        let names = &self.expected.policy().headers;
        let train = self.release.train.as_deref().unwrap_or(&self.release.name);
        let (canary, _) = self.canary;
        let routing = format!("{}/{canary}", self.release.name);
        let values = [
            (&names.routing, routing.clone()),
            (&names.identity, self.lucky.to_string()),
            (&names.cohort, format!("{train}=canary;override")),
            (&names.cohort, format!("{train}=canary")),
        ];
        let is_open = self.release.override_mode == OverrideMode::Open;
        let overrides = ["canary", canary].map(|value| (&names.overrides, value.to_owned()));
        let overrides = overrides.iter().filter(|_| !is_open);
        let mut all = Vec::new();
        for (name, value) in values.iter().chain(overrides) {
            all.extend(spellings(name).iter().map(|spelling| by_header(spelling, value)));
        }
        let twice = format!("{}/{}", self.release.name, self.expected.stable());
        all.push(Forgery {
            name: format!("header {} twice", names.routing),
            carrier: Carrier::Headers(vec![(names.routing.clone(), twice), (names.routing.clone(), routing)]),
        });
        all
    }

    /// Seals with the right shape, the right names and a foreign key.
    fn by_stranger(&self) -> Vec<Forgery> {
        let key = |id: &str| RingKey {
            id: id.to_owned(),
            key: Secret::new(b"a key that no proxy ever had".to_vec()),
            usage: KeyUse::Sign,
        };
        let Ok(ring) = KeyRing::new(&[key(&self.key_id())]) else { return Vec::new() };
        self.signed_by(&ring, &self.release.uid, self.canary.1, "by another key")
    }

    /// Genuine seals that no longer count, or never did for this release.
    fn outdated(&self) -> Vec<Forgery> {
        let ring = &self.expected.policy().ring;
        let (name, epoch) = (self.canary.0.as_bytes(), self.canary.1);
        let mut all = self.signed_by(ring, "another-release", epoch, "of another release");
        let now = self.expected.now;
        let expired = Seal::token(name, epoch, self.lucky, now.saturating_sub(120), now.saturating_sub(60));
        let endless = Seal::token(name, epoch, self.lucky, now, now + MAX_TOKEN_LIFE_SECONDS + 60);
        all.extend(self.token(ring, &expired, "expired"));
        all.extend(self.token(ring, &endless, "that lives too long"));
        if let Some(before) = epoch.checked_sub(1) {
            let pin = Seal::pin(name, before, self.lucky, now);
            all.extend(self.pin(ring.sign(&self.release.uid, &pin), "of an older epoch"));
        }
        all
    }

    fn signed_by(&self, ring: &KeyRing, uid: &str, epoch: u32, what: &str) -> Vec<Forgery> {
        let (name, now) = (self.canary.0.as_bytes(), self.expected.now);
        let mut all = self.pin(ring.sign(uid, &Seal::pin(name, epoch, self.lucky, now)), what);
        if let Some(token) = ring.sign(uid, &Seal::token(name, epoch, self.lucky, now, now + 300)) {
            all.extend(self.token_text(&token, what));
        }
        let train = self.release.train.as_deref().unwrap_or(&self.release.name);
        let cohort = format!("{train}.canary");
        let seal = Seal::baggage(cohort.as_bytes(), Some(CohortMark::Override), self.lucky, now);
        if let Some(text) = ring.sign("", &seal) {
            let member = format!("a=1,canary={text}");
            all.push(Forgery { name: format!("baggage {what}"), ..by_header(BAGGAGE, &member) });
        }
        // Ids are one per host and belong to no release: another release's is genuine.
        if uid == self.release.uid
            && let Some(id) = ring.sign("", &Seal::id(self.lucky, now))
        {
            all.extend(cookies(&self.expected.policy().id_cookie.name, &id, &format!("id {what}")));
        }
        all
    }

    fn pin(&self, text: Option<String>, what: &str) -> Vec<Forgery> {
        let pin = self.release.pin.as_ref().zip(text);
        pin.map_or_else(Vec::new, |(pin, text)| {
            let mut all = cookies(&pin.cookie.name, &text, &format!("pin {what}"));
            all.extend(self.session_pin(&text, what));
            all
        })
    }

    /// As the pin of a session; a request without the session cookie follows one of any session.
    fn session_pin(&self, text: &str, what: &str) -> Vec<Forgery> {
        let name = &self.release.session_pin_name;
        if name.is_empty() {
            return Vec::new();
        }
        cookies(name, &session_pin(b"forged", text), &format!("session's pin {what}"))
    }

    fn token(&self, ring: &KeyRing, seal: &Seal<'_>, what: &str) -> Vec<Forgery> {
        let text = ring.sign(&self.release.uid, seal);
        text.map_or_else(Vec::new, |text| self.token_text(&text, what))
    }

    fn token_text(&self, text: &str, what: &str) -> Vec<Forgery> {
        let header = &self.expected.policy().headers.token;
        let mut all = vec![Forgery { name: format!("token header {what}"), ..by_header(header, text) }];
        if let Some(token) = &self.release.token {
            let beside = Carrier::Beside(token.cookie.name.clone(), text.to_owned());
            all.push(Forgery { name: format!("token cookie {what}"), carrier: beside });
            let query = Carrier::Query(format!("{}={text}", token.query));
            all.push(Forgery { name: format!("token link {what}"), carrier: query });
        }
        all
    }

    /// The victim's own pin and id with another content under the old seal, and each in the other's place.
    fn edited(&self) -> Vec<Forgery> {
        let id_name = &self.expected.policy().id_cookie.name;
        let (id, mut all) = (&self.victim.id, Vec::new());
        if let Some(id) = id {
            all.extend(cookies(id_name, &with_field(id, 4, &self.lucky.to_string()), "id edited"));
        }
        let Some(pin) = &self.release.pin else { return all };
        if let Some(genuine) = &self.victim.pin {
            let edited = with_field(genuine, 2, self.canary.0);
            all.extend(cookies(&pin.cookie.name, &edited, "pin edited"));
            all.extend(self.session_pin(&edited, "edited"));
            all.extend(cookies(id_name, genuine, "pin as id"));
        }
        if let Some(id) = id {
            all.extend(cookies(&pin.cookie.name, id, "id as pin"));
        }
        all
    }

    /// The id of the key that signs, as every genuine cookie shows it.
    fn key_id(&self) -> String {
        let genuine = self.victim.pin.as_ref().or(self.victim.id.as_ref());
        genuine.and_then(|text| text.split('.').nth(1)).unwrap_or("k1").to_owned()
    }
}

fn cookies(name: &str, text: &str, what: &str) -> Vec<Forgery> {
    let (name, text) = (name.to_owned(), text.to_owned());
    vec![
        Forgery { name: format!("{what}, beside"), carrier: Carrier::Beside(name.clone(), text.clone()) },
        Forgery { name: format!("{what}, instead"), carrier: Carrier::Instead(name, text) },
    ]
}

/// A pin or an id with one field replaced; fields stand between dots, and the version may have some (see `assignment::seal`).
fn with_field(text: &str, field: usize, value: &str) -> String {
    let mut fields: Vec<&str> = text.splitn(3, '.').collect();
    let rest = fields.pop().unwrap_or_default();
    let mut behind: Vec<&str> = rest.rsplitn(5, '.').collect();
    behind.reverse();
    fields.append(&mut behind);
    if let Some(old) = fields.get_mut(field) {
        *old = value;
    }
    fields.join(".")
}

/// A header's name with `_` for some or all `-`.
fn spellings(name: &str) -> Vec<String> {
    let mut all = vec![name.to_owned(), name.replace('-', "_")];
    let places: Vec<usize> = name.match_indices('-').map(|(place, _)| place).collect();
    all.extend(places.iter().map(|place| {
        let mut mixed = name.to_owned();
        mixed.replace_range(*place..=*place, "_");
        mixed
    }));
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_spelt_with_each_underscore() {
        let expected = ["x-canary-id", "x_canary_id", "x_canary-id", "x-canary_id"];
        assert_eq!(spellings("x-canary-id"), expected);
    }

    #[test]
    fn one_field_of_a_sealed_text_is_replaced() {
        assert_eq!(with_field("p1.k1.1.0.3.x.5.mac", 2, "1.1"), "p1.k1.1.1.3.x.5.mac");
        assert_eq!(with_field("i1.k1..0.x.5.mac", 4, "y"), "i1.k1..0.y.5.mac");
    }
}
