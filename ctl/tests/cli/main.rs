//! The command line as scripts see it: exit code, stdout and stderr of the built binary.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test whose folder or file is not as it has to be cannot go on"
)]

mod cli_fixture;
mod controller;
mod dry_runs;
mod escapes;
mod generate;
mod help;
mod hooks;
mod import;
mod init;
mod lint;
mod local;
mod mistakes;
mod reference;
mod schema;
mod spec;
mod templates;
mod twin;
