//! Canaries that are as good as stable for hours, and then worse.

use super::Expected::{Anything, Bad};
use super::{Expected, Row, each, untried};
use crate::behaviour::ByAge;
use crate::scenario::Scenario;

const HOUR: u32 = 3_600;
/// The longest time until a late fault is to be found.
const TO_FIND: u32 = 7_200;

pub(super) fn rows() -> Vec<Row> {
    [
        after(1, ("1% to 2%", 0.01, 0.02), Bad),
        after(1, ("1% to 5%", 0.01, 0.05), Bad),
        after(1, ("0.1% to 1%", 0.001, 0.01), Bad),
        after(1, ("0.2% to 5.2%", 0.002, 0.052), Bad),
        // The difference over the whole rollout is what a person would see, too.
        after(6, ("1% to 2%", 0.01, 0.02), Anything),
        after(6, ("1% to 5%", 0.01, 0.05), Bad),
        after(6, ("0.1% to 1%", 0.001, 0.01), Bad),
    ]
    .concat()
}

/// Half of the users are on the canary for hours before it becomes worse.
fn after(hours: u32, (name, before, then): (&str, f64, f64), expected: Expected) -> Vec<Row> {
    let name = format!("bad: {name} after {hours}h at 50%");
    let change = hours * HOUR;
    let horizon = change + TO_FIND;
    each(&name, expected, &[untried(20.0), untried(200.0)], |rate| {
        Scenario::sessions(rate).failing(before).with_plan(&[(50, horizon + HOUR)]).with(|scenario| {
            let worse = crate::Behaviour { server_errors: ByAge::always(then), ..scenario.canary };
            scenario.change = Some((change, worse));
            scenario.horizon = horizon;
        })
    })
}
