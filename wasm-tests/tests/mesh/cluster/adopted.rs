//! Objects under our names that others have made, out of what `canary-ctl generate` prints, and then `canary-ctl apply`.

use super::chart::{Chart, Owner};
use super::desk::{BRIEF, Desk, apply, name, percent, uninstall};
use crate::support::in_the_mesh;
use canary_ctl::cluster::{Error, WriteOptions};
use canary_ctl::plan;
use canary_ctl::spec::Release;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wasm_tests::lab::{Helm, Lab};

fn forced() -> WriteOptions {
    WriteOptions { force_conflicts: true, ..WriteOptions::default() }
}

/// The objects that a repository may have for good: they change with nothing.
const STATIC: [&str; 2] = ["EnvoyFilter canary-gateway-filter", "EnvoyFilter canary-gateway-runtime"];
const CONFIGURATION: &str = "EnvoyFilter canary-gateway-config";

fn release(desk: &Desk<'_>) -> Release {
    Desk::read(&desk.document("shop").with("/spec/routes", "own"))
}

/// Our objects but for record and keys, without what the API server has added.
async fn plain(desk: &Desk<'_>) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for mut object in desk.objects().await {
        let kind = object["kind"].as_str().unwrap().to_owned();
        if kind != "ConfigMap" && kind != "Secret" {
            let kept = ["name", "namespace", "labels", "annotations"];
            object["metadata"].as_object_mut().unwrap().retain(|field, _| kept.contains(&field.as_str()));
            object.as_object_mut().unwrap().remove("status");
            all.insert(format!("{kind} {}", object["metadata"]["name"].as_str().unwrap()), object);
        }
    }
    all
}

/// What a release comes to, as `generate` would print it, and nothing on the cluster.
async fn rendered(desk: &Desk<'_>, release: &Release) -> BTreeMap<String, Value> {
    let cluster = desk.cluster().await;
    apply(&cluster, release).await.unwrap();
    let rendered = plain(desk).await;
    uninstall(&cluster, release).await.unwrap();
    rendered
}

/// The objects with more in them than we would write.
fn embroidered(rendered: &BTreeMap<String, Value>) -> Vec<Value> {
    let more = |object: &Value| {
        let mut object = object.clone();
        object["metadata"]["labels"]["chart"] = json!("shop-1");
        match object["kind"].as_str().unwrap() {
            "DestinationRule" => object["spec"]["trafficPolicy"] = json!({"tls": {"mode": "SIMPLE"}}),
            "VirtualService" => object["spec"]["exportTo"] = json!(["."]),
            _ => object["spec"]["priority"] = json!(7),
        }
        object
    };
    rendered.values().map(more).collect()
}

/// Whether our objects are what they would have been without anybody's, in every field and its owner.
async fn are_ours(desk: &Desk<'_>, rendered: &BTreeMap<String, Value>, owner: Owner) {
    let found = plain(desk).await;
    assert_eq!(found.keys().collect::<Vec<_>>(), rendered.keys().collect::<Vec<_>>());
    for (name, object) in &found {
        let mut expected = rendered[name].clone();
        if let Owner::Helm(_) = owner {
            expected["metadata"]["annotations"] = json!({"helm.sh/resource-policy": "keep"});
        } else if STATIC.contains(&name.as_str()) {
            assert_eq!(object["metadata"]["labels"]["chart"], "shop-1", "{owner:?}: theirs");
            continue;
        }
        if name == CONFIGURATION {
            // It says when it was installed.
            expected["spec"]["configPatches"] = object["spec"]["configPatches"].clone();
        }
        assert_eq!(object, &expected, "{owner:?} {name}");
    }
    for object in desk.objects().await {
        let name =
            format!("{} {}", object["kind"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap());
        let entries = object["metadata"]["managedFields"].as_array().unwrap();
        let managers: Vec<&str> = entries.iter().map(|entry| entry["manager"].as_str().unwrap()).collect();
        let is_theirs = STATIC.contains(&name.as_str()) && !matches!(owner, Owner::Helm(_));
        assert_eq!(managers, [if is_theirs { owner.manager() } else { "canary-ctl" }], "{owner:?} {name}");
    }
}

#[test]
fn an_object_of_others_under_our_name_is_adopted_without_orphaned_fields_whoever_made_it() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "adopted").await;
        let (cluster, forced) = (desk.cluster().await, desk.cluster_that(forced()).await);
        let release = release(&desk);
        let rendered = rendered(&desk, &release).await;
        for owner in Owner::ALL {
            let chart = Chart::new(lab, &desk.namespace);
            chart.comes(owner, &embroidered(&rendered)).await.unwrap();
            let theirs = desk.versions().await;
            let refused = apply(&cluster, &release).await;
            let Err(Error::Plan(plan::Error::Claimed { owner: named, .. })) = refused else {
                panic!("{owner:?}: {refused:?}")
            };
            assert_eq!(named, owner.manager(), "{owner:?}");
            assert_eq!(desk.versions().await, theirs, "{owner:?}: before the first write");

            apply(&forced, &release).await.unwrap();
            assert!(cluster.plan(&release).await.unwrap().is_empty(), "{owner:?}");
            are_ours(&desk, &rendered, owner).await;
            let stored = cluster.get_record(&name(&release)).await.unwrap();
            cluster.set_weight(&name(&release), stored, percent("20")).await.unwrap();
            if let Owner::Helm(_) = owner {
                let adopted = desk.versions().await;
                chart.comes(owner, &[]).await.unwrap();
                assert_eq!(
                    desk.versions().await,
                    adopted,
                    "{owner:?}: kept where the chart has left them out"
                );
                chart.goes(owner, &[]).await;
                assert_eq!(desk.versions().await, adopted, "{owner:?}: and none of its business");
            }
            uninstall(&cluster, &release).await.unwrap();
            let mut left: Vec<String> = desk.versions().await.into_keys().collect();
            if !matches!(owner, Owner::Helm(_)) {
                assert_eq!(left.drain(..2).collect::<Vec<_>>(), STATIC, "{owner:?}: theirs");
                delete_static(lab, "adopted-ingress").await;
            }
            assert_eq!(left, ["Secret canary-ctl-keys"], "{owner:?}");
        }
    });
}

