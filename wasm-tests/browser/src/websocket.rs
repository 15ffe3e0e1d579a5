//! A WebSocket client: proves that long-lived connections live on.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http::HeaderMap;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::ClientRequestBuilder;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::error::ClientError;

/// Longer than an echo ever takes.
const DEADLINE: Duration = Duration::from_secs(10);

/// An open WebSocket over plain HTTP/1.1.
#[derive(Debug)]
pub struct WebSocket {
    stream: WebSocketStream<TcpStream>,
    /// Headers of the response that opened it.
    pub opening: HeaderMap,
}

impl WebSocket {
    /// Opens one at this path of the host `authority`, with these further headers (e.g. `cookie`).
    ///
    /// A response other than 101 is [`ClientError::WebSocket`].
    pub async fn open(
        address: SocketAddr,
        authority: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Self, ClientError> {
        let uri = http::Uri::builder().scheme("ws").authority(authority).path_and_query(path).build()?;
        let mut request = ClientRequestBuilder::new(uri);
        for (name, value) in headers {
            request = request.with_header(*name, *value);
        }
        let connect = TcpStream::connect(address);
        let tcp = connect.await.map_err(|source| ClientError::Connect { address, source })?;
        let opening = timeout(DEADLINE, client_async(request, tcp)).await;
        let (stream, response) = opening.map_err(|_| ClientError::Timeout(DEADLINE))??;
        Ok(Self { stream, opening: response.headers().clone() })
    }

    pub async fn send(&mut self, text: &str) -> Result<(), ClientError> {
        Ok(self.stream.send(Message::text(text)).await?)
    }

    /// The next text; pings and pongs are passed over, `None` when the other side has closed it.
    pub async fn next(&mut self) -> Result<Option<String>, ClientError> {
        loop {
            let next = timeout(DEADLINE, self.stream.next()).await;
            match next.map_err(|_| ClientError::Timeout(DEADLINE))?.transpose()? {
                Some(Message::Text(text)) => return Ok(Some(text.to_string())),
                None | Some(Message::Close(_)) => return Ok(None),
                Some(_) => {}
            }
        }
    }

    /// Sends a text and expects a response that contains it.
    pub async fn echo(&mut self, text: &str) -> Result<String, ClientError> {
        self.send(text).await?;
        let wrong = |found| ClientError::Echo { expected: text.to_owned(), found };
        match self.next().await? {
            Some(response) if response.contains(text) => Ok(response),
            Some(response) => Err(wrong(format!("{response:?}"))),
            None => Err(wrong("the end of the connection".to_owned())),
        }
    }
}

/// Echoes in the background until it is stopped, or until the connection breaks.
#[derive(Debug)]
pub struct Heartbeat {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<u64, ClientError>>,
}

impl Heartbeat {
    /// Sends one text each `every` on this WebSocket.
    pub fn start(mut socket: WebSocket, every: Duration) -> Self {
        let (stop, mut stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let mut beats = 0;
            while timeout(every, &mut stopped).await.is_err() {
                socket.echo(&format!("beat {beats}")).await?;
                beats += 1;
            }
            Ok(beats)
        });
        Self { stop, task }
    }

    /// Stops and answers how many echoes came back; an error when the connection broke meanwhile.
    pub async fn stop(self) -> Result<u64, ClientError> {
        // Fails only when the task has ended with an error, which the next line reports.
        let _ = self.stop.send(());
        self.task.await.map_err(std::io::Error::other)?
    }
}
