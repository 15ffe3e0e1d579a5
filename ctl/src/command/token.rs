//! `token`: read the policy of the proxies, or derive it from file, state and keys; sign or verify; report.

use super::live::{self, Live};
use super::release_context::{self, ReleaseContext};
use super::target;
use crate::cli::{ClusterAccess, Keys, SpecFile, Token, TokenCreate, TokenInspect, TokenVerb};
use crate::module;
use crate::report::Printer;
use crate::token::{self, Issued, TokenVerdict};
use crate::{Error, Outcome};
use assignment::Policy;
use assignment::contract::Position;
use canary_release::config;

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
    let (life, moment) = (arguments.ttl.get(), (release_context::now(), nonce));
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
    let parameter = release.token.as_ref().map_or("", |token| token.query.as_str());
    let token = token::token_in(&arguments.token, parameter).ok_or_else(|| {
        Error::usage(
            format!("expected a link with the query parameter `{parameter}`, found none in it"),
            "give the token, or the link that `canary-ctl token create --url` printed",
        )
    })?;
    let inspection = token::inspect(&policy, release, &token, release_context::now());
    printer.report(&inspection)?;
    Ok(if inspection.verdict == TokenVerdict::Valid { Outcome::Done } else { Outcome::Differences })
}

/// The policy by which a proxy verifies tokens. For a cluster from the proxies' configuration, because epochs and keys
/// are there and not in the file; with `--signing-keys`, and for a local Envoy, from this machine.
async fn believed(spec: &SpecFile, keys: &Keys, access: &ClusterAccess) -> Result<Policy, Error> {
    if keys.keys.is_none() && !target::is_local(&module::load(&spec.file)?) {
        return Live::read(spec, access, Position::Edge).await?.alone().policy_at(None);
    }
    let release_context = ReleaseContext::read(spec, keys)?;
    release_context.require_keys()?;
    release_context.policy(Position::Edge)
}
