//! Responses that take the session from their request, counted by user group while a rollout runs.

use crate::fixture::{NOW, respond, session_on, sign, with, worker};
use assignment::Identity;
use assignment::seal::Seal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wasm_host::{RequestHead, ResponseHead, Vm};

/// Lost sessions, and those that were emptied.
type Counts = (u64, u64);

const KEPT: Counts = (0, 0);
const REPLACED: Counts = (1, 0);
const EMPTIED: Counts = (1, 1);

/// A method, the cookies of a request, what the response sets, and what it counts as.
type Row = (&'static str, &'static str, &'static str, &'static [&'static str], Counts);

const ROWS: [Row; 28] = [
    ("a login", "POST", "S=abcdefgh", &["S=ijklmnop"], KEPT),
    ("a logout by POST", "POST", "S=abcdefgh", &["S=; Max-Age=0"], KEPT),
    ("a new session", "GET", "S=abcdefgh", &["S=ijklmnop; Path=/; HttpOnly"], REPLACED),
    ("a new session in the response to HEAD", "HEAD", "S=abcdefgh", &["S=ijklmnop"], REPLACED),
    ("the same again", "GET", "S=abcdefgh", &["S=abcdefgh; Path=/; Max-Age=60"], KEPT),
    ("the same in quotes", "GET", "S=\"abcdefgh\"", &["S=abcdefgh"], KEPT),
    ("another value as long", "GET", "S=abcdefghijkl", &["S=bcdefghijklm"], REPLACED),
    ("one that is a little shorter", "GET", "S=abcdefgh", &["S=abcdefg"], REPLACED),
    ("one of three quarters", "GET", "S=abcdefgh", &["S=abcdef"], EMPTIED),
    ("a longer one", "GET", "S=abcd", &["S=abcdefgh"], REPLACED),
    ("deleted by its age", "GET", "S=abcdefgh", &["S=deleted-by-its-age; Max-Age=0"], EMPTIED),
    ("deleted by its date", "GET", "S=abcdefgh", &["S=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], EMPTIED),
    ("deleted as empty", "GET", "S=abcdefgh", &["S="], EMPTIED),
    ("deleted and set again", "GET", "S=abcdefgh", &["S=; Max-Age=0", "S=abcdefgh"], KEPT),
    ("set and deleted", "GET", "S=abcdefgh", &["S=abcdefgh", "S=; Max-Age=0"], EMPTIED),
    ("all parts the same", "GET", "S.0=abcd; S.1=efgh", &["S.0=abcd", "S.1=efgh"], KEPT),
    ("one part another", "GET", "S.0=abcd; S.1=efgh", &["S.1=efgi"], REPLACED),
    ("it grows by a part", "GET", "S.0=abcd; S.1=efgh", &["S.2=ijkl"], REPLACED),
    ("it grows into parts", "GET", "S=abcd", &["S=; Max-Age=0", "S.0=abcd", "S.1=efgh"], REPLACED),
    ("it shrinks a little", "GET", "S.0=abcdefgh; S.1=ij", &["S.0=abcdefgh", "S.1=; Max-Age=0"], REPLACED),
    ("it shrinks by half", "GET", "S.0=abcd; S.1=efgh", &["S=abcd", "S.0=", "S.1="], EMPTIED),
    ("all parts are deleted", "GET", "S.0=abcd; S.1=efgh", &["S.0=", "S.1="], EMPTIED),
    ("one that it does not have is deleted", "GET", "S.0=abcd; S.1=efgh", &["S=; Max-Age=0"], KEPT),
    ("one for each path, and one set again", "GET", "S=abcd; S=efgh", &["S=efgh; Path=/shop"], KEPT),
    ("no session yet", "GET", "lang=de", &["S=abcdefgh"], KEPT),
    ("an empty one", "GET", "S=; lang=de", &["S=abcdefgh"], KEPT),
    ("another cookie", "GET", "S=abcdefgh", &["S_csrf=x", "T=; Max-Age=0"], KEPT),
    ("no cookie at all", "GET", "S=abcdefgh", &[], KEPT),
];

/// The pin of a session in group 3 that began at an odd second during the rollout.
fn pin() -> String {
    sign(&Seal::pin(b"v2", 2, Identity::from_random(0x0123_4567_89ab_cde3), NOW - 59))
}

fn send(vm: &Vm, method: &str, cookies: &str, sets: &[&str]) {
    let request = RequestHead::new(method, "/").header("cookie", format!("{cookies}; __Host-pin={}", pin()));
    answer(vm, request, sets);
}

fn answer(vm: &Vm, request: RequestHead, sets: &[&str]) {
    let response = ResponseHead::status(200).header("cache-control", "no-store");
    let response = sets.iter().fold(response, |response, line| response.header("set-cookie", line));
    respond(vm.request(request).unwrap(), response);
    vm.tick().unwrap();
}

/// What was counted of the canary by group.
fn counted(vm: &Vm) -> BTreeMap<String, u64> {
    let mut found = vm.proxy().metrics();
    found.retain(|name, _| name.contains("_sessions.component"));
    found
}

fn name(counter: &str, group: u64) -> String {
    format!("canary_group_{counter}_sessions.component.shop/web.tag.v2/{group};.total")
}

fn in_rollout() -> Value {
    with("rolloutSinceSeconds", json!(NOW - 3_600))
}

#[test]
fn a_response_to_a_read_that_changes_the_session_of_its_request_counts_as_lost() {
    for (what, method, cookies, sets, (lost, emptied)) in ROWS {
        let vm = worker(&in_rollout());
        send(&vm, method, cookies, sets);
        let expected = [(name("lost", 3), lost), (name("emptied", 3), emptied)];
        let expected: BTreeMap<String, u64> = expected.into_iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counted(&vm), expected, "{what}: `{cookies}`, then {sets:?}");
    }
}

#[test]
fn an_encrypted_session_is_lost_with_each_response_and_emptied_where_it_is_forgotten() {
    let vm = worker(&in_rollout());
    let value = |number: usize, length: usize| format!("{number:04}{}", "x".repeat(length - 4));
    for number in 0..10 {
        let set = format!("S={}; Path=/", value(number + 1, 200));
        send(&vm, "GET", &format!("S={}", value(number, 200)), &[&set]);
    }
    let forgotten = format!("S={}; Path=/", value(0, 90));
    send(&vm, "GET", &format!("S={}", value(10, 200)), &[&forgotten]);
    assert_eq!(counted(&vm), BTreeMap::from([(name("lost", 3), 11), (name("emptied", 3), 1)]));
}

#[test]
fn outside_of_a_rollout_nobody_loses_a_session_and_in_one_neither_do_testers_and_older_sessions() {
    let vm = worker(&with("generation", json!(7)));
    send(&vm, "GET", "S=abcdefgh", &["S=ijklmnop"]);
    assert_eq!(counted(&vm), BTreeMap::new(), "no rollout");

    let mut config = in_rollout();
    config["releases"]["shop/web"]["override"] = json!({"mode": "open"});
    let vm = worker(&config);
    let cookie = format!("S={}", session_on(true));
    let tester = RequestHead::get("/").header("cookie", &cookie).header("x-canary-override", "canary");
    answer(&vm, tester, &["S=ijklmnop"]);
    let older = sign(&Seal::pin(b"v2", 2, Identity::from_random(3), NOW - 7_201));
    let older = RequestHead::get("/").header("cookie", format!("{cookie}; __Host-pin={older}"));
    answer(&vm, older, &["S=ijklmnop"]);
    assert_eq!(counted(&vm), BTreeMap::new());
    answer(&vm, RequestHead::get("/").header("cookie", cookie), &["S=ijklmnop"]);
    assert_eq!(counted(&vm).values().sum::<u64>(), 1, "a session without a pin counts");
}

#[test]
fn a_release_without_a_session_cookie_has_no_session_to_lose() {
    let mut config = in_rollout();
    config["releases"]["shop/web"]["sessionCookie"] = Value::Null;
    let vm = worker(&config);
    send(&vm, "GET", "S=abcdefgh", &["S=ijklmnop"]);
    assert_eq!(counted(&vm), BTreeMap::new());
}
