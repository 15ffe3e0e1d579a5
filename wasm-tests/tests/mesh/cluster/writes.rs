//! What each verb writes: everything once, then nothing; a weight two objects; an uninstall leaves the keys.

use super::desk::{Desk, apply, name, percent, uninstall};
use crate::support::in_the_mesh;
use std::collections::BTreeSet;

const KEYS: &str = "Secret canary-ctl-keys";

const ALL: [&str; 8] = [
    "ConfigMap shop-canary",
    "DestinationRule shop-canary",
    "EnvoyFilter canary-gateway-config",
    "EnvoyFilter canary-gateway-filter",
    "EnvoyFilter canary-gateway-runtime",
    KEYS,
    "VirtualService shop-canary",
    "VirtualService shop-canary-mesh",
];

#[test]
fn the_first_apply_makes_exactly_the_objects_and_the_second_writes_nothing() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "first-apply").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        let applied = apply(&cluster, &release).await.unwrap();
        assert_eq!(applied.plan.changes.len(), 6);
        let first = desk.versions().await;
        assert_eq!(first.keys().map(String::as_str).collect::<Vec<_>>(), ALL);
        for object in desk.objects().await {
            let entries = object["metadata"]["managedFields"].as_array().unwrap();
            let managers: BTreeSet<_> =
                entries.iter().map(|entry| entry["manager"].as_str().unwrap()).collect();
            assert_eq!(managers, BTreeSet::from(["canary-ctl"]), "{object}");
        }

        assert!(cluster.plan(&release).await.unwrap().is_empty());
        assert!(apply(&cluster, &release).await.unwrap().plan.is_empty());
        assert_eq!(desk.versions().await, first);
    });
}

#[test]
fn a_weight_writes_the_configuration_and_the_record_and_nothing_else() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "a-weight").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let before = desk.versions().await;
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        let weighed = cluster.set_weight(&name(&release), stored, percent("20")).await.unwrap();
        assert_eq!(weighed.stored.record.standing.generation, 2);
        let after = desk.versions().await;
        let written: Vec<_> = after.keys().filter(|object| after[*object] != before[*object]).collect();
        assert_eq!(written, [ALL[0], ALL[2]]);

        let again = apply(&cluster, &release).await.unwrap();
        assert!(again.plan.is_empty(), "the file's weight is for the beginning: {:?}", again.plan);
        assert_eq!(again.record.standing.weight, "20".parse().unwrap());
    });
}

#[test]
fn two_releases_of_one_gateway_come_and_go_without_each_other() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "two-releases").await;
        let (cluster, shop, blog) = (desk.cluster().await, desk.release("shop"), desk.release("blog"));
        apply(&cluster, &shop).await.unwrap();
        apply(&cluster, &blog).await.unwrap();
        assert!(cluster.plan(&shop).await.unwrap().is_empty());
        assert!(cluster.plan(&blog).await.unwrap().is_empty());
        uninstall(&cluster, &shop).await.unwrap();
        assert!(cluster.plan(&blog).await.unwrap().is_empty());
        uninstall(&cluster, &blog).await.unwrap();
        assert_eq!(desk.versions().await.into_keys().collect::<Vec<_>>(), [KEYS]);
    });
}

#[test]
fn the_keys_that_gateways_sign_with_outlive_their_secret() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "lost-keys").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        lab.kubectl(&["delete", "secret", "canary-ctl-keys", "-n", "lost-keys-ingress"]).await.unwrap();
        let before = desk.versions().await;
        apply(&cluster, &release).await.unwrap();
        let after = desk.versions().await;
        assert!(after.contains_key(KEYS));
        assert_eq!(after[ALL[2]], before[ALL[2]], "new keys would make every pin a forgery");
    });
}
