//! `canary-ctl`: generates, steers and explains sticky canary releases on Istio and Envoy.
//!
//! The modules in the order in which a command meets them:
//!
//! ```text
//! cli        what the command line may say                            args         -> Verb
//! spec       canary.yaml, every fault with its line and column        file         -> Release
//! lint       what is legal and still dangerous                        Release      -> findings
//! config     what the filter will read                                Release+state -> FilterConfig
//! manifest   what Kubernetes will read                                Release      -> YAML documents
//! plan       what would be written, and why             desired+observed -> Plan
//! cluster    Kubernetes: reads, applies, waits          Release      -> objects
//! survey     what a cluster says about an application    its objects  -> Survey
//! local      one Envoy on this machine, steered by files              Release      -> files, waiting
//! explain    which version a request would get, and why               request      -> Explanation
//! simulate   who would be on the canary at each weight               lines        -> shares
//! token      leave for testers to choose a version                   version      <-> signed text
//! verify     whether the running system keeps its promises           URL          -> verdicts
//! demo       all of it on one machine, with shoppers                arguments    -> what they saw
//! command    one file a verb: its stages in order
//! report     the only code that prints
//! ```
//!
//! `yaml` reads YAML with places and edits it without losing its comments; `spec` and `manifest` stand on it.

pub mod cli;
pub mod cluster;
pub mod command;
pub mod config;
pub mod demo;
pub mod error;
pub mod explain;
pub mod lint;
pub mod local;
pub mod manifest;
pub mod outcome;
pub mod plan;
pub mod report;
pub mod simulate;
pub mod spec;
pub mod survey;
pub mod token;
pub mod verify;
pub mod yaml;

pub use error::Error;
pub use outcome::Outcome;

use clap::Parser as _;
use report::Printer;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs one command line to its end and says how it went.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match cli::Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return report::usage(&error),
    };
    let mut printer = Printer::of_process();
    match command::run(cli, &mut printer) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => {
            printer.error(&error);
            error.exit_code()
        }
    }
}
