//! The fuse in real proxies: a canary that fails gets no new sessions a second or two later, without anybody, and no session is moved.

use std::path::Path;
use std::time::{Duration, Instant};

use browser::load::{LoadProfile, Report, run};
use envoy_kit::newest;
use serde_json::Value;
use tokio::task::JoinSet;
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup, Pods, now_seconds};

use crate::support::{Place, SHOP, all_find_their_tea, insert_lua, on, on_every_envoy, shoppers, version};

/// A page that fails in the canary, where [`canary_fails`] is in the proxy.
const BROKEN: &str = "/?broken";

/// A Lua filter after ours that answers for the canary's broken page.
fn canary_fails(bootstrap: &mut Value, _folder: &Path) {
    let script = "function envoy_on_request(handle)\n\
           local headers = handle:headers()\n\
           local version = headers:get('x-canary-version')\n\
           if version and string.find(version, '/v2$') and string.find(headers:get(':path'), 'broken') then\n\
             handle:respond({[':status'] = '503'}, '')\n\
           end\n\
         end";
    insert_lua(bootstrap, Place::Last, script);
}

/// A page that the canary does not respond to, where [`canary_hangs`] is in the proxy.
const HANGING: &str = "/?hanging";

/// A Lua filter after ours that has the canary's pod wait for twenty seconds.
fn canary_hangs(bootstrap: &mut Value, _folder: &Path) {
    let script = "function envoy_on_request(handle)\n\
           local headers = handle:headers()\n\
           local version = headers:get('x-canary-version')\n\
           if version and string.find(version, '/v2$') and string.find(headers:get(':path'), 'hanging') then\n\
             headers:add('x-shop-delay-ms', '20000')\n\
           end\n\
         end";
    insert_lua(bootstrap, Place::Last, script);
}

fn at(weight: &str) -> Document {
    Document::session("shop").with("/spec/weight", weight)
}

/// When the fuse of the canary closes, in seconds since 1970; `None` where it never opened.
async fn fused_until(fixture: &EnvoyFixture) -> Option<u64> {
    let labels = [("component", SHOP), ("tag", "v2/1")];
    let gauge = fixture.admin().metric("canary_fuse_open_until_seconds", &labels).await.ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
    (gauge > 0.0).then_some(gauge as u64)
}

/// New users visit the broken page until the fuse opens.
async fn break_it(fixture: &EnvoyFixture) {
    let is_open = async || fused_until(fixture).await.is_some_and(|until| until > now_seconds());
    for _ in 0..40 {
        run(fixture.users(20), &LoadProfile::navigate(BROKEN, 1)).await;
        tokio::time::sleep(Duration::from_millis(250)).await;
        if is_open().await {
            break;
        }
    }
    assert!(is_open().await, "it is closed after 800 users");
    // Each worker learns it with its next second.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
}

async fn new_users_get_stable(fixture: &EnvoyFixture, path: &str) {
    for user in &mut fixture.users(40) {
        let response = user.navigate(path).await.expect("a response");
        assert_eq!((response.status, version(&response)), (200, "v1"), "a new user");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fuse_of_a_broken_canary_opens_in_every_envoy_and_no_session_moves() {
    on_every_envoy(|binary, pods| async move {
        let setup = EnvoySetup { bootstrap: canary_fails, ..EnvoySetup::of([at("50")]) };
        let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        let mut before = shoppers(&fixture, 40).await;
        assert!(on(&before, "v2") > 5 && on(&before, "v1") > 5, "users of both versions");
        break_it(&fixture).await;
        new_users_get_stable(&fixture, "/").await;
        all_find_their_tea(&mut before).await;
    })
    .await;
}

/// New users visit the page that hangs, twenty each half second, and wait so long for it, until the fuse opens. Returns how many
/// came; `None` if it does not.
async fn hang_until_it_opens(fixture: &EnvoyFixture, client_timeout: Duration) -> Option<usize> {
    let mut visits = JoinSet::new();
    let mut came = 0;
    for _ in 0..60 {
        for mut user in fixture.users(20) {
            visits.spawn(async move {
                tokio::time::timeout(client_timeout, user.navigate(HANGING)).await.is_ok()
            });
            came += 1;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        if fused_until(fixture).await.is_some_and(|until| until > now_seconds()) {
            return Some(came);
        }
    }
    None
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fuse_of_a_canary_that_hangs_opens_in_every_envoy_and_no_session_moves() {
    on_every_envoy(|binary, pods| async move {
        for client_timeout in [3, 30] {
            let setup = EnvoySetup { bootstrap: canary_hangs, ..EnvoySetup::of([at("50")]) };
            let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
            let mut before = shoppers(&fixture, 40).await;
            assert!(on(&before, "v2") > 5 && on(&before, "v1") > 5, "users of both versions");
            let begin = Instant::now();
            let came = hang_until_it_opens(&fixture, Duration::from_secs(client_timeout)).await;
            let came = came.expect("an open fuse after 30 s");
            println!(
                "Envoy {}: open after {:.1} s and {came} new users at 50 % who wait {client_timeout} s",
                binary.minor,
                begin.elapsed().as_secs_f32()
            );
            tokio::time::sleep(Duration::from_millis(1_500)).await;
            new_users_get_stable(&fixture, HANGING).await;
            all_find_their_tea(&mut before).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_user_who_retries_opens_no_fuse() {
    on_every_envoy(|binary, pods| async move {
        let setup = EnvoySetup { bootstrap: canary_fails, ..EnvoySetup::of([at("50")]) };
        let fixture = EnvoyFixture::start(&binary, setup, &pods).await.expect("a fixture");
        let mut shoppers = shoppers(&fixture, 40).await;
        let one = shoppers.iter_mut().find(|(_, (version, _))| version == "v2");
        let (user, _) = one.expect("a user of the canary");
        for _ in 0..200 {
            let response = user.navigate(BROKEN).await.expect("a response");
            assert_eq!(response.status, 503);
        }
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        assert_eq!(fused_until(&fixture).await, None);
    })
    .await;
}

/// What new users of a canary at 10 % that is broken from its first request meet in some five seconds, while nobody reacts.
async fn met_a_fault(fuse: bool, pods: &Pods) -> usize {
    let setup = EnvoySetup { bootstrap: canary_fails, ..EnvoySetup::of([at("10").with("/spec/fuse", fuse)]) };
    let fixture = EnvoyFixture::start(&newest().expect("Envoy"), setup, pods).await.expect("a fixture");
    let mut all = Report::default();
    for _ in 0..20 {
        let (_, report) = run(fixture.users(100), &LoadProfile::navigate(BROKEN, 1)).await;
        all.append(report);
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    all.failures().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fewer_users_meet_a_broken_canary_where_there_is_a_fuse() {
    let pods = Pods::start().await.expect("pods start");
    let (with, without) = (met_a_fault(true, &pods).await, met_a_fault(false, &pods).await);
    println!("of 2000 new users at 10 %: {with} met the fault with a fuse, {without} without");
    assert!(without > 120, "{without} of 2000 at 10 %");
    assert!(2 * with < without, "{with} with, {without} without");
}
