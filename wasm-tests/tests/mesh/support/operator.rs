//! An operator who changes a release while its users shop.

use crate::support::cli::Cli;
use browser::User;
use wasm_tests::scenario::{Faults, Sessions};
use wasm_tests::stats::{UNLIKELY, share_p_value};

/// Runs this command while the newest users, so many, send requests without a pause. Fails if one of them, or any user afterwards, meets
/// a fault. Returns what was printed.
pub(crate) async fn run_under_load(
    cli: &Cli,
    sessions: &mut Sessions,
    moving: usize,
    (line, parts): (&str, &[&str]),
) -> String {
    let moving = sessions.start_load(moving);
    let said = cli.expect(line, 0, parts).await;
    assert_eq!(sessions.stop_load(moving).await.expect("they come back"), Faults::default(), "{line}");
    assert_eq!(sessions.verify_all(true).await, Faults::default(), "{line}");
    format!("{}{}", said.stdout, said.stderr)
}

/// Adds new users, and checks the share of `v2` among them.
pub(crate) async fn come(sessions: &mut Sessions, users: Vec<User>, share: f64) {
    let count = users.len();
    let (on_canary, faults) = sessions.open(users).await;
    assert_eq!(faults, Faults::default(), "{count} new users at {share}");
    let p_value = share_p_value(on_canary, count as u64, share);
    println!("{on_canary} of {count} new users at {share}: p = {p_value:.3}");
    assert!(p_value > UNLIKELY, "{on_canary} of {count} at {share}");
}
