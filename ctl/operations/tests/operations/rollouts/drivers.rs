//! Drivers that are killed after any write, and two at once.

use super::{
    Canary, MANY, MANY_WRITES, RolloutFixture, assert_evidence_is_bounded, assert_is_over, ended_of,
};
use canary_release::alert::RolloutResult;
use canary_release::delivery::deployed_config;
use canary_release::rollout::DriverKind;
use fake_api_server::fixture::run;
use jiff::{SignedDuration, Timestamp};

/// Drives a rollout in a process that is killed after so many writes, and then in another one. `None` if it was not killed.
async fn killed_and_continued(canary: Canary, writes: u32) -> Option<RolloutFixture> {
    let mut fixture = RolloutFixture::started(canary).await;
    let api = fixture.api.clone();
    let killed = api.killed_after(writes, async |process| {
        let mut driver = fixture.driver(process);
        for _ in 0..MANY {
            // The write of an Event may have killed the process, beside this one.
            let Ok(report) = driver.reconcile(fixture.now).await else { return std::future::pending().await };
            if report.ended().is_some() {
                break;
            }
            fixture.pass().await;
        }
    });
    if killed.await.is_some() {
        return None;
    }
    assert_record_is_first(&fixture, &format!("{canary:?}, killed after {writes} writes")).await;
    let report = fixture.drive().await;
    let expected = if canary == Canary::Good { RolloutResult::Promoted } else { RolloutResult::RolledBack };
    assert_eq!(report.ended(), Some(expected), "killed after {writes} writes: {:?}", report.decision);
    Some(fixture)
}

/// Nothing was begun that the record does not say: what the objects have, it has too.
async fn assert_record_is_first(fixture: &RolloutFixture, context: &str) {
    let recorded = fixture.record().await.state;
    let name = fixture.release.name.to_string();
    let state = fixture.api.state();
    for object in state.store.of_kind("EnvoyFilter") {
        let Some(config) = deployed_config(object).unwrap() else { continue };
        let Some(deployed) = config.releases.get(&name) else { continue };
        assert!(
            deployed.generation <= recorded.generation,
            "{context}: generation {} is deployed, the record has {}",
            deployed.generation,
            recorded.generation
        );
    }
}

#[test]
fn killed_after_any_write_the_next_driver_reaches_the_same_end() {
    for canary in [Canary::Good, Canary::Failing] {
        run(async {
            let mut cases = 0;
            for writes in 0..MANY_WRITES {
                let Some(fixture) = killed_and_continued(canary, writes).await else { break };
                let context = format!("{canary:?}, killed after {writes} writes");
                assert_is_over(&fixture, &context).await;
                assert_each_step_once(&fixture, canary, &context);
                assert_evidence_is_bounded(&fixture, &context).await;
                cases += 1;
            }
            assert!((8..MANY_WRITES).contains(&cases), "{canary:?}: killed {cases} times");
        });
    }
}

/// A good canary takes the three steps; one that fails takes the first, and the second where another client's write
/// has cost it one of the four intervals that have to speak against it.
fn assert_each_step_once(fixture: &RolloutFixture, canary: Canary, context: &str) {
    let raised: Vec<&str> =
        fixture.weights.iter().map(String::as_str).filter(|weight| *weight != "0%").collect();
    let expected = if canary == Canary::Good { 3..=3 } else { 1..=2 };
    let is_in_order = ["1%", "10%", "50%"].starts_with(&raised);
    assert!(
        is_in_order && expected.contains(&raised.len()),
        "{context}: each step once and in order: {raised:?}"
    );
}

