use super::*;
use crate::alert::tests::{ECHO, FakeReceiver, SECRET};
use canary_release::alert::{Alert, AlertMessage};
use canary_release::spec::HookType;
use serde_json::{Value, json};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK";
const FORBIDDEN: &str = "HTTP/1.1 403 Forbidden\r\ncontent-length: 9\r\n\r\nForbidden";
const BUSY: &str =
    "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 20\r\n\r\ncommand \u{1b}[31m failed";

fn endpoint(url_from: SecretSource, url: Option<SecretUrl>) -> HookEndpoint {
    let metadata = [("cmd", "hey -z 1m http://shop/"), ("type", "cmd")];
    HookEndpoint {
        url_from,
        url,
        signature_key_from: None,
        timeout: "1s".parse().unwrap(),
        retries: 0,
        metadata: metadata.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
    }
}

fn caller(endpoint: HookEndpoint) -> HttpHookCaller {
    let endpoints = BTreeMap::from([("load".to_owned(), endpoint)]);
    HttpHookCaller { endpoints, secrets: None, first_backoff: Duration::from_millis(1) }
}

/// Calls hook `load`, as a notification if it has an id.
async fn call(caller: &HttpHookCaller, id: Option<&str>) -> Result<(), HookError> {
    let hook = RolloutHook {
        name: "load".to_owned(),
        kind: HookType::Rollout,
        interval: "1m".parse().unwrap(),
        failure_threshold: 3,
    };
    let at = "2026-11-20T16:00:00Z".parse().unwrap();
    let (release, alert) = ("shop/shop".parse().unwrap(), Alert::test("uid-1-1".to_owned(), "v2", at));
    let payload = HookPayload::of_alert(AlertMessage { release: &release, alert: &alert }, hook.kind);
    caller.call(&hook, payload, id).await
}

/// With so many retries of a receiver that answers in turn; what it was sent.
async fn retried(retries: u32, texts: Vec<&'static str>) -> (Result<(), HookError>, Vec<String>) {
    let receiver = FakeReceiver::answering_in_turn(texts).await;
    let endpoint = endpoint(SecretSource::Inline, Some(receiver.url.clone()));
    let called = call(&caller(HookEndpoint { retries, ..endpoint }), None).await;
    (called, receiver.requests())
}

#[tokio::test]
async fn flaggers_payload_is_posted_with_the_metadata_of_the_file_and_the_id_of_a_notification() {
    let receiver = FakeReceiver::answering(OK).await;
    let caller = caller(endpoint(SecretSource::Inline, Some(receiver.url.clone())));
    call(&caller, None).await.unwrap();
    call(&caller, Some("uid-1-1")).await.unwrap();
    let requests = receiver.requests();
    let [first, second] = &requests[..] else { panic!("{requests:?}") };
    let (head, body) = first.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with(&format!("POST {SECRET} HTTP/1.1\r\n")), "{head}");
    assert!(head.lines().any(|line| line == "content-type: application/json"), "{head}");
    assert!(!head.contains("idempotency-key"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    let names: Vec<&String> = body.as_object().unwrap().keys().collect();
    assert_eq!(names, ["name", "namespace", "phase", "checksum", "metadata"]);
    assert_eq!(body["metadata"], json!({"cmd": "hey -z 1m http://shop/", "type": "cmd"}));
    assert!(second.contains("idempotency-key: \"uid-1-1\"\r\n"), "{second}");
}

#[tokio::test]
async fn a_signature_covers_the_body_and_the_time_of_each_attempt_and_its_id_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, format!("{KEY}\n")).unwrap();
    let receiver = FakeReceiver::answering_in_turn(vec![BUSY, OK, OK]).await;
    let endpoint = HookEndpoint {
        signature_key_from: Some(SecretSource::File(file)),
        retries: 1,
        ..endpoint(SecretSource::Inline, Some(receiver.url.clone()))
    };
    let caller = caller(endpoint);
    call(&caller, None).await.unwrap();
    call(&caller, Some("uid-1-1")).await.unwrap();
    let requests = receiver.requests();
    let ids: Vec<String> = requests.iter().map(|request| verified(request)).collect();
    let [first, second, third] = &ids[..] else { panic!("{ids:?}") };
    assert_eq!((first, third.as_str()), (second, "uid-1-1"));
    assert!(first.contains("-load-"), "{first}");
}

#[tokio::test]
async fn a_url_and_a_signature_that_a_receiver_repeats_stand_in_no_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, KEY).unwrap();
    let receiver = FakeReceiver::answering(ECHO).await;
    let endpoint = HookEndpoint {
        signature_key_from: Some(SecretSource::File(file)),
        ..endpoint(SecretSource::Inline, Some(receiver.url.clone()))
    };
    let error = call(&caller(endpoint), None).await.unwrap_err();
    assert_eq!(error.reason, "400 Bad Request: no room /(redacted) for v1,(redacted)");
}

