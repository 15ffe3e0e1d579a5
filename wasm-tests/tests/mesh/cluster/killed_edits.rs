//! `routes: edit`, killed after each write: the next call continues, and the object is given back as it was.

use super::desk::{BRIEF, Desk, apply, uninstall};
use super::theirs::{is_theirs_again, read, written};
use crate::support::in_the_mesh;
use canary_ctl::cluster::{Error, WriteOptions};

/// More writes than any verb makes.
const ENOUGH: u32 = 20;
#[test]
fn an_edit_that_was_killed_after_any_write_is_continued_and_undone() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "killed-edit").await;
        let release = Desk::read(&desk.document("shop").with("/spec/routes", "edit"));
        let cluster = desk.cluster().await;
        written(&desk, &["apply", "-f", "-"], "3s").await;
        let before = read(&desk).await;
        let (mut applies, mut uninstalls) = (0, 0);
        for writes in 0..ENOUGH {
            let stopping = WriteOptions { at_most: Some(writes), patience: BRIEF, ..WriteOptions::default() };
            match apply(&desk.cluster_that(stopping).await, &release).await {
                Err(Error::Stopped { .. }) => applies += 1,
                done => drop(done.unwrap()),
            }
            apply(&cluster, &release).await.unwrap();
            assert!(cluster.plan(&release).await.unwrap().is_empty(), "killed after {writes} writes");
            match uninstall(&desk.cluster_that(stopping).await, &release).await {
                Err(Error::Stopped { .. }) => uninstalls += 1,
                done => done.unwrap(),
            }
            match uninstall(&cluster, &release).await {
                // Killed after the record was gone, or not at all.
                Err(Error::Unknown { .. }) => {}
                done => done.unwrap(),
            }
            is_theirs_again(&before, &read(&desk).await);
            let names: Vec<_> = desk.versions().await.into_keys().collect();
            assert_eq!(names, ["Secret canary-ctl-keys", "VirtualService by-hand"], "after {writes} writes");
            let keys = ["delete", "secret", "canary-ctl-keys", "-n", "killed-edit-ingress"];
            lab.kubectl(&keys).await.unwrap();
        }
        assert_eq!((applies, uninstalls), (16, 14), "as without an edit, and once more to hand back");
    });
}
