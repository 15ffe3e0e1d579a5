//! Why a request got no response; a response with an error status is a response.

use std::net::SocketAddr;
use std::time::Duration;

/// What went wrong between client and server.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No connection.
    #[error("cannot connect to {address}: {source}")]
    Connect { address: SocketAddr, source: std::io::Error },
    /// The connection broke, or was closed before the whole response came: a lost request.
    #[error("lost the request: {0}")]
    Http(#[from] hyper::Error),
    /// Bytes could not be written or read.
    #[error("lost the connection: {0}")]
    Io(#[from] std::io::Error),
    /// The response did not arrive in time.
    #[error("no response within {0:?}")]
    Timeout(Duration),
    /// The test's arguments form no valid request.
    #[error("not a request: {0}")]
    Request(#[from] http::Error),
    /// The server answered something that is no response.
    #[error("not a response: {0}")]
    Response(#[from] httparse::Error),
    /// A WebSocket could not be opened, or broke.
    #[error("websocket: {0}")]
    WebSocket(Box<tokio_tungstenite::tungstenite::Error>),
    /// A WebSocket ended, or answered something else than an echo.
    #[error("websocket: expected the echo of {expected:?}, found {found}")]
    Echo {
        /// What was sent.
        expected: String,
        /// What came.
        found: String,
    },
}

impl From<tokio_tungstenite::tungstenite::Error> for ClientError {
    fn from(error: tokio_tungstenite::tungstenite::Error) -> Self {
        Self::WebSocket(Box::new(error))
    }
}
