//! The page of the figures.

use crate::study::{PLAN, Row};

pub(crate) fn page(rows: &[Row]) -> String {
    let weights: Vec<String> = PLAN.weights.iter().map(u32::to_string).collect();
    let mut page = format!(
        "# Rollouts under load\n\n<!-- Written by `./x bench-rollouts`; do not edit. -->\n\n\
         Rollouts by `canary-ctl rollout run` behind a real gateway of a real Istio, while users come to the demo shop. A user puts something into \
         the cart and looks at it five times; 40 users are there at a time, each on a connection of its own. The shop keeps its sessions in \
         memory. The plan is that of a hurry: {} %, at least {hold} each, and an observation each two seconds. All parts share one machine, \
         so the times say nothing about another.\n\n\
         | what is wrong | result | as it has to be | seconds | users | requests | users who met a fault | \
         sessions that the rollback moved | other moves | carts lost in place |\n\
         | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        weights.join(", "),
        hold = PLAN.hold
    );
    page.extend(rows.iter().map(line));
    page.push_str("\nWhy, in the words of the record:\n\n");
    page.extend(rows.iter().map(|row| format!("* {}: {}\n", row.scenario.name, row.end.reason)));
    page
}

fn line(row: &Row) -> String {
    let users = &row.users;
    let other = row.unannounced_moves();
    let announced = users.flips.len() - other;
    let verdict = if row.is_as_expected() { "yes" } else { "**no**" };
    let share = 100.0 * as_f64(users.failed_users) / as_f64(users.users.max(1));
    format!(
        "| {} | {} | {verdict} | {:.0} | {} | {} | {} ({share:.1} %) | {announced} | {other} | {} |\n",
        row.scenario.name,
        row.end.result,
        row.took.as_secs_f64(),
        users.users,
        users.requests,
        users.failed_users,
        users.lost_in_place,
    )
}

fn as_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}
