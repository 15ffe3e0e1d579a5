//! `weight`: read, judge the step, write, wait, report.

mod cluster;
mod local;
mod report;

pub(super) use local::{LocalWeight, set as set_local};
pub(super) use report::Changed;

use super::arguments::{ClusterAccess, Output, ReleaseArguments, SkipChecks, only_client};
use super::target;
use crate::report::Printer;
use crate::{Error, Outcome};
use assignment::Weight;
use assignment::weight::WeightError;
use canary_release::record::Expiry;
use canary_release::spec::Seconds;
use clap::{ArgAction, Args};
use std::str::FromStr;

/// Change the canary's share of users
#[derive(Clone, Debug, Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = "Examples:
  canary-ctl weight 20 --wait          a fifth of the users, and wait until Envoy does it
  canary-ctl weight +5                 five percentage points more
  canary-ctl weight 50 --expires-in 2h   half of them, for two hours
  canary-ctl weight 0                  no new users; sessions on the canary finish there")]
pub(super) struct Weigh {
    /// The share in percent (20, 12.5, 0.25%), or a change of it (+5, -5)
    #[arg(value_name = "PERCENT")]
    pub(super) target: WeightTarget,
    #[command(flatten)]
    pub(super) of: ReleaseArguments,
    /// Wait until every proxy runs it
    #[arg(long)]
    pub(super) wait: bool,
    /// How long to wait
    #[arg(long, value_name = "DURATION", default_value = "30s", requires = "wait")]
    pub(super) timeout: Seconds,
    /// End by itself after this time, or `never`: then nobody new, or a rollback, as the release's `onExpiry` says. Without it the
    /// end of the weight before stays
    #[arg(long, value_name = "DURATION")]
    pub(super) expires_in: Option<Expiry>,
    #[command(flatten)]
    pub(super) checks: SkipChecks,
    /// Refuse unless the release is at this generation
    #[arg(long, value_name = "N")]
    pub(super) expect_generation: Option<u64>,
    /// Say what would change, and change nothing
    #[arg(long, value_name = "WHERE", action = ArgAction::Set, value_parser = only_client, num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none", hide_default_value = true)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterAccess,
    #[command(flatten)]
    pub(super) output: Output,
}

/// A share, or a change of the one there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WeightTarget {
    /// `20`: this share.
    To(Weight),
    /// `0.2`: this share in percent, and maybe not what was meant.
    Fraction(Weight),
    /// `+5`: so many percentage points more, everybody at most.
    Up(Weight),
    /// `-5`: so many percentage points less, nobody at least.
    Down(Weight),
}

/// Why a text is no share and no change of one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WeightTargetError {
    /// Neither a share nor a change of it.
    #[error(
        "expected a share like `20`, `12.5` or `0.25%`, or a change of it like `+5` or `-5`, found `{0}`"
    )]
    NotATarget(String),
    /// A number that is no share.
    #[error(transparent)]
    Weight(WeightError),
}

impl FromStr for WeightTarget {
    type Err = WeightTargetError;
    fn from_str(text: &str) -> Result<Self, WeightTargetError> {
        let target = match text.split_at_checked(1) {
            Some(("+", rest)) => rest.parse().map(Self::Up),
            Some(("-", rest)) => rest.parse().map(Self::Down),
            _ => text.parse().map(|weight: Weight| match weight.basis_points() {
                1..100 if !text.ends_with('%') => Self::Fraction(weight),
                _ => Self::To(weight),
            }),
        };
        target.map_err(|error| match error {
            // The text as it was given: without its sign it may be empty.
            WeightError::NotANumber(_) => WeightTargetError::NotATarget(text.to_owned()),
            other => WeightTargetError::Weight(other),
        })
    }
}

impl WeightTarget {
    /// The share that this comes to.
    pub(super) fn from(self, now: Weight) -> Weight {
        let points = |weight: Weight| u32::from(weight.basis_points());
        let bounded = |points: u32| Weight::new(points).unwrap_or(Weight::FULL);
        match self {
            Self::To(weight) | Self::Fraction(weight) => weight,
            Self::Up(by) => bounded(points(now) + points(by)),
            Self::Down(by) => bounded(points(now).saturating_sub(points(by))),
        }
    }
}

pub(super) async fn run(arguments: &Weigh, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = target::load(&arguments.of)?;
    if let WeightTarget::Fraction(weight) = arguments.target {
        let points = u32::from(weight.basis_points());
        printer
            .message(&format!("{weight} of the users, as `weight {weight}`; `weight {points}` is {points}%"));
    }
    match document.as_ref().filter(|document| target::is_local(document)) {
        Some(document) => local::run(arguments, document, printer).await,
        None => cluster::run(arguments, document.as_ref(), printer).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_share_or_a_bounded_change_of_it() {
        let now: Weight = "20".parse().unwrap();
        for (text, comes_to) in
            [("12.5", "12.5%"), ("+5", "25%"), ("-5", "15%"), ("+90", "100%"), ("-30%", "0%")]
        {
            assert_eq!(text.parse::<WeightTarget>().unwrap().from(now).to_string(), comes_to, "{text}");
        }
        for text in ["", "+", "-", "--5", "5-", "+-5", "abc"] {
            let expected = WeightTargetError::NotATarget(text.to_owned());
            assert_eq!(text.parse::<WeightTarget>(), Err(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_target_is_told_as_it_was_given_with_what_is_expected() {
        let message = |text: &str| text.parse::<WeightTarget>().unwrap_err().to_string();
        let expected =
            "expected a share like `20`, `12.5` or `0.25%`, or a change of it like `+5` or `-5`, found";
        assert_eq!(message("+"), format!("{expected} `+`"));
        assert_eq!(message("+-5"), format!("{expected} `+-5`"));
        assert_eq!(message("+0.001"), "weight has steps of 0.01 percent, found `0.001`");
    }
}
