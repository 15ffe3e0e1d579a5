//! For generated sets of routes: a request with the header of a version gets the version's Service exactly where the owners' routes lead
//! to the Service, and the owners' answer everywhere else.

use super::generator::{NOW, gateways, request, routes};
use super::kit::{HEADERS, VERSIONS, created, grant, siblings};
use super::model::{Reading, Request, answer, for_version, leads_to_shop};
use canary_release::routing::SiblingRefusal;
use fastrand::Rng;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const SETS: u64 = 10_000;
const REQUESTS: usize = 6;

/// What was generated, so that the test is known to have tested something.
#[derive(Debug, Default)]
struct Counts {
    /// Sets with siblings, and those of which no rule leads to the Service.
    accepted: usize,
    without: usize,
    refused: BTreeMap<&'static str, usize>,
    /// Requests with a header, by whether the owners' routes lead to the Service.
    to_versions: usize,
    elsewhere: usize,
}

#[test]
fn a_header_changes_the_answer_exactly_where_the_owners_routes_lead_to_the_service() {
    let mut counts = Counts::default();
    for seed in 0..SETS {
        let mut random = Rng::with_seed(seed);
        let owners = routes(&mut random);
        check(&mut random, &owners, &[], &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.accepted > 3_000 && counts.without > 100, "{counts:?}");
    assert!(counts.to_versions > 10_000 && counts.elsewhere > 30_000, "{counts:?}");
    for kind in ["several", "regex", "takes", "unspecified"] {
        assert!(counts.refused.get(kind).is_some_and(|count| *count > 20), "{kind}: {counts:?}");
    }
}

#[test]
fn the_same_holds_when_owners_replace_their_routes_after_ours() {
    let mut counts = Counts::default();
    for seed in 0..SETS / 5 {
        let mut random = Rng::with_seed(seed);
        let owners = routes(&mut random);
        let Ok(ours) = siblings(&owners, &gateways(), &grants()) else { continue };
        let ours: Vec<Value> = ours.into_iter().map(|one| created(one, NOW)).collect();
        let mut all = owners.clone();
        all.extend(ours.clone());
        assert_eq!(
            siblings(&all, &gateways(), &grants()).map(|again| dated(again, NOW)),
            Ok(ours.clone()),
            "{seed}"
        );
        let replaced: Vec<Value> = owners
            .into_iter()
            .map(|one| if random.bool() { created(one, "2026-07-01T00:00:00Z") } else { one })
            .collect();
        check(&mut random, &replaced, &ours, &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.accepted > 500 && counts.refused.contains_key("takes"), "{counts:?}");
}

fn grants() -> Vec<Value> {
    vec![grant(&json!({"group": "", "kind": "Service"}))]
}

fn dated(routes: Vec<Value>, at: &str) -> Vec<Value> {
    routes.into_iter().map(|one| created(one, at)).collect()
}

/// Derives our routes beside these, where some of ours may exist, and compares the answers.
fn check(random: &mut Rng, owners: &[Value], existing: &[Value], counts: &mut Counts) {
    let gateways = gateways();
    let mut all = owners.to_vec();
    all.extend(existing.iter().cloned());
    let ours = match siblings(&all, &gateways, &grants()) {
        Ok(ours) => ours,
        Err(refusals) => {
            let kinds: BTreeSet<&str> = refusals.iter().map(kind).collect();
            for kind in kinds {
                *counts.refused.entry(kind).or_default() += 1;
            }
            return;
        }
    };
    *if ours.is_empty() { &mut counts.without } else { &mut counts.accepted } += 1;
    let ours = dated(ours, NOW);
    let before: Vec<&Value> = owners.iter().collect();
    let after: Vec<&Value> = owners.iter().chain(&ours).collect();
    for _ in 0..REQUESTS {
        let (plain, reading) = (request(random, owners), Reading::any(random));
        let expected = answer(&before, &gateways, &plain, reading);
        let same = answer(&after, &gateways, &plain, reading);
        assert_eq!(same, expected, "without the header: {plain:?} {reading:?}\n{after:#?}");
        for (header, version) in HEADERS.iter().zip(VERSIONS) {
            let request = with_header(&plain, header);
            let found = answer(&after, &gateways, &request, reading);
            let wanted = for_version(expected.clone(), version.service);
            assert_eq!(found, wanted, "{request:?} {reading:?}\n{}", json!(after));
            let leads = expected.as_ref().is_some_and(leads_to_shop);
            *if leads { &mut counts.to_versions } else { &mut counts.elsewhere } += 1;
        }
        let forged = with_header(&plain, "v2");
        assert_eq!(answer(&after, &gateways, &forged, reading), expected, "a guessed value");
    }
}

fn with_header(request: &Request, value: &str) -> Request {
    let mut request = request.clone();
    request.headers.push(("x-canary-version".to_owned(), value.to_owned()));
    request
}

fn kind(refusal: &SiblingRefusal) -> &'static str {
    match refusal {
        SiblingRefusal::SeveralBackends { .. } => "several",
        SiblingRefusal::RegexPath { .. } => "regex",
        SiblingRefusal::TakesRequests { .. } => "takes",
        SiblingRefusal::UnspecifiedOrder { .. } => "unspecified",
        other => panic!("{other}"),
    }
}
