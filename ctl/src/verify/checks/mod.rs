//! The checks, a file each, in the order in which they are reported.

mod cookie_lines;
mod overrides;
mod responses;
mod share;
mod spoofing;

use super::client::{Client, ClientError};
use super::expected::Expected;
use super::population::User;
use serde::Serialize;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// The promise is kept.
    Pass,
    /// It is not.
    Fail,
    /// It cannot be seen here.
    Skipped,
}

/// One promise, and whether it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    pub name: String,
    /// Whether it is kept.
    pub verdict: Verdict,
    /// The observation, or the reason for which there is none.
    pub detail: String,
}

impl Check {
    fn new(name: impl Into<String>, verdict: Verdict, detail: impl Into<String>) -> Self {
        Self { name: name.into(), verdict, detail: detail.into() }
    }

    fn of(name: impl Into<String>, holds: bool, detail: impl Into<String>) -> Self {
        Self::new(name, if holds { Verdict::Pass } else { Verdict::Fail }, detail)
    }

    fn skipped(name: impl Into<String>, why: impl Into<String>) -> Self {
        Self::new(name, Verdict::Skipped, why)
    }
}

/// The input of the checks.
pub(super) struct CheckContext<'a> {
    pub(super) client: &'a Client,
    pub(super) expected: &'a Expected,
    pub(super) users: &'a [User],
}

impl<'a> CheckContext<'a> {
    /// Users with this version in every response.
    fn users_on(&self, version: &str) -> impl Iterator<Item = &'a User> {
        self.users.iter().filter(move |user| user.version() == Some(version))
    }
}

pub(super) async fn all(context: &CheckContext<'_>) -> Result<Vec<Check>, ClientError> {
    let mut checks = responses::check(context);
    checks.push(share::check(context));
    checks.push(responses::stickiness(context));
    checks.extend(overrides::check(context).await?);
    checks.extend(spoofing::check(context).await?);
    checks.push(cookie_lines::check(context).await?);
    Ok(checks)
}
