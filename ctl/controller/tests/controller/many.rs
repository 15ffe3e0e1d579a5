//! Many objects that are deleted at once, behind one gateway.

use crate::object::{Fixture, object};
use canary_controller::{Grant, Removal, carried_out, remove_all};
use canary_operations::Cluster;
use canary_release::spec::ReleaseName;
use fake_api_server::fixture::{create_service, options, run};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

async fn create(fixture: &Fixture, cluster: &Cluster, count: usize) -> Vec<String> {
    let reconciler = fixture.reconciler(cluster, "replica");
    let grant = json!({"metadata": {"name": "all", "namespace": "ingress"},
        "spec": {"from": ["shop"], "hosts": ["*.example.com"], "modules": ["oci://registry.test/"]}});
    let grants = [Grant::of(&grant).unwrap()];
    let names: Vec<String> = (0..count).map(|number| format!("shop-{number}")).collect();
    let (reconciler, grants) = (&reconciler, &grants);
    let create = async |name: &String| {
        create_service(&fixture.api, name);
        let changes =
            json!({"hosts": [format!("{name}.example.com")], "service": {"name": name, "port": 80}});
        let mut object = object(&changes);
        object["metadata"]["name"] = json!(name);
        fixture.api.state().create(&object);
        for _ in 0..3 {
            let object = fixture.api.state().store.find("Release", name).unwrap().clone();
            Box::pin(reconciler.reconcile(&object, grants, fixture.now)).await.unwrap();
        }
    };
    stream::iter(&names).for_each_concurrent(16, create).await;
    names
}

/// Removes all at once: how many are uninstalled, and how many wait.
async fn remove(cluster: &Cluster, count: usize) -> (usize, usize) {
    let left = carried_out(cluster, &[]).await.unwrap();
    assert_eq!(left.len(), count);
    let (uninstalled, waiting) = (RefCell::new(0), RefCell::new(0));
    let removed = |name: &ReleaseName, removal: Result<Removal, canary_operations::Error>| match removal {
        Ok(Removal::Uninstalled) => *uninstalled.borrow_mut() += 1,
        Ok(Removal::Waits(_)) => *waiting.borrow_mut() += 1,
        other => panic!("{name}: {other:?}"),
    };
    Box::pin(remove_all(cluster, &left, async |_| true, removed)).await;
    (uninstalled.into_inner(), waiting.into_inner())
}

/// The longest time is for an API server in memory, whose proxies respond at once.
#[test]
fn many_deleted_objects_end_as_one_does_in_a_minute_and_nothing_is_scaled_or_blocked() {
    let (count, at_most) = (20, Duration::from_mins(1));
    run(async {
        let fixture = Fixture::new(&json!({}));
        fixture.api.state().store.remove("Release", "shop");
        let cluster = fixture.api.cluster_with(options()).await;
        let names = create(&fixture, &cluster, count).await;
        let records = cluster.releases(&[]).await.unwrap();
        let with_canary = |records: &[canary_operations::FoundRelease]| {
            let has = |record: &canary_release::record::Record| record.state.versions.len() > 1;
            records.iter().filter(|(_, record)| record.as_ref().is_ok_and(has)).count()
        };
        assert_eq!(with_canary(&records), count, "each has a canary with users");

        let writes = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&writes);
        fixture.api.before_write(move |state, line| {
            let finalizer =
                state.store.of_kind("Release").find(|object| !object["metadata"]["finalizers"].is_null());
            assert_eq!(finalizer, None, "an object with a finalizer blocks its namespace");
            seen.lock().unwrap().push(line.to_owned());
        });
        for name in &names {
            fixture.api.state().store.remove("Release", name);
        }
        let begun = Instant::now();
        assert_eq!(remove(&cluster, count).await, (0, count), "the canaries' pods keep routes and subsets");
        assert_eq!(with_canary(&cluster.releases(&[]).await.unwrap()), 0, "stable has all users");

        for name in &names {
            fixture.api.state().store.remove("Pod", &format!("{name}-v2"));
        }
        assert_eq!(remove(&cluster, count).await, (count, 0));
        assert!(begun.elapsed() < at_most, "{:?}", begun.elapsed());
        let left: Vec<String> =
            fixture.api.state().store.names(&["EnvoyFilter", "VirtualService", "DestinationRule"]);
        assert_eq!(left, Vec::<String>::new());
        let pods: Vec<Value> = fixture.api.state().store.of_kind("Pod").cloned().collect();
        assert_eq!(pods.len(), count + 3, "stable's pods, those of the first shop, and the gateway");
        let scaled = |line: &&String| {
            ["/deployments", "/statefulsets", "/pods", "/scale"].iter().any(|part| line.contains(part))
        };
        let writes = writes.lock().unwrap();
        assert_eq!(writes.iter().find(scaled), None, "no pod is scaled");
    });
}
