//! A headless Chromium with one tab, driven by its remote debugging protocol over a WebSocket.
//!
//! # Source
//! [The protocol](https://chromedevtools.github.io/devtools-protocol/)
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a fixture of tests: it panics where the test cannot go on"
)]

use futures_util::{SinkExt as _, StreamExt as _};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Longer than any step takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// A name of another site; it resolves to this machine, as after DNS rebinding.
pub const FOREIGN_HOST: &str = "evil.example";

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A tab; its Chromium ends with it.
pub struct Tab {
    socket: Socket,
    calls: u64,
    chromium: ChromiumGroup,
    profile: TempDir,
}

/// Chromium and its helper processes, which outlive it unless they are killed with it.
struct ChromiumGroup(Child);

impl Drop for ChromiumGroup {
    fn drop(&mut self) {
        let group = self.0.id().and_then(|id| i32::try_from(id).ok());
        let _ = group.map(|group| killpg(Pid::from_raw(group), Signal::SIGKILL));
    }
}

impl Tab {
    /// Starts Chromium, and opens an empty tab.
    pub async fn open() -> Self {
        Self::open_with(tempfile::tempdir().unwrap()).await
    }

    /// Closes Chromium as a user does, and starts it again.
    pub async fn reopen(mut self) -> Self {
        self.call("Browser.close", &json!({})).await;
        tokio::time::timeout(TIMEOUT, self.chromium.0.wait()).await.expect("Chromium ends").unwrap();
        Self::open_with(self.profile).await
    }

    async fn open_with(profile: TempDir) -> Self {
        let mut command = Command::new(programs::artifact::chromium().expect("Chromium"));
        command.args(["--headless", "--disable-gpu", "--no-sandbox", "--remote-debugging-port=0"]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command
            .arg(format!("--host-resolver-rules=MAP {FOREIGN_HOST} 127.0.0.1, MAP *.example.com 127.0.0.1"));
        // Those that a test makes for itself.
        command.arg("--ignore-certificate-errors");
        command.arg("about:blank").stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut chromium = ChromiumGroup(command.spawn().expect("Chromium starts"));
        let browser = devtools_url(&mut chromium.0).await;
        let mut socket = connect(&browser).await;
        let target = call(&mut socket, 0, "Target.createTarget", &json!({"url": "about:blank"})).await;
        let (host, _) = browser.split_once("/devtools/").unwrap();
        let socket = connect(&format!("{host}/devtools/page/{}", target["targetId"].as_str().unwrap())).await;
        Self { socket, calls: 0, chromium, profile }
    }

    /// Calls a method of the protocol.
    pub async fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.calls += 1;
        call(&mut self.socket, self.calls, method, parameters).await
    }

    pub async fn goto(&mut self, url: &str) {
        // A new fragment alone would not load the page again.
        self.call("Page.navigate", &json!({"url": "about:blank"})).await;
        self.call("Page.navigate", &json!({"url": url})).await;
        self.until("document.readyState", "complete").await;
    }

    /// The value of a JavaScript expression, or of the promise that it is.
    pub async fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let found = self.call("Runtime.evaluate", &parameters).await;
        assert!(found["exceptionDetails"].is_null(), "{expression}: {}", found["exceptionDetails"]);
        found["result"]["value"].clone()
    }

    /// Waits until an expression has this value.
    pub async fn until(&mut self, expression: &str, expected: impl Into<Value>) {
        let (expected, begun) = (expected.into(), Instant::now());
        loop {
            let found = self.evaluate(expression).await;
            if found == expected {
                return;
            }
            if begun.elapsed() > TIMEOUT {
                let page = self.evaluate("document.body?.innerText").await;
                panic!("expected {expected} of {expression}, found {found} on the page:\n{page}");
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Presses and releases a key.
    pub async fn press(&mut self, key: &str, text: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            _ => 0,
        };
        let mut event = json!({"type": "keyDown", "key": key, "windowsVirtualKeyCode": code, "text": text});
        self.call("Input.dispatchKeyEvent", &event).await;
        event["type"] = json!("keyUp");
        self.call("Input.dispatchKeyEvent", &event).await;
    }
}

async fn devtools_url(chromium: &mut Child) -> String {
    let mut lines = BufReader::new(chromium.stderr.take().unwrap()).lines();
    let mut log = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        if let Some(url) = line.strip_prefix("DevTools listening on ") {
            let url = url.to_owned();
            // A full pipe would stop it.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return url;
        }
        log = log + &line + "\n";
    }
    panic!("Chromium has ended:\n{log}");
}

async fn connect(url: &str) -> Socket {
    connect_async(url).await.expect("Chromium's WebSocket").0
}

async fn call(socket: &mut Socket, id: u64, method: &str, parameters: &Value) -> Value {
    let text = json!({"id": id, "method": method, "params": parameters}).to_string();
    socket.send(Message::text(text)).await.unwrap();
    let response = async {
        loop {
            let message = socket.next().await.expect("Chromium goes on").unwrap();
            let Message::Text(text) = message else { continue };
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["id"] == id {
                let error = &message["error"];
                // The page was left meanwhile: it has no value.
                let is_left = error["message"] == "Inspected target navigated or closed";
                assert!(error.is_null() || is_left, "{method}: {error}");
                return message["result"].clone();
            }
        }
    };
    tokio::time::timeout(TIMEOUT, response).await.unwrap_or_else(|_| panic!("{method} takes too long"))
}
