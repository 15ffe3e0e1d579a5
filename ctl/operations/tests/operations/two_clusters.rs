//! Two clusters with the same keys and the same record, as the recipe of `docs/reference/several-clusters.md` makes them.

use assignment::Identity;
use assignment::seal::{KeyRing, Kind, Seal};
use canary_operations::{Cluster, Error, RotateOptions, WaitOptions};
use canary_release::delivery::deployed_config;
use canary_release::preflight::{CheckFailed, PreflightCheck};
use canary_release::spec::Release;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{INGRESS, SHOP, apply, release, rotate, run, shop};
use serde_json::Value;
use std::time::Duration;

/// The uid that the release has in both.
const UID: &str = "shopshopshop";

/// What `kubectl get` prints of an object, without what the recipe takes out of it.
fn printed(api: &FakeApi, kind: &str, name: &str) -> Value {
    let mut object = api.state().store.find(kind, name).unwrap().clone();
    for field in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
        object["metadata"].as_object_mut().unwrap().remove(field);
    }
    // Part of the path alone, here.
    let namespace = if kind == "Secret" { INGRESS } else { SHOP };
    object["metadata"]["namespace"] = namespace.into();
    object
}

/// `copy … replace` of the recipe.
fn replace(from: &FakeApi, to: &FakeApi, kind: &str, name: &str) {
    let copy = printed(from, kind, name);
    to.state().store.edit_as("kubectl-replace", kind, name, |object| {
        for field in ["data", "type"] {
            object[field] = copy[field].clone();
        }
        for field in ["labels", "annotations"] {
            object["metadata"][field] = copy["metadata"][field].clone();
        }
    });
}

/// The ring with which the gateways of a cluster sign and verify.
fn ring(api: &FakeApi) -> KeyRing {
    let state = api.state();
    let configs = state.store.of_kind("EnvoyFilter").filter_map(|object| deployed_config(object).unwrap());
    KeyRing::new(&configs.into_iter().next().unwrap().keys).unwrap()
}

/// Whether the gateways of a cluster read what those of another sign: pins, and the tokens of testers.
fn reads(reader: &FakeApi, signer: &FakeApi) -> bool {
    let user = Identity::from_random(7);
    let token = Seal { kind: Kind::Token, expires: Some(2_000_000_000), ..Seal::pin(b"v2", 1, user, 1_000) };
    let read = |seal: Seal<'_>| {
        let text = ring(signer).sign(UID, &seal).unwrap();
        ring(reader).verify(seal.kind, UID, text.as_bytes()).is_some()
    };
    let [pins, tokens] = [read(Seal::pin(b"v2", 1, user, 1_000)), read(token)];
    assert_eq!(pins, tokens, "both are signed with the same key");
    pins
}

async fn retire(cluster: &Cluster, release: &Release) -> Result<(), Error> {
    let waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} };
    let options = RotateOptions { waiting, skipped: &[] };
    Box::pin(cluster.retire_keys(release, options)).await.map(drop)
}

#[test]
fn keys_that_rotate_by_the_recipe_are_those_of_both_clusters_and_none_retires_early() {
    run(async {
        let (first, second, release) = (shop(), shop(), release(&Value::Null));
        let (in_first, in_second) = (first.cluster().await, second.cluster().await);
        apply(&in_first, &release).await.unwrap();
        for (kind, name) in [("Secret", "canary-ctl-keys"), ("ConfigMap", "shop-canary")] {
            second.state().create(&printed(&first, kind, name));
        }
        let refused = apply(&in_second, &release).await.unwrap_err();
        assert!(matches!(refused, Error::Untrusted { .. }), "the record of another cluster: {refused:?}");
        let accepted = in_second.accept_record(&release).await.unwrap();
        in_second.rebuild_record(&release.name, accepted).await.unwrap();
        apply(&in_second, &release).await.unwrap();
        assert!(reads(&second, &first) && reads(&first, &second), "after the copy of the keys");

        rotate(&in_first, &release).await.unwrap();
        assert!(reads(&first, &second), "what the key before signs is read in the first");
        assert!(!reads(&second, &first), "the second does not have the new key yet");
        replace(&first, &second, "Secret", "canary-ctl-keys");
        apply(&in_second, &release).await.unwrap();
        assert!(reads(&second, &first) && reads(&first, &second), "after the copy of the new keys");

        for cluster in [&in_first, &in_second] {
            let refused = retire(cluster, &release).await;
            let Err(Error::Preflight(CheckFailed { check, .. })) = refused else { panic!("{refused:?}") };
            assert_eq!(check, PreflightCheck::MovesUsers, "what the key before has signed counts in both");
        }
    });
}
