//! A process that is killed between two writes: the next call continues. A sample; the tests of `canary-operations`
//! (`tests/operations/interrupted` there) kill each operation after each write, on an API server in memory.

use crate::beside_an_api_server;
use canary_operations::{Cluster, WriteOptions};
use wasm_tests::api::release_fixture::{ReleaseFixture, apply, name, set_weight, uninstall};

#[test]
fn an_apply_that_was_killed_is_continued() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "killed-apply").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        for writes in [1, 4, 8] {
            fixture
                .interrupt(writes, WriteOptions::default(), async |process| apply(process, &release).await)
                .await;
            apply(&cluster, &release).await.unwrap();
            assert!(cluster.plan(&release).await.unwrap().is_empty(), "killed after {writes} writes");
            uninstall(&cluster, &release).await.unwrap();
            fixture.delete_keys().await;
        }
    });
}

#[test]
fn a_weight_that_was_killed_after_the_record_is_carried_out_by_apply() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "killed-weight").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        // After the record.
        let set_weight = async |process: &Cluster| set_weight(process, &name(&release), stored, "20").await;
        fixture.interrupt(1, WriteOptions::default(), set_weight).await;
        let kept = cluster.get_record(&name(&release)).await.unwrap();
        assert_eq!(cluster.plan_weight(&name(&release), &kept).await.unwrap().changes.len(), 1);
        let continued = apply(&cluster, &release).await.unwrap();
        assert_eq!(continued.record.state.generation, 2, "continued, not done again");
        let kept = cluster.get_record(&name(&release)).await.unwrap();
        assert_eq!(cluster.plan_weight(&name(&release), &kept).await.unwrap().changes, []);
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn an_uninstall_that_was_killed_is_continued() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "killed-uninstall").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        for writes in [2, 6, 11] {
            apply(&cluster, &release).await.unwrap();
            fixture.interrupt_uninstall(writes, &release).await;
            assert_eq!(
                fixture.versions().await.into_keys().collect::<Vec<_>>(),
                ["Secret canary-ctl-keys", "Secret canary-ctl-record-keys"],
                "killed after {writes} writes"
            );
        }
    });
}
