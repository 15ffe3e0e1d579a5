//! `token`: the policy that proxies hold, or that file, state and keys come to; sign or judge; report.

use super::live::{self, Live};
use super::situation::{self, Situation};
use super::target;
use crate::cli::{ClusterAccess, Keys, SpecFile, Token, TokenCreate, TokenInspect, TokenVerb};
use crate::report::Printer;
use crate::token::{self, Issued, Verdict};
use crate::{Error, Outcome, config, spec};
use assignment::Policy;
use assignment::contract::Position;

pub(super) async fn run(arguments: Token, printer: &mut Printer) -> Result<Outcome, Error> {
    match arguments.verb {
        TokenVerb::Create(arguments) => create(&arguments, printer).await,
        TokenVerb::Inspect(arguments) => inspect(&arguments, printer).await,
        TokenVerb::Revoke(arguments) => super::revoke::run(&arguments, printer).await,
    }
}

async fn create(arguments: &TokenCreate, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let policy = believed(&arguments.spec, &arguments.keys, &arguments.cluster).await?;
    let release = live::only(&policy)?;
    let nonce = getrandom::u64().map_err(config::Error::from)?;
    let (life, moment) = (arguments.ttl.get(), (situation::now(), nonce));
    let issued = token::issue(&policy, release, &arguments.version, life, moment);
    let issued = issued.map_err(token::Error::from)?;
    let parameter = release.token.as_ref().map_or("", |token| token.query.as_str());
    let link = arguments.url.as_ref().map(|url| token::link(url, parameter, &issued.token)).transpose();
    let issued = Issued { link: link.map_err(token::Error::from)?, ..issued };
    printer.report(&issued)?;
    Ok(Outcome::Done)
}

async fn inspect(arguments: &TokenInspect, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let policy = believed(&arguments.spec, &arguments.keys, &arguments.cluster).await?;
    let release = live::only(&policy)?;
    let inspection = token::inspect(&policy, release, &arguments.token, situation::now());
    printer.report(&inspection)?;
    Ok(if inspection.verdict == Verdict::Valid { Outcome::Done } else { Outcome::No })
}

/// What a proxy believes. Of a cluster what its proxies hold, because epochs and keys are there and not in the file; with
/// `--keys`, and of a local Envoy, what this machine knows.
async fn believed(spec: &SpecFile, keys: &Keys, access: &ClusterAccess) -> Result<Policy, Error> {
    if keys.keys.is_none() && !target::is_local(&spec::load(&spec.file)?) {
        return Live::read(spec, access, Position::Edge).await?.alone().policy_at(None);
    }
    let situation = Situation::read(spec, keys)?;
    situation.require_keys()?;
    situation.policy(Position::Edge)
}
