//! About a Service of which no first `canary.yaml` can be derived.

use super::Hint;
use super::command::shown;
use assignment::contract::Role;
use canary_release::discover::Error;

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoService { .. } => {
                "give the Service's name by `--name` and its namespace by `--namespace`"
            }
            Self::NoSelector { .. } | Self::NoPods { .. } => "start the stable version first",
            Self::NoVersions { .. } => {
                "give each Deployment's pods a label `version`; the Service must not select by it"
            }
            Self::OneVersion { label, .. } => {
                return Some(format!(
                    "take `{}` out of its selector when the routes are there: subsets choose the version",
                    shown(label)
                ));
            }
            Self::NoPort { .. } => "name the port `http`, or give it `appProtocol: http`",
            Self::Ambiguous { role: Role::Canary, .. } => "give `--canary VERSION`",
            Self::Ambiguous { .. } => "give `--stable VERSION`",
        };
        Some(hint.to_owned())
    }
}
