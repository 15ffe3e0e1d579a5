//! Proxies whose fuse is open, as their metrics say.

use super::{Canary, INTERVAL, RolloutFixture, assert_is_over, observe};
use canary_release::alert::RolloutResult;
use canary_release::rollout::RolloutPhase;
use fake_api_server::fixture::run;
use jiff::SignedDuration;

/// A rollout behind three gateways, whose driver has observed twice.
async fn behind_three_gateways() -> RolloutFixture {
    let mut fixture = RolloutFixture::started(Canary::Good).await;
    fixture.add_gateways(3);
    observe(&mut fixture, 2).await;
    fixture
}

/// The fuse of the canary opens in so many gateways, for half an interval less than so many.
fn open(fixture: &RolloutFixture, count: usize, intervals: i32) {
    let until = fixture.now + INTERVAL * intervals - SignedDuration::from_secs(15);
    fixture.api.state().proxies.open_fuses(count, "shop/shop", "v2/1", until);
}

#[test]
fn a_fuse_that_is_open_in_one_gateway_holds_the_rollout_until_it_closes() {
    run(async {
        let mut fixture = behind_three_gateways().await;
        open(&fixture, 1, 2);
        let held = observe(&mut fixture, 2).await;
        assert_eq!(held.decision.phase, RolloutPhase::Held, "{:?}", held.decision);
        assert!(
            held.decision.reason.starts_with("the fuse of the canary is open in 1 proxy; "),
            "{}",
            held.decision.reason
        );
        assert!(fixture.record().await.rollout.unwrap().fused_since.is_some());
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Promoted));
        assert_is_over(&fixture, "closed").await;
    });
}

#[test]
fn fuses_that_are_open_in_two_gateways_roll_the_canary_back() {
    run(async {
        let mut fixture = behind_three_gateways().await;
        open(&fixture, 2, 2);
        let report = fixture.drive().await;
        assert_eq!(report.ended(), Some(RolloutResult::RolledBack));
        let rollout = report.record.rollout.unwrap();
        let reason = rollout.ended.unwrap().reason;
        assert!(reason.starts_with("the fuse of the canary is open in 2 proxies; "), "{reason}");
        assert_is_over(&fixture, "open in two").await;
    });
}

#[test]
fn the_fuse_of_an_earlier_epoch_is_nobodys() {
    run(async {
        let mut fixture = behind_three_gateways().await;
        let until = fixture.now + INTERVAL * 40;
        fixture.api.state().proxies.open_fuses(3, "shop/shop", "v2/0", until);
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Promoted));
    });
}
