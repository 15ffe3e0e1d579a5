//! `stickiness: session` while the weight walks: new sessions get the share, live ones never change version or pod, and
//! logins change nothing (promises 3 and 4).

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use wasm_tests::client::load::{Plan, Report, Seen, run};
use wasm_tests::client::{Answer, Heartbeat, Kind, User, Visit, WebSocket};
use wasm_tests::envoy::{EnvoyBinary, minors, newest};
use wasm_tests::scenario::{Calm, Crowd, Document, HOST, Pods, Story, World};
use wasm_tests::stats::{UNLIKELY, share_p_value};

use crate::support::SHOP;

/// Percent, and the share it is.
const WALK: [(&str, f64); 7] =
    [("0", 0.0), ("1", 0.01), ("10", 0.10), ("50", 0.50), ("100", 1.0), ("50", 0.50), ("0", 0.0)];
const NEW: usize = 1_000;
/// Of every so many sessions one logs in at each step, which gives it another session id.
const LOGIN: usize = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_session_moves_while_the_weight_walks_under_the_oldest_envoy() {
    walk(&minors().expect("every Envoy is installed")[0], "identity").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_session_moves_while_the_weight_walks_under_the_newest_envoy() {
    walk(&newest().expect("Envoy is installed"), "none").await;
}

/// Sessions that are alive, and where each lives.
struct Sessions {
    users: Vec<User>,
    homes: Vec<Seen>,
    sockets: Vec<Heartbeat>,
}

async fn walk(binary: &EnvoyBinary, affinity: &str) {
    let pods = Pods::start().await.expect("pods start");
    let document = Document::session("shop").with("/spec/podAffinity", affinity);
    let world = World::start(binary, Story::of([document]), &pods).await.expect("a world");
    let calm = Calm::since_now(world.admin()).await.expect("statistics");
    let mut sessions = Sessions { users: Vec::new(), homes: Vec::new(), sockets: Vec::new() };
    for (percent, share) in WALK {
        // A part of the old ones is on the move at the moment of the change.
        let moving = sessions.users.split_off(sessions.users.len().saturating_sub(200));
        let crowd = Crowd::start(moving, Plan { concurrency: 2, ..visits(false, 5) });
        let took = world.weight(SHOP, percent).await.expect("the weight arrives");
        let (moved, report) = crowd.stop().await.expect("the crowd comes back");
        settled(&report, &sessions.homes[sessions.users.len()..]);
        sessions.users.extend(moved);
        sessions.come_back(true).await;
        let on_canary = sessions.grow(&world).await;
        let p_value = share_p_value(on_canary, NEW as u64, share);
        println!(
            "envoy {}: {percent} % active after {took:?}: {on_canary} of {NEW} new sessions, p = {p_value:.3}; {} alive",
            binary.minor,
            sessions.users.len()
        );
        assert!(p_value > UNLIKELY, "{on_canary} of {NEW} new sessions at {percent} %");
    }
    sessions.come_back(false).await;
    for socket in sessions.sockets {
        assert!(socket.stop().await.expect("the websocket lives") > 0);
    }
    assert_eq!(calm.disturbed().await.expect("statistics"), []);
}

impl Sessions {
    /// All are back where they were, with their carts; some of them have logged in meanwhile.
    async fn come_back(&mut self, with_logins: bool) {
        let (users, report) = run(std::mem::take(&mut self.users), &visits(with_logins, 2)).await;
        self.users = users;
        settled(&report, &self.homes);
    }

    /// New sessions begin; answers how many of them on the canary. One of each version opens a WebSocket.
    async fn grow(&mut self, world: &World) -> u64 {
        let begin = Plan {
            visit: Arc::new(|_, round| match round {
                0 => Visit::new(Kind::Navigate, "/cart/add?item=tea"),
                _ => Visit::new(Kind::Fetch, "/cart"),
            }),
            read: with_tea,
            ..Plan::navigate("/", 2)
        };
        let (users, report) = run(world.users(NEW), &begin).await;
        let homes: Vec<Seen> = report
            .records
            .iter()
            .filter(|record| record.round == 1)
            .map(|record| record.seen.clone())
            .collect();
        settled(&report, &homes);
        for version in ["v1", "v2"] {
            let at = homes.iter().position(|home| home.version.as_deref() == Some(version));
            if let Some(user) = at.map(|at| &users[at]) {
                self.sockets.push(socket(world, user, version).await);
            }
        }
        self.users.extend(users);
        self.homes.extend(homes);
        report.users_on("v2")
    }
}

async fn socket(world: &World, user: &User, version: &str) -> Heartbeat {
    let cookies = user.cookies_for("/ws").expect("a session and a pin");
    let socket = WebSocket::open(world.listener(), HOST, "/ws", &[("cookie", &cookies)]).await;
    let mut socket = socket.expect("a websocket");
    let echo = socket.echo("where am I").await.expect("an echo");
    assert!(echo.starts_with(version), "{echo} of a session on {version}");
    Heartbeat::start(socket, Duration::from_millis(20))
}

fn visits(with_logins: bool, rounds: usize) -> Plan {
    let visit = move |user: usize, round: usize| match (with_logins, round, user % LOGIN) {
        (true, 0, 0) => Visit::new(Kind::Fetch, "/login?user=ada").method(Method::POST),
        _ => Visit::new(Kind::Fetch, "/cart"),
    };
    Plan { visit: Arc::new(visit), read: with_tea, ..Plan::navigate("/cart", rounds) }
}

/// A cart without its tea is lost, whatever the pod says about the session.
fn with_tea(answer: &Answer) -> Seen {
    let seen = Seen::by_shop(answer);
    Seen { lost: seen.lost || answer.json()["cart"] != serde_json::json!(["tea"]), ..seen }
}

/// Everything was answered by the session's own pod, with the cart, on a connection that stayed open.
fn settled(report: &Report, homes: &[Seen]) {
    assert!(report.failures().is_empty(), "{:?}", report.failures().first());
    assert!(report.lost().is_empty(), "lost: {:?}", report.lost().first());
    assert_eq!(report.closed(), 0, "connections closed");
    let strays: Vec<_> = report.records.iter().filter(|record| record.seen != homes[record.user]).collect();
    assert!(strays.is_empty(), "{} answers from elsewhere: {:?}", strays.len(), strays.first());
}
