//! The page of the dashboard, without a browser.

use browser::{Kind, Response, User, Visit};
use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;

/// The page's own requests to `canary-ctl dashboard`.
pub struct Page {
    user: User,
    token: String,
    release: String,
}

impl Page {
    /// The page of a `canary-ctl dashboard` that has just started: it prints the URL.
    pub async fn of(dashboard: &mut Child) -> Self {
        let mut lines = BufReader::new(dashboard.stdout.take().unwrap()).lines();
        let url = lines.next_line().await.unwrap().unwrap();
        let (host, fragment) = url.trim().strip_prefix("http://").unwrap().split_once("/#token=").unwrap();
        let (token, release) = fragment.split_once("&release=").unwrap();
        let address: SocketAddr = host.parse().unwrap();
        Self { user: User::http1(address, host), token: token.to_owned(), release: release.to_owned() }
    }

    async fn send(&mut self, visit: Visit) -> Response {
        let visit = visit.header("authorization", format!("Bearer {}", self.token));
        self.user.send(&visit).await.unwrap()
    }

    pub async fn view(&mut self) -> Value {
        let path = format!("/api/releases/{}", self.release);
        self.send(Visit::new(Kind::Fetch, path)).await.json()
    }

    /// Asks for a change of the generation that the page shows.
    pub async fn change(&mut self, mut change: Value) -> (u16, Value) {
        change["expectedGeneration"] = self.view().await["generation"].clone();
        let origin = format!("http://{}", self.user.authority());
        let visit = Visit::new(Kind::Fetch, format!("/api/releases/{}/change", self.release))
            .method(http::Method::POST)
            .header("origin", origin)
            .header("content-type", "application/json")
            .body(change.to_string());
        let response = self.send(visit).await;
        (response.status, response.json())
    }
}
