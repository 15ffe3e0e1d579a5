//! `weight`: read, judge the step, write, wait, report.

mod cluster;
mod local;
mod report;

pub(super) use local::{LocalWeight, set as set_local};
pub(super) use report::Changed;

use super::arguments::{ClusterAccess, DryRunArgument, Output, ReleaseArguments, SkipChecks};
use super::emergency::Emergency;
use super::named_release::{self, InvalidFile};
use crate::report::Printer;
use crate::{Error, Outcome};
use assignment::Weight;
use assignment::weight::WeightError;
use canary_release::record::Expiry;
use canary_release::spec::Seconds;
use clap::Args;
use std::str::FromStr;

/// Change the canary's share of users
#[derive(Clone, Debug, Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = "Examples:
  canary-ctl weight 20 --wait           a fifth of the users, in every proxy
  canary-ctl weight +5                  five percentage points more
  canary-ctl weight 50 --expires-in 2h  half of the users, for two hours
  canary-ctl weight 0                   no new users; sessions finish there

Exit codes: 0 done, 2 failed or refused.")]
pub(super) struct Weigh {
    /// Share in percent (20, 12.5, 0.25%), or a change of it (+5, -5)
    #[arg(value_name = "PERCENT")]
    pub(super) target: WeightTarget,
    /// Wait until every proxy runs it
    #[arg(long)]
    pub(super) wait: bool,
    /// How long to wait for proxies
    #[arg(long, value_name = "TIME", default_value = "30s", requires = "wait")]
    pub(super) timeout: Seconds,
    /// Expire after this time, or `never`; `onExpiry` of the release decides what follows [default: the expiry of the weight before]
    #[arg(long, value_name = "TIME")]
    pub(super) expires_in: Option<Expiry>,
    #[command(flatten)]
    pub(super) checks: SkipChecks,
    /// Refuse unless the release is at this generation
    #[arg(long, value_name = "N")]
    pub(super) expect_generation: Option<u64>,
    #[command(flatten)]
    pub(super) dry_run: DryRunArgument,
    #[command(flatten)]
    pub(super) of: ReleaseArguments,
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

/// The reason why a text is not a share or a change of one.
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
    let is_emergency = matches!(arguments.target, WeightTarget::To(Weight::ZERO));
    let invalid = if is_emergency { InvalidFile::Ignored } else { InvalidFile::Refused };
    let named = named_release::find(&arguments.of, &arguments.cluster, invalid)?;
    if let WeightTarget::Fraction(weight) = arguments.target {
        let points = u32::from(weight.basis_points());
        printer
            .message(&format!("{weight} of the users, as `weight {weight}`; `weight {points}` is {points}%"));
    }
    if let Some(document) = named.local() {
        return local::run(arguments, &named.name, document, printer).await;
    }
    let emergency = Emergency::new(&arguments.cluster, Some(&named.name), named.document.as_ref());
    let work = cluster::run(arguments, &named, &emergency, printer);
    if is_emergency { Box::pin(emergency.run(work)).await } else { work.await }
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
        assert_eq!(message("+0.001"), "expected a weight in steps of 0.01%, found `0.001`");
    }
}
