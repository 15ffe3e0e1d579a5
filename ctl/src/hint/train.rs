//! What a person can do where the roles of a train cannot be changed in one go.

use super::Hint;
use canary_release::train::TrainError;

impl Hint for TrainError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoRelease { .. } => "`train` in canary.yaml names it, and `canary-ctl apply` writes it into the record; `-n` looks in one namespace alone"
                .to_owned(),
            Self::Ambiguous { .. } => "`-n NAMESPACE` names one of them; two teams that share a mesh better take two names".to_owned(),
            Self::Cycle { .. } => "promote them one by one, each before those that need its new version: `canary-ctl promote --wait -r NAMESPACE/NAME`"
                .to_owned(),
            Self::RolledBack { release, .. } => format!(
                "where the train goes without it, `canary-ctl apply` a file of {release} without that canary; or promote the others one by one: \
                 `canary-ctl promote --wait -r NAMESPACE/NAME`"
            ),
            Self::NothingToDo { .. } => "`canary-ctl list` says what each release has".to_owned(),
        })
    }
}
