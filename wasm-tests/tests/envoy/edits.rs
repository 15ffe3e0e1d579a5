//! Edits of `canary.yaml` while half of the sessions are on the canary: who moves is what `canary-ctl` says before it writes them.

use assignment::Weight;
use assignment::request::split_session_pin;
use browser::{Kind, User, Visit};
use canary_release::moved_users::{Destination, Edit, moved_users};
use serde_json::{Value, json};
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup, HOST, Pods, now_seconds};

use crate::support::{ID, PIN, SESSION_PIN, SHOP, version};

const USERS: usize = 30;

/// Edits by their JSON pointers. `cookies` is edited as a whole: a field below it needs it.
fn edits() -> [(&'static str, Value); 20] {
    [
        ("/spec/hosts", json!(["other.example.com"])),
        ("/spec/paths", json!(["/nowhere/"])),
        ("/spec/stickiness", Value::Null), // the other one
        ("/spec/session", json!({"cookie": "OTHER"})),
        ("/spec/session", json!({"cookie": "JSESSIONID", "adopt": false})),
        ("/spec/session", json!({"cookie": "JSESSIONID", "maxAge": "1h", "idle": "1h"})),
        ("/spec/identifyBy", json!([{"header": "x-user"}])),
        ("/spec/identifyBy", json!([{"header": "x-user"}, {"cookie": "JSESSIONID"}])),
        ("/spec/identifyBy", json!([{"cookie": "JSESSIONID"}])),
        ("/spec/mint", json!("never")),
        ("/spec/mint", json!("always")),
        ("/spec/fallback", json!("client-address")),
        ("/spec/identity", json!("keyed")),
        ("/spec/salt", json!("another")),
        ("/spec/override", json!("off")),
        ("/spec/cookies", json!({"tls": false})),
        ("/spec/cookies", json!({"sameSite": "Strict"})),
        ("/spec/cookies", json!({"domain": "example.com"})),
        ("/spec/cacheControl", json!("private")),
        ("/spec/fuse", json!(true)),
    ]
}

/// Users who are on another version after the edit, and the share that was said before it, in percent of a version's users.
async fn edited(
    binary: &envoy_kit::EnvoyBinary,
    pods: &Pods,
    document: Document,
    edit: &(&str, Value),
) -> (usize, u32) {
    let setup = EnvoySetup::of([document.with("/spec/weight", "50")]);
    let mut fixture = EnvoyFixture::start(binary, setup, pods).await.expect("a fixture");
    let mut users = fixture.users(USERS);
    let mut before = Vec::new();
    for (number, user) in users.iter_mut().enumerate() {
        visit(user, number).await;
        if number % 2 == 0 {
            // As if the session had begun before the filter came.
            user.jar.remove(ID);
            user.jar.remove(PIN);
            user.jar.remove(SESSION_PIN);
            visit(user, number).await;
        } else if number % 4 == 1
            && let Some(pin) = user.jar.get(SESSION_PIN).map(str::to_owned)
        {
            // As an earlier module has set it.
            let (_, text) = split_session_pin(pin.as_bytes());
            user.jar.plant(PIN, &String::from_utf8_lossy(text), HOST);
            user.jar.remove(SESSION_PIN);
        }
        before.push(visit(user, number).await);
    }
    let deployed = fixture.config().expect("a configuration");
    let (pointer, value) = edit;
    let written = fixture.edit(SHOP, |document| {
        let value = match document.get(pointer).as_str() {
            Some("session") => json!("user"),
            Some("user") => json!("session"),
            _ => value.clone(),
        };
        document.set(pointer, value);
    });
    written.await.expect("the edit arrives");
    let config = fixture.config().expect("a configuration");
    let peak = Weight::new(5_000).expect("a weight");
    let edit = Edit { release: SHOP, deployed: &deployed, edited: Some(&config), peak, now: now_seconds() };
    let said = moved_users(edit).expect("configurations");
    let said = said.iter().filter(|users| users.to == Destination::Version).map(|users| users.percent).max();
    let mut moved = 0;
    for (number, (user, before)) in users.iter_mut().zip(&before).enumerate() {
        moved += usize::from(visit(user, number).await != *before);
    }
    (moved, said.unwrap_or(0))
}

/// The version of a page for a user with a header of their own.
async fn visit(user: &mut User, number: usize) -> String {
    let visit = Visit::new(Kind::Navigate, "/").header("x-user", number.to_string());
    version(&user.send(&visit).await.expect("a response")).to_owned()
}

#[tokio::test]
async fn an_edit_moves_users_where_that_was_said_before_and_nobody_elsewhere() {
    let (binary, pods) = (envoy_kit::newest().expect("an Envoy"), Pods::start().await.expect("pods start"));
    let mut wrong = Vec::new();
    // By a header: the shop gives a session that it does not know another id.
    let by_header = Document::user("shop").with("/spec/identifyBy", json!([{"header": "x-user"}]));
    for document in [Document::session("shop"), by_header] {
        for edit in &edits() {
            let (moved, said) = edited(&binary, &pods, document.clone(), edit).await;
            let row = format!(
                "{} {} = {}: {moved} of {USERS} moved, said: {said} %",
                document.get("/spec/stickiness"),
                edit.0,
                edit.1
            );
            println!("{row}");
            if (moved > 0) != (said > 0) {
                wrong.push(row);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
