//! Users that an edit of the file moves: simulated users, with the cookies that the deployed configuration has given them, are decided
//! by it and by the edited one, with the code of the filter.
//!
//! ```text
//! edited_fields  what differs, by the field of the file               ReleaseConfig × 2 -> EditedFields
//! user           one user: pages, cookies, keys                       Policy, Page      -> Decision
//! before         all users, and where they are                        Edit, Policy      -> MovedUsers…
//! ```

mod before;
mod edited_fields;
mod user;

use assignment::Policy;
use assignment::contract::{ContractError, FilterConfig, Position, Weight};
use before::Before;
use edited_fields::EditedFields;
use serde::Serialize;
use std::fmt;

/// An edit of a release, in the configuration of one proxy.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    /// `<namespace>/<name>`.
    pub release: &'a str,
    /// The configuration that the proxy has.
    pub deployed: &'a FilterConfig,
    /// The one that it would get; `None`: the proxy would lose the release.
    pub edited: Option<&'a FilterConfig>,
    /// The highest weight of the canary so far: sessions that began at it may live.
    pub peak: Weight,
    /// Seconds since 1970-01-01 UTC.
    pub now: u64,
}

/// Users of one version that an edit moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MovedUsers {
    /// The version that they are on.
    pub version: String,
    /// Their share of the version's users, in percent, from 1.
    pub percent: u32,
    /// Their destination.
    pub to: Destination,
    /// The fields of the file that move them.
    pub fields: Vec<&'static str>,
}

/// The destination of moved users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Destination {
    /// On another version.
    Version,
    /// On another pod of their version.
    Pod,
}

impl fmt::Display for MovedUsers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = match self.to {
            Destination::Version => "another version",
            Destination::Pod => "another pod",
        };
        let fields: Vec<String> = self.fields.iter().map(|field| format!("`{field}`")).collect();
        let (verb, fields) = (if fields.len() == 1 { "moves" } else { "move" }, fields.join(" and "));
        write!(f, "{fields} {verb} {}% of the users of version `{}` to {to}", self.percent, self.version)
    }
}

/// The users that an edit moves; none where it moves none. The state of the release (weight, roles of versions) is the deployed one in
/// both configurations: what a role change does to users is not the edit's.
///
/// # Errors
///
/// If the filter would refuse one of the configurations.
pub fn moved_users(edit: Edit<'_>) -> Result<Vec<MovedUsers>, ContractError> {
    let Some(deployed) = edit.deployed.releases.get(edit.release) else { return Ok(Vec::new()) };
    let edited = edit.edited.and_then(|proxy| Some((proxy, proxy.releases.get(edit.release)?)));
    let before = || Before::of(edit, deployed, edited.map(|(_, release)| release));
    let Some(edited) = edited else {
        let place = if edit.deployed.position == Position::Edge { "gateways" } else { "sidecars" };
        return Ok(before()?.moved(&Policy::inert(), &[place]));
    };
    let edits = EditedFields::of(edit, deployed, edited)?;
    let names = edits.names();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let before = before()?;
    let all = before.moved(&Policy::compile(&edits.config(&names)?)?, &names);
    if all.is_empty() || names.len() == 1 {
        return Ok(all);
    }
    // A field that is no valid configuration without another one has no effect of its own.
    let alone = names.iter().filter_map(|name| {
        let policy = Policy::compile(&edits.config(&[name]).ok()?).ok()?;
        Some(before.moved(&policy, &[name]))
    });
    let alone: Vec<MovedUsers> = alone.flatten().collect();
    let by_field = |users: MovedUsers| {
        let same = alone.iter().filter(|other| (&other.version, other.to) == (&users.version, users.to));
        let fields: Vec<&str> = same.flat_map(|other| other.fields.clone()).collect();
        if fields.is_empty() { users } else { MovedUsers { fields, ..users } }
    };
    Ok(all.into_iter().map(by_field).collect())
}
