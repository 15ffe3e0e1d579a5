//! Which route of one list is which of another: routes that come before others change no others.
//!
//! A route is known by its name, and one without a name by what it matches: an injection changes neither of the owner's routes.
//! The lists are aligned by their longest common subsequence, because their order is part of what they mean.

use serde_json::Value;

/// A route on one side or on both, in the order of the desired list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Aligned<'v> {
    /// Desired, and not observed.
    Added {
        route: &'v Value,
        /// Its index in the desired list.
        index: usize,
    },
    /// Observed, and not desired.
    Removed {
        route: &'v Value,
        /// Its index in the observed list.
        index: usize,
    },
    /// Both.
    Same {
        desired: &'v Value,
        observed: &'v Value,
        /// Its index in the desired list.
        index: usize,
    },
}

/// Aligns a desired list of routes with the observed one.
pub(super) fn align<'v>(desired: &'v [Value], observed: &'v [Value]) -> Vec<Aligned<'v>> {
    let lengths = common_lengths(desired, observed);
    let length = |to: usize, from: usize| lengths.get(to).and_then(|row| row.get(from)).copied().unwrap_or(0);
    let (mut to, mut from, mut aligned) = (0, 0, Vec::new());
    loop {
        match (desired.get(to), observed.get(from)) {
            (Some(route), Some(before)) if is_same(route, before) => {
                aligned.push(Aligned::Same { desired: route, observed: before, index: to });
                (to, from) = (to + 1, from + 1);
            }
            (Some(route), before) if before.is_none() || length(to + 1, from) >= length(to, from + 1) => {
                aligned.push(Aligned::Added { route, index: to });
                to += 1;
            }
            (_, Some(route)) => {
                aligned.push(Aligned::Removed { route, index: from });
                from += 1;
            }
            (_, None) => return aligned,
        }
    }
}

/// A route for messages: its name in quotes, or its number.
pub(super) fn title(route: &Value, index: usize) -> String {
    match name(route) {
        Some(name) => format!("\"{name}\""),
        None => format!("#{}", index + 1),
    }
}

/// `lengths[i][j]`: how many routes `desired[i..]` and `observed[j..]` have in common, in the same order.
fn common_lengths(desired: &[Value], observed: &[Value]) -> Vec<Vec<usize>> {
    let mut below = vec![0; observed.len() + 1];
    let mut lengths = vec![below.clone()];
    for route in desired.iter().rev() {
        let mut row = vec![0];
        let pairs = observed.iter().zip(below.windows(2)).rev();
        for (before, pair) in pairs {
            let [diagonal_from, diagonal] = pair else { continue };
            let right = row.last().copied().unwrap_or(0);
            row.push(if is_same(route, before) { diagonal + 1 } else { right.max(*diagonal_from) });
        }
        row.reverse();
        below.clone_from(&row);
        lengths.push(row);
    }
    lengths.reverse();
    lengths
}

fn is_same(route: &Value, other: &Value) -> bool {
    match (name(route), name(other)) {
        (None, None) => route.get("match") == other.get("match"),
        (name, other) => name == other,
    }
}

fn name(route: &Value) -> Option<&str> {
    route.get("name").and_then(Value::as_str).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn routes(names: &[&str]) -> Vec<Value> {
        names.iter().map(|name| json!({"name": name})).collect()
    }

    fn signs(desired: &[Value], observed: &[Value]) -> Vec<String> {
        let sign = |aligned: &Aligned<'_>| match *aligned {
            Aligned::Added { route, index } => format!("+{}", title(route, index)),
            Aligned::Removed { route, index } => format!("-{}", title(route, index)),
            Aligned::Same { desired, index, .. } => title(desired, index),
        };
        align(desired, observed).iter().map(sign).collect()
    }

    #[test]
    fn routes_that_come_before_others_change_no_others() {
        let found = signs(&routes(&["v1", "v2", "legacy", "v3", "rest"]), &routes(&["legacy", "rest"]));
        assert_eq!(found, ["+\"v1\"", "+\"v2\"", "\"legacy\"", "+\"v3\"", "\"rest\""]);
        let found = signs(&routes(&["legacy", "rest"]), &routes(&["v1", "legacy", "rest", "more"]));
        assert_eq!(found, ["-\"v1\"", "\"legacy\"", "\"rest\"", "-\"more\""]);
    }

    #[test]
    fn a_route_that_changes_its_place_goes_and_comes() {
        assert_eq!(
            signs(&routes(&["b", "a", "c"]), &routes(&["a", "b", "c"])),
            ["+\"b\"", "\"a\"", "-\"b\"", "\"c\""]
        );
    }

    #[test]
    fn a_route_without_a_name_is_known_by_what_it_matches() {
        let plain = |path: &str, subset: &str| json!({"match": [{"uri": {"prefix": path}}], "route": subset});
        let desired = [json!({"name": "v1"}), plain("/a", "v1"), json!({"route": "v1"})];
        let observed = [plain("/a", ""), json!({"route": ""})];
        assert_eq!(signs(&desired, &observed), ["+\"v1\"", "#2", "#3"]);
    }
}
