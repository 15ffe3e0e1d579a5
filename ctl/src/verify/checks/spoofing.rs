//! Whether a client can reach the canary by anything but chance.

use super::{Check, Scene};
use crate::verify::client::{ClientError, Lines};
use crate::verify::forge::{Carrier, Forgery, forgeries};
use crate::verify::jar::{cookie_line, with_cookie};
use crate::verify::population::{User, navigation};
use assignment::Weight;

const NAME: &str = "spoofing";

/// A forgery that is believed leads to the canary always; below this probability chance does not.
const CHANCE: f64 = 0.001;

pub(super) async fn check(scene: &Scene<'_>) -> Result<Vec<Check>, ClientError> {
    let Some(canary) = scene.expected.canary() else {
        return Ok(vec![Check::skipped(NAME, "no version is the canary")]);
    };
    let victims: Vec<&User> = scene.users_on(scene.expected.stable()).collect();
    let Some(first) = victims.first() else {
        let why = "needs a user on stable, whom a forgery would move";
        return Ok(vec![Check::skipped(NAME, why)]);
    };
    let mut tally = Tally::default();
    for forgery in forgeries(scene.expected, canary, first) {
        let outcome = attempt(scene, &forgery, &victims, canary.0).await?;
        tally.note(&forgery.name, outcome);
    }
    Ok(tally.checks(scene.expected.has_keys))
}

/// What became of a forgery.
#[derive(Clone, Copy)]
enum Outcome {
    Ignored,
    Believed,
    /// Chance leads to the canary so often that nothing can be told.
    Unclear,
}

async fn attempt(
    scene: &Scene<'_>,
    forgery: &Forgery,
    victims: &[&User],
    canary: &str,
) -> Result<Outcome, ClientError> {
    let may_be_drawn =
        |user: &User| matches!(forgery.carrier, Carrier::Instead(..)) || user.jar.pairs().is_empty();
    let weight = scene.expected.weight();
    let mut chance = 1.0;
    for victim in victims {
        if !reaches(scene, forgery, victim, canary).await? {
            return Ok(Outcome::Ignored);
        }
        // One who keeps all cookies keeps the version; one who is drawn anew may win, but not again and again.
        chance *= if may_be_drawn(victim) { weight.as_fraction() } else { 0.0 };
        if chance < CHANCE || weight == Weight::ZERO {
            return Ok(Outcome::Believed);
        }
    }
    Ok(Outcome::Unclear)
}

/// Whether the answer is the canary's. One that is refused has not been believed either.
async fn reaches(
    scene: &Scene<'_>,
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
            let page = scene.client.path_and_query();
            path = Some(format!("{page}{}{query}", if page.contains('?') { '&' } else { '?' }));
            lines.extend(cookie_line(&own));
        }
    }
    let answer = scene.client.ask(&lines, path.as_deref()).await?;
    Ok(answer.version.as_deref() == Some(canary))
}

/// The forged one first: who takes the first of a name takes it.
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
        let limit =
            if has_keys { "" } else { "; outdated pins and tokens need the proxies' keys: `--keys FILE`" };
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
