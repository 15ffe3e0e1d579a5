//! The result of a verification, as text and as data.

use super::checks::{Check, Verdict};
use super::expected::Expected;
use super::population::{self, Size, User};
use crate::report::{self, escape};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use url::Url;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyReport {
    pub url: String,
    pub release: String,
    /// The weight that was expected, in percent.
    pub weight_percent: f64,
    pub users: u32,
    /// Requests of each.
    pub requests: u32,
    /// The number of users of each version at their first request; `?` if the response names none.
    pub versions: BTreeMap<String, u64>,
    pub checks: Vec<Check>,
}

impl VerifyReport {
    pub(super) fn new(
        url: &Url,
        expected: &Expected,
        size: Size,
        users: &[User],
        checks: Vec<Check>,
    ) -> Self {
        Self {
            url: url.to_string(),
            release: expected.release().map_or_else(String::new, |release| release.name.clone()),
            weight_percent: f64::from(expected.weight().basis_points()) / 100.0,
            users: size.users,
            requests: size.requests,
            versions: population::by_version(users),
            checks,
        }
    }

    /// Whether a promise is broken.
    pub fn has_failed(&self) -> bool {
        self.checks.iter().any(|check| check.verdict == Verdict::Fail)
    }
}

impl report::Report for VerifyReport {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let (users, requests, weight) = (self.users, self.requests, self.weight_percent);
        writeln!(
            out,
            "{} at {}: weight {weight}%, {users} users, {requests} requests each",
            self.release, self.url
        )?;
        let counts: Vec<String> = self
            .versions
            .iter()
            .map(|(version, count)| format!("{} {count}", escape::line(version)))
            .collect();
        writeln!(out, "users by version: {}\n", counts.join(", "))?;
        let mut table = report::Table::new(["VERDICT", "CHECK", "SEEN"]);
        for check in &self.checks {
            table.row([check.verdict.to_string(), check.name.clone(), check.detail.clone()]);
        }
        write!(out, "{table}")
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Skipped => "skipped",
        })
    }
}
