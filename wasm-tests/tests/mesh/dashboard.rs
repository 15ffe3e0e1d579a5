//! The dashboard over a real cluster: what its buttons do to the gateway.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use browser::{Kind, Response, User, Visit};
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

/// The page's own requests to `canary-ctl dashboard`.
struct Page {
    user: User,
    token: String,
    release: String,
}

impl Page {
    /// Reads the URL that `canary-ctl dashboard` prints.
    fn of(url: &str) -> Self {
        let (host, fragment) = url.trim().strip_prefix("http://").unwrap().split_once("/#token=").unwrap();
        let (token, release) = fragment.split_once("&release=").unwrap();
        let address: SocketAddr = host.parse().unwrap();
        Self { user: User::http1(address, host), token: token.to_owned(), release: release.to_owned() }
    }

    async fn send(&mut self, visit: Visit) -> Response {
        let visit = visit.header("authorization", format!("Bearer {}", self.token));
        self.user.send(&visit).await.unwrap()
    }

    async fn view(&mut self) -> Value {
        let path = format!("/api/releases/{}", self.release);
        self.send(Visit::new(Kind::Fetch, path)).await.json()
    }

    /// Asks for a change of the generation that the page shows.
    async fn change(&mut self, mut change: Value) -> (u16, Value) {
        change["expectedGeneration"] = self.view().await["generation"].clone();
        let origin = format!("http://{}", self.user.authority());
        let visit = Visit::new(Kind::Fetch, format!("/api/releases/{}/change", self.release))
            .method(http::Method::POST)
            .header("origin", origin)
            .header("content-type", "application/json")
            .body(change.to_string());
        let response = self.send(visit).await;
        (response.status, response.json())
    }
}

#[test]
fn the_buttons_do_what_the_verbs_do_and_a_preview_changes_nothing() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "buttons", &ShopEnvOptions::gateway()).await.unwrap();
        let cli = Cli::new(lab, &env.release().unwrap().with("/spec/maxStep", "50"));
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        let mut dashboard = cli.serve("dashboard");
        let mut lines = BufReader::new(dashboard.stdout.take().unwrap()).lines();
        let mut page = Page::of(&lines.next_line().await.unwrap().unwrap());
        let weight =
            |percent: &str, dry_run: bool| json!({"change": "weight", "weight": percent, "dryRun": dry_run});

        let (status, preview) = page.change(weight("30", true)).await;
        assert_eq!((status, &preview["written"]), (200, &json!(false)), "{preview}");
        assert!(preview.to_string().contains("v2 would be 0% -> 30%"), "{preview}");
        assert_eq!(page.view().await["weight"], json!(0));
        let (status, report) = page.change(weight("30", false)).await;
        assert_eq!((status, &report["written"]), (200, &json!(true)), "{report}");
        cli.expect("weight 30 --wait --dry-run", 0, &["v2 has 30% already"]).await;
        let (status, refused) = page.change(weight("95", false)).await;
        assert_eq!(status, 409, "{refused}");
        assert!(refused["error"].as_str().unwrap().contains("at most 50%"), "{refused}");

        let pause = json!({"change": "pause", "reason": "lunch", "dryRun": false});
        assert_eq!(page.change(pause).await.0, 200);
        Cli::of(lab, &env.release().unwrap(), "bob").expect("weight 40", 2, &["lunch"]).await;
        assert!(page.view().await["changes"].as_array().unwrap().contains(&json!("resume")));
        assert_eq!(page.change(json!({"change": "resume", "dryRun": false})).await.0, 200);

        let (_, preview) = page.change(json!({"change": "rollback", "dryRun": true})).await;
        assert!(preview.to_string().contains("`v2` has 30% of the new sessions"), "{preview}");
        let (status, report) = page.change(json!({"change": "rollback", "dryRun": false})).await;
        assert!(status == 200 && report.to_string().contains("v1 is stable"), "{status}: {report}");
        let mut users: Vec<User> = (0..20).map(|_| env.user()).collect();
        for user in &mut users {
            assert_eq!(user.navigate("/").await.unwrap().header("x-shop-version"), Some("v1"));
        }
    });
}
