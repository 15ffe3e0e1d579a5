//! A change of the version label of a running Deployment that is killed: the next call continues, in either direction.

use super::count_writes;
use crate::adopting::{adopt, assert_labelled, running, uids};
use canary_release::plan::LabelDirection::{self, Add, Remove};
use fake_api_server::fixture::run;
use serde_json::{Value, json};

const EXPECTED: &str = "a Lease, pause, ReplicaSet, two pods, Deployment, resume, and the Lease given back";

/// Kills a change after so many writes, and lets another one continue. Whether it was killed before its end.
async fn is_continued(killed: LabelDirection, continued: LabelDirection, writes: u32) -> bool {
    let api = running();
    api.state().controllers.lag(12);
    let before = uids(&api);
    let cluster = api.cluster().await;
    if killed == Remove {
        adopt(&cluster, Add).await.unwrap();
    }
    let ended = api.killed_after(writes, async |process| adopt(process, killed).await).await;
    if let Some(done) = ended {
        done.unwrap();
        return false;
    }
    let context = format!("{killed:?} killed after {writes} writes, then {continued:?}");
    assert_eq!(uids(&api), before, "{context}: when it was killed");
    adopt(&cluster, continued).await.unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(uids(&api), before, "{context}: at the end");
    assert_labelled(&api, &if continued == Add { json!("v1") } else { Value::Null }, &context);
    true
}

#[test]
fn an_adoption_is_continued_or_taken_back_after_any_write() {
    run(async {
        for continued in [Add, Remove] {
            let case = async |writes| is_continued(Add, continued, writes).await;
            assert_eq!(count_writes(case).await, 8, "{continued:?}: {EXPECTED}");
        }
    });
}

#[test]
fn the_way_back_is_continued_or_taken_back_after_any_write() {
    run(async {
        for continued in [Remove, Add] {
            let case = async |writes| is_continued(Remove, continued, writes).await;
            assert_eq!(count_writes(case).await, 8, "{continued:?}: {EXPECTED}");
        }
    });
}
