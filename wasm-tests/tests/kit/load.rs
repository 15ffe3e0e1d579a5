//! Proves the runner and its report.

use std::collections::BTreeSet;
use std::sync::Arc;

use browser::load::{Connections, LoadProfile, Record, Report, ServedBy, run};
use browser::{Kind, User, Visit};

use crate::mirror;

fn record(user: usize, round: usize, version: &str, pod: &str) -> Record {
    let seen = ServedBy { version: Some(version.to_owned()), pod: Some(pod.to_owned()), lost: false };
    Record {
        user,
        round,
        status: 200,
        seen,
        reopened: false,
        closing: false,
        error: None,
        elapsed: std::time::Duration::ZERO,
    }
}

#[tokio::test]
async fn every_user_is_answered_in_every_round_with_cookies_of_their_own() {
    let address = mirror::start().await;
    for connections in [Connections::PerUser, Connections::PerWorker] {
        let users = (0..20).map(|_| User::http1(address, "shop.example")).collect();
        let visit = |user, round| {
            Visit::new(Kind::Navigate, "/").header("x-set-cookie", format!("id={user}-{round}; Path=/"))
        };
        let plan = LoadProfile {
            concurrency: 3,
            connections,
            visit: Arc::new(visit),
            ..LoadProfile::navigate("/", 4)
        };
        let (users, report) = run(users, &plan).await;
        assert_eq!(report.records.len(), 80);
        assert_eq!((report.failures().len(), report.closed()), (0, 0));
        for (index, user) in users.iter().enumerate() {
            assert_eq!(user.jar.get("id"), Some(format!("{index}-3").as_str()));
        }
        let found: Vec<_> = report.records.iter().map(|record| (record.user, record.round)).collect();
        let in_order: BTreeSet<_> = found.iter().copied().collect();
        assert_eq!(found, in_order.into_iter().collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_failure_in_every_record() {
    let [port] = envoy_kit::free_ports();
    let users = vec![User::http1(([127, 0, 0, 1], port).into(), "shop.example")];
    let (_, report) = run(users, &LoadProfile::navigate("/", 2)).await;
    assert_eq!(report.failures().len(), 2);
    let error = report.records[0].error.as_deref();
    assert!(error.is_some_and(|error| error.starts_with("cannot connect")), "{error:?}");
}

#[test]
fn a_flip_is_a_change_between_responses_of_one_user() {
    let records = vec![
        record(0, 0, "v1", "a"),
        record(0, 1, "v1", "b"),
        record(0, 2, "v2", "c"),
        record(1, 0, "v1", "a"),
        record(1, 1, "v1", "a"),
    ];
    let report = Report { records };
    let flips = report.version_flips();
    assert_eq!(flips.iter().map(|flip| (flip.user, flip.round)).collect::<Vec<_>>(), [(0, 2)]);
    assert_eq!(report.pod_flips().len(), 2);
    assert_eq!((report.users_on("v1"), report.users_on("v2")), (1, 1));
}

#[test]
fn a_flip_between_two_runs_is_seen_after_appending() {
    let mut report = Report { records: vec![record(0, 0, "v1", "a")] };
    report.append(Report { records: vec![record(0, 0, "v2", "a")] });
    assert_eq!(report.version_flips().len(), 1);
    assert_eq!(report.records[1].round, 1);
}
