//! Why the local target cannot be steered, and what to do about it.

use crate::hint::{Hint as _, ShellCommand};
use canary_release::config;
use placed_yaml::EditError;
use std::path::PathBuf;
use std::time::Duration;
use strum::{IntoStaticStr, VariantNames};

/// The error of the local target.
#[derive(Debug, thiserror::Error, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Error {
    /// The release is not delivered to a local Envoy.
    #[error("expected a release with `delivery.mode: local`, found another mode")]
    NotLocal,
    /// The release embeds its module, and there is none to embed.
    #[error("expected a module to embed, found none: this tool was built without one")]
    NoModule,
    /// Nothing was generated yet.
    #[error("release `{release}` is not known in {}", directory.display())]
    UnknownRelease {
        /// The requested release.
        release: String,
        /// The directory of the state.
        directory: PathBuf,
        /// The releases that are known there.
        known: Vec<String>,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}", path.display())]
    File {
        /// `read`, `write`, `lock` …
        action: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// Keys that are used without being named, and that others know or have made.
    #[error("expected signing keys of this user alone in {}, found a file of user {owner} with mode {mode:o}", path.display())]
    SharedKeys {
        path: PathBuf,
        /// The number of its owner.
        owner: u32,
        /// Its permissions.
        mode: u32,
    },
    /// A file of the directory has another shape: another program wrote it, or a newer version.
    #[error("expected {what} in {}", path.display())]
    Malformed {
        /// The expected content of the file.
        what: &'static str,
        path: PathBuf,
        source: serde_json::Error,
    },
    /// Another call is writing.
    #[error("another canary-ctl is writing to {}", directory.display())]
    Busy { directory: PathBuf },
    /// The state has another generation than the caller expects.
    #[error("expected generation {expected} of `{release}`, found {found}: it was changed concurrently")]
    ConcurrentChange {
        release: String,
        /// The generation that the caller had read.
        expected: u64,
        /// The generation that was found.
        found: u64,
    },
    /// Two releases name the same directory and other ports or modules.
    #[error("`{other}` in the same directory has another {what}")]
    OtherEnvoy {
        /// The other release.
        other: String,
        /// The difference.
        what: &'static str,
    },
    /// No configuration can be made.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// A template has not the shape that its code expects.
    #[error("cannot fill in a template")]
    Template(#[from] EditError),
    /// A template has not the shape that its code expects.
    #[error("the template has no `{0}`")]
    Prototype(String),
    /// Envoy's admin interface does not answer.
    #[error("Envoy does not answer on its admin address {address}: {reason}")]
    Unreachable { address: std::net::SocketAddr, reason: String },
    /// Envoy refused a file.
    #[error("Envoy refused {what}: {count} updates rejected, the one before stays in force")]
    Refused {
        what: &'static str,
        /// The number of rejections since the write.
        count: u64,
    },
    /// Envoy did not take a file in time.
    #[error("waited {} for {what}", canary_release::format::seconds(*waited))]
    Late { what: String, waited: Duration },
}

/// The remedy if one release of a directory is about to have other settings than the rest.
fn other_envoy(other: &str) -> String {
    let uninstall = ShellCommand::new("canary-ctl uninstall -r").name(other, "NAMESPACE/NAME");
    format!(
        "change it in the files of all releases and give them in one call (`canary-ctl generate -f FILE -f FILE`), take the other \
         release out ({uninstall}), or give this one a `delivery.local.directory` of its own"
    )
}

impl Error {
    /// A fault of a file, for `map_err`.
    pub(super) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }

    /// A hint: what the user can change.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotLocal => {
                "`canary-ctl generate --weight PERCENT` prints the objects for Kubernetes with another weight"
            }
            Self::NoModule => {
                "set `delivery.module` to the path of one, or build the tool with a module: `./x build`"
            }
            Self::UnknownRelease { known, .. } if known.is_empty() => "run `canary-ctl generate` first",
            Self::UnknownRelease { known, .. } => return Some(format!("known there: {}", known.join(", "))),
            Self::Busy { .. } => "wait until it has ended; the lock goes with its process",
            Self::ConcurrentChange { .. } => "look at `canary-ctl status` and try again",
            Self::OtherEnvoy { other, .. } => return Some(other_envoy(other)),
            Self::Unreachable { .. } => {
                "start Envoy with the envoy.yaml of the directory, or look at its log"
            }
            Self::Refused { .. } => "Envoy's log says why; most often the module cannot be loaded",
            Self::Late { .. } => "look at `canary-ctl status`, and at Envoy's log",
            Self::SharedKeys { path, .. } => {
                let own = ShellCommand::new("chmod 600").quoted(&path.display().to_string(), "FILE");
                return Some(format!(
                    "who has them can forge pins: delete a file that came with a repository or an archive, and new keys are drawn; {own} if \
                     you have drawn them, and nobody else has read them"
                ));
            }
            Self::Config(error) => return error.hint(),
            Self::File { .. } | Self::Malformed { .. } | Self::Template(_) | Self::Prototype(_) => {
                return None;
            }
        };
        Some(hint.to_owned())
    }
}
