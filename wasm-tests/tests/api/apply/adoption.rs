//! Objects under our names that others have made, out of what `canary-ctl generate` prints, and then `canary-ctl apply`.

use crate::beside_an_api_server;
use canary_operations::{Error, WriteOptions};
use canary_release::plan;
use canary_release::spec::Release;
use mesh_lab::{Helm, Kubernetes};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wasm_tests::api::object_owner::{Chart, Owner};
use wasm_tests::api::release_fixture::{ReleaseFixture, apply, name, set_weight, uninstall};

fn forced() -> WriteOptions {
    WriteOptions { force_conflicts: true, ..WriteOptions::default() }
}

/// The objects that a repository may have for good: they change with nothing.
const STATIC: [&str; 2] = ["EnvoyFilter canary-gateway-filter", "EnvoyFilter canary-gateway-runtime"];
const CONFIGURATION: &str = "EnvoyFilter canary-gateway-config";

fn release(fixture: &ReleaseFixture<'_>) -> Release {
    ReleaseFixture::read(&fixture.document("shop").with("/spec/routes", "managed"))
}

/// Our objects but for record and keys, without what the API server has added.
async fn plain(fixture: &ReleaseFixture<'_>) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for mut object in fixture.objects().await {
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

/// The objects of a release, as `generate` would print them; writes nothing to the cluster.
async fn rendered(fixture: &ReleaseFixture<'_>, release: &Release) -> BTreeMap<String, Value> {
    let cluster = fixture.cluster().await;
    apply(&cluster, release).await.unwrap();
    let rendered = plain(fixture).await;
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

/// Whether our objects are as they would be without another owner, in every field and its owner.
async fn are_ours(fixture: &ReleaseFixture<'_>, rendered: &BTreeMap<String, Value>, owner: Owner) {
    let found = plain(fixture).await;
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
            // It contains the time of installation.
            expected["spec"]["configPatches"] = object["spec"]["configPatches"].clone();
        }
        assert_eq!(object, &expected, "{owner:?} {name}");
    }
    for object in fixture.objects().await {
        let name =
            format!("{} {}", object["kind"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap());
        let entries = object["metadata"]["managedFields"].as_array().unwrap();
        let managers: Vec<&str> = entries.iter().map(|entry| entry["manager"].as_str().unwrap()).collect();
        let is_theirs = STATIC.contains(&name.as_str()) && !matches!(owner, Owner::Helm(_));
        assert_eq!(managers, [if is_theirs { owner.manager() } else { "canary-ctl" }], "{owner:?} {name}");
    }
}

#[test]
fn an_object_of_another_owner_under_our_name_is_adopted_without_orphaned_fields() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "adopted").await;
        let (cluster, forced) = (fixture.cluster().await, fixture.cluster_that(forced()).await);
        let release = release(&fixture);
        let rendered = rendered(&fixture, &release).await;
        for owner in Owner::ALL {
            let chart = Chart::new(api, &fixture.namespace);
            chart.comes(owner, &embroidered(&rendered)).await.unwrap();
            let theirs = fixture.versions().await;
            let refused = apply(&cluster, &release).await;
            let Err(Error::Plan(plan::Error::Claimed { owner: named, .. })) = refused else {
                panic!("{owner:?}: {refused:?}")
            };
            assert_eq!(named, owner.manager(), "{owner:?}");
            assert_eq!(fixture.versions().await, theirs, "{owner:?}: before the first write");

            apply(&forced, &release).await.unwrap();
            assert!(cluster.plan(&release).await.unwrap().is_empty(), "{owner:?}");
            are_ours(&fixture, &rendered, owner).await;
            let stored = cluster.get_record(&name(&release)).await.unwrap();
            set_weight(&cluster, &name(&release), stored, "20").await.unwrap();
            if let Owner::Helm(_) = owner {
                let adopted = fixture.versions().await;
                chart.comes(owner, &[]).await.unwrap();
                assert_eq!(
                    fixture.versions().await,
                    adopted,
                    "{owner:?}: kept where the chart has left them out"
                );
                chart.goes(owner, &[]).await;
                assert_eq!(fixture.versions().await, adopted, "{owner:?}: and none of its business");
            }
            uninstall(&cluster, &release).await.unwrap();
            let mut left: Vec<String> = fixture.versions().await.into_keys().collect();
            if !matches!(owner, Owner::Helm(_)) {
                assert_eq!(left.drain(..2).collect::<Vec<_>>(), STATIC, "{owner:?}: theirs");
                delete_static(api, "adopted-ingress").await;
            }
            assert_eq!(left, ["Secret canary-ctl-keys", "Secret canary-ctl-record-keys"], "{owner:?}");
        }
    });
}

