//! `canary-ctl promote` and `rollback` as people type them: what they say before anybody moves, and what they refuse.

use super::operator::Operator;
use crate::support::in_the_mesh;
use serde_json::Value;
use wasm_tests::lab::{Stage, StageOptions};

#[test]
fn operators_are_told_who_moves_before_anybody_does() {
    in_the_mesh(async |lab| {
        let stage = Stage::set_up(lab, "spoken", &StageOptions::gateway()).await.unwrap();
        let release = stage.release().unwrap().with("/spec/stickiness", "user").with("/spec/maxStep", "40");
        let operator = Operator::new(lab, &release.with("/spec/weight", "0"));
        operator.is_told("apply", 0, &["6 objects written"]).await;
        lab.until("the way to the shop", async || {
            stage.user().navigate("/").await.is_ok_and(|answer| answer.status == 200).then_some(())
        })
        .await
        .unwrap();

        operator.is_told("weight 40 --wait", 0, &["v2 0% -> 40% (generation 2"]).await;
        let moves = "60% of the users move from `v1` to `v2` with their next request";
        operator.is_told("promote --dry-run=server", 0, &[moves, "spec.http[2]", "nothing written"]).await;
        let step = "expected a step of at most 40%, found 40% to 100%";
        operator.is_told("promote", 2, &[moves, step, "`--skip-check max-step`"]).await;
        operator.is_told("status", 0, &["weight 40%, generation 2"]).await;
        let said = operator
            .is_told("promote --skip-check max-step --wait -o json", 0, &["set `versions.stable: v2`"])
            .await;
        let roles: Value = serde_json::from_str(&said.data).unwrap();
        assert_eq!((&roles["stable"], &roles["generation"]), (&"v2".into(), &3.into()));
        for _ in 0..20 {
            let answer = stage.user().navigate("/").await.unwrap();
            assert_eq!(answer.header("x-shop-version"), Some("v2"));
        }

        operator.is_told("apply", 2, &["the file names `v1` stable, and `v2` is since admin promoted"]).await;
        operator
            .is_told("status", 0, &["v1 drains until", "the time that version `v1` had to drain is over"])
            .await;
        let back = "its users are on stable with their next request";
        operator.is_told("rollback", 0, &[back, "v1 is stable (generation 4, active in 1 proxies"]).await;
        assert_eq!(stage.user().navigate("/").await.unwrap().header("x-shop-version"), Some("v1"));
        operator.is_told("rollback", 0, &["rolled back already"]).await;
        operator
            .is_told("promote", 2, &["expected a canary, found none; the last change was by admin: rollback"])
            .await;
        operator
            .is_told("apply", 2, &["the file names `v2` canary: admin rolled `v2` back", "--again"])
            .await;
    });
}

#[test]
fn a_drain_is_not_ended_before_its_deadline_unless_it_is_asked_for() {
    in_the_mesh(async |lab| {
        let stage = Stage::set_up(lab, "early-end", &StageOptions::gateway()).await.unwrap();
        let operator = Operator::new(lab, &stage.release().unwrap().with("/spec/weight", "50"));
        operator.is_told("apply --wait", 0, &["active in 1 proxies"]).await;
        operator.is_told("promote --drain 1h --wait", 0, &["no session moves", "v1 drains until"]).await;
        let early = "`v1` drains until";
        operator
            .is_told(
                "promote --finish --dry-run=client",
                0,
                &[early, "would lose their state", "nothing written"],
            )
            .await;
        operator.is_told("promote --finish", 2, &[early, "`--skip-check moves-users`"]).await;
        let done = "nothing leads to the pods of v1 any more";
        operator.is_told("promote --finish --skip-check moves-users", 0, &[done]).await;
        operator.is_told("promote --finish", 0, &["no version drains"]).await;
    });
}
