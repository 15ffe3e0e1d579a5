//! A promotion, a rollback or the end of a drain that is killed between two writes: every route leads to a subset, and the
//! next call continues. A sample; the tests of `canary-operations` kill each operation after each write.

use crate::beside_an_api_server;
use canary_operations::WriteOptions;
use serde_json::Value;
use std::collections::BTreeSet;
use wasm_tests::api::release_fixture::{ReleaseFixture, Verb, apply, name, turn, uninstall};

#[test]
fn a_promotion_that_was_killed_is_continued() {
    // Of Lease, record, two routes, configuration, Lease.
    killed_after("killed-promote", &[], Verb::Promote, &[2, 4]);
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_rollback_of_a_canary_that_was_killed_is_continued() {
    // Of record, configuration, two routes, the subset that no route needs any more, record.
    killed_after("killed-rollback", &[], Verb::RollBack, &[1, 4]);
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_rollback_of_a_promotion_that_was_killed_is_continued() {
    killed_after("killed-way-back", &[Verb::Promote], Verb::RollBack, &[1, 3]);
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn the_end_of_a_drain_that_was_killed_is_continued() {
    killed_after("killed-finish", &[Verb::Promote], Verb::Finish, &[2, 5]);
}

/// Kills a verb after so many of its writes; `before` are the verbs that lead to where it begins.
fn killed_after(namespace: &str, before: &[Verb], verb: Verb, points: &[u32]) {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, namespace).await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        for writes in points.iter().copied() {
            apply(&cluster, &release).await.unwrap();
            for verb in before {
                turn(&cluster, &release, *verb).await.unwrap();
            }
            let begun = cluster.get_record(&name(&release)).await.unwrap().record.state.generation;
            fixture
                .interrupt(writes, WriteOptions::default(), async |process| {
                    turn(process, &release, verb).await
                })
                .await;
            every_route_leads_to_a_subset(&fixture, writes).await;
            let record = turn(&cluster, &release, verb).await.unwrap().stored.record;
            every_route_leads_to_a_subset(&fixture, writes).await;
            assert_eq!(
                record.state.generation,
                begun + 1,
                "continued, not done again, after {writes} writes"
            );
            let left = cluster.unfinished(&name(&release), &record).await.unwrap();
            assert!(left.is_empty() && record.leaving.is_empty(), "killed after {writes} writes: {left:?}");
            uninstall(&cluster, &release).await.unwrap();
        }
    });
}

/// No route names a subset that is not there, no filter a version without a route, and the record is never behind.
async fn every_route_leads_to_a_subset(fixture: &ReleaseFixture<'_>, writes: u32) {
    let objects = fixture.objects().await;
    let release = fixture.release("shop").name;
    let generation = fixture.cluster().await.get_record(&release).await.unwrap().record.state.generation;
    let of_kind =
        |kind: &str| objects.iter().filter(move |object| object["kind"] == kind).collect::<Vec<_>>();
    let subsets: BTreeSet<&str> =
        of_kind("DestinationRule").iter().flat_map(|rule| names(&rule["spec"]["subsets"])).collect();
    for service in of_kind("VirtualService") {
        let routes = service["spec"]["http"].as_array().unwrap();
        for route in routes {
            let subset = route["route"][0]["destination"]["subset"].as_str().unwrap();
            assert!(subsets.contains(subset), "after {writes} writes {route} leads nowhere: {subsets:?}");
        }
        let known: BTreeSet<&str> = names(&service["spec"]["http"]).collect();
        for object in of_kind("EnvoyFilter") {
            let Some(config) = canary_release::delivery::deployed_config(object).unwrap() else {
                continue;
            };
            let held = &config.releases[&release.to_string()];
            assert!(held.generation <= generation, "after {writes} writes the record is behind");
            for version in &held.versions {
                let route = format!("{release}/{}", version.name);
                assert!(known.contains(route.as_str()), "after {writes} writes no route {route}: {known:?}");
            }
        }
    }
}

fn names(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(|item| item["name"].as_str())
}
