//! `token`: policy from file, state and keys; sign or judge; report.

use super::situation::{self, Situation};
use crate::cli::{Token, TokenCreate, TokenInspect, TokenVerb};
use crate::report::Printer;
use crate::token::{self, Issued, Verdict};
use crate::{Error, Outcome, config};
use assignment::contract::Position;

pub(super) async fn run(arguments: Token, printer: &mut Printer) -> Result<Outcome, Error> {
    match arguments.verb {
        TokenVerb::Create(arguments) => create(&arguments, printer),
        TokenVerb::Inspect(arguments) => inspect(&arguments, printer),
        TokenVerb::Revoke(arguments) => super::revoke::run(&arguments, printer).await,
    }
}

fn create(arguments: &TokenCreate, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let situation = Situation::read(&arguments.spec, &arguments.keys)?;
    situation.require_keys()?;
    let policy = situation.policy(Position::Edge)?;
    let release = situation::only(&policy)?;
    let nonce = getrandom::u64().map_err(config::Error::from)?;
    let (life, moment) = (arguments.ttl.get(), (situation::now(), nonce));
    let issued =
        token::issue(&policy, release, &arguments.version, life, moment).map_err(token::Error::from)?;
    let parameter = release.token.as_ref().map_or("", |token| token.query.as_str());
    let link = arguments.url.as_ref().map(|url| token::link(url, parameter, &issued.token)).transpose();
    let issued = Issued { link: link.map_err(token::Error::from)?, ..issued };
    printer.report(&issued)?;
    Ok(Outcome::Done)
}

fn inspect(arguments: &TokenInspect, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let situation = Situation::read(&arguments.spec, &arguments.keys)?;
    situation.require_keys()?;
    let policy = situation.policy(Position::Edge)?;
    let release = situation::only(&policy)?;
    let inspection = token::inspect(&policy, release, &arguments.token, situation::now());
    printer.report(&inspection)?;
    Ok(if inspection.verdict == Verdict::Valid { Outcome::Done } else { Outcome::No })
}
