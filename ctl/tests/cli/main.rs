//! The command line as scripts see it: exit code, stdout and stderr of the built binary.

mod generate;
mod help;
mod init;
mod kit;
mod lint;
mod local;
mod spec;
mod templates;
