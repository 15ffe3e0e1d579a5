//! What `status` says that the canary gets, against what users get.

use super::operator::Operator;
use crate::support::in_the_mesh;
use serde_json::Value;
use wasm_tests::client::User;
use wasm_tests::lab::{Stage, StageOptions};

const NEW: usize = 300;

#[test]
fn the_share_that_status_sees_is_the_one_that_users_get() {
    in_the_mesh(async |lab| {
        let stage = Stage::set_up(lab, "seen", &StageOptions::gateway()).await.unwrap();
        let release = stage.release().unwrap().with("/spec/weight", "30").with("/spec/maxStep", "100");
        let operator = Operator::new(lab, &release);
        operator.is_told("apply --wait", 0, &["active in 1 proxies"]).await;
        operator.is_told("status", 0, &["seen on the canary in 2 s: new sessions none, requests none"]).await;

        let status = operator.types("status --over 4s -o json");
        let (said, (on_canary, by_status)) = tokio::join!(status, async {
            // Counting has begun when the first look is over.
            tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
            begin((0..NEW).map(|_| stage.user()).collect()).await
        });
        assert_eq!(by_status, NEW, "all of them were answered");
        let seen: Value = serde_json::from_str(&said.data).unwrap();
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
        let answer = user.navigate("/").await.unwrap();
        answered += usize::from(answer.status == 200);
        on_canary += usize::from(answer.header("x-shop-version") == Some("v2"));
    }
    (on_canary, answered)
}
