//! A role change or an `uninstall` that is killed.

use super::{
    Operation, assert_routes_lead_to_subsets, assert_versions_have_routes, carry_out, count_writes,
    generation,
};
use canary_operations::Error;
use fake_api_server::fixture::{apply, release, run, shop};
use serde_json::json;

#[test]
fn a_role_change_and_an_uninstall_are_continued_after_any_write() {
    // With the number of writes of each.
    let cases = [
        (&[][..], Operation::Promote, 6),
        (&[], Operation::RollBack, 6),
        (&[Operation::Promote], Operation::RollBack, 4),
        (&[Operation::Promote], Operation::Finish, 8),
        (&[], Operation::Uninstall, 13),
    ];
    for (before, operation, expected) in cases {
        run(async {
            let writes = count_writes(async |writes| continued(before, operation, writes).await).await;
            assert_eq!(writes, expected, "{operation:?} after {before:?}");
        });
    }
}

/// Kills an operation after so many writes and carries it out again; whether it was killed.
async fn continued(before: &[Operation], operation: Operation, writes: u32) -> bool {
    let (api, release) = (shop(), release(&json!({})));
    let cluster = api.cluster().await;
    apply(&cluster, &release).await.unwrap();
    for operation in before {
        carry_out(*operation, &cluster, &release).await.unwrap();
    }
    let begun = generation(&api);
    let ended = api.killed_after(writes, async |process| carry_out(operation, process, &release).await).await;
    if let Some(done) = ended {
        done.unwrap();
        return false;
    }
    let context = format!("{operation:?} after {before:?}, killed after {writes} writes");
    assert_routes_lead_to_subsets(&api, &context);
    assert_versions_have_routes(&api, &context);
    match carry_out(operation, &cluster, &release).await {
        // Killed after the record was deleted.
        Err(Error::Unknown { .. }) if matches!(operation, Operation::Uninstall) => {}
        continued => continued.unwrap_or_else(|error| panic!("{context}: {error}")),
    }
    assert_routes_lead_to_subsets(&api, &context);
    assert_versions_have_routes(&api, &context);
    let once = if matches!(operation, Operation::Uninstall) { None } else { begun.map(|begun| begun + 1) };
    assert_eq!(generation(&api), once, "{context}: continued, not done again");
    if let Some(stored) = cluster.find_record(&release.name).await.unwrap() {
        let left = cluster.unfinished(&release.name, &stored.record).await.unwrap();
        assert!(left.is_empty() && stored.record.leaving.is_empty(), "{context}: {left:?} is left");
    }
    true
}
