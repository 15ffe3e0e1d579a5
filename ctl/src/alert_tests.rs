use super::*;
use canary_release::spec::AlertFormat;
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

pub(crate) const SECRET: &str = "/services/T0/B0/secret";

/// In the place of a text: an error with the target and the signature of the request.
pub(crate) const ECHO: &str = "(echo)";

fn echo(request: &str) -> String {
    let signature = request.lines().find_map(|line| line.strip_prefix("webhook-signature: "));
    let target = request.split(' ').nth(1).unwrap_or_default();
    let body = format!("no room {target} for {}", signature.unwrap_or_default());
    format!("HTTP/1.1 400 Bad Request\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// A receiver that answers each request with this text, and what it was sent.
pub(crate) struct FakeReceiver {
    pub(crate) url: SecretUrl,
    requests: Arc<Mutex<Vec<String>>>,
}

impl FakeReceiver {
    pub(crate) async fn answering(text: &'static str) -> Self {
        Self::answering_in_turn(vec![text]).await
    }

    /// Each request gets the next text, and the last one goes on.
    pub(crate) async fn answering_in_turn(texts: Vec<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}{SECRET}", listener.local_addr().unwrap()).parse().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut texts = texts.into_iter();
            let mut text = "";
            while let Ok((mut stream, _)) = listener.accept().await {
                text = texts.next().unwrap_or(text);
                let mut read = Vec::new();
                while !is_whole(&read) {
                    let mut bytes = [0; 4096];
                    match stream.read(&mut bytes).await {
                        Ok(count) if count > 0 => read.extend_from_slice(&bytes[..count]),
                        _ => break,
                    }
                }
                let request = String::from_utf8(read).unwrap();
                let response = if text == ECHO { echo(&request) } else { text.to_owned() };
                kept.lock().unwrap().push(request);
                let _ = stream.write_all(response.as_bytes()).await;
                if text.is_empty() {
                    std::future::pending::<()>().await;
                }
            }
        });
        Self { url, requests }
    }

    /// One that nobody listens for.
    pub(crate) async fn down() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}{SECRET}", listener.local_addr().unwrap()).parse().unwrap();
        Self { url, requests: Arc::default() }
    }

    /// Everything that it was sent, in its order.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    async fn send(&self) -> Result<(), SendError> {
        let limits = Limits { timeout: Duration::from_millis(500), ..LIMITS };
        let sender = HttpAlertSender { endpoints: BTreeMap::new(), limits };
        let payload = Payload {
            content_type: "application/cloudevents+json; charset=utf-8",
            body: json!({"id": "a-1"}),
        };
        sender.send(&self.url, &payload, "a-1").await
    }
}

/// Head and body have come.
fn is_whole(read: &[u8]) -> bool {
    let text = String::from_utf8_lossy(read);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    body.len() >= length.unwrap_or_default()
}

#[tokio::test]
async fn a_payload_is_posted_with_its_media_type_and_the_id_by_which_it_is_known() {
    let receiver = FakeReceiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    receiver.send().await.unwrap();
    let requests = receiver.requests.lock().unwrap().clone();
    let [request] = &requests[..] else { panic!("{requests:?}") };
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with(&format!("POST {SECRET} HTTP/1.1\r\n")), "{head}");
    for line in [
        "content-type: application/cloudevents+json; charset=utf-8",
        "idempotency-key: \"a-1\"",
        concat!("user-agent: canary-ctl/", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(head.lines().any(|found| found == line), "expected {line} in {head}");
    }
    assert_eq!(body, "{\"id\":\"a-1\"}");
}

#[tokio::test]
async fn what_may_be_accepted_later_is_told_from_what_will_not_and_no_redirect_is_followed() {
    for (text, expected, is_final) in [
        (
            "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n",
            "500 Internal Server Error",
            false,
        ),
        ("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n", "503 Service Unavailable", false),
        ("HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n", "429 Too Many Requests", false),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "404 Not Found", true),
        ("HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n", "302 Found", true),
        ("", "no response in 0 s", false),
    ] {
        let receiver = FakeReceiver::answering(text).await;
        let error = receiver.send().await.unwrap_err();
        assert_eq!((error.reason.as_str(), error.is_final), (expected, is_final), "{text}");
        assert_eq!(receiver.requests.lock().unwrap().len(), 1, "{text}: one request");
    }
}

#[tokio::test]
async fn a_receiver_that_is_down_is_a_failure_that_may_be_gone_later_and_does_not_name_its_url() {
    let down = FakeReceiver::down().await;
    let error = down.send().await.unwrap_err();
    assert!(!error.is_final && !error.reason.contains("secret"), "{error}");
    assert!(error.reason.contains("onnection refused"), "{error}");
}

#[test]
fn no_part_of_a_url_that_is_secret_is_in_a_reason() {
    let url: SecretUrl = format!("https://hooks.example{SECRET}?token=other").parse().unwrap();
    let text = format!("cannot reach https://hooks.example{SECRET}?token=other: {SECRET}?token=other is odd");
    assert_eq!(secrets_of(&url).redact(&text), "cannot reach (redacted): /(redacted) is odd");
    let url: SecretUrl = "https://hooks.example/v1/rooms/team/0123456789abcdef".parse().unwrap();
    let text = "no room for key 0123456789abcdef of team";
    assert_eq!(secrets_of(&url).redact(text), "no room for key (redacted) of team");
}

#[test]
fn a_url_is_read_from_where_it_stands_and_an_error_says_where_and_not_what() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, b"https://hooks.example/secret\n").unwrap();
    let inline: SecretUrl = "https://inline.example/".parse().unwrap();
    let of = |url_from| ReceiverEndpoint { format: AlertFormat::Slack, url_from, url: None };
    let team = ReceiverEndpoint { url: Some(inline.clone()), ..of(SecretSource::Inline) };
    let sender = HttpAlertSender::new(BTreeMap::from([("team".to_owned(), team.clone())]));
    assert_eq!(sender.endpoint("team"), Some(&team));
    assert_eq!(sender.endpoint("other"), None);
    assert_eq!(sender.url(&team), Ok(inline));
    let found = sender.url(&of(SecretSource::File(file.path().to_owned()))).unwrap();
    assert_eq!(found.expose(), "https://hooks.example/secret");
    // Set wherever tests run, and no URL.
    let found = sender.url(&of(SecretSource::Env("PATH".to_owned()))).unwrap_err();
    let path = std::env::var("PATH").unwrap();
    assert!(found.reason.starts_with("environment variable `PATH`: expected a URL"), "{found}");
    assert!(!found.reason.contains(&path), "{found}");
    let missing = sender.url(&of(SecretSource::Env("CANARY_CTL_NO_SUCH_VARIABLE".to_owned()))).unwrap_err();
    assert_eq!(
        missing.reason,
        "expected a URL in environment variable `CANARY_CTL_NO_SUCH_VARIABLE`, found none"
    );
}
