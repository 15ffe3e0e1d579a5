//! A promotion, a rollback or the end of a drain that is killed between any two writes: what is there serves, and the next
//! call continues.

use super::desk::{BRIEF, Desk, Verb, apply, name, turn, uninstall};
use crate::support::in_the_mesh;
use canary_ctl::cluster::{Error, WriteOptions};
use serde_json::Value;
use std::collections::BTreeSet;

/// More writes than any verb makes.
const ENOUGH: u32 = 20;

#[test]
fn a_promotion_that_was_killed_after_any_write_is_continued() {
    killed_everywhere("killed-promote", &[], Verb::Promote, 6); // Lease, record, two routes, configuration, Lease
}

#[test]
fn a_rollback_of_a_canary_that_was_killed_after_any_write_is_continued() {
    // Record, configuration, then two routes and the subset that nobody needs any more, record.
    killed_everywhere("killed-rollback", &[], Verb::RollBack, 6);
}

#[test]
fn a_rollback_of_a_promotion_that_was_killed_after_any_write_is_continued() {
    killed_everywhere("killed-way-back", &[Verb::Promote], Verb::RollBack, 4);
}

#[test]
fn the_end_of_a_drain_that_was_killed_after_any_write_is_continued() {
    // As a rollback, between taking the Lease and giving it back.
    killed_everywhere("killed-finish", &[Verb::Promote], Verb::Finish, 8);
}

/// Kills a verb after each of its writes; `before` are the verbs that lead to where it begins.
fn killed_everywhere(namespace: &str, before: &[Verb], verb: Verb, expected: usize) {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, namespace).await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        let mut points = 0;
        for writes in 0..ENOUGH {
            apply(&cluster, &release).await.unwrap();
            for verb in before {
                turn(&cluster, &release, *verb).await.unwrap();
            }
            let begun = cluster.get_record(&name(&release)).await.unwrap().record.standing.generation;
            let stopping = desk
                .cluster_that(WriteOptions {
                    at_most: Some(writes),
                    patience: BRIEF,
                    ..WriteOptions::default()
                })
                .await;
            match turn(&stopping, &release, verb).await {
                Err(Error::Stopped { .. }) => points += 1,
                done => {
                    done.unwrap();
                    break;
                }
            }
            every_route_leads_to_a_subset(&desk, writes).await;
            let record = turn(&cluster, &release, verb).await.unwrap().stored.record;
            every_route_leads_to_a_subset(&desk, writes).await;
            assert_eq!(
                record.standing.generation,
                begun + 1,
                "continued, not done again, after {writes} writes"
            );
            let left = cluster.unfinished(&name(&release), &record).await.unwrap();
            assert!(left.is_empty() && record.leaving.is_empty(), "killed after {writes} writes: {left:?}");
            uninstall(&cluster, &release).await.unwrap();
        }
        assert_eq!(points, expected, "a kill at each write");
    });
}

/// No route names a subset that is not there, no filter a version without a route, and the record is never behind.
async fn every_route_leads_to_a_subset(desk: &Desk<'_>, writes: u32) {
    let objects = desk.objects().await;
    let release = desk.release("shop").name;
    let generation = desk.cluster().await.get_record(&release).await.unwrap().record.standing.generation;
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
            let Some(config) = canary_ctl::manifest::held_configuration(object).unwrap() else { continue };
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
