//! `./x bench-evidence`: simulates rollouts, and writes `docs/evidence.md` and its plot. With arguments it prints the lines of the rows whose
//! names contain one of them, and writes nothing.

use evidence_bench::page::{Results, page};
use evidence_bench::plot::shares_over_time;
use evidence_bench::rollouts::Method;
use evidence_bench::tables::{self, EQUAL, TWO_HOURS, WORSE};
use evidence_bench::whole;
use std::path::Path;
use traffic_model::rows;

/// Rollouts of each row of equal versions.
const EQUAL_ROLLOUTS: u64 = 1_000;
/// Rollouts of each cell with a worse canary.
const WORSE_ROLLOUTS: u64 = 200;
/// Rollouts of each row by the whole driver.
const WHOLE_ROLLOUTS: u32 = 50;
/// The row of the plot: few users fail, at 10 % and ten requests a second.
const PLOTTED: usize = 1;

#[expect(clippy::print_stdout, reason = "the lines of the rows that were asked for")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if !wanted.is_empty() {
        for row in rows().iter().filter(|row| wanted.iter().any(|text| row.id.contains(text))) {
            println!("{}", whole::simulated(row, WHOLE_ROLLOUTS)?);
        }
        return Ok(());
    }
    let false_alarms: Vec<_> =
        EQUAL.into_iter().map(|scenario| tables::false_alarms(scenario, EQUAL_ROLLOUTS)).collect();
    let delays = WORSE.into_iter().map(|row| tables::delays(row, WORSE_ROLLOUTS)).collect();
    let date = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs");
    if let Some(row) = false_alarms.get(PLOTTED) {
        let lines: Vec<_> = Method::ALL.into_iter().map(Method::name).zip(&row.alarms).collect();
        let title = "Rollouts of two equal versions with an alarm: 10 requests/s, 1 % failures of few users, weight 10 %";
        std::fs::write(docs.join("evidence.svg"), shares_over_time(title, &lines, TWO_HOURS))?;
    }
    let whole = whole::table(WHOLE_ROLLOUTS)?;
    std::fs::write(docs.join("evidence.md"), page(&Results { false_alarms, delays, whole, date }))?;
    Ok(())
}
