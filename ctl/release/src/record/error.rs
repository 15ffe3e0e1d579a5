//! Why there is no record, and why its release cannot change roles.

use super::RoleChange;

/// The reason for which there is no record, or no change of it.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The record has another shape.
    #[error("expected what canary-ctl keeps of a release, as JSON of format {format}, found {0}", format = super::FORMAT)]
    NoRecord(String),
    /// There is nothing to promote, and nothing to roll back.
    #[error("expected a canary, found none{}{}", drain(draining), last.as_ref().map(|last| format!("; the last change was by {last}")).unwrap_or_default())]
    NoCanary {
        /// The last operation.
        last: Option<String>,
        /// The version that the last operation has made stable.
        promoted: Option<String>,
        /// The versions on which sessions still end.
        draining: Vec<String>,
    },
    /// The version before the promotion has left.
    #[error("expected version `{version}` to drain, found it gone: its routes and subset are taken away")]
    NoWayBack { version: String },
    /// A file is older than a promotion or a rollback.
    #[error("expected `{stable}` as the stable version, found `{named}` in the file{}", since(turn.as_deref()))]
    OldStable {
        /// The file's stable version.
        named: String,
        /// The one that is.
        stable: String,
        /// The role change that did it.
        turn: Option<Box<RoleChange>>,
    },
    /// A file is older than a rollback.
    #[error("expected another canary, found `{}` in the file: {turn}", turn.from)]
    OldCanary {
        /// The rollback.
        turn: Box<RoleChange>,
    },
}

fn drain(versions: &[String]) -> String {
    let named: Vec<String> = versions.iter().map(|version| format!("`{version}`")).collect();
    if named.is_empty() { String::new() } else { format!("; sessions still end on {}", named.join(", ")) }
}

fn since(turn: Option<&RoleChange>) -> String {
    turn.map(|turn| format!(": {turn}")).unwrap_or_default()
}
