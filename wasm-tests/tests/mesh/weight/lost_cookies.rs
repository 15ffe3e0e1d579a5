//! Users by plain HTTP, though the file says TLS: browsers drop `Secure` cookies. A session keeps its version, because its pin has the
//! attributes of the application's cookie. Where the pins are lost, too, `status` says so.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use browser::User;
use browser::load::ServedBy;
use serde_json::Value;
use std::time::{Duration, Instant};
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::HOST;

/// The users of a round: as many as begin within a window of `status`, and more than it needs.
const USERS: usize = 8;

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn sessions_by_plain_http_stay_and_pins_that_do_not_return_are_a_problem() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "no-tls", &ShopEnvOptions::gateway()).await.unwrap();
        let release = env.release().unwrap().with("/spec/weight", "50").with("/spec/maxStep", "100");
        let pin = format!("canary-pin.{}.s", release.name().replace('/', "."));
        let cli = Cli::new(lab, &release);
        cli.expect("apply --wait", 0, &[]).await;

        let (found, began_on_canary) = tokio::join!(problems(&cli, "6s"), async {
            let (begun, mut count) = (Instant::now(), 0);
            while begun.elapsed() < Duration::from_secs(6) {
                for versions in visits(&env, None).await {
                    assert!(versions.iter().all(|version| *version == versions[0]), "{versions:?}");
                    count += usize::from(versions[0] == "v2");
                }
            }
            count
        });
        assert_eq!(found, [] as [String; 0]);
        assert_ne!(began_on_canary, 0, "at weight 50");

        let message = lab
            .until("the problem in `status`", async || {
                for versions in visits(&env, Some(&pin)).await {
                    assert_eq!(versions[1..], ["v1"; 4], "adopted without a pin, with every request");
                }
                problems(&cli, "2s").await.into_iter().find(|problem| problem.contains("do not return"))
            })
            .await
            .unwrap();
        assert!(message.contains("came without a pin"), "{message}");
        assert!(message.contains("`cookies: {tls: false}`"), "{message}");
    });
}

/// Users without TLS, each with a new session and four further requests, who lose this cookie; the versions that they got.
async fn visits(env: &ShopEnv, lost: Option<&str>) -> Vec<Vec<String>> {
    let mut versions = Vec::new();
    for _ in 0..USERS {
        let mut user = User::http1(env.gateway, HOST);
        let mut of_user = Vec::new();
        for path in ["/cart/add?item=tea", "/cart", "/cart", "/cart", "/cart"] {
            let response = user.navigate(path).await.unwrap();
            assert_eq!(response.status, 200, "{path}");
            of_user.push(ServedBy::by_shop(&response).version.expect("the shop says its version"));
            if let Some(cookie) = lost {
                user.jar.remove(cookie);
            }
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
