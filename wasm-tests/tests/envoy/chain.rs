//! The filter among others: behind one that has the route cached already, and before access log and metrics.

use std::path::Path;
use std::time::{Duration, Instant};

use browser::{Kind, Visit};
use envoy_kit::{COUNTED_WITHIN, Options};
use serde_json::{Value, json};
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup};

use crate::support::{
    Place, SHOP, connection_manager, in_every_world, insert_lua, on_every_envoy, received, shoppers, version,
};

/// A Lua filter before ours that reads the route, which Envoy then caches.
fn lua_asks_for_the_route(bootstrap: &mut Value, _folder: &Path) {
    let script = "function envoy_on_request(handle)\n\
                  handle:metadata()\n\
                  handle:headers():add('x-early-route', handle:streamInfo():routeName())\n\
                  end";
    insert_lua(bootstrap, Place::First, script);
}

#[tokio::test]
async fn the_decision_counts_although_an_earlier_filter_has_the_route_cached() {
    on_every_envoy(|binary, pods| async move {
        let document = Document::session("shop").with("/spec/weight", "100");
        let setup = EnvoySetup { bootstrap: lua_asks_for_the_route, ..EnvoySetup::of([document]) };
        let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        for mut user in fixture.users(5) {
            let response = user.navigate("/headers").await.expect("a response");
            assert_eq!(version(&response), "v2");
            assert_eq!(
                received(&response, "x-early-route"),
                [SHOP],
                "the default route had been chosen before"
            );
        }
    })
    .await;
}

fn log_decisions(bootstrap: &mut Value, folder: &Path) {
    connection_manager(bootstrap)["access_log"] = json!([{
        "name": "envoy.access_loggers.file",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog",
            "path": folder.join("access.log"),
            "log_format": {"text_format_source": {"inline_string": "%FILTER_STATE(wasm.canary:PLAIN)%\n"}},
        },
    }]);
}

#[tokio::test]
async fn access_logs_can_tell_version_and_reason() {
    on_every_envoy(|binary, pods| async move {
        let document =
            Document::session("shop").with("/spec/weight", "100").with("/spec/delivery/filterState", true);
        let arguments = ["--file-flush-interval-msec", "50"].map(str::to_owned).to_vec();
        let options = Options { arguments, ..Options::default() };
        let setup = EnvoySetup { bootstrap: log_decisions, options, ..EnvoySetup::of([document]) };
        let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        let mut user = fixture.user();
        user.navigate("/").await.expect("a response");
        user.navigate("/").await.expect("a response");
        user.api("/").await.expect("a response");
        let expected = ["shop/shop/v2;minted", "shop/shop/v2;pin", "shop/shop/v1;fallback"];
        assert_eq!(access_log(&fixture, expected.len()).await, expected);
    })
    .await;
}

async fn access_log(fixture: &EnvoyFixture, lines: usize) -> Vec<String> {
    let begun = Instant::now();
    loop {
        let log = std::fs::read_to_string(fixture.directory().join("access.log")).unwrap_or_default();
        if log.lines().count() >= lines || begun.elapsed() > Duration::from_secs(10) {
            return log.lines().map(str::to_owned).collect();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn metrics_carry_release_version_role_and_reason_as_labels() {
    in_every_world(Document::session("shop").with("/spec/weight", "100"), |fixture| async move {
        let (mut user, _) = shoppers(&fixture, 1).await.remove(0);
        for _ in 0..3 {
            user.fetch("/cart").await.expect("a response");
        }
        user.api("/status/404").await.expect("a response");
        let token = fixture.signer(SHOP).expect("keys").token("v2", 1, 3_600);
        let tester = Visit::new(Kind::Api, "/status/500").header("x-canary-token", token);
        fixture.user().send(&tester).await.expect("a response");
        tokio::time::sleep(COUNTED_WITHIN).await;
        let text = fixture.admin().prometheus().await.expect("metrics");
        let installed_at =
            fixture.config().expect("a configuration").releases["shop/shop"].installed_at_seconds;
        for line in [
            "canary_requests_total{component=\"shop/shop\",tag=\"v2/canary/minted\"} 1",
            "canary_requests_total{component=\"shop/shop\",tag=\"v2/canary/pin\"} 3",
            "canary_requests_total{component=\"shop/shop\",tag=\"v1/stable/fallback\"} 1",
            "canary_requests_total{component=\"shop/shop\",tag=\"v2/canary/override\"} 1",
            "canary_responses_total{component=\"shop/shop\",tag=\"v2/canary/2xx\"} 4",
            "canary_responses_total{component=\"shop/shop\",tag=\"v1/stable/4xx\"} 1",
            "canary_responses_total{component=\"shop/shop\",tag=\"v2/override/5xx\"} 1",
            &format!("canary_generation_active{{component=\"shop/shop\",tag=\"{installed_at}\"}} 1"),
        ] {
            let found: Vec<&str> = text.lines().filter(|found| found.starts_with("canary_")).collect();
            assert!(found.contains(&line), "expected {line}, found {found:#?}");
        }
        // Testers do not colour the analysis.
        assert_eq!(text.lines().find(|line| line.contains("tag=\"v2/canary/5xx\"")), None);
    })
    .await;
}
