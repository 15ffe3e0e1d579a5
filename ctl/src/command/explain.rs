//! `explain`: request from the arguments, policy from file and state or from the proxies, decision, report.

use super::arguments::{ClusterAccess, Keys, Output, SpecFile};
use super::live::Live;
use super::release_context::{self, ReleaseContext};
use super::target;
use crate::explain::{Claim, ExplainContext, ExplainRequest, explain};
use crate::hint::ShellCommand;
use crate::report::Printer;
use crate::{Error, Outcome, module};
use assignment::contract::Position;
use assignment::{Policy, Weight};
use canary_release::spec::Release;
use clap::Args;
use jiff::Timestamp;

/// Explain which version a request gets
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl explain --cookie 'JSESSIONID=4b1d7c0e5f; lang=de'
  canary-ctl explain --curl \"curl https://shop.example.com/ -b 'a=b'\"
  canary-ctl explain --cookie JSESSIONID=4b1d7c0e5f --weight 50 -o json
  canary-ctl explain --live --cookie JSESSIONID=4b1d7c0e5f

Exit codes: 0 explained, 1 no release matches host and path, 2 failed.")]
pub(super) struct Explain {
    #[command(flatten)]
    pub(super) spec: SpecFile,
    /// The request's host (default: the release's first)
    #[arg(long)]
    pub(super) host: Option<String>,
    /// Path and query
    #[arg(long)]
    pub(super) path: Option<String>,
    /// The method
    #[arg(long)]
    pub(super) method: Option<String>,
    /// Cookies as a browser sends them, `a=b; c=d`; repeated, they are several lines
    #[arg(long = "cookie", value_name = "COOKIES")]
    pub(super) cookies: Vec<String>,
    /// A header, `Name: value`; can be repeated
    #[arg(short = 'H', long = "header", value_name = "LINE")]
    pub(super) headers: Vec<String>,
    /// A `curl` command, as a browser's tools copy it for a POSIX shell, cmd.exe or PowerShell
    #[arg(long, value_name = "COMMAND")]
    pub(super) curl: Option<String>,
    /// The client's address
    #[arg(long, value_name = "ADDRESS")]
    pub(super) client_address: Option<std::net::IpAddr>,
    /// A verified claim, `sub=alice`; can be repeated
    #[arg(long = "claim", value_name = "CLAIM")]
    pub(super) claims: Vec<Claim>,
    /// The moment, like 2026-11-21T18:00:00Z (default: now)
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(super) at: Option<Timestamp>,
    /// Explain for this weight, in percent
    #[arg(long, value_name = "PERCENT")]
    pub(super) weight: Option<Weight>,
    /// As a sidecar inside the mesh decides, and not the gateway
    #[arg(long)]
    pub(super) inside_mesh: bool,
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

fn moment(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| format!("expected a time like `2026-11-21T18:00:00Z`, found `{text}`"))
}

pub(super) async fn run(arguments: Explain, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = module::load(&arguments.spec.file)?;
    if arguments.live {
        target::check_namespace(&document, &arguments.cluster)?;
    } else {
        target::without_cluster(&document, &arguments.cluster)?;
    }
    let asked = asked(&arguments, &document.release)?;
    let (policy, has_keys) = policy(&arguments).await?;
    let now = arguments
        .at
        .map_or_else(release_context::now, |at| u64::try_from(at.as_second()).unwrap_or_default());
    let context = ExplainContext::at(now)
        .with_claims(arguments.claims)
        .with_client_address(arguments.client_address.map(|address| address.to_string()));
    let mut explanation = explain(&policy, &asked, &context);
    if !has_keys {
        let source = if target::is_local(&document) {
            "`--signing-keys FILE` names them"
        } else {
            "`--live` asks the cluster"
        };
        let note = "no signing keys are known here: pins, ids and tokens count as not genuine";
        explanation.notes.push(format!("{note}; {source}"));
    }
    printer.report(&explanation)?;
    Ok(if explanation.release.is_some() { Outcome::Done } else { Outcome::Differences })
}

/// The policy of a proxy, and whether its keys are known here.
async fn policy(arguments: &Explain) -> Result<(Policy, bool), Error> {
    let position = if arguments.inside_mesh { Position::Mesh } else { Position::Edge };
    if arguments.live {
        let live = Live::read(&arguments.spec, &arguments.cluster, position).await?;
        return Ok((live.policy_at(arguments.weight)?, true));
    }
    let release_context = ReleaseContext::read(&arguments.spec, &arguments.keys)?;
    Ok((release_context.policy_at(position, arguments.weight)?, release_context.has_keys()))
}

/// The request: a `curl` command or the release's own host, and what the other arguments add.
fn asked(arguments: &Explain, release: &Release) -> Result<ExplainRequest, Error> {
    let mut asked = match (&arguments.curl, &arguments.host) {
        (Some(command), _) => ExplainRequest::of_curl(command)?,
        (None, Some(host)) => ExplainRequest::of_host(host.as_str()),
        (None, None) => ExplainRequest::of_host(first_host(release)?),
    };
    if let Some(host) = &arguments.host {
        without_url(host)?;
        asked.authority.clone_from(host);
    }
    if let Some(path) = &arguments.path {
        asked.set_path(path)?;
    }
    if let Some(method) = &arguments.method {
        asked.method.clone_from(method);
    }
    for cookies in &arguments.cookies {
        asked.add_header("cookie", cookie_line(cookies)?);
    }
    for line in &arguments.headers {
        asked.add_header_line(line)?;
    }
    Ok(asked)
}

/// Refuses a URL in the place of a host, and names the host in it.
fn without_url(host: &str) -> Result<(), Error> {
    if !host.contains('/') {
        return Ok(());
    }
    let behind = host.split_once("://").map_or(host, |(_, rest)| rest);
    let name = behind.split(['/', '?', '#']).next().unwrap_or_default();
    let command = ShellCommand::new("--host").quoted(name, "HOST");
    let message = format!("expected a host in `--host`, found `{host}`");
    Err(Error::usage(message, format!("give {command}, and what comes after the host by `--path`")))
}

/// The cookies of `--cookie`, also where the name of their header is before them.
fn cookie_line(given: &str) -> Result<&str, Error> {
    let cookies = match given.split_once(':') {
        Some((name, cookies)) if name.trim().eq_ignore_ascii_case("cookie") => cookies,
        Some((name, _)) if name.trim().eq_ignore_ascii_case("set-cookie") => {
            return Err(Error::usage(
                "expected cookies as a browser sends them in `--cookie`, found the `Set-Cookie` of a server",
                "give its `NAME=VALUE` alone, without `Path` and what else comes after it",
            ));
        }
        _ => given,
    };
    match cookies.split(';').find(|cookie| !cookie.contains('=')) {
        Some(found) => {
            let message = format!("expected `NAME=VALUE` in `--cookie`, found `{}`", found.trim());
            Err(Error::usage(message, "a browser sends `a=b; c=d`"))
        }
        None => Ok(cookies),
    }
}

fn first_host(release: &Release) -> Result<&str, Error> {
    let exact = release.hosts.iter().find(|host| !host.starts_with('*'));
    let missing =
        || Error::usage("expected a host: the release has only wildcards", "name one with `--host`");
    exact.map(String::as_str).ok_or_else(missing)
}
