//! `spec.rollout.windows`: when a rollout may send more users to the canary.

use crate::spec::{Day, RolloutWindow, TimeOfDay, TimeZoneName};
use placed_yaml::{Node, Section};
use std::collections::BTreeSet;

/// More than this no week has use for.
pub(in crate::spec) const MAX_WINDOWS: usize = 20;
pub(in crate::spec) const DAYS: [(&str, Day); 7] = [
    ("mon", Day::Mon),
    ("tue", Day::Tue),
    ("wed", Day::Wed),
    ("thu", Day::Thu),
    ("fri", Day::Fri),
    ("sat", Day::Sat),
    ("sun", Day::Sun),
];

/// Reads them. Faults are recorded, and a window with one is left out.
pub(super) fn windows(rollout: &mut Section<'_>) -> Vec<RolloutWindow> {
    let Some(node) = rollout.node("windows") else { return Vec::new() };
    let items = rollout.items("windows", node).unwrap_or_default();
    if items.len() > MAX_WINDOWS {
        let message = format!("expected at most {MAX_WINDOWS} windows, found {}", items.len());
        rollout.fault(node.place, message, None);
    }
    let is_limited = !items.is_empty();
    let windows = items
        .into_iter()
        .filter_map(|(path, node)| window(Section::new(rollout.faults(), path, node), node))
        .collect();
    if is_limited && rollout.node("deadline").is_none() {
        let hint = "the time between two windows counts, too".to_owned();
        let message = "expected `rollout.deadline` beside `rollout.windows`, found none";
        rollout.fault(node.place, message, Some(hint));
    }
    windows
}

fn window(mut section: Section<'_>, node: &Node) -> Option<RolloutWindow> {
    let days = section.node("days");
    let days = days.map_or_else(|| Some(Day::ALL.into()), |days| self::days(&section, days));
    let from = section.node("from").map_or(Some(TimeOfDay::START), |node| section.parse(node));
    let to = section.node("to").map_or(Some(TimeOfDay::END), |node| section.parse(node));
    let time_zone = section.required_parsed::<TimeZoneName>("timeZone");
    let (days, from, to) = (days?, from?, to?);
    if from == to || from == TimeOfDay::END {
        section.fault(
            node.place,
            format!("expected a window that begins before it ends, found {from} to {to}"),
            None,
        );
    }
    section.finish();
    Some(RolloutWindow { days, from, to, time_zone: time_zone? })
}

fn days(section: &Section<'_>, node: &Node) -> Option<BTreeSet<Day>> {
    let items = section.items("days", node)?;
    if items.is_empty() {
        section.fault(node.place, "expected a day at least, found none", None);
    }
    items.into_iter().map(|(_, node)| section.chosen(node, &DAYS)).collect()
}
