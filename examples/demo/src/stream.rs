//! One long response that is read while everything changes: it breaks off where Envoy drains its connection.

use crate::environment::HOST;
use browser::ClientError;
use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A stream that is being read.
#[derive(Debug)]
pub(crate) struct Stream {
    stop: oneshot::Sender<()>,
    reader: JoinHandle<Result<(), StreamError>>,
    opened: Instant,
}

/// Why a stream did not stay open.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StreamError {
    /// No response, or it broke off.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The response was complete too early.
    #[error("it ended")]
    Ended,
    /// The task that read it panicked.
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
}

/// A line ten times a second, for longer than a scenario takes.
const PATH: &str = "/stream?n=1000&ms=100";

impl Stream {
    /// Starts to read.
    pub(crate) fn open(address: SocketAddr) -> Self {
        let (stop, stopped) = oneshot::channel();
        Self { stop, reader: tokio::spawn(read(address, stopped)), opened: Instant::now() }
    }

    /// Stops reading, and returns how long it was open.
    ///
    /// # Errors
    /// Where it broke off before.
    pub(crate) async fn close(self) -> Result<Duration, StreamError> {
        // A reader that has ended has its reason as its result.
        let _ended = self.stop.send(());
        self.reader.await??;
        Ok(self.opened.elapsed())
    }
}

/// On a connection of its own, since `browser` reads responses to their end.
async fn read(address: SocketAddr, mut stop: oneshot::Receiver<()>) -> Result<(), StreamError> {
    let stream = TcpStream::connect(address).await.map_err(ClientError::from)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(ClientError::from)?;
    tokio::spawn(connection);
    let request = Request::get(PATH).header(http::header::HOST, format!("{HOST}:{}", address.port()));
    let request = request.body(Empty::<Bytes>::new()).map_err(ClientError::from)?;
    let mut body = sender.send_request(request).await.map_err(ClientError::from)?.into_body();
    loop {
        tokio::select! {
            _ = &mut stop => return Ok(()),
            frame = body.frame() => match frame {
                Some(line) => drop(line.map_err(ClientError::from)?),
                None => return Err(StreamError::Ended),
            }
        }
    }
}