/// The key of the specification's examples.
const KEY: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Checks the signature of a request as a receiver does, and returns its id.
fn verified(request: &str) -> String {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let header = |name: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("no {name} in {head}"))
    };
    let (id, at) = (header("webhook-id"), header("webhook-timestamp"));
    let seconds = at.parse::<i64>().unwrap();
    assert!((Timestamp::now().as_second() - seconds).abs() < 60, "{at}");
    let keys: SignatureKeys = KEY.parse().unwrap();
    let again = keys.sign(Request::post("/"), id, Timestamp::from_second(seconds).unwrap(), body.as_bytes());
    let again = again.body(()).unwrap();
    assert_eq!(header("webhook-signature"), again.headers()["webhook-signature"], "{request}");
    id.to_owned()
}

#[tokio::test]
async fn a_request_that_cannot_be_signed_is_not_sent_and_no_key_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, "my secret").unwrap();
    let receiver = FakeReceiver::answering(OK).await;
    let secret = SecretSource::Secret { name: "hooks".to_owned(), key: "key".to_owned() };
    for (source, expected) in [
        (SecretSource::File(file), "expected 1 to 4 keys"),
        (SecretSource::File("/no/such/file".into()), "cannot read file /no/such/file"),
        (secret, "expected a key in key `key` of Secret `hooks`, found none"),
    ] {
        let signature_key_from = Some(source);
        let endpoint = endpoint(SecretSource::Inline, Some(receiver.url.clone()));
        let error = call(&caller(HookEndpoint { signature_key_from, ..endpoint }), None).await.unwrap_err();
        assert!(error.reason.contains(expected) && !error.is_response, "{error}");
        assert!(!error.reason.contains("my secret"), "{error}");
    }
    assert_eq!(receiver.requests(), [""; 0], "nothing was sent");
}

#[tokio::test]
async fn a_response_is_told_from_none_and_its_text_is_a_part_of_the_reason() {
    let unavailable = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 19\r\n\r\nno healthy upstream";
    let redirect = "HTTP/1.1 302 Found\r\nlocation: http://elsewhere/\r\ncontent-length: 0\r\n\r\n";
    for (text, is_response, reason) in [
        (FORBIDDEN, true, "403 Forbidden: Forbidden"),
        (BUSY, true, "500 Internal Server Error: command \u{1b}[31m failed"),
        (redirect, true, "302 Found"),
        (unavailable, false, "503 Service Unavailable: no healthy upstream"),
        ("", false, "no response in 1 s"),
    ] {
        let (called, requests) = retried(0, vec![text]).await;
        let error = called.unwrap_err();
        assert_eq!((error.is_response, error.reason.as_str()), (is_response, reason), "{text}");
        assert_eq!(requests.len(), 1, "{text}: one request, and no redirect is followed");
    }
    let down = FakeReceiver::down().await;
    let error = call(&caller(endpoint(SecretSource::Inline, Some(down.url))), None).await.unwrap_err();
    assert!(!error.is_response && error.reason.contains("onnection refused"), "{error}");
    assert!(!error.reason.contains("secret"), "{error}");
}

#[tokio::test]
async fn a_call_is_repeated_where_a_later_one_may_succeed_and_not_where_a_gate_is_closed() {
    let (called, requests) = retried(2, vec![BUSY, BUSY, OK]).await;
    assert_eq!((called, requests.len()), (Ok(()), 3));
    let (called, requests) = retried(1, vec![BUSY, BUSY, OK]).await;
    assert_eq!((called.is_err(), requests.len()), (true, 2));
    assert_eq!(requests[0], requests[1], "the same request");
    let (called, requests) = retried(5, vec![FORBIDDEN, OK]).await;
    assert_eq!((called.is_err(), requests.len()), (true, 1));
}

#[tokio::test]
async fn a_response_that_is_too_long_is_cut() {
    let (called, _) = retried(
        0,
        vec![
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 400\r\n\r\n\
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ],
    )
    .await;
    let reason = called.unwrap_err().reason;
    assert_eq!(reason, format!("400 Bad Request: {}", "x".repeat(200)));
}

#[tokio::test]
async fn a_url_that_is_not_there_is_no_response_and_says_where_it_was_expected() {
    for (found, expected) in [
        (
            endpoint(SecretSource::Env("CANARY_CTL_NO_SUCH_VARIABLE".to_owned()), None),
            "expected a URL in environment variable `CANARY_CTL_NO_SUCH_VARIABLE`, found none",
        ),
        (
            endpoint(SecretSource::Secret { name: "hooks".to_owned(), key: "load".to_owned() }, None),
            "expected a URL in key `load` of Secret `hooks`, found none",
        ),
    ] {
        let error = call(&caller(found), None).await.unwrap_err();
        assert_eq!((error.reason.as_str(), error.is_response, error.is_final), (expected, false, false));
    }
    let without = HttpHookCaller::new(BTreeMap::new(), None);
    let error = call(&without, None).await.unwrap_err();
    assert_eq!(error.reason, "expected hook `load` in the file of the driver, found none");
}
