//! Bytes as they are, for requests that a well-behaved client would never send.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::ClientError;

/// More header lines than any response in the tests has.
const MAX_HEADERS: usize = 256;

/// A response as it came over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw {
    /// HTTP status.
    pub status: u16,
    /// Header lines in order, names as they were sent.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Everything after the head, still chunked if it was.
    pub body: Vec<u8>,
}

impl Raw {
    /// The first line of this header; names are compared without case.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice())
    }
}

/// Sends these bytes on a connection of its own and reads until the server closes it, or until `within` has passed.
///
/// Say `Connection: close` in the request, or the whole of `within` is waited for.
///
/// ```no_run
/// # async fn example(address: std::net::SocketAddr) -> Result<(), browser::ClientError> {
/// use std::time::Duration;
/// use browser::send_raw;
/// let request = b"GET / HTTP/1.1\r\nHost: shop.example\r\nCookie: a=1\r\nCookie: b=\xff\r\nConnection: close\r\n\r\n";
/// let answer = send_raw(address, request, Duration::from_secs(5)).await?;
/// # Ok(()) }
/// ```
pub async fn send_raw(address: SocketAddr, bytes: &[u8], within: Duration) -> Result<Raw, ClientError> {
    let connect = TcpStream::connect(address);
    let mut stream = connect.await.map_err(|source| ClientError::Connect { address, source })?;
    stream.write_all(bytes).await?;
    let mut received = Vec::new();
    let read = timeout(within, stream.read_to_end(&mut received)).await;
    match (parse(&received)?, read) {
        (Some(raw), _) => Ok(raw),
        (None, Ok(Err(error))) => Err(error.into()),
        (None, Ok(Ok(_))) => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
        (None, Err(_)) => Err(ClientError::Timeout(within)),
    }
}

/// `None` while the head is not complete.
fn parse(received: &[u8]) -> Result<Option<Raw>, ClientError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(length) = response.parse(received)? else { return Ok(None) };
    let lines = response.headers.iter().map(|line| (line.name.to_owned(), line.value.to_vec())).collect();
    let body = received.get(length..).unwrap_or_default().to_vec();
    Ok(Some(Raw { status: response.code.unwrap_or_default(), headers: lines, body }))
}
