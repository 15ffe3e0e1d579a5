//! The result of a simulation, as text and as data.

use super::{Census, Step, WeightSchedule, walk};
use crate::report;
use assignment::contract::Stickiness;
use canary_release::stats::Verdict;
use serde::Serialize;
use std::fmt;

/// The number of parts in which the range of buckets is tested: enough to show an uneven spread, few enough that some
/// thousand users fill each.
const SPREAD_PARTS: usize = 100;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SimulationReport {
    /// The salt of the buckets.
    pub salt: String,
    /// Whether users move when the weight does.
    pub stickiness: Stickiness,
    /// Lines read.
    pub lines: u64,
    /// Lines without a key; they are not counted as users.
    pub without_key: u64,
    /// Users counted.
    pub users: u64,
    /// Whether each user was counted once, even on several lines.
    pub distinct: bool,
    /// Whether all users together are spread evenly over the buckets.
    pub spread: Verdict,
    pub steps: Vec<ReportedStep>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedStep {
    /// The weight, in percent.
    pub weight_percent: f64,
    /// Users on the canary.
    pub canary: u64,
    /// Their share, in percent.
    pub share_percent: f64,
    /// The share's 95 % interval, in percent.
    pub interval_percent: (f64, f64),
    /// Users who move to the canary.
    pub to_canary: u64,
    /// Users who move back to stable.
    pub to_stable: u64,
    /// Whether the share fits the weight.
    pub test: Verdict,
}

impl SimulationReport {
    /// Answers the plan from the count.
    pub fn new(salt: String, stickiness: Stickiness, census: &Census, plan: &WeightSchedule) -> Self {
        Self {
            salt,
            stickiness,
            lines: census.lines,
            without_key: census.without_key,
            users: census.users(),
            distinct: census.is_distinct,
            spread: Verdict::of_even_spread(&census.spread(SPREAD_PARTS)),
            steps: walk(census, plan, stickiness).iter().map(ReportedStep::from).collect(),
        }
    }

    fn explanation(&self) -> &'static str {
        match self.stickiness {
            Stickiness::User => "A user moves when the weight passes their bucket, and only then.",
            Stickiness::Session => {
                "Sessions never move: the share is that of the sessions that begin at a weight. A session that is alive stays where it began."
            }
        }
    }
}

impl From<&Step> for ReportedStep {
    fn from(step: &Step) -> Self {
        Self {
            weight_percent: f64::from(step.weight.basis_points()) / 100.0,
            canary: step.canary,
            share_percent: step.share * 100.0,
            interval_percent: (step.interval.0 * 100.0, step.interval.1 * 100.0),
            to_canary: step.movement.to_canary,
            to_stable: step.movement.to_stable,
            test: step.verdict,
        }
    }
}

impl report::Report for SimulationReport {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "{self}")
    }
}

impl fmt::Display for SimulationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = if self.distinct { "distinct users" } else { "users, one a line" };
        writeln!(
            f,
            "salt {}: {} {counted}, of {} lines",
            report::escape::line(&self.salt),
            grouped(self.users),
            grouped(self.lines)
        )?;
        if self.without_key > 0 {
            writeln!(f, "not counted, without a key: {} of the lines", grouped(self.without_key))?;
        }
        writeln!(f, "{}\n", self.explanation())?;
        writeln!(
            f,
            "{:>8} {:>13} {:>9}  {:^17} {:>13} {:>13}  chi-square",
            "weight", "canary", "share", "95% interval", "to canary", "to stable"
        )?;
        for step in &self.steps {
            writeln!(f, "{step}")?;
        }
        write!(f, "\nspread over the buckets: {}", self.spread)
    }
}

impl fmt::Display for ReportedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weight = format!("{}%", self.weight_percent);
        let share = format!("{:.2}%", self.share_percent);
        let interval = format!("{:.2} to {:.2}%", self.interval_percent.0, self.interval_percent.1);
        let (canary, to_canary, to_stable) =
            (grouped(self.canary), grouped(self.to_canary), grouped(self.to_stable));
        let test = self.test;
        write!(
            f,
            "{weight:>8} {canary:>13} {share:>9}  {interval:^17} {to_canary:>13} {to_stable:>13}  {test}"
        )
    }
}

/// A count with a comma between thousands.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let first = digits.len() % 3;
    let comma = |(index, digit): (usize, char)| {
        let is_start_of_group = index > 0 && index % 3 == first;
        is_start_of_group.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(comma).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Progress, Rules};
    use super::*;

    fn report(stickiness: Stickiness) -> SimulationReport {
        let keys: Vec<String> = (0..20_000).map(|number| format!("user-{number}")).collect();
        let text = keys.join("\n") + "\n\n";
        let rules = Rules::of_lines("shop/shop/v2");
        let census = Census::take(text.as_bytes(), &rules, &mut Progress::hidden());
        SimulationReport::new(
            "shop/shop/v2".to_owned(),
            stickiness,
            &census.unwrap(),
            &"0,12.5,100".parse().unwrap(),
        )
    }

    #[test]
    fn people_read_counts_shares_and_a_verdict_for_every_step() {
        let text = report(Stickiness::User).to_string();
        assert!(text.starts_with("salt shop/shop/v2: 20,000 users, one a line, of 20,001 lines\n"), "{text}");
        assert!(text.contains("not counted, without a key: 1 of the lines"), "{text}");
        let row = text.lines().find(|line| line.trim_start().starts_with("12.5%")).unwrap();
        assert!(row.contains("fits ("), "{row}");
        assert!(text.contains("20,000   100.00%"), "{text}");
    }

    #[test]
    fn programs_read_numbers_by_name() {
        let value = serde_json::to_value(report(Stickiness::Session)).unwrap();
        assert_eq!(value["users"], 20_000);
        assert_eq!(value["stickiness"], "session");
        assert_eq!(value["steps"][1]["weightPercent"], 12.5);
        assert_eq!(value["steps"][1]["toCanary"], 0);
        assert_eq!(value["steps"][1]["test"]["verdict"], "fits");
        assert_eq!(value["steps"][2]["test"]["verdict"], "exact");
    }

    #[test]
    fn a_weight_is_reported_as_it_was_asked_for() {
        // 0.07 × 100 is 7.000000000000001.
        let rules = Rules::of_lines("s");
        let census = Census::take(&b"a"[..], &rules, &mut Progress::hidden()).unwrap();
        let report =
            SimulationReport::new("s".to_owned(), Stickiness::User, &census, &"7,0.29".parse().unwrap());
        let weights: Vec<String> = report.steps.iter().map(|step| step.weight_percent.to_string()).collect();
        assert_eq!(weights, ["7", "0.29"]);
    }

    #[test]
    fn thousands_are_grouped_from_the_right() {
        for (count, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (123_456, "123,456"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(count), text);
        }
    }
}
