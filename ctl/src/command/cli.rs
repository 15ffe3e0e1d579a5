//! What can be typed: the verbs of the command line, in the order in which a release needs them.

use super::apply::Apply;
use super::complete::Complete;
use super::completions::Completions;
use super::controller::Controller;
use super::conventions;
use super::dashboard::Dashboard;
use super::diff::Diff;
use super::doctor::Doctor;
use super::explain::Explain;
use super::generate::Generate;
use super::groups;
use super::init::Init;
use super::lint::Lint;
use super::list::List;
use super::man::Man;
use super::module::Module;
use super::pause::{Pause, Resume};
use super::prepare::Prepare;
use super::promote::Promote;
use super::recover::Recover;
use super::rollback::Rollback;
use super::rollout::Rollout;
use super::rotate_keys::RotateKeys;
use super::schema::Schema;
use super::simulate::Simulate;
use super::status::Status;
use super::token::Token;
use super::twin::Twin;
use super::uninstall::Uninstall;
use super::verify::Verify;
use super::version::Version;
use super::weight::Weigh;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::Path;

/// The name under which `kubectl` finds the tool as a plugin, and what its users type.
const PLUGIN: (&str, &str) = ("kubectl-canary", "kubectl canary");

/// Moves users, not requests, to a new version: sticky canary releases on Istio and Envoy.
#[derive(Clone, Debug, Parser)]
#[command(name = "canary-ctl", version, about, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "In an emergency: `canary-ctl rollback [NAMESPACE/]NAME`, which needs no file.
Before a promotion all users are on stable with their next request; after one,
add `--now`.

Shared options may come before the command: `canary-ctl --context prod list`.
`canary-ctl help checks` lists the preflight checks.

Exit codes: 0 done, 1 an answer such as differences, 2 error, 130 interrupted
(`canary-ctl help exit-codes`).")]
pub struct Cli {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

/// The width of help where no terminal says another one.
const DEFAULT_WIDTH: usize = 80;

/// Whether `COLUMNS` is 0, as some CI runners set it where there is no terminal.
fn has_no_columns() -> bool {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse::<usize>().ok());
    columns == Some(0) && !std::io::stdout().is_terminal()
}

/// Reads a command line. As a plugin of `kubectl` the usage text names `kubectl canary`: the name of the program decides, as
/// in a link to it.
///
/// # Errors
///
/// Clap's own, help and version among them.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let program = arguments.first().and_then(|path| Path::new(path).file_name());
    let mut command = Cli::command();
    command = command.help_template(groups::template(&Cli::command()));
    if program.is_some_and(|name| name == PLUGIN.0) {
        command = command.bin_name(PLUGIN.1);
    }
    if has_no_columns() {
        command = command.term_width(DEFAULT_WIDTH);
    }
    let arguments = conventions::rearranged(&command, arguments);
    let matches = command.try_get_matches_from_mut(arguments.clone());
    let mut matches = matches.map_err(|error| conventions::with_tip(error, &arguments))?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// The verbs, in the order in which a release needs them.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum Verb {
    /// Write a commented canary.yaml, and keys where there are none yet
    Init(Box<Init>),
    /// Report dangerous settings of a release
    Lint(Lint),
    /// Print the Kubernetes objects of a release, or write the files of a local Envoy
    Generate(Generate),
    /// Show what `apply` would change on the cluster
    Diff(Diff),
    /// Report every problem of a release and its cluster, without a write
    Doctor(Doctor),
    /// Restart the proxies that would crash on their first Wasm filter
    Prepare(Prepare),
    /// Write the objects of a release to the cluster, make before break
    Apply(Apply),
    /// Change the canary's share of users
    Weight(Box<Weigh>),
    /// Roll out the canary automatically, and promote it or roll it back on evidence
    Rollout(Box<Rollout>),
    /// Carry out the Release objects of a cluster, as a process in it
    Controller(Controller),
    /// Pause a release: other users cannot change it
    Pause(Pause),
    /// End the pause of a release
    Resume(Resume),
    /// List the releases of a cluster
    List(List),
    /// Show the desired state, what proxies run, and the observed share
    Status(Status),
    /// Serve a page with versions, users, responses, proxies and problems of releases
    Dashboard(Box<Dashboard>),
    /// Make the canary stable; the former version drains, and no session moves
    Promote(Box<Promote>),
    /// Roll back the canary, or the last promotion
    Rollback(Box<Rollback>),
    /// Rotate the signing key without invalidating sessions
    RotateKeys(RotateKeys),
    /// Rebuild the record of a release from its objects on the cluster
    Recover(Recover),
    /// Delete the objects that `apply` created
    Uninstall(Uninstall),
    /// Explain which version a request gets
    Explain(Explain),
    /// Compute the users of the canary at each weight of a plan
    Simulate(Simulate),
    /// Sign, inspect and revoke the tokens by which testers choose a version
    Token(Token),
    /// Run two versions of one unmodified Helm chart side by side
    Twin(Box<Twin>),
    /// Check the promises of a release with real requests
    Verify(Verify),
    /// Save and verify the filter module of this tool
    Module(Module),
    /// Print the JSON Schema of canary.yaml, for editors
    Schema(Schema),
    /// Print a manual page
    Man(Man),
    /// Print the version of this tool and its module, and what proxies run
    Version(Version),
    /// Print a completion script for a shell
    #[command(alias = "completion")]
    Completions(Completions),
    /// Explain the preflight checks: `canary-ctl help checks`
    #[command(name = "__checks", hide = true)]
    Checks,
    /// Explain the exit codes: `canary-ctl help exit-codes`
    #[command(name = "__exit-codes", hide = true)]
    ExitCodes,
    /// For `kubectl`, which completes `kubectl canary` by it
    #[command(name = "__complete", hide = true)]
    Complete(Complete),
}
