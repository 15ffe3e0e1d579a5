//! The operation that has changed a release, as its history names it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The operation that changed a release. As JSON its name, `promote`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Operation {
    /// `apply`.
    Apply,
    /// `generate`, on the local target.
    Generate,
    /// `token revoke`, on the local target.
    TokenRevoke,
    /// A new weight.
    Weight,
    /// A step of a rollout, or its end.
    Rollout,
    /// A promotion.
    Promote,
    /// A rollback.
    Rollback,
    /// The end of a drain.
    Finish,
    /// A pause.
    Pause,
    /// The end of a pause.
    Resume,
    /// The end of the release.
    Uninstall,
    /// A new module, until every proxy runs it.
    NewModule,
    /// The module before, after the new one did not arrive.
    OldModule,
    /// The record was deleted, and read back from the objects.
    Recover,
    /// An operation that this version does not know.
    Other(String),
}

impl Operation {
    /// Every operation of this version of the record.
    const KNOWN: [Self; 14] = [
        Self::Apply,
        Self::Generate,
        Self::TokenRevoke,
        Self::Weight,
        Self::Rollout,
        Self::Promote,
        Self::Rollback,
        Self::Finish,
        Self::Pause,
        Self::Resume,
        Self::Uninstall,
        Self::NewModule,
        Self::OldModule,
        Self::Recover,
    ];

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Apply => "apply",
            Self::Generate => "generate",
            Self::TokenRevoke => "token revoke",
            Self::Weight => "weight",
            Self::Rollout => "rollout",
            Self::Promote => "promote",
            Self::Rollback => "rollback",
            Self::Finish => "finish",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Uninstall => "uninstall",
            Self::NewModule => "new module",
            Self::OldModule => "old module",
            Self::Recover => "recover",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for Operation {
    fn from(name: String) -> Self {
        Self::KNOWN.into_iter().find(|known| known.name() == name).unwrap_or(Self::Other(name))
    }
}

impl From<Operation> for String {
    fn from(operation: Operation) -> Self {
        operation.name().to_owned()
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_its_name_in_json_and_an_unknown_one_is_kept() {
        for operation in Operation::KNOWN {
            let json = serde_json::to_string(&operation).unwrap();
            assert_eq!(serde_json::from_str::<Operation>(&json).unwrap(), operation, "{json}");
            assert!(!matches!(operation, Operation::Other(_)), "{json}");
        }
        let later: Operation = serde_json::from_str("\"freeze\"").unwrap();
        assert_eq!(later, Operation::Other("freeze".to_owned()));
        assert_eq!(later.to_string(), "freeze");
    }
}
