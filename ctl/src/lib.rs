//! `canary-ctl`: generates, steers and explains sticky canary releases on Istio and Envoy.
//!
//! The modules in the order in which a command meets them:
//!
//! ```text
//! command    one file a verb: its arguments, its stages in order    args         -> Outcome
//! http       requests to the local target and to other servers      request      -> response, within limits
//! alert      sends alerts of a rollout to their receivers           payload      -> accepted, or why not
//! hook       calls hooks of a rollout                               payload      -> succeeded, or why not
//! prometheus values of a rollout's metrics, and what was scraped    queries      -> numbers
//! local      one Envoy on this machine, steered by files            Release      -> files, waiting
//! explain    which version a request would get, and why             request      -> Explanation
//! simulate   share of users on the canary at each weight            lines        -> shares
//! token      override tokens, by which testers choose a version     version      -> signed text
//! verify     whether the running system keeps its promises          URL          -> verdicts
//! module     the filter's module that this tool carries             module       -> OCI image layout
//! hint       what to do about errors and problems of the libraries  error        -> text
//! report     the only code that prints
//! ```
//!
//! What a release is and what it would change: `canary-release`. The Kubernetes client: `canary-operations`. The page that shows releases:
//! `canary-dashboard`.

#![warn(clippy::missing_errors_doc)]

mod alert;
pub mod command;
pub mod error;
pub mod explain;
pub mod hint;
mod hook;
mod http;
pub mod local;
mod module;
pub mod outcome;
mod prometheus;
pub mod report;
pub mod simulate;
pub mod token;
pub mod verify;

pub use error::Error;
pub use outcome::Outcome;

use report::Printer;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs one command line to its end and returns its exit code. `module` is the filter that the tool carries; empty for none.
pub fn run(arguments: impl IntoIterator<Item = OsString>, module: &[u8]) -> ExitCode {
    module::carry(module);
    let mut printer = Printer::of_process();
    let cli = match command::parse(arguments) {
        Ok(cli) => cli,
        Err(error) => return printer.usage(&error),
    };
    match command::run(cli, &mut printer) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => {
            match &error {
                // Who typed Ctrl-C knows.
                Error::Interrupted => {}
                _ => printer.error(&error),
            }
            error.exit_code()
        }
    }
}
