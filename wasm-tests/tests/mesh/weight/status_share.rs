//! The canary's share in `status`, compared with the users' own observations.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use browser::User;
use serde_json::Value;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

const NEW: usize = 300;

#[test]
fn the_share_that_status_sees_is_the_one_that_users_get() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "seen", &ShopEnvOptions::gateway()).await.unwrap();
        let release = env.release().unwrap().with("/spec/weight", "30").with("/spec/maxStep", "100");
        let cli = Cli::new(lab, &release);
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        cli.expect("status", 0, &[" s: new sessions none, requests none"]).await;

        let status = cli.run("status --window 12s -o json");
        let (said, (on_canary, by_status)) = tokio::join!(status, async {
            // Counting has begun when the first look is over.
            tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
            begin((0..NEW).map(|_| env.user()).collect()).await
        });
        assert_eq!(by_status, NEW, "all of them were answered");
        let seen: Value = serde_json::from_str(&said.stdout).unwrap();
        let share = &seen["seen"]["newSessions"];
        assert_eq!((&share["canary"], &share["of"]), (&on_canary.into(), &NEW.into()), "{seen}");
        assert_eq!(seen["problems"], serde_json::json!([]), "{seen}");
        let (low, high) = (share["low"].as_f64().unwrap(), share["high"].as_f64().unwrap());
        assert!(low < 0.3 && 0.3 < high || on_canary.abs_diff(90) < 30, "{low} to {high}");
    });
}

/// Sends new users, a request each; how many of them came to the canary, and how many were answered.
async fn begin(users: Vec<User>) -> (usize, usize) {
    let (mut on_canary, mut answered) = (0, 0);
    for mut user in users {
        let response = user.navigate("/").await.unwrap();
        answered += usize::from(response.status == 200);
        on_canary += usize::from(response.header("x-shop-version") == Some("v2"));
    }
    (on_canary, answered)
}
