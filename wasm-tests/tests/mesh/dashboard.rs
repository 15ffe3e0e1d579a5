//! The dashboard over a real cluster: what its buttons do to the gateway.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use browser::User;
use serde_json::json;
use wasm_tests::api::dashboard_page::Page;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

#[test]
fn the_buttons_do_what_the_verbs_do_and_a_preview_changes_nothing() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "buttons", &ShopEnvOptions::gateway()).await.unwrap();
        let cli = Cli::new(lab, &env.release().unwrap().with("/spec/maxStep", "50"));
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        let mut dashboard = cli.serve("dashboard");
        let mut page = Page::of(&mut dashboard).await;
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
