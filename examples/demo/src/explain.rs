//! What `canary-ctl explain` prints about a shopper whom the current weight would not select.

use crate::environment::{DemoEnv, HOST};
use crate::error::Error;
use crate::round::Round;
use crate::stats::ShopperStats;

/// The lines of an explanation that a first look needs.
const LABELS: [&str; 3] = ["version", "why", "note"];

/// Explains a shopper of an earlier round on the canary whom `percent` would not select with the same id.
pub(crate) async fn explain_shopper(
    env: &DemoEnv,
    stats: &ShopperStats,
    arrived_in: &Round,
    percent: u32,
) -> Result<String, Error> {
    for cookies in stats.canary_cookies_of(arrived_in.id) {
        let Some(id) = cookies.split("; ").find(|pair| pair.starts_with("canary-id=")) else { continue };
        let without_pin = env.ctl.run_json(&["explain", "--host", HOST, "--cookie", id]).await?;
        let threshold = without_pin.get("canaryFromPercent").and_then(serde_json::Value::as_f64);
        let Some(threshold) = threshold.filter(|threshold| *threshold > f64::from(percent)) else { continue };
        let text = env.ctl.run(&["explain", "--host", HOST, "--cookie", &cookies]).await?;
        let is_shown = |line: &&str| LABELS.iter().any(|label| line.trim_start().starts_with(label));
        let lines: Vec<&str> = text.lines().filter(is_shown).collect();
        return Ok(format!(
            "$ canary-ctl explain --cookie …     # a shopper who arrived at {}%, now at {percent}%\n{}\n  \
             (a new shopper with the same id: canary from {threshold}% on)",
            arrived_in.percent,
            lines.join("\n")
        ));
    }
    Ok(format!("no shopper to explain: {percent}% would select all who arrived at {}%", arrived_in.percent))
}