#[test]
fn two_drivers_take_each_step_once_and_count_no_response_twice() {
    for canary in [Canary::Good, Canary::Failing] {
        run(async {
            let mut fixture = RolloutFixture::started(canary).await;
            let clusters = [fixture.api.cluster().await, fixture.api.cluster().await];
            let mut drivers = clusters.each_ref().map(|cluster| fixture.driver(cluster));
            let mut ended = None;
            for _ in 0..MANY {
                let now = fixture.now;
                let [first, second] = &mut drivers;
                let (first, second) = tokio::join!(first.reconcile(now), second.reconcile(now));
                ended = ended_of(first).or(ended_of(second));
                if ended.is_some() {
                    break;
                }
                fixture.pass().await;
            }
            let expected =
                if canary == Canary::Good { RolloutResult::Promoted } else { RolloutResult::RolledBack };
            assert_eq!(ended, Some(expected), "{canary:?}");
            assert_each_step_once(&fixture, canary, &format!("{canary:?}"));
            assert_is_over(&fixture, &format!("{canary:?}")).await;
            assert_evidence_is_bounded(&fixture, &format!("{canary:?}")).await;
        });
    }
}

/// By clocks that agree, and by those that are ten minutes apart.
#[test]
fn a_command_follows_a_controller_that_drives_and_drives_when_it_was_not_seen_for_three_minutes() {
    for apart in [0, 10, -10] {
        run(async {
            let mut fixture = RolloutFixture::started(Canary::Good).await;
            let clusters = [fixture.api.cluster().await, fixture.api.cluster().await];
            let [mut controller, mut command] = clusters.each_ref().map(|cluster| fixture.driver(cluster));
            controller = controller.with_identity(DriverKind::Controller, "pod-1".to_owned());
            command = command.with_identity(DriverKind::Command, "laptop".to_owned());
            let apart = SignedDuration::from_mins(apart);
            command.reconcile(fixture.now + apart).await.unwrap();
            let driver = fixture.record().await.rollout.unwrap().driver.unwrap();
            assert_eq!((driver.kind, driver.host.as_str()), (DriverKind::Command, "laptop"));

            for _ in 0..3 {
                controller.reconcile(fixture.now).await.unwrap();
                let before = fixture.record().await;
                command.reconcile(fixture.now + apart).await.unwrap();
                assert_eq!(command.followed().map(|driver| driver.host.as_str()), Some("pod-1"));
                assert_eq!(fixture.record().await, before, "a command that follows writes nothing");
                fixture.pass().await;
            }
            // The controller is killed.
            let mut followed = Vec::new();
            for _ in 0..10 {
                command.reconcile(fixture.now + apart).await.unwrap();
                followed.push(command.followed().is_some());
                fixture.pass().await;
            }
            let expected: Vec<bool> = (0..10).map(|interval| interval < 5).collect();
            assert_eq!(followed, expected, "{apart}: seen last half a minute before the first");
            let driver = fixture.record().await.rollout.unwrap().driver.unwrap();
            assert_eq!(driver.host, "laptop", "{apart}");
        });
    }
}

/// A driver that has nothing to write says once a minute that it drives, and one that comes back is another one.
#[test]
fn the_record_names_the_driver_since_when_and_when_it_was_seen() {
    run(async {
        let mut rollout = RolloutFixture::started(Canary::Good).await.record().await.rollout.unwrap();
        let at = |seconds: i64| Timestamp::from_second(1_000_000 + seconds).unwrap();
        for (host, seconds, is_written, since) in [
            ("a", 0_i64, true, 0_i64),
            ("a", 30, false, 0),
            ("a", 89, false, 0),
            ("a", 150, true, 0),
            ("b", 160, true, 160),
            ("a", 161, true, 161),
            ("a", -500, true, 161),
        ] {
            let found = rollout.note_driver(DriverKind::Controller, host, at(seconds));
            let driver = rollout.driver.clone().unwrap();
            assert_eq!(
                (found, driver.since, driver.seen_at),
                (is_written, at(since), at(seconds)),
                "{host} {seconds}"
            );
        }
        assert_eq!(rollout.driver.unwrap().to_string(), "the controller (a) since 1970-01-12T13:49:21Z");
    });
}
