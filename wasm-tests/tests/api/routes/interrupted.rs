//! `routes: inject`, killed between two writes: the next call continues, and the object is returned to its owner
//! unchanged.

use crate::beside_an_api_server;
use crate::virtual_service::{is_theirs_again, read, written};
use canary_operations::WriteOptions;
use wasm_tests::api::release_fixture::{ReleaseFixture, apply};

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn an_injection_that_was_killed_is_continued_and_undone() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "killed-edit").await;
        let release = ReleaseFixture::read(&fixture.document("shop").with("/spec/routes", "inject"));
        let cluster = fixture.cluster().await;
        written(&fixture, &["apply", "-f", "-"], "3s").await;
        let before = read(&fixture).await;
        for writes in [3, 6, 9, 11] {
            fixture
                .interrupt(writes, WriteOptions::default(), async |process| apply(process, &release).await)
                .await;
            apply(&cluster, &release).await.unwrap();
            assert!(cluster.plan(&release).await.unwrap().is_empty(), "killed after {writes} writes");
            fixture.interrupt_uninstall(writes, &release).await;
            is_theirs_again(&before, &read(&fixture).await);
            let names: Vec<_> = fixture.versions().await.into_keys().collect();
            let left = ["Secret canary-ctl-keys", "Secret canary-ctl-record-keys", "VirtualService by-hand"];
            assert_eq!(names, left, "after {writes} writes");
            fixture.delete_keys().await;
        }
    });
}
