//! `verify`: what is promised from file and state or by the proxies, users and forgeries over the wire, verdicts.

use super::live::Live;
use super::release_context::{self, ReleaseContext};
use crate::cli::Verify;
use crate::report::Printer;
use crate::verify::{Client, ClientError, Expected, Size, VersionSource, verify};
use crate::{Error, Outcome};
use assignment::Policy;
use assignment::contract::Position;
use indicatif::{ProgressBar, ProgressDrawTarget};
use url::Url;

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

/// What the gateways go by, and whether their keys are known here.
async fn policy(arguments: &Verify) -> Result<(Policy, bool), Error> {
    if arguments.live {
        let live = Live::read(&arguments.spec, &arguments.cluster, Position::Edge).await?.alone();
        return Ok((live.policy_at(arguments.weight)?, true));
    }
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
