//! `token`: read the policy of the proxies, or derive it from file, state and keys; sign or verify; report.

use super::arguments::{ClusterAccess, Keys, Output, SpecFile};
use super::live::{self, Live};
use super::release_context::{self, ReleaseContext};
use super::revoke::TokenRevoke;
use super::target;
use crate::report::Printer;
use crate::token::{self, Issued, TokenVerdict};
use crate::{Error, Outcome, module};
use assignment::Policy;
use assignment::contract::Position;
use canary_release::config;
use canary_release::spec::Seconds;
use clap::{Args, Subcommand};
use url::Url;

/// Sign, inspect and revoke the tokens by which testers choose a version
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Example:\n  canary-ctl token create --version v2 --ttl 2h --url https://shop.example.com/"
)]
pub(super) struct Token {
    #[command(subcommand)]
    pub(super) verb: TokenVerb,
}

/// The verbs for tokens.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum TokenVerb {
    /// Sign a token for a version.
    Create(TokenCreate),
    /// Show what a token says, and whether a proxy would believe it.
    Inspect(TokenInspect),
    /// End every token that was issued until now.
    Revoke(TokenRevoke),
}

/// Sign a token for a version
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl token create --version v2 --ttl 2h --url https://shop.example.com/
  curl -H \"x-canary-token: $(canary-ctl token create --version v2 --ttl 5m)\" \\
    https://shop.example.com/

For a release on a cluster it takes keys and epoch from the proxies. With
`--signing-keys` it asks no cluster. A client with the token has its version
until it expires: protect it like a password.")]
pub(super) struct TokenCreate {
    /// The version: its name, `canary` or `stable`
    #[arg(long)]
    pub(super) version: String,
    /// Lifetime, at most 7d
    #[arg(long, value_name = "DURATION", default_value = "2h")]
    pub(super) ttl: Seconds,
    /// Print a link to this address that hands the token to a browser
    #[arg(long)]
    pub(super) url: Option<String>,
    #[command(flatten)]
    pub(super) spec: SpecFile,
    #[command(flatten)]
    pub(super) keys: Keys,
    #[command(flatten)]
    pub(super) cluster: ClusterAccess,
    #[command(flatten)]
    pub(super) output: Output,
}

/// Show what a token says, and whether a proxy would believe it
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:
  canary-ctl token inspect 't1.k1.v2.1.…'

Exit codes: 0 genuine and valid, 1 a proxy would not accept it, 2 failed.")]
pub(super) struct TokenInspect {
    /// The token, or a link with it
    pub(super) token: String,
    #[command(flatten)]
    pub(super) spec: SpecFile,
    #[command(flatten)]
    pub(super) keys: Keys,
    #[command(flatten)]
    pub(super) cluster: ClusterAccess,
    #[command(flatten)]
    pub(super) output: Output,
}

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
    report_other_host(arguments, printer)?;
    printer.report(&issued)?;
    Ok(Outcome::Done)
}

/// Says that the host of the link is none of the release: its proxies would not read the token.
fn report_other_host(arguments: &TokenCreate, printer: &mut Printer) -> Result<(), Error> {
    let Some(url) = arguments.url.as_ref().and_then(|url| Url::parse(url).ok()) else { return Ok(()) };
    let (host, hosts) =
        (url.host_str().unwrap_or_default(), module::load(&arguments.spec.file)?.release.hosts);
    let is_it = |own: &String| match own.strip_prefix('*') {
        Some(suffix) => host.ends_with(suffix),
        None => own == host,
    };
    if !hosts.iter().any(is_it) {
        printer.message(&format!("the release has no host `{host}`; it has {}", hosts.join(", ")));
    }
    Ok(())
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
    let document = module::load(&spec.file)?;
    if keys.keys.is_none() && !target::is_local(&document) {
        return Live::read(spec, access, Position::Edge).await?.alone().policy_at(None);
    }
    target::without_cluster(&document, access)?;
    let release_context = ReleaseContext::read(spec, keys)?;
    release_context.require_keys()?;
    release_context.policy(Position::Edge)
}
