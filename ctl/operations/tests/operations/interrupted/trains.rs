//! A promotion, the end of the drains, or a rollback of a whole train that is killed: the same call goes on, and a rollback reverts it.

use super::{assert_routes_lead_to_subsets, count_writes};
use crate::train_roles::{finish_train, promote_train, roll_train_back, train};
use assignment::contract::Role;
use canary_operations::{Cluster, Error, TrainChanged};
use canary_release::record::{Record, RoleChangeKind};
use canary_release::spec::Release;
use fake_api_server::fixture::run;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Promote,
    Finish,
    RollBack,
}

async fn carry_out(operation: Operation, cluster: &Cluster) -> Result<TrainChanged, Error> {
    match operation {
        Operation::Promote => promote_train(cluster).await,
        Operation::Finish => finish_train(cluster).await,
        Operation::RollBack => roll_train_back(cluster).await,
    }
}

async fn records(cluster: &Cluster, releases: &[Release; 2]) -> [Record; 2] {
    let [api, web] = releases;
    let get = async |release: &Release| cluster.get_record(&release.name).await.unwrap().record;
    [get(api).await, get(web).await]
}

fn stable(record: &Record) -> &str {
    record.state.version_of(Role::Stable).unwrap()
}

#[test]
fn an_operation_on_a_train_is_continued_after_any_write() {
    // With the number of writes of each.
    let cases = [
        (&[][..], Operation::Promote, 11),
        (&[Operation::Promote], Operation::Finish, 15),
        (&[], Operation::RollBack, 11),
        (&[Operation::Promote], Operation::RollBack, 7),
    ];
    run(async {
        let mut found = Vec::new();
        for (before, operation, _) in cases {
            found.push(count_writes(async |writes| continued(before, operation, writes).await).await);
        }
        assert_eq!(found, cases.map(|(.., expected)| expected));
    });
}

/// Kills an operation after so many writes, and carries it out again; whether it was killed.
async fn continued(before: &[Operation], operation: Operation, writes: u32) -> bool {
    let (api, cluster, releases) = train().await;
    for operation in before {
        carry_out(*operation, &cluster).await.unwrap();
    }
    let begun = records(&cluster, &releases).await;
    let ended = api.killed_after(writes, async |process| carry_out(operation, process).await).await;
    if let Some(done) = ended {
        done.unwrap();
        return false;
    }
    let context = format!("{operation:?} after {before:?}, killed after {writes} writes");
    assert_routes_lead_to_subsets(&api, &context);
    assert_callers_have_what_they_call(operation, &records(&cluster, &releases).await, &context);
    carry_out(operation, &cluster).await.unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_routes_lead_to_subsets(&api, &context);
    for (begun, (record, release)) in
        begun.iter().zip(records(&cluster, &releases).await.iter().zip(&releases))
    {
        assert_eq!(
            record.state.generation,
            begun.state.generation + 1,
            "{context}: continued, not done again"
        );
        assert_eq!(stable(record), if operation == Operation::RollBack { "v1" } else { "v2" }, "{context}");
        let left = cluster.unfinished(&release.name, record).await.unwrap();
        assert!(left.is_empty() && record.leaving.is_empty(), "{context}: {left:?} is left");
    }
    true
}

/// Fails where the new front end is left without the new API, or the old one without the old.
fn assert_callers_have_what_they_call(
    operation: Operation,
    [api_record, web_record]: &[Record; 2],
    context: &str,
) {
    match operation {
        Operation::Promote => {
            assert!(
                stable(web_record) == "v1" || stable(api_record) == "v2",
                "{context}: a caller without what it calls"
            );
        }
        Operation::Finish => {
            let has_left =
                |record: &Record| record.draining_versions().is_empty() && record.leaving.is_empty();
            assert!(
                !has_left(api_record) || has_left(web_record),
                "{context}: old callers of a version that is gone"
            );
        }
        Operation::RollBack => {
            let has_new =
                |record: &Record| stable(record) == "v2" || record.state.version_of(Role::Canary).is_some();
            assert!(has_new(api_record) || !has_new(web_record), "{context}: a caller without what it calls");
        }
    }
}

#[test]
fn a_promotion_of_a_train_that_was_killed_is_rolled_back_after_any_write() {
    run(async {
        let killed = count_writes(async |writes| {
            let (api, cluster, releases) = train().await;
            let ended = api.killed_after(writes, async |process| promote_train(process).await).await;
            let context = format!("killed after {writes} writes");
            roll_train_back(&cluster).await.unwrap_or_else(|error| panic!("{context}: {error}"));
            for record in records(&cluster, &releases).await {
                assert_eq!(stable(&record), "v1", "{context}");
                let kind = record.role_change.as_ref().map(|change| change.kind);
                assert_eq!(kind, Some(RoleChangeKind::RolledBack), "{context}");
            }
            ended.is_none()
        })
        .await;
        assert!(killed >= 8, "{killed} writes");
    });
}
