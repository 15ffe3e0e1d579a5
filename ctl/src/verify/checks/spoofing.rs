//! Whether a client can reach the canary by anything but chance.

use super::{Check, CheckContext};
use crate::verify::client::{ClientError, Lines};
use crate::verify::forge::{Carrier, Forgery, GenuineCookies, forgeries};
use crate::verify::jar::{cookie_line, with_cookie};
use crate::verify::population::{User, navigation};
use assignment::Weight;
use assignment::request::split_session_pin;

const NAME: &str = "spoofing";

/// A forgery that is accepted always leads to the canary; below this probability it is not by chance.
const CHANCE: f64 = 0.001;

pub(super) async fn check(context: &CheckContext<'_>) -> Result<Vec<Check>, ClientError> {
    let Some(canary) = context.expected.canary() else {
        return Ok(vec![Check::skipped(NAME, "no version is the canary")]);
    };
    let victims: Vec<&User> = context.users_on(context.expected.stable()).collect();
    let Some(first) = victims.first() else {
        let why = "needs a user on stable, whom a forgery would move";
        return Ok(vec![Check::skipped(NAME, why)]);
    };
    let mut tally = Tally::default();
    for forgery in forgeries(context.expected, &genuine_cookies(context, first)) {
        let outcome = attempt(context, &forgery, &victims, canary.0).await?;
        tally.note(&forgery.name, outcome);
    }
    Ok(tally.checks(context.expected.has_keys))
}

fn genuine_cookies(context: &CheckContext<'_>, user: &User) -> GenuineCookies {
    let release = context.expected.release();
    let of_session = release.and_then(|release| user.jar.get(&release.session_pin_name));
    let of_host = || release.and_then(|release| user.jar.get(&release.pin.as_ref()?.cookie.name));
    GenuineCookies {
        pin: of_session.or_else(of_host).map(|pin| signed_text(&pin)),
        id: user.jar.get(&context.expected.policy().id_cookie.name),
    }
}

/// A pin without the session that it belongs to.
fn signed_text(pin: &str) -> String {
    String::from_utf8_lossy(split_session_pin(pin.as_bytes()).1).into_owned()
}

/// The result of a forgery.
#[derive(Clone, Copy)]
enum Outcome {
    Ignored,
    Believed,
    /// Random assignment leads to the canary so often that there is no verdict.
    Unclear,
}

async fn attempt(
    context: &CheckContext<'_>,
    forgery: &Forgery,
    victims: &[&User],
    canary: &str,
) -> Result<Outcome, ClientError> {
    let may_be_drawn =
        |user: &User| matches!(forgery.carrier, Carrier::Instead(..)) || user.jar.pairs().is_empty();
    let weight = context.expected.weight();
    let mut chance = 1.0;
    for victim in victims {
        if !reaches(context, forgery, victim, canary).await? {
            return Ok(Outcome::Ignored);
        }
        // A user with all cookies keeps the version. A user who is assigned again may reach the canary by chance, but
        // not repeatedly.
        chance *= if may_be_drawn(victim) { weight.as_fraction() } else { 0.0 };
        if chance < CHANCE || weight == Weight::ZERO {
            return Ok(Outcome::Believed);
        }
    }
    Ok(Outcome::Unclear)
}

/// Whether the response is the canary's. A refused request has not been accepted either.
async fn reaches(
    context: &CheckContext<'_>,
    forgery: &Forgery,
    victim: &User,
    canary: &str,
) -> Result<bool, ClientError> {
    let (mut lines, own) = (navigation(), victim.jar.pairs());
    let mut path = None;
    match &forgery.carrier {
        Carrier::Headers(forged) => {
            lines.extend(forged.iter().cloned());
            lines.extend(cookie_line(&own));
        }
        Carrier::Instead(name, value) => lines.extend(cookie_line(&with_cookie(&own, name, value))),
        Carrier::Beside(name, value) => lines.extend(beside(own, name, value)),
        Carrier::Query(query) => {
            let page = context.client.path_and_query();
            path = Some(format!("{page}{}{query}", if page.contains('?') { '&' } else { '?' }));
            lines.extend(cookie_line(&own));
        }
    }
    let response = context.client.ask(&lines, path.as_deref()).await?;
    Ok(response.version.as_deref() == Some(canary))
}

/// The forged one first: a server that reads the first cookie of a name reads it.
fn beside(own: Vec<(String, String)>, name: &str, value: &str) -> Lines {
    let forged = (name.to_owned(), value.to_owned());
    let pairs: Vec<(String, String)> = std::iter::once(forged).chain(own).collect();
    cookie_line(&pairs)
}

#[derive(Default)]
struct Tally {
    ignored: usize,
    believed: Vec<String>,
    unclear: Vec<String>,
}

impl Tally {
    fn note(&mut self, name: &str, outcome: Outcome) {
        match outcome {
            Outcome::Ignored => self.ignored += 1,
            Outcome::Believed => self.believed.push(name.to_owned()),
            Outcome::Unclear => self.unclear.push(name.to_owned()),
        }
    }

    fn checks(self, has_keys: bool) -> Vec<Check> {
        let limit = if has_keys {
            ""
        } else {
            "; outdated pins and tokens need the proxies' keys: `--signing-keys FILE`"
        };
        let mut checks = vec![if self.believed.is_empty() {
            Check::of(NAME, true, format!("{} forgeries, none believed{limit}", self.ignored))
        } else {
            Check::of(NAME, false, format!("believed: {}", self.believed.join(", ")))
        }];
        if !self.unclear.is_empty() {
            let why = format!("too often the canary by chance to tell: {}", self.unclear.join(", "));
            checks.push(Check::skipped("spoofing by chance", why));
        }
        checks
    }
}
