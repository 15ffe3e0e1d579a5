//! The whole tool on one machine: a real Envoy, a stateful shop in two versions, and shoppers who detect every flip.
//!
//! ```text
//! cli          what the command line may say           args                 -> Cli
//! command      runs it until its end or a signal       Cli                  -> Outcome
//! find         the programs that it needs              Cli                  -> Programs
//! port         where it listens                        preferred port       -> address
//! process      a child that ends with its owner        command              -> Process
//! environment  pods, canary.yaml, Envoy                Programs             -> DemoEnv
//! ctl          canary-ctl, run as a user types it      arguments            -> stdout
//! connections  connections that shoppers share         User, Visit          -> Answer
//! shopper      a user who compares each response with the ones before       -> Incidents
//! behaviour    what a shopper does, and when
//! crowd        many of them at the same time
//! stream       one long response, open all the time
//! stats        what all shoppers saw                   Incidents            -> Counters
//! proxy        what Envoy did to connections           admin interface      -> ProxyCounters
//! scenario     the weight goes up and down (--once)    DemoEnv              -> Observations
//! round        one weight of it
//! tester       a shopper with a signed token
//! explain      what `canary-ctl explain` prints about one shopper
//! checks       whether the promises hold               Observations         -> Checks
//! watch        until Ctrl-C, while a second terminal changes the weight
//! screen       a line that changes, and lines that stay
//! error        why the demo could not run
//! ```

mod behaviour;
mod checks;
mod cli;
mod command;
mod connections;
mod crowd;
mod ctl;
mod environment;
mod error;
mod explain;
mod find;
mod port;
mod process;
mod proxy;
mod round;
mod scenario;
mod screen;
mod shopper;
mod stats;
mod stream;
mod tester;
mod watch;

use canary_ctl::report::Printer;
use clap::Parser as _;
use cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut printer = Printer::of_process();
    let arguments = match Cli::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return printer.usage(&error),
    };
    match command::run(&arguments, &mut printer) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => {
            printer.error_with_hint(&error, error.hint().as_deref());
            error.exit_code()
        }
    }
}
