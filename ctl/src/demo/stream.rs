//! One long answer that is read while everything changes: it breaks off where somebody drains the connection.

use super::client::Client;
use http_body_util::BodyExt as _;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A stream that is being read.
#[derive(Debug)]
pub(super) struct Stream {
    enough: oneshot::Sender<()>,
    reader: JoinHandle<Result<(), String>>,
    since: Instant,
}

/// A line ten times a second, for longer than any story.
const PATH: &str = "/stream?n=1000&ms=100";

impl Stream {
    /// Begins to read.
    pub(super) fn open(client: &Client) -> Self {
        let (enough, heard) = oneshot::channel();
        let reader = tokio::spawn(read(client.clone(), heard));
        Self { enough, reader, since: Instant::now() }
    }

    /// Stops reading. Gives how long it was open, or why it broke off before.
    pub(super) async fn close(self) -> Result<Duration, String> {
        // A reader that is gone has its reason as its result.
        let _gone = self.enough.send(());
        let read = self.reader.await.unwrap_or_else(|error| Err(error.to_string()));
        read.map(|()| self.since.elapsed())
    }
}

async fn read(client: Client, mut enough: oneshot::Receiver<()>) -> Result<(), String> {
    let mut body = client.stream(PATH).await?;
    loop {
        tokio::select! {
            _ = &mut enough => return Ok(()),
            frame = body.frame() => match frame {
                Some(Ok(_line)) => {}
                Some(Err(error)) => return Err(format!("it broke off: {error}")),
                None => return Err("it ended".to_owned()),
            }
        }
    }
}
