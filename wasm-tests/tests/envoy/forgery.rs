//! Forged headers, cookies and parameters: none of them leads to a canary at weight 0 (promise 6) and, if the filter is
//! missing, inert or not installed, none of them causes an error either (promise 5).

use browser::{Kind, Visit, send_raw};
use canary_ctl::local::Filter;
use wasm_tests::scenario::{Attempts, Document, EnvoyFixture, EnvoySetup, InitialConfig, received};

use crate::support::{PIN, SHOP, counted, in_every_world, on_every_envoy, version};

fn all_attempts(fixture: &EnvoyFixture) -> Attempts {
    let keys = fixture.environment.keys().expect("keys");
    Attempts::at(fixture.document(SHOP).expect("a release"), &keys).expect("a policy")
}

async fn none_reaches_the_canary(fixture: &EnvoyFixture, attempts: &Attempts) {
    let harm = attempts.send(fixture.listener()).await.expect("responses");
    assert_eq!(harm, Vec::<String>::new());
}

#[tokio::test]
async fn nothing_forged_reaches_the_canary_at_weight_0() {
    in_every_world(Document::session("shop"), |fixture| async move {
        let attempts = all_attempts(&fixture);
        none_reaches_the_canary(&fixture, &attempts).await;
    })
    .await;
}

#[tokio::test]
async fn nothing_forged_reaches_the_canary_while_the_filter_has_no_configuration() {
    on_every_envoy(|binary, pods| async move {
        let setup = EnvoySetup {
            initial_config: InitialConfig::Nothing,
            ..EnvoySetup::of([Document::session("shop")])
        };
        let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        none_reaches_the_canary(&fixture, &all_attempts(&fixture)).await;
    })
    .await;
}

#[tokio::test]
async fn nothing_forged_reaches_the_canary_where_the_filter_is_not_installed() {
    on_every_envoy(|binary, pods| async move {
        let setup = EnvoySetup { filter: Filter::Absent, ..EnvoySetup::of([Document::session("shop")]) };
        let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        none_reaches_the_canary(&fixture, &all_attempts(&fixture)).await;
    })
    .await;
}

#[tokio::test]
async fn nothing_forged_reaches_the_canary_while_the_filter_is_inert() {
    on_every_envoy(|binary, pods| async move {
        let initial_config = InitialConfig::Text("{\"format\": 1, \"releases\": 7}");
        let setup = EnvoySetup { initial_config, ..EnvoySetup::of([Document::session("shop")]) };
        let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        none_reaches_the_canary(&fixture, &all_attempts(&fixture)).await;
    })
    .await;
}

#[tokio::test]
async fn an_identity_header_does_not_choose_a_bucket() {
    in_every_world(Document::session("shop").with("/spec/weight", "50"), |fixture| async move {
        let mut client = fixture.user();
        for number in 0..32_u64 {
            let chosen = format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let visit = Visit::new(Kind::Api, "/headers").header("x-canary-id", &chosen);
            let response = client.send(&visit).await.expect("a response");
            assert_eq!(version(&response), "v1", "without cookies everybody is on stable");
            let ids = received(&response, "x-canary-id");
            assert!(!ids.contains(&chosen), "{chosen}: {ids:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn two_pins_that_contradict_each_other_lead_to_stable() {
    in_every_world(Document::session("shop"), |fixture| async move {
        let signer = fixture.signer(SHOP).expect("keys");
        let (one, other) = (signer.pin("v1", 1), signer.pin("v2", 1));
        let lines = format!(
            "GET /headers HTTP/1.1\r\nHost: shop.example.com\r\nCookie: {PIN}={other}\r\nCookie: {PIN}={one}\r\nConnection: close\r\n\r\n"
        );
        let response = send_raw(fixture.listener(), lines.as_bytes(), std::time::Duration::from_secs(10)).await;
        assert_eq!(response.expect("a response").header("x-shop-version"), Some(&b"v1"[..]));
        assert_eq!(counted(&fixture, "v1/stable/conflict").await, 1);
    })
    .await;
}
