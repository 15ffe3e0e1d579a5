//! `canary-ctl promote` and `rollback` on the command line: the impact that they print before users move, and what they
//! refuse.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use serde_json::Value;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

#[test]
#[ignore = "takes long: ./x test long"]
fn a_role_change_announces_who_moves_before_it_writes() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "spoken", &ShopEnvOptions::gateway()).await.unwrap();
        let release = env.release().unwrap().with("/spec/stickiness", "user").with("/spec/maxStep", "40");
        let cli = Cli::new(lab, &release.with("/spec/weight", "0"));
        cli.expect("apply", 0, &["6 objects written"]).await;
        lab.until("the way to the shop", async || {
            env.user().navigate("/").await.is_ok_and(|response| response.status == 200).then_some(())
        })
        .await
        .unwrap();

        cli.expect("weight 40 --wait", 0, &["v2 0% -> 40% (generation 2"]).await;
        let moves = "60% of the users move from `v1` to `v2` with their next request";
        let refused = [moves, "expected a step of at most 40%, found 40% to 100%", "`--skip-check max-step`"];
        let dry = [&["spec.http[\"", "nothing written"], &refused[..]].concat();
        cli.expect("promote --dry-run=server", 2, &dry).await;
        cli.expect("promote", 2, &refused).await;
        cli.expect("status", 0, &["weight 40%, generation 2"]).await;
        let said = cli
            .expect("promote --skip-check max-step --wait -o json", 0, &["set `versions.stable: v2`"])
            .await;
        let roles: Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!((&roles["stable"], &roles["generation"]), (&"v2".into(), &3.into()));
        for _ in 0..20 {
            let response = env.user().navigate("/").await.unwrap();
            assert_eq!(response.header("x-shop-version"), Some("v2"));
        }

        cli.expect(
            "apply",
            2,
            &["expected `v2` as the stable version, found `v1` in the file: admin promoted"],
        )
        .await;
        cli.expect("status", 0, &["v1 drains until", "the drain deadline of version `v1` has passed"]).await;
        let back = "its users are on stable with their next request";
        cli.expect("rollback", 0, &[back, "v1 is stable (generation 4, active in 1 proxy"]).await;
        assert_eq!(env.user().navigate("/").await.unwrap().header("x-shop-version"), Some("v1"));
        cli.expect("rollback", 0, &["rolled back already"]).await;
        cli.expect("promote", 2, &["expected a canary, found none; the last change was by admin: rollback"])
            .await;
        cli.expect(
            "apply",
            2,
            &[
                "expected another canary, found `v2` in the file: admin rolled `v2` back",
                "--allow-rolled-back",
            ],
        )
        .await;
    });
}

#[test]
#[ignore = "takes long: ./x test long"]
fn a_drain_is_not_ended_before_its_deadline_unless_it_is_asked_for() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "early-end", &ShopEnvOptions::gateway()).await.unwrap();
        let cli = Cli::new(lab, &env.release().unwrap().with("/spec/weight", "50"));
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        cli.expect("promote --drain 1h --wait", 0, &["no session moves", "v1 drains until"]).await;
        let refused = ["`v1` drains until", "`--skip-check moves-users`"];
        let dry = [&["would lose their state", "nothing written"], &refused[..]].concat();
        cli.expect("promote --finish --dry-run=client", 2, &dry).await;
        cli.expect("promote --finish", 2, &refused).await;
        let done = "nothing leads to the pods of v1 any more";
        cli.expect("promote --finish --skip-check moves-users", 0, &[done]).await;
        cli.expect("promote --finish", 0, &["no version drains"]).await;
    });
}
