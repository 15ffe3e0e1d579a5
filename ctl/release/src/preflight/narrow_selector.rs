//! A Service that selects the pods of one version alone: no other version is ever behind it, whatever its pods do.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// A Service whose selector has the version label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NarrowSelector {
    /// The Service.
    pub service: String,
    /// The version label.
    pub label: String,
    /// The version that it selects.
    pub version: String,
}

impl NarrowSelector {
    /// The part of a Service's selector that excludes a version; `None` if none does.
    pub fn excluding(
        version: &str,
        (service, label): (&str, &str),
        selector: &BTreeMap<String, String>,
    ) -> Option<Self> {
        let selected = selector.get(label).filter(|selected| *selected != version)?;
        Some(Self { service: service.to_owned(), label: label.to_owned(), version: selected.clone() })
    }
}

impl fmt::Display for NarrowSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { service, label, version } = self;
        write!(f, "Service `{service}` selects `{label}: {version}` alone")
    }
}
