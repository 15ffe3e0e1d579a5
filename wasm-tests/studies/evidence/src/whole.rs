//! Rollouts by the product's whole driver, of the traffic of `traffic-model`: the part of the page that another generator vouches for.

use std::fmt::Write as _;
use traffic_model::{FinalState, ModelError, Row, Summary, rows, run_on};

const HEAD: &str = "## Rollouts by the whole driver

Record, intervals, verdicts, steps and deadline are the product's; the traffic is that of a second generator (`wasm-tests/traffic`), which was written
from a review and not by those who chose the test. The default plan, an observation each ten seconds, two proxies, up to 25 hours at 2 requests/s and 2.5 hours above. *Before* is what the
reviewers saw of the test before its bounds. *Users*: clients of the canary who met a failure before it was rolled back.

| scenario, requests/s | rolled back before | now | after | users | promoted | at the deadline |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
";

/// The table of all rows, so many rollouts each.
///
/// # Errors
///
/// If a scenario is none that the product takes.
pub fn table(rollouts: u32) -> Result<String, ModelError> {
    let mut page = HEAD.to_owned();
    for row in rows() {
        let _ = writeln!(page, "{}", simulated(&row, rollouts)?);
    }
    let _ = writeln!(
        page,
        "\n{rollouts} rollouts a row. (!): not as expected of it, which is at most 5 % of good canaries rolled back (1 % in the plain rows), and at least 95 % \
         of bad ones; 80 % where the fault is small, and at most 5 % promoted where lost sessions may be logins.\n"
    );
    Ok(page)
}

/// The line of a row, so many rollouts.
///
/// # Errors
///
/// If its scenario is none that the product takes.
pub fn simulated(row: &Row, rollouts: u32) -> Result<String, ModelError> {
    let summary = run_on(row, rollouts, 2)?;
    let mark = if row.expected.is_met(&summary) { "" } else { " (!)" };
    Ok(line(row, &summary, mark))
}

fn line(row: &Row, summary: &Summary, mark: &str) -> String {
    let before = row.reviewed.map_or_else(|| "–".to_owned(), |percent| format!("{percent} %"));
    let share = |state| format!("{:.0} %", summary.percent(state));
    let after = summary.median_seconds(FinalState::RolledBack).map_or_else(|| "–".to_owned(), time);
    let users =
        summary.mean_met(FinalState::RolledBack).map_or_else(|| "–".to_owned(), |met| format!("{met:.0}"));
    let id = row.id.replace(" @", ", ");
    let (back, promoted) = (share(FinalState::RolledBack), share(FinalState::Promoted));
    let deadline = share(FinalState::Deadline);
    format!("| {id} | {before} | {back}{mark} | {after} | {users} | {promoted} | {deadline} |")
}

/// Seconds, minutes or hours.
fn time(seconds: u32) -> String {
    let seconds = f64::from(seconds);
    match seconds {
        ..600.0 => format!("{seconds:.0} s"),
        ..7_200.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3_600.0),
    }
}