#[test]
fn what_its_former_owner_does_with_an_adopted_object_is_reported_and_mended() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "reclaimed").await;
        let document = desk.document("shop").with("/spec/routes", "own");
        let (cluster, forced) = (desk.cluster().await, desk.cluster_that(forced()).await);
        let (file, release) = (Desk::file_of(&document), Desk::read(&document));
        let rendered = rendered(&desk, &release).await;
        let chart = Chart::new(lab, &desk.namespace);
        chart.comes(Owner::Kubectl, &embroidered(&rendered)).await.unwrap();
        apply(&forced, &release).await.unwrap();
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        cluster.set_weight(&name(&release), stored, percent("20")).await.unwrap();

        // A file that knows no weight.
        chart.comes(Owner::Kubectl, &embroidered(&rendered)).await.unwrap();
        let status = desk.run("admin", &file, &["status"]).await.stdout;
        let lost = "EnvoyFilter reclaimed-ingress/canary-gateway-config is not what was written: kubectl-client-side-apply has changed it";
        assert!(status.contains(lost), "{status}");
        let diff = desk.run("admin", &file, &["diff"]).await;
        assert_eq!(diff.code, 1);
        let orphan =
            "spec.trafficPolicy.tls: {\"mode\":\"SIMPLE\"} -> nothing (by kubectl-client-side-apply)";
        assert!(diff.stdout.contains(orphan), "{}", diff.stdout);
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        let refused = cluster.set_weight(&name(&release), stored, percent("10")).await;
        assert!(matches!(refused, Err(Error::Conflict { .. })), "nobody is told of a weight that is nowhere");
        apply(&forced, &release).await.unwrap();
        are_ours(&desk, &rendered, Owner::Kubectl).await;
        let status = desk.run("admin", &file, &["status"]).await.stdout;
        assert!(!status.contains("is not what was written"), "{status}");
        uninstall(&cluster, &release).await.unwrap();

        deleted(lab, &desk, &release, &rendered).await;
    });
}

async fn delete_static(lab: &Lab, namespace: &str) {
    let names = STATIC.map(|object| object.strip_prefix("EnvoyFilter ").unwrap());
    lab.kubectl(&["delete", "envoyfilter", names[0], names[1], "-n", namespace]).await.unwrap();
}

/// A chart that goes with the objects in it takes them along, whoever owns them now.
async fn deleted(lab: &Lab, desk: &Desk<'_>, release: &Release, rendered: &BTreeMap<String, Value>) {
    delete_static(lab, "reclaimed-ingress").await;
    let (cluster, file) = (desk.cluster().await, desk.file("shop"));
    let chart = Chart::new(lab, &desk.namespace);
    chart.comes(Owner::Helm(Helm::Three), &embroidered(rendered)).await.unwrap();
    apply(&desk.cluster_that(forced()).await, release).await.unwrap();
    chart.goes(Owner::Helm(Helm::Three), &[]).await;
    let status = desk.run("admin", &file, &["status"]).await.stdout;
    assert!(status.contains("problem: expected release `reclaimed/shop` in"), "{status}");
    assert!(status.contains("found no such object"), "{status}");
    apply(&cluster, release).await.unwrap();
    assert!(cluster.plan(release).await.unwrap().is_empty());
}

#[test]
fn an_adoption_that_was_killed_after_any_write_is_continued() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "killed-adoption").await;
        let (cluster, release) = (desk.cluster().await, release(&desk));
        let rendered = rendered(&desk, &release).await;
        let owner = Owner::ArgoCd;
        let (chart, mut killed) = (Chart::new(lab, &desk.namespace), 0);
        for writes in 0.. {
            chart.comes(owner, &embroidered(&rendered)).await.unwrap();
            let stopping = WriteOptions { at_most: Some(writes), patience: BRIEF, ..forced() };
            let done = apply(&desk.cluster_that(stopping).await, &release).await;
            apply(&desk.cluster_that(forced()).await, &release).await.unwrap();
            assert!(cluster.plan(&release).await.unwrap().is_empty(), "killed after {writes} writes");
            are_ours(&desk, &rendered, owner).await;
            let Err(Error::Stopped { .. }) = done else {
                done.unwrap();
                break;
            };
            killed += 1;
        }
        assert_eq!(killed, 12, "two for each object but the static ones, and the first time record and keys");
    });
}
