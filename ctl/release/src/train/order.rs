//! The order of promotion: a release before those that call it, because a new caller needs the new version of what it calls. A rollback goes in
//! reverse.

use super::TrainError;
use crate::spec::ReleaseName;
use std::collections::BTreeSet;

/// A release of a train, and who calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalledRelease {
    /// Its name.
    pub name: ReleaseName,
    /// Whether users reach it by a gateway.
    pub is_behind_gateway: bool,
    /// The releases whose pods call it.
    pub callers: BTreeSet<ReleaseName>,
}

/// The releases, each before its callers; where that leaves a choice those without a gateway first, then by name. A release that calls itself is no
/// caller.
///
/// # Errors
///
/// If releases call each other.
pub fn promotion_order(train: &str, members: &[CalledRelease]) -> Result<Vec<ReleaseName>, TrainError> {
    let mut left: Vec<&CalledRelease> = members.iter().collect();
    left.sort_by(|one, other| {
        (one.is_behind_gateway, &one.name).cmp(&(other.is_behind_gateway, &other.name))
    });
    let mut order = Vec::new();
    while !left.is_empty() {
        let free = left.iter().position(|member| !left.iter().any(|called| calls(member, called)));
        let Some(free) = free else {
            return Err(TrainError::Cycle { train: train.to_owned(), releases: cycle(left) });
        };
        order.push(left.remove(free).name.clone());
    }
    Ok(order)
}

fn calls(caller: &CalledRelease, other: &CalledRelease) -> bool {
    caller.name != other.name && other.callers.contains(&caller.name)
}

/// Those of them that call each other: without those that nobody among them calls, which only wait for the others.
fn cycle(mut left: Vec<&CalledRelease>) -> Vec<ReleaseName> {
    while let Some(outer) = left.iter().position(|member| !left.iter().any(|caller| calls(caller, member))) {
        left.remove(outer);
    }
    left.into_iter().map(|member| member.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `web` behind a gateway: `web!`; after `<` its callers.
    fn member(text: &str) -> CalledRelease {
        let (name, callers) = text.split_once('<').unwrap_or((text, ""));
        let named = |name: &str| format!("shop/{name}").parse().unwrap();
        CalledRelease {
            name: named(name.trim_end_matches('!')),
            is_behind_gateway: name.ends_with('!'),
            callers: callers.split_whitespace().map(named).collect(),
        }
    }

    fn order(members: &[&str]) -> Result<Vec<String>, TrainError> {
        let members: Vec<CalledRelease> = members.iter().map(|text| member(text)).collect();
        let names = |order: Vec<ReleaseName>| order.into_iter().map(|name| name.name.to_string()).collect();
        promotion_order("autumn", &members).map(names)
    }

    #[test]
    fn a_release_comes_before_its_callers_and_those_behind_gateways_come_last() {
        let rows: [(&[&str], &[&str]); 7] = [
            (&["web!", "api<web"], &["api", "web"]),
            (&["a!", "b<a", "c<b"], &["c", "b", "a"]),
            (&["a!", "b!<a", "c"], &["c", "b", "a"]),
            (&["a!", "z"], &["z", "a"]),
            (&["a<a b", "b<c", "c!"], &["a", "b", "c"]),
            (&["a", "b!<a"], &["b", "a"]),
            (&["b", "a"], &["a", "b"]),
        ];
        for (members, expected) in rows {
            let found = order(members).unwrap();
            assert_eq!(found, expected, "{members:?}");
            let turned: Vec<&str> = members.iter().rev().copied().collect();
            assert_eq!(order(&turned).unwrap(), found, "whatever order they are read in");
        }
    }

    #[test]
    fn releases_that_call_each_other_have_no_order_and_are_named_without_those_around_them() {
        let error = order(&["web!", "b<c web", "c<b", "d<c"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected an order of train `autumn` with each release before its callers, found releases that call each other: shop/b, shop/c"
        );
    }
}
