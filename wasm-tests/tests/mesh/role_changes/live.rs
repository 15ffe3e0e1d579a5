//! Verbs that go by what the proxies hold: the file does not know weights, epochs and keys of a cluster.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use browser::{Kind, Visit};
use serde_json::Value;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::HOST;

#[test]
fn a_token_of_a_version_that_came_again_is_believed_and_the_running_system_is_verified() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "live", &ShopEnvOptions::gateway()).await.unwrap();
        let release = env
            .release()
            .unwrap()
            .with("/spec/weight", "0")
            .with("/spec/maxStep", "100")
            // `verify` uses plain HTTP, and keeps cookies as a browser does.
            .with("/spec/cookies", serde_json::json!({"tls": false}))
            .with("/spec/override", serde_json::json!({"mode": "token"}));
        let cli = Cli::new(lab, &release);
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        let old = cli.run("token create --version canary -o json").await;
        cli.expect("rollback", 0, &["v1 is stable"]).await;
        cli.expect("apply --allow-rolled-back --wait", 0, &["active in 1 proxy"]).await;

        let new = cli.run("token create --version canary -o json").await;
        for (said, epoch, version) in [(old, 1, "v1"), (new, 2, "v2")] {
            let token: Value = serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
            assert_eq!(token["epoch"], epoch, "{token}");
            let visit = Visit::new(Kind::Navigate, "/")
                .header(token["header"].as_str().unwrap(), token["token"].as_str().unwrap());
            let response = env.user().send(&visit).await.unwrap();
            assert_eq!(response.header("x-shop-version"), Some(version), "epoch {epoch}");
            let line = format!("token inspect {} -o json", token["token"].as_str().unwrap());
            cli.expect(&line, i32::from(epoch == 1), &[]).await;
        }

        cli.expect("weight 30 --wait", 0, &["0% -> 30%"]).await;
        cli.expect("explain --live -H accept:text/html", 0, &["v2 with 30.00%"]).await;
        let verify = format!(
            "verify http://{}/ --host {HOST} --version-header x-shop-version --users 300 --live",
            env.gateway
        );
        cli.expect(&verify, 0, &["30%"]).await;
        cli.expect(&verify.replace(" --live", ""), 1, &[]).await;
    });
}
