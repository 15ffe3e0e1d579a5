//! `canary-ctl weight`.

use super::{ClusterAccess, Output, SkipChecks, SpecFile};
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
  canary-ctl weight 20 --wait          a fifth of the users, and wait until Envoy does it
  canary-ctl weight +5                 five percentage points more
  canary-ctl weight 50 --expires-in 2h   half of them, for two hours
  canary-ctl weight 0                  no new users; sessions on the canary finish there")]
pub struct Weigh {
    /// The share in percent (20, 12.5, 0.25%), or a change of it (+5, -5)
    #[arg(value_name = "PERCENT")]
    pub target: WeightTarget,
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Another release of the same cluster or local directory, as NAMESPACE/NAME or NAME
    #[arg(short, long, value_name = "RELEASE")]
    pub release: Option<String>,
    /// Wait until every proxy runs it
    #[arg(long)]
    pub wait: bool,
    /// How long to wait
    #[arg(long, value_name = "DURATION", default_value = "30s", requires = "wait")]
    pub timeout: Seconds,
    /// End by itself after this time, or `never`: then nobody new, or a rollback, as the release's `onExpiry` says. Without it the
    /// end of the weight before stays
    #[arg(long, value_name = "DURATION")]
    pub expires_in: Option<Expiry>,
    /// Which checks are skipped.
    #[command(flatten)]
    pub checks: SkipChecks,
    /// Refuse unless the release is at this generation
    #[arg(long, value_name = "N")]
    pub expect_generation: Option<u64>,
    /// Say what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterAccess,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// A share, or a change of the one there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightTarget {
    /// `20`: this share.
    To(Weight),
    /// `+5`: so many percentage points more, everybody at most.
    Up(Weight),
    /// `-5`: so many percentage points less, nobody at least.
    Down(Weight),
}

impl FromStr for WeightTarget {
    type Err = WeightError;
    fn from_str(text: &str) -> Result<Self, WeightError> {
        match text.split_at_checked(1) {
            Some(("+", rest)) => rest.parse().map(Self::Up),
            Some(("-", rest)) => rest.parse().map(Self::Down),
            _ => text.parse().map(Self::To),
        }
    }
}

impl WeightTarget {
    /// The share that this comes to.
    pub fn from(self, now: Weight) -> Weight {
        let points = |weight: Weight| u32::from(weight.basis_points());
        let bounded = |points: u32| Weight::new(points).unwrap_or(Weight::FULL);
        match self {
            Self::To(weight) => weight,
            Self::Up(by) => bounded(points(now) + points(by)),
            Self::Down(by) => bounded(points(now).saturating_sub(points(by))),
        }
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
        for text in ["", "+", "--5", "5-", "+-5"] {
            assert!(text.parse::<WeightTarget>().is_err(), "{text}");
        }
    }
}
