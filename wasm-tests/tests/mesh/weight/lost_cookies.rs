//! Browsers drop `Secure` cookies that come by plain HTTP: no session keeps its version, and `status` says why.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use browser::User;
use browser::load::ServedBy;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::HOST;

/// The users of a round: as many as begin within a window of `status`, and more than it needs.
const USERS: usize = 8;

#[test]
fn secure_cookies_that_browsers_drop_are_a_problem_until_the_file_says_that_there_is_no_tls() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "no-tls", &ShopEnvOptions::gateway()).await.unwrap();
        let release = env.release().unwrap().with("/spec/weight", "50").with("/spec/maxStep", "100");
        let cli = Cli::new(lab, &release);
        cli.expect("apply --wait", 0, &[]).await;

        let mut began_on_canary = 0;
        let message = lab
            .until("the problem in `status`", async || {
                for versions in visits(&env).await {
                    began_on_canary += usize::from(versions[0] == "v2");
                    assert_eq!(versions[1..], ["v1"; 4], "adopted without a pin, with every request");
                }
                problems(&cli, "2s").await.into_iter().find(|problem| problem.contains("do not return"))
            })
            .await
            .unwrap();
        assert_ne!(began_on_canary, 0, "at weight 50");
        assert!(message.contains("came without a pin"), "{message}");
        assert!(message.contains("`cookies: {tls: false}`"), "{message}");

        cli.edits(&release.with("/spec/cookies", json!({"tls": false})));
        // The users whom that would move have no pin.
        cli.expect("apply --wait", 2, &["`cookies` moves 100 % of the users of version `v2`", "moves-users"])
            .await;
        cli.expect("apply --wait --skip-check moves-users", 0, &[]).await;
        let (found, ()) = tokio::join!(problems(&cli, "6s"), async {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_secs(6) {
                for versions in visits(&env).await {
                    assert!(versions.iter().all(|version| *version == versions[0]), "{versions:?}");
                }
            }
        });
        assert_eq!(found, [] as [String; 0]);
    });
}

/// Users without TLS, each with a new session and four further requests; the versions that they got.
async fn visits(env: &ShopEnv) -> Vec<Vec<String>> {
    let mut versions = Vec::new();
    for _ in 0..USERS {
        let mut user = User::http1(env.gateway, HOST);
        let mut of_user = Vec::new();
        for path in ["/cart/add?item=tea", "/cart", "/cart", "/cart", "/cart"] {
            let response = user.navigate(path).await.unwrap();
            assert_eq!(response.status, 200, "{path}");
            of_user.push(ServedBy::by_shop(&response).version.expect("the shop says its version"));
        }
        versions.push(of_user);
    }
    versions
}

/// What `status` calls a problem after a window, each with its hint.
async fn problems(cli: &Cli, window: &str) -> Vec<String> {
    let output = cli.expect(&format!("status --window {window} -o json"), 0, &[]).await;
    let status: Value = serde_json::from_str(&output.stdout).unwrap();
    status["problems"].as_array().unwrap().iter().map(Value::to_string).collect()
}
