//! Preflight checks: what is refused before the first write. Each has a name, and is skipped by it.

use super::Record;
use assignment::Weight;
use assignment::contract::{Fallback, MintPolicy, ReleaseConfig, Stickiness};
use std::fmt;

/// A check that an operator can skip by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PreflightCheck {
    /// Users would be sent to a version without a ready pod
    NoReadyPods,
    /// No route leads to the canary by the filter's header
    NoRoutes,
    /// Ready canary pods are reached by a way that no route of ours covers
    Uncovered,
    /// Somebody else has paused the release
    Paused,
    /// The weight rises by more than `maxStep`
    MaxStep,
    /// Nothing that users send tells one from another, so nobody can stick to a version
    NoKey,
    /// Users who are on a version at this moment would be moved off it
    MovesUsers,
    /// Running proxies without V8 may die of their first Wasm filter
    NoWasmRuntime,
}

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CheckFailed {
    /// Which check.
    pub check: PreflightCheck,
    /// What was expected and what was found.
    pub message: String,
    /// What to do instead of skipping it.
    pub instead: String,
}

impl PreflightCheck {
    /// The failure of this check.
    ///
    /// # Errors
    ///
    /// Unless it is among `skipped`.
    pub fn refuse(
        self,
        skipped: &[Self],
        message: impl Into<String>,
        instead: impl Into<String>,
    ) -> Result<(), CheckFailed> {
        if skipped.contains(&self) {
            return Ok(());
        }
        Err(CheckFailed { check: self, message: message.into(), instead: instead.into() })
    }
}

impl CheckFailed {
    /// What a person can do: something else, or the same with the check skipped.
    pub fn hint(&self) -> String {
        format!("{}, or give `--skip-check {}`", self.instead, self.check)
    }
}

impl fmt::Display for PreflightCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoReadyPods => "no-ready-pods",
            Self::NoRoutes => "no-routes",
            Self::Uncovered => "uncovered",
            Self::Paused => "paused",
            Self::MaxStep => "max-step",
            Self::NoKey => "no-key",
            Self::MovesUsers => "moves-users",
            Self::NoWasmRuntime => "no-wasm-runtime",
        })
    }
}

/// Refuses a raise beyond the release's `maxStep`. Taking users off a canary is never refused.
pub fn check_step(
    max: Weight,
    from: Weight,
    to: Weight,
    skipped: &[PreflightCheck],
) -> Result<(), CheckFailed> {
    let step = to.basis_points().saturating_sub(from.basis_points());
    if step <= max.basis_points() {
        return Ok(());
    }
    let message = format!("expected a step of at most {max}, found {from} to {to}");
    PreflightCheck::MaxStep.refuse(skipped, message, "take smaller steps, change `maxStep`")
}

/// Refuses a release in which nobody can stick to a version, whatever its weight.
pub fn check_stickiness(config: &ReleaseConfig, skipped: &[PreflightCheck]) -> Result<(), CheckFailed> {
    let Some((message, instead)) = unsticky(config) else { return Ok(()) };
    PreflightCheck::NoKey.refuse(skipped, message, instead)
}

/// Refuses what only who has paused a release may do.
pub fn check_pause(record: &Record, user: &str, skipped: &[PreflightCheck]) -> Result<(), CheckFailed> {
    let Some(pause) = record.paused.as_ref().filter(|pause| pause.by != user) else { return Ok(()) };
    let instead = format!("ask `{}`", pause.by);
    PreflightCheck::Paused.refuse(skipped, format!("the release is paused by {pause}"), instead)
}

fn unsticky(config: &ReleaseConfig) -> Option<(&'static str, &'static str)> {
    if config.mint != MintPolicy::Never {
        return None;
    }
    if config.keys.is_empty() && config.fallback != Fallback::ClientAddress {
        return Some((
            "expected a key of users, found none, and no id is minted: everyone is on stable",
            "add one to `keys`, or set `mint: navigation`",
        ));
    }
    (config.stickiness == Stickiness::Session && config.session_cookie.is_none()).then_some((
        "expected a session cookie to pin with, found none, and no id is minted: no session can stick",
        "name the application's cookie in `session.cookie`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum as _;

    #[test]
    fn a_check_has_the_same_name_on_the_command_line_and_in_messages() {
        for check in PreflightCheck::value_variants() {
            assert_eq!(check.to_possible_value().unwrap().get_name(), check.to_string());
        }
    }

    #[test]
    fn only_a_raise_beyond_the_largest_step_is_refused() {
        let weight = |percent: &str| percent.parse::<Weight>().unwrap();
        let judged = |from, to| check_step(weight("20"), weight(from), weight(to), &[]);
        assert_eq!(judged("10", "30"), Ok(()));
        assert_eq!(judged("100", "0"), Ok(()));
        let refused = judged("10", "30.01").unwrap_err();
        assert_eq!(refused.to_string(), "expected a step of at most 20%, found 10% to 30.01%");
        assert_eq!(refused.hint(), "take smaller steps, change `maxStep`, or give `--skip-check max-step`");
        assert_eq!(check_step(weight("20"), weight("0"), weight("21"), &[PreflightCheck::MaxStep]), Ok(()));
        let other = check_step(weight("20"), weight("0"), weight("21"), &[PreflightCheck::Paused]);
        assert_eq!(other.unwrap_err().check, PreflightCheck::MaxStep, "a name skips its own check alone");
    }
}
