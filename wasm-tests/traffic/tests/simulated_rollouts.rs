//! The product's rollout decides as it should on the most telling rows: few rollouts of each, with fixed seeds.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use traffic_model::{Row, Summary, rows, run};

/// Rollouts of a row. One of them may be otherwise than expected.
const ROLLOUTS: u32 = 20;

/// Runs the quick rows whose ids begin so, and fails with all that are not as expected.
fn check(prefix: &str) {
    let is_wanted = |row: &Row| row.is_quick && row.id.starts_with(prefix);
    let summaries: Vec<(Row, Summary)> = rows()
        .into_iter()
        .filter(is_wanted)
        .map(|row| {
            let summary = run(&row, ROLLOUTS).unwrap();
            (row, summary)
        })
        .collect();
    assert!(summaries.len() >= 3, "there are rows that begin with `{prefix}`");
    let is_wrong = |(row, summary): &&(Row, Summary)| !row.expected.is_met(summary);
    let wrong = summaries.iter().filter(is_wrong);
    let wrong: Vec<String> =
        wrong.map(|(row, summary)| format!("{}: expected {:?}: {summary}", row.id, row.expected)).collect();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), summaries.len(), wrong.join("\n"));
}

#[test]
fn a_canary_that_is_as_good_as_stable_is_promoted() {
    check("good: ");
}

#[test]
fn a_canary_that_is_worse_is_rolled_back() {
    check("bad: ");
}
