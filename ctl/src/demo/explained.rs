//! What `canary-ctl explain` says about one shopper whom the weight would not choose any more.

use super::Error;
use super::ledger::Ledger;
use super::stage::{HOST, Stage};

/// The lines of an explanation that a first look needs.
const SHOWN: [&str; 3] = ["version", "why", "note"];

/// Explains somebody who came in a turn and is on the canary, though at `percent` a newcomer with the same id would not be.
pub(super) async fn newcomer(
    stage: &Stage,
    ledger: &Ledger,
    (turn, came_at): (u64, u32),
    percent: u32,
) -> Result<String, Error> {
    for cookies in ledger.on_canary_since(turn) {
        let Some(id) = cookies.split("; ").find(|pair| pair.starts_with("canary-id=")) else { continue };
        let anew = stage.tool.ask(&["explain", "--host", HOST, "--cookie", id]).await?;
        let from = anew.get("canaryFromPercent").and_then(serde_json::Value::as_f64);
        let Some(from) = from.filter(|from| *from > f64::from(percent)) else { continue };
        let text = stage.tool.run(&["explain", "--host", HOST, "--cookie", &cookies]).await?;
        let mut shown =
            format!("$ canary-ctl explain --cookie …     # one who came at {came_at} %, now at {percent} %");
        for line in text.lines().filter(|line| SHOWN.iter().any(|label| line.trim_start().starts_with(label)))
        {
            shown = format!("{shown}\n{line}");
        }
        return Ok(format!("{shown}\n  (somebody new with the same id: canary from {from} % on)"));
    }
    Ok("nobody is left to explain whom only the higher weight gave to the canary".to_owned())
}
