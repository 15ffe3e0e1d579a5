//! `verify`: what is promised from file and state or by the proxies, users and forgeries over the wire, verdicts.

use super::arguments::{ClusterAccess, Keys, Output, SpecFile};
use super::live::Live;
use super::release_context::{self, ReleaseContext};
use super::target;
use crate::report::Printer;
use crate::verify::{Client, ClientError, Expected, Size, VersionSource, verify};
use crate::{Error, Outcome, module};
use assignment::contract::Position;
use assignment::{Policy, Weight};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget};
use url::Url;

/// Send real requests, and check share, stickiness, override and spoofing
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl verify https://shop.example.com/ --version-header x-shop-version
  canary-ctl verify https://shop.example.com/ --live
  canary-ctl verify http://203.0.113.7/ --host shop.example.com \\
    --version-header x-shop-version --live
  canary-ctl verify http://127.0.0.1:8080/ --version-from json:.version

Users keep cookies as browsers do, and follow no redirects. Users on stable also
send forged headers, pins, ids and tokens. At weight 0 and 100 share and
stickiness show little; `mint: never` hides the share.

Exit codes: 0 nothing failed, 1 a check failed, 2 there is no response.")]
pub(super) struct Verify {
    /// The page to ask for
    #[arg(value_parser = address)]
    pub(super) url: Url,
    /// The `Host` header, where the address is not the users' one
    #[arg(long)]
    pub(super) host: Option<String>,
    /// The header in which the application names its version (default: the release's debug header)
    #[arg(long, value_name = "NAME", conflicts_with = "version_from")]
    pub(super) version_header: Option<String>,
    /// Field of a JSON body that names the version, `json:.field.field`
    #[arg(long, value_name = "PLACE")]
    pub(super) version_from: Option<VersionSource>,
    /// Number of users
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) users: u32,
    /// Number of requests of each user, one after the other
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) requests: u32,
    /// Number of users at a time
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(super) concurrency: u32,
    /// The weight to expect, in percent (default: with `--live` the proxies', else the local target's, else the file's)
    #[arg(long, value_name = "PERCENT")]
    pub(super) weight: Option<Weight>,
    #[command(flatten)]
    pub(super) spec: SpecFile,
    /// By what the proxies of the cluster hold at this moment, and not by the file
    #[arg(long, conflicts_with = "keys")]
    pub(super) live: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterAccess,
    #[command(flatten)]
    pub(super) keys: Keys,
    #[command(flatten)]
    pub(super) output: Output,
}

fn address(text: &str) -> Result<Url, String> {
    let url = text.parse::<Url>().ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| format!("expected a URL like `https://shop.example.com/`, found `{text}`"))
}

pub(super) async fn run(arguments: Verify, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let (policy, has_keys) = policy(&arguments).await?;
    let teller = teller(&arguments, policy.debug_header.as_deref())?;
    let expected = Expected::new(policy, has_keys, release_context::now())
        .ok_or_else(|| Error::usage("expected one release, found none", "check the file that `-f` names"))?;
    let client = Client::new(arguments.url.as_str(), arguments.host.as_deref(), teller)?;
    let size =
        Size { users: arguments.users, requests: arguments.requests, concurrency: arguments.concurrency };
    // Draws nothing if stderr is no terminal.
    let bar = ProgressBar::with_draw_target(Some(size.users.into()), ProgressDrawTarget::stderr());
    let counter = bar.clone();
    let report = verify(client, &as_users_see_it(&arguments)?, &expected, size, move || counter.inc(1)).await;
    bar.finish_and_clear();
    let report = report?;
    printer.report(&report)?;
    Ok(if report.has_failed() { Outcome::Differences } else { Outcome::Done })
}

/// The configuration of the gateways, and whether their keys are known here.
async fn policy(arguments: &Verify) -> Result<(Policy, bool), Error> {
    if arguments.live {
        let live = Live::read(&arguments.spec, &arguments.cluster, Position::Edge).await?.alone();
        return Ok((live.policy_at(arguments.weight)?, true));
    }
    target::without_cluster(&module::load(&arguments.spec.file)?, &arguments.cluster)?;
    let release_context = ReleaseContext::read(&arguments.spec, &arguments.keys)?;
    Ok((release_context.policy_at(Position::Edge, arguments.weight)?, release_context.has_keys()))
}

fn teller(arguments: &Verify, debug_header: Option<&str>) -> Result<VersionSource, Error> {
    match (&arguments.version_from, &arguments.version_header, debug_header) {
        (Some(place), ..) => Ok(place.clone()),
        (None, Some(name), _) => Ok(VersionSource::Header(name.to_ascii_lowercase())),
        (None, None, Some(name)) => Ok(VersionSource::Debug(name.to_owned())),
        (None, None, None) => Err(Error::usage(
            "expected to be told where a response names its version",
            "`--version-header NAME`, `--version-from json:.version`, or `delivery.debugHeader` in the release",
        )),
    }
}

/// The address in the users' browsers, by whose host cookies are kept.
fn as_users_see_it(arguments: &Verify) -> Result<Url, Error> {
    let Some(host) = &arguments.host else { return Ok(arguments.url.clone()) };
    let text = format!("{}://{host}{}", arguments.url.scheme(), arguments.url.path());
    text.parse().map_err(|_| ClientError::Url(text).into())
}
