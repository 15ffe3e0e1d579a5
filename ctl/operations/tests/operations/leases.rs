//! An operation that waits for another one says so at once.

use canary_operations::{Error, LeaseTiming, WriteOptions};
use fake_api_server::fixture::{apply, options, release, run, shop};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn who_is_waited_for_is_said_at_once_and_once() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        api.state().store.create_as(
            "canary-ctl",
            &json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"namespace": "shop", "name": "shop-canary"},
                "spec": {
                    "holderIdentity": "ann: apply shop/shop #1", "leaseDurationSeconds": 15,
                    "acquireTime": "2026-11-26T16:17:20.000000Z", "renewTime": "2026-11-26T16:17:20.000000Z",
                },
            }),
        );
        let lease_timing = LeaseTiming { lease: Duration::from_secs(15), wait: Duration::from_millis(400) };
        let said = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&said);
        let cluster = api.cluster_with(WriteOptions { lease_timing, ..options() }).await;
        let cluster = cluster
            .with_lease_wait_observer(Arc::new(move |held| hears.lock().unwrap().push(held.to_string())));
        let error = apply(&cluster, &release).await.unwrap_err();
        assert!(matches!(error, Error::Held { .. }), "{error}");
        let expected =
            "lease shop/shop-canary is held by `ann: apply shop/shop #1` since 2026-11-26T16:17:20Z";
        assert_eq!(*said.lock().unwrap(), [expected]);
    });
}
