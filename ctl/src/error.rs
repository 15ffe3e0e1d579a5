//! The errors of a command, one variant for each stage, with hints.

use crate::hint::{Hint, missing_rights};
use crate::report::escape;
use crate::{explain, http, local, outcome, report, token, verify};
use canary_release::format::seconds;
use canary_release::rbac::Right;
use canary_release::{config, discover, file, import, manifest};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use strum::{IntoStaticStr, VariantNames};

/// The error of a command.
#[derive(Debug, thiserror::Error, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Error {
    /// The command line contradicts itself, or this release does not support what it requests.
    #[error("{message}")]
    Usage {
        /// The expected and the found text.
        message: String,
        /// The command to type instead.
        hint: Option<String>,
    },
    /// `canary.yaml` cannot be read.
    #[error(transparent)]
    Spec(#[from] file::Error),
    /// No configuration of the filter can be made from it.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// No manifests can be made from it.
    #[error(transparent)]
    Manifest(#[from] manifest::Error),
    /// The local target refused, or its files cannot be read or written.
    #[error(transparent)]
    Local(#[from] local::Error),
    /// The cluster refused, or does not answer.
    #[error(transparent)]
    Cluster(#[from] canary_operations::Error),
    /// The cluster denied a request, and said which rights are missing.
    #[error("{denied}")]
    Denied {
        denied: Box<canary_operations::Error>,
        user: String,
        /// All rights that the user lacks for the release.
        missing: Vec<Right>,
    },
    #[error(transparent)]
    Preflight(#[from] canary_release::preflight::CheckFailed),
    /// No release can be derived from the cluster's objects.
    #[error(transparent)]
    Survey(#[from] discover::Error),
    /// No release can be made of the objects of a peer.
    #[error(transparent)]
    Import(#[from] import::Error),
    /// The request to explain cannot be read.
    #[error(transparent)]
    Explain(#[from] explain::ExplainRequestError),
    /// There is no token.
    #[error(transparent)]
    Token(#[from] token::Error),
    /// The system that is verified does not answer.
    #[error(transparent)]
    Verify(#[from] verify::ClientError),
    /// A module of a web server cannot be read.
    #[error(transparent)]
    Download(#[from] http::DownloadError),
    /// The result cannot be printed.
    #[error(transparent)]
    Report(#[from] report::Error),
    /// A file of the command's own cannot be read or written.
    #[error("cannot {action} {}", path.display())]
    File {
        /// `read` or `write`.
        action: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// A port of this machine cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen { address: SocketAddr, source: std::io::Error },
    /// A controller cannot list its objects.
    #[error(transparent)]
    Objects(canary_controller::ListError),
    /// Rendered objects cannot be read or written.
    #[error("{}: {source}", path.display())]
    Rendered {
        /// The file, `stdin` or `stdout`.
        path: PathBuf,
        source: helm_twins::ManifestError,
    },
    #[error("{}", refused(.0))]
    TwinRefused(Vec<helm_twins::Refusal>),
    /// The runtime of the process could not start.
    #[error("cannot start")]
    Runtime(#[source] std::io::Error),
    /// The API server responds to no request.
    #[error("the API server has not responded for {}", seconds(*.limit))]
    Silent {
        limit: Duration,
        /// The command writes nothing.
        is_read: bool,
    },
    /// An emergency that the API server does not let through.
    #[error("{source}")]
    Emergency {
        source: Box<Error>,
        /// The `kubectl` command that stops the canary.
        break_glass: String,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// A fault of the command line, with a hint.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: Some(hint.into()) }
    }

    /// The identifier of the innermost error, for scripts: the name of a check, or of a kind of error.
    pub fn id(&self) -> &'static str {
        match self {
            Self::Local(error) => error.into(),
            Self::Cluster(error) => error.id(),
            Self::Denied { denied, .. } => denied.id(),
            Self::Preflight(refusal) => refusal.check.name(),
            Self::Emergency { source, .. } => source.id(),
            _ => self.into(),
        }
    }

    /// A hint: what the user can change.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Usage { hint, .. } => hint.clone(),
            Self::Spec(error) => error.hint(),
            Self::Config(error) => error.hint(),
            Self::Manifest(error) => error.hint(),
            Self::Local(error) => error.hint(),
            Self::Cluster(error) => error.hint(),
            // The denied request is one of them, unless the file has changed since it was applied.
            Self::Denied { denied, missing, .. } if missing.len() < 2 => denied.hint(),
            Self::Denied { user, missing, .. } => Some(missing_rights(user, missing)),
            Self::Preflight(refusal) => refusal.hint(),
            Self::Survey(error) => error.hint(),
            Self::Import(error) => error.hint(),
            Self::Explain(error) => error.hint(),
            Self::Token(error) => error.hint(),
            Self::Verify(error) => error.hint().map(str::to_owned),
            Self::Download(error) => error.hint().map(str::to_owned),
            Self::TwinRefused(refusals) => match refusals.as_slice() {
                [one] => one.hint(),
                _ => Some("`canary-ctl twin check` has a hint for each".to_owned()),
            },
            Self::Listen { .. } => Some("give another `--port`, or none for a free one".to_owned()),
            Self::Rendered { source, .. } => source.hint().map(str::to_owned),
            Self::Emergency { source, break_glass } => {
                let first = source.hint().map(|hint| hint + "\n").unwrap_or_default();
                Some(format!(
                    "{first}where `kubectl` reaches an API server and has the right, this takes all users off the canary: {break_glass}"
                ))
            }
            Self::Silent { is_read: false, .. } => Some("the same call goes on with what is left".to_owned()),
            Self::Silent { .. }
            | Self::File { .. }
            | Self::Objects(_)
            | Self::Report(_)
            | Self::Runtime(_)
            | Self::Interrupted => None,
        }
    }

    /// 2 could not do it, 130 interrupted.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Interrupted => ExitCode::from(outcome::INTERRUPTED),
            _ => ExitCode::from(outcome::COULD_NOT),
        }
    }
}

/// One refusal a line, and no line that a name of the chart makes.
fn refused(refusals: &[helm_twins::Refusal]) -> String {
    let lines: Vec<_> = refusals.iter().map(|one| escape::line(&one.to_string()).into_owned()).collect();
    format!("the chart is refused: {}", lines.join("\n"))
}
