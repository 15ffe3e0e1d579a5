//! What differs between two configurations of a release, by the field of the file that says it.

use super::Edit;
use assignment::contract::{ContractError, FilterConfig, ReleaseConfig};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The field of the file behind each field of a release's configuration. The others are the release's state, which an edit leaves as it is.
const FIELDS: [(&str, &str); 18] = [
    ("hosts", "hosts"),
    ("paths", "paths"),
    ("salt", "salt"),
    ("train", "train"),
    ("stickiness", "stickiness"),
    ("identifyBy", "identifyBy"),
    ("sessionCookie", "session.cookie"),
    ("adopt", "session.adopt"),
    ("adoptUntilSeconds", "session.adoptFor"),
    ("identity", "identity"),
    ("pin", "cookies"),
    ("mint", "mint"),
    ("override", "override"),
    ("fallback", "fallback"),
    ("sessionAffinity", "sessionAffinity"),
    ("cacheControl", "cacheControl"),
    ("latencyHistogram", "latencyHistogram"),
    ("fuse", "fuse"),
];

/// The fields that exist with `stickiness: session` alone.
const OF_SESSIONS: [&str; 3] = ["pin", "adopt", "adoptUntilSeconds"];

/// The fields of a configuration, and which fields of the file differ in it.
pub(super) struct EditedFields<'a> {
    edit: Edit<'a>,
    edited: &'a FilterConfig,
    old: Map<String, Value>,
    new: Map<String, Value>,
    /// Fields of the configuration that differ, each with the field of the file.
    differing: Vec<(&'static str, &'static str)>,
}

impl<'a> EditedFields<'a> {
    pub(super) fn of(
        edit: Edit<'a>,
        old: &ReleaseConfig,
        (edited, new): (&'a FilterConfig, &ReleaseConfig),
    ) -> Result<Self, ContractError> {
        let is_other_kind = old.stickiness != new.stickiness;
        let (old, new) = (json(old)?, json(new)?);
        let named = |(key, name)| match (is_other_kind, OF_SESSIONS.contains(&key)) {
            (true, true) => (key, "stickiness"),
            _ => (key, name),
        };
        // The default salt names the canary; another canary is a change of roles.
        let is_of_a_role = |key: &str| key == "salt" && old.get("versions") != new.get("versions");
        let differs = |(key, _): &(&str, _)| old.get(*key) != new.get(*key) && !is_of_a_role(key);
        let differing = FIELDS.into_iter().filter(differs).map(named).collect();
        Ok(Self { edit, edited, old, new, differing })
    }

    /// The fields of the file that differ.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let id_cookie = (self.edit.deployed.id_cookie != self.edited.id_cookie).then_some("cookies");
        let mut names: Vec<&str> = self.differing.iter().map(|(_, name)| *name).chain(id_cookie).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The deployed configuration of this release alone, with these fields of the file as they were edited.
    pub(super) fn config(&self, names: &[&str]) -> Result<FilterConfig, ContractError> {
        let mut release = self.old.clone();
        for (key, _) in self.differing.iter().filter(|(_, name)| names.contains(name)) {
            match self.new.get(*key) {
                Some(value) => drop(release.insert((*key).to_owned(), value.clone())),
                None => drop(release.remove(*key)),
            }
        }
        let id_cookie =
            if names.contains(&"cookies") { &self.edited.id_cookie } else { &self.edit.deployed.id_cookie };
        // Keys are no fields of the file.
        let proxy =
            FilterConfig { id_cookie: id_cookie.clone(), releases: BTreeMap::new(), ..self.edited.clone() };
        let mut config = json(&proxy)?;
        if let Some(releases) = config.get_mut("releases").and_then(Value::as_object_mut) {
            releases.insert(self.edit.release.to_owned(), Value::Object(release));
        }
        FilterConfig::from_json(Value::Object(config).to_string().as_bytes())
    }
}

fn json(config: &impl Serialize) -> Result<Map<String, Value>, ContractError> {
    match serde_json::to_value(config)? {
        Value::Object(fields) => Ok(fields),
        _ => Ok(Map::new()),
    }
}