#[test]
fn a_later_write_of_the_former_owner_of_an_adopted_object_is_reported_and_corrected() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "reclaimed").await;
        let document = fixture.document("shop").with("/spec/routes", "managed");
        let (cluster, forced) = (fixture.cluster().await, fixture.cluster_that(forced()).await);
        let (file, release) = (ReleaseFixture::file_of(&document), ReleaseFixture::read(&document));
        let rendered = rendered(&fixture, &release).await;
        let chart = Chart::new(api, &fixture.namespace);
        chart.comes(Owner::Kubectl, &embroidered(&rendered)).await.unwrap();
        apply(&forced, &release).await.unwrap();
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        set_weight(&cluster, &name(&release), stored, "20").await.unwrap();

        // A file without a weight.
        chart.comes(Owner::Kubectl, &embroidered(&rendered)).await.unwrap();
        let status = fixture.run("admin", &file, &["status"]).await.stdout;
        let lost = "EnvoyFilter reclaimed-ingress/canary-gateway-config is not what was written: kubectl-client-side-apply has changed it";
        assert!(status.contains(lost), "{status}");
        let diff = fixture.run("admin", &file, &["diff"]).await;
        assert_eq!(diff.code, 1);
        let orphan =
            "spec.trafficPolicy.tls: {\"mode\":\"SIMPLE\"} -> nothing (by kubectl-client-side-apply)";
        assert!(diff.stdout.contains(orphan), "{}", diff.stdout);
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        let refused = set_weight(&cluster, &name(&release), stored, "10").await;
        assert!(matches!(refused, Err(Error::Conflict { .. })), "nobody is told of a weight that is nowhere");
        apply(&forced, &release).await.unwrap();
        are_ours(&fixture, &rendered, Owner::Kubectl).await;
        let status = fixture.run("admin", &file, &["status"]).await.stdout;
        assert!(!status.contains("is not what was written"), "{status}");
        uninstall(&cluster, &release).await.unwrap();

        deleted(api, &fixture, &release, &rendered).await;
    });
}

async fn delete_static(api: &Kubernetes, namespace: &str) {
    let names = STATIC.map(|object| object.strip_prefix("EnvoyFilter ").unwrap());
    api.kubectl(&["delete", "envoyfilter", names[0], names[1], "-n", namespace]).await.unwrap();
}

/// Uninstalling a chart that still contains the objects deletes them, whatever field manager owns them now.
async fn deleted(
    api: &Kubernetes,
    fixture: &ReleaseFixture<'_>,
    release: &Release,
    rendered: &BTreeMap<String, Value>,
) {
    delete_static(api, "reclaimed-ingress").await;
    let (cluster, file) = (fixture.cluster().await, fixture.file("shop"));
    let chart = Chart::new(api, &fixture.namespace);
    chart.comes(Owner::Helm(Helm::Three), &embroidered(rendered)).await.unwrap();
    apply(&fixture.cluster_that(forced()).await, release).await.unwrap();
    chart.goes(Owner::Helm(Helm::Three), &[]).await;
    let status = fixture.run("admin", &file, &["status"]).await.stdout;
    let gone = "problem: expected EnvoyFilter reclaimed-ingress/canary-gateway-config";
    assert!(status.contains(gone), "{status}");
    assert!(status.contains("found no such object"), "{status}");
    apply(&cluster, release).await.unwrap();
    assert_eq!(cluster.plan(release).await.unwrap().changes, []);
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn an_adoption_that_was_killed_is_continued() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "killed-adoption").await;
        let (cluster, release) = (fixture.cluster().await, release(&fixture));
        let rendered = rendered(&fixture, &release).await;
        let owner = Owner::ArgoCd;
        let chart = Chart::new(api, &fixture.namespace);
        for writes in [1, 4, 7] {
            chart.comes(owner, &embroidered(&rendered)).await.unwrap();
            fixture.interrupt(writes, forced(), async |process| apply(process, &release).await).await;
            apply(&fixture.cluster_that(forced()).await, &release).await.unwrap();
            assert!(cluster.plan(&release).await.unwrap().is_empty(), "killed after {writes} writes");
            are_ours(&fixture, &rendered, owner).await;
        }
    });
}
