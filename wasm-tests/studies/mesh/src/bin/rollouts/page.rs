//! The page of the figures.

use crate::runs::{Run, Runs};
use crate::study::PLAN;
use mesh_studies::Scenario;

pub(crate) fn page(scenarios: &[Scenario], runs: &Runs) -> String {
    let weights: Vec<String> = PLAN.weights.iter().map(u32::to_string).collect();
    let mut page = format!(
        "# Rollouts under load\n\n<!-- Written by `./x bench-rollouts`; do not edit. -->\n\n\
         Rollouts by `canary-ctl rollout run` behind a real gateway of a real Istio, while users come to the demo shop. A user puts something into \
         the cart and looks at it five times; 40 users are there at a time, each on a connection of its own. The shop keeps its sessions in \
         memory. The plan is that of a hurry: {} %, at least {hold} each, and an observation each two seconds. All parts share one machine of two \
         cores, often with other work. So rely on the results, not on the times.\n\n\
         *Seconds* is the median of the runs of a row, everything else is of all its runs. *As it has to be* has the runs that ended so. In the rows about replaced pods, another sign key and early logouts, 200 users are there at a time instead, and stay for five seconds each.\n\n\
         | what is wrong | expected | as it has to be | last run | seconds | users | requests | users who met a fault | \
         sessions that the rollback moved | other moves | carts lost in place |\n\
         | --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        weights.join(", "),
        hold = PLAN.hold
    );
    let rows: Vec<(&Scenario, Vec<&Run>)> = scenarios.iter().map(|row| (row, runs.of(row))).collect();
    let rows: Vec<_> = rows.into_iter().filter(|(_, runs)| !runs.is_empty()).collect();
    page.extend(rows.iter().map(|(scenario, runs)| line(scenario, runs)));
    page.push_str("\nWhy, in the words of the record of the last run:\n\n");
    for (scenario, runs) in &rows {
        page.extend(runs.last().map(|run| format!("* {}: {}\n", scenario.name, run.reason)));
    }
    let otherwise = rows.iter().flat_map(|(scenario, runs)| {
        runs.iter().filter(|run| run.result != scenario.expected).map(|run| (scenario.name, run))
    });
    let otherwise: String =
        otherwise.map(|(name, run)| format!("* {name}: {}, {}\n", run.result, run.reason)).collect();
    if !otherwise.is_empty() {
        page.push_str("\nRuns that ended otherwise:\n\n");
        page.push_str(&otherwise);
    }
    page
}

fn line(scenario: &Scenario, runs: &[&Run]) -> String {
    let as_expected = runs.iter().filter(|run| run.result == scenario.expected).count();
    let verdict = format!("{as_expected} of {}", runs.len());
    let verdict = if as_expected == runs.len() { verdict } else { format!("**{verdict}**") };
    let sum = |of: fn(&Run) -> usize| runs.iter().map(|run| of(run)).sum::<usize>();
    let median = |of: fn(&Run) -> u64| {
        let mut values: Vec<u64> = runs.iter().map(|run| of(run)).collect();
        values.sort_unstable();
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    let (users, failed) = (sum(|run| run.users), sum(|run| run.failed_users));
    let share = 100.0 * as_f64(failed) / as_f64(users.max(1));
    format!(
        "| {} | {} | {verdict} | {} | {} | {users} | {} | {failed} ({share:.1} %) | {} | {} | {} |\n",
        scenario.name,
        scenario.expected,
        runs.last().map_or("–", |run| run.measured.as_str()),
        median(|run| run.seconds),
        sum(|run| run.requests),
        sum(|run| run.announced_moves),
        sum(|run| run.other_moves),
        sum(|run| run.lost_in_place),
    )
}

fn as_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}
