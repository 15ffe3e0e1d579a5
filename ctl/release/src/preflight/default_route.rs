//! Where requests go that no route of a version takes, beside `HTTPRoute`s of others: to the pods of the plain Service.

use super::{Alternative, CheckFailed, PreflightCheck};
use crate::record::Record;
use assignment::contract::Role;
use std::collections::BTreeMap;
use std::fmt;

/// A plain Service that does not select the stable version alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultRoute {
    /// Its namespace.
    pub namespace: String,
    /// The Service.
    pub service: String,
    /// The version label.
    pub label: String,
    /// The stable version.
    pub stable: String,
    /// The version that it selects; `None`: pods of all.
    pub selected: Option<String>,
    /// Whether that one drains: its pods serve users still.
    is_draining: bool,
}

impl DefaultRoute {
    /// The Service of a release, by its selector; `None` if only pods of the stable version are behind it.
    pub fn of(namespace: &str, record: &Record, selector: &BTreeMap<String, String>) -> Option<Self> {
        let stable = record.state.version_of(Role::Stable).unwrap_or_default();
        let selected = selector.get(&record.service.label);
        let is_alone = selected.is_none() && record.state.versions.len() == 1;
        if is_alone || selected.map(String::as_str) == Some(stable) {
            return None;
        }
        let drains = |name: &String| {
            record.state.versions.iter().any(|one| one.name == *name && one.role == Role::Draining)
        };
        Some(Self {
            namespace: namespace.to_owned(),
            service: record.service.name.clone(),
            label: record.service.label.clone(),
            stable: stable.to_owned(),
            is_draining: selected.is_some_and(drains),
            selected: selected.cloned(),
        })
    }

    /// Refuses to send users to a canary beside it. The version before a promotion may be selected as long as it drains.
    ///
    /// # Errors
    ///
    /// If it selects other pods, and the check is not skipped.
    pub fn check(self, skipped: &[PreflightCheck]) -> Result<(), CheckFailed> {
        if self.is_draining {
            return Ok(());
        }
        let message = self.to_string();
        PreflightCheck::RoutesBypassed.refuse(skipped, message, Alternative::SelectStable(Box::new(self)))
    }
}

impl fmt::Display for DefaultRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { service, label, stable, .. } = self;
        write!(f, "expected Service `{service}` to select `{label}: {stable}`, found ")?;
        match &self.selected {
            Some(version) => write!(f, "`{label}: {version}`: requests without a decision get that version"),
            None => f.write_str("pods of every version: requests without a decision may get the canary"),
        }
    }
}
