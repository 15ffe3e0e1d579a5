//! What clients and foreign pods write into the carriers leads nowhere; what belongs to others keeps its bytes.

use super::hops::{Hops, TRAIN, ask, both, carried};
use crate::support::in_the_mesh;
use assignment::Identity;
use assignment::contract::{KeyUse, RingKey, Secret};
use assignment::seal::{KeyRing, Seal, baggage_keys};
use browser::{Kind, Response, User, Visit};
use mesh_lab::Lab;
use wasm_tests::scenario::now_seconds;

#[test]
fn nothing_forged_in_a_carrier_counts_and_the_members_of_others_keep_their_bytes() {
    in_the_mesh(async |lab| {
        let hops = Hops::set_up(lab, "forgery", "baggage").await;
        hops.apply(lab, ["0", "0"], 1).await;
        clients_reach_the_edge(&hops).await;
        baggage_crosses_the_edge(&hops).await;
        pods_reach_the_sidecar(lab, &hops).await;
    });
}

/// Every carrier, in every spelling that an application might take for one of them.
async fn clients_reach_the_edge(hops: &Hops) {
    let cohort = format!("{TRAIN}=canary;override");
    let baggage = format!("canary={}", signed_by_nobody());
    for (name, value) in [
        ("x-canary-cohort", cohort.as_str()),
        ("x_canary_cohort", &cohort),
        ("x-canary-version", &format!("{}/v2", hops.catalog.name())),
        ("x-canary-id", "0123456789abcdef"),
        ("baggage", &baggage),
    ] {
        let forged = |via: &str| ask(via).header(name, value);
        assert_eq!(hops.seen_by(&mut hops.env.user(), forged).await, both("v1"), "{name}");
        let response = hops.env.user().send(&forged("http")).await.unwrap();
        assert!(!response.text().contains(value), "{name} reached an application: {}", response.text());
    }
}

async fn baggage_crosses_the_edge(hops: &Hops) {
    let lines = ["tenant=a%20b;ttl=1 , canary=c1.forged", "canary =again;p", "last= x "];
    for via in ["http", "grpc"] {
        let visit = lines.iter().fold(hops.tester("v2", via), |visit, line| visit.header("baggage", line));
        let response = hops.env.user().send(&visit).await.unwrap();
        let at_the_shop = carried(&response, "/carried", "baggage");
        let [line] = at_the_shop.as_slice() else { panic!("expected one line, found {at_the_shop:?}") };
        let (others, ours) = line.split_once(",canary=").unwrap_or_else(|| panic!("ours is not in {line:?}"));
        assert_eq!(others, "tenant=a%20b;ttl=1 ,last= x");
        assert!(!ours.contains(','), "ours comes last: {line:?}");
        assert_eq!(carried(&response, "/catalog/carried", "baggage"), at_the_shop, "over {via}");
    }
}

/// As if the filter were missing at the edge: the request of a pod of the shop, with what a client has sent.
async fn pods_reach_the_sidecar(lab: &Lab, hops: &Hops) {
    let tester = hops.env.user().send(&hops.tester("v2", "http")).await.unwrap();
    let line = carried(&tester, "/carried", "baggage").concat();
    let genuine = line.strip_prefix("canary=").unwrap();
    let edited = edited(genuine);
    let cohort = format!("{TRAIN}=stable");
    for (what, expected, headers) in [
        ("genuine", "v2", vec![("baggage", format!("canary={genuine}"))]),
        ("edited", "v1", vec![("baggage", format!("canary={edited}"))]),
        ("signed by nobody", "v1", vec![("baggage", format!("canary={}", signed_by_nobody()))]),
        (
            "the header wins",
            "v1",
            vec![("baggage", format!("canary={genuine}")), ("x-canary-cohort", cohort)],
        ),
    ] {
        let response = from_a_pod(lab, hops, &headers).await;
        assert_eq!(response.header("x-catalog-version"), Some(expected), "{what}");
    }
}

/// What the catalog answers to a request that a pod of the shop sends.
async fn from_a_pod(lab: &Lab, hops: &Hops, headers: &[(&str, String)]) -> Response {
    let namespace = &hops.env.namespace;
    let catalog = lab.service(namespace, "catalog", 80).await.unwrap();
    let pod = lab.pods(namespace, "app=shop,version=v1").await.unwrap().concat();
    let visit =
        headers.iter().fold(Visit::new(Kind::Api, "/"), |visit, (name, value)| visit.header(name, value));
    let send = async || User::http1(catalog, "catalog").send(&visit).await;
    lab.in_pod(namespace, &pod, send).unwrap().unwrap()
}

/// A member for the canary, in the form of ours, under a key that no proxy has.
fn signed_by_nobody() -> String {
    let key = RingKey { id: "k1".to_owned(), key: Secret::new(vec![7; 32]), usage: KeyUse::Sign };
    let cohort = format!("{TRAIN}.canary");
    let somebody = Identity::from_random(0x0123_4567_89ab_cdef);
    let seal = Seal::baggage(cohort.as_bytes(), None, somebody, now_seconds());
    KeyRing::new(&baggage_keys(&[key])).unwrap().sign("", &seal).unwrap()
}

/// Another last character, which is part of what signs it.
fn edited(text: &str) -> String {
    let (rest, last) = text.split_at(text.len() - 2);
    format!("{rest}{}", if last.starts_with('A') { "BA" } else { "AA" })
}
