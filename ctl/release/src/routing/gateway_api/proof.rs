//! Whether requests with our header get the version's answer exactly where they would get the Service's without our routes.
//!
//! Pairs of matches are enough, since both orders – of the owners' matches, and of all with ours – are total. Where routes of both kinds
//! have a hostname in common, it is known of two matches only whether their paths decide: then all with these paths lie alike.
//!
//! - a sibling precedes its own match, which has a header less;
//! - to a match that leads elsewhere and can match the same request, a sibling lies as its own match does;
//! - two siblings of a version that can match the same request lie as their own matches do, unless they answer alike.
//!
//! So the first of the matches of a request keeps its place among the others, or gives it to its sibling. A request without the header
//! matches no sibling.

use super::gateway_route::{GatewayRoute, RouteMatch};
use super::overlap::overlap;
use super::precedence::Rank;
use super::refusal::{RulePlace, SiblingRefusal};
use super::siblings::{OwnerRoute, Repeated, SiblingRoute};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// A match of a rule, with what its order depends on.
struct Ranked<'r> {
    rank: Rank<'r>,
    matched: &'r RouteMatch,
}

/// A sibling and its own match.
struct Pair<'r> {
    owner: &'r OwnerRoute<'r>,
    repeated: Repeated,
    /// The position of the match in its rule.
    position: usize,
    own: Ranked<'r>,
    sibling: Ranked<'r>,
    /// The sibling's rule.
    rule: &'r Value,
}

/// The pairs of rules for which it is not so. `routes` say since when objects of ours exist.
pub(super) fn prove(
    owners: &[OwnerRoute<'_>],
    siblings: &[SiblingRoute],
    routes: &[Value],
) -> BTreeSet<SiblingRefusal> {
    let mut ours = Vec::new();
    for sibling in siblings {
        match GatewayRoute::read(&sibling.object) {
            Ok(route) => ours.push((GatewayRoute { created: sibling.created(routes), ..route }, sibling)),
            Err(refusal) => return BTreeSet::from([*refusal]),
        }
    }
    let pairs: Vec<Pair<'_>> =
        ours.iter().flat_map(|(route, sibling)| pairs_of(owners, route, &sibling.repeats)).collect();
    let mut refusals = BTreeSet::new();
    for (index, pair) in pairs.iter().enumerate() {
        for (position, owner) in owners.iter().enumerate().filter(|(_, owner)| compete(pair.owner, owner)) {
            refusals.extend(against_owner(pair, position, owner));
        }
        let others = pairs.iter().skip(index + 1);
        refusals.extend(others.filter_map(|other| against_sibling(pair, other)));
    }
    refusals
}

fn pairs_of<'r>(
    owners: &'r [OwnerRoute<'r>],
    route: &'r GatewayRoute<'r>,
    repeats: &'r [Repeated],
) -> impl Iterator<Item = Pair<'r>> {
    let rules = route.rules.iter().zip(repeats).enumerate();
    rules.flat_map(move |(index, (rule, repeated))| {
        let owner = owners.get(repeated.owner);
        let own_rule = owner.and_then(|owner| owner.route.rules.get(repeated.rule));
        let own_matches = own_rule.map(|rule| rule.matches.as_slice()).unwrap_or_default();
        rule.matches.iter().zip(own_matches).enumerate().filter_map(move |(position, (matched, own))| {
            let owner = owner?;
            let rank = Rank::new(&owner.route, (repeated.rule, position), own);
            Some(Pair {
                owner,
                repeated: *repeated,
                position,
                own: Ranked { rank, matched: own },
                sibling: Ranked { rank: Rank::new(route, (index, position), matched), matched },
                rule: rule.body,
            })
        })
    })
}

/// Whether some request can reach both: on a listener, by equal hostnames.
fn compete(one: &OwnerRoute<'_>, other: &OwnerRoute<'_>) -> bool {
    !one.attachments.is_disjoint(&other.attachments)
}

/// The faults between a sibling and the matches of a route that lead elsewhere, and its own match.
fn against_owner(pair: &Pair<'_>, position: usize, owner: &OwnerRoute<'_>) -> Vec<SiblingRefusal> {
    let mut found = Vec::new();
    for (index, rule) in owner.route.rules.iter().enumerate() {
        let is_own_rule = (position, index) == (pair.repeated.owner, pair.repeated.rule);
        for (at, matched) in rule.matches.iter().enumerate() {
            let is_own = is_own_rule && at == pair.position;
            // A match of another rule that leads to the Service has a sibling, which precedes it.
            let is_answered = owner.leading.contains_key(&index) && !is_own;
            if is_answered || !overlap(pair.sibling.matched, matched) {
                continue;
            }
            let rank = Rank::new(&owner.route, (index, at), matched);
            let wanted = if is_own { Some(Ordering::Less) } else { pair.own.rank.compare(&rank) };
            let other = || owner.route.place(index);
            found.extend(refusal(wanted, pair.sibling.rank.compare(&rank), pair, other));
        }
    }
    found
}

/// The fault between two siblings.
fn against_sibling(pair: &Pair<'_>, other: &Pair<'_>) -> Option<SiblingRefusal> {
    let is_decided = pair.repeated.version != other.repeated.version
        || !compete(pair.owner, other.owner)
        || answer_alike(pair.rule, other.rule)
        || !overlap(pair.own.matched, other.own.matched);
    if is_decided {
        return None;
    }
    let wanted = pair.own.rank.compare(&other.own.rank);
    refusal(wanted, pair.sibling.rank.compare(&other.sibling.rank), pair, || other.place())
}

/// Whether two rules differ in their matches alone.
fn answer_alike(one: &Value, other: &Value) -> bool {
    let answer = |rule: &Value| {
        let fields = rule.as_object().into_iter().flatten();
        fields.filter(|(field, _)| *field != "matches").map(|(_, value)| value.clone()).collect::<Vec<_>>()
    };
    one == other || answer(one) == answer(other)
}

fn refusal(
    wanted: Option<Ordering>,
    found: Option<Ordering>,
    pair: &Pair<'_>,
    other: impl Fn() -> RulePlace,
) -> Option<SiblingRefusal> {
    let place = pair.place();
    match (wanted, found) {
        (Some(wanted), Some(found)) if wanted == found => None,
        (Some(_), Some(Ordering::Less)) => Some(SiblingRefusal::TakesRequests { place, other: other() }),
        (Some(_), Some(_)) => Some(SiblingRefusal::TakesRequests { place: other(), other: place }),
        (None, _) | (_, None) => Some(SiblingRefusal::UnspecifiedOrder { place, other: other() }),
    }
}

impl Pair<'_> {
    fn place(&self) -> RulePlace {
        self.owner.route.place(self.repeated.rule)
    }
}
